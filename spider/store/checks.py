"""Media and their own health: which are to be checked, what was found of each, and whose turn it is to ask a host."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import sqlalchemy as sa

from spider.model import Confidence, Health, MediaKind, Reason
from spider.store import dialect
from spider.store.ask import find_seed
from spider.store.hosts import host_ids
from spider.store.schema import MEDIA, CrawlerLink, Host, MediaCheck, table

__all__ = ["CheckRow", "Due", "Place", "counts", "due", "end_turns", "places", "record", "take_turn"]

_CHECK = table(MediaCheck)
_HOST = table(Host)
_LINK = table(CrawlerLink)


@dataclass(frozen=True, slots=True)
class Place:
    """A medium to check: its row in the table of its kind, and its address."""

    id: int
    url: str


@dataclass(frozen=True, slots=True)
class Due:
    """A medium whose turn has come; `embedded` says that its address is a player's page, told as such."""

    url_hash: int
    url: str
    kind: MediaKind
    embedded: bool


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What a check found: as in MediaCheck; `checked_at` is in UTC microseconds, `size` in bytes."""

    url_hash: int
    url: str
    health: Health
    status: int
    reason: Reason | None
    mime: str | None
    size: int | None
    moved_to: str | None
    checked_at: int


def due(
    connection: sa.Connection,
    kind: MediaKind,
    *,
    before: int,
    now: int,
    seed: str | None = None,
    confidence: Confidence = Confidence.LINK,
) -> Iterator[Place]:
    """Stream the media of a kind that are to be checked, each address once, in the order they were found.

    Due is what was never checked, or last before a moment; and what no answer told of, whenever that was before
    `now`.  Only what is still on its page, at an address of the web.  InputError where there is no such seed.
    """
    rows = table(MEDIA[kind])
    shown = [level for level in Confidence if level.rank <= confidence.rank]
    stale = sa.or_(_CHECK.c.checked_at < before, sa.and_(_CHECK.c.health == Health.UNSURE, _CHECK.c.checked_at < now))
    first = sa.func.min(rows.c.id)
    query = (
        sa.select(first, sa.func.min(rows.c.url))
        .outerjoin(_CHECK, _CHECK.c.url_hash == rows.c.url_hash)
        .where(
            rows.c.gone_at.is_(None),
            rows.c.confidence.in_(shown),
            sa.or_(rows.c.url.startswith("http://"), rows.c.url.startswith("https://")),
            sa.or_(_CHECK.c.url_hash.is_(None), stale),
        )
        .group_by(rows.c.url_hash)
        .order_by(first)
    )
    if seed is not None:
        query = query.join(_LINK, _LINK.c.id == rows.c.page_id).where(_LINK.c.seed_id == find_seed(connection, seed))
    for number, url in dialect.streamed(connection, query):
        yield Place(number, url)


def places(connection: sa.Connection, kind: MediaKind, ids: Sequence[int], *, began: int) -> list[Due]:
    """Return media by their rows; what has been checked since a moment, by whom ever, is left out."""
    rows = table(MEDIA[kind])
    query = (
        sa.select(rows.c.url_hash, rows.c.url, rows.c.confidence)
        .outerjoin(_CHECK, _CHECK.c.url_hash == rows.c.url_hash)
        .where(rows.c.id.in_(ids), sa.or_(_CHECK.c.url_hash.is_(None), _CHECK.c.checked_at < began))
        .order_by(rows.c.id)
    )
    return [Due(h, url, kind, level is Confidence.PLAYER) for h, url, level in connection.execute(query)]


def record(connection: sa.Connection, rows: Iterable[CheckRow]) -> None:
    """Write down what checks found, in place of what was known."""
    listed = [dict(zip(_COLUMNS, astuple(row), strict=True)) for row in rows]
    if listed:
        insert = dialect.insert(connection, _CHECK)
        fresh = {name: insert.excluded[name] for name in _COLUMNS[1:]}
        connection.execute(insert.on_conflict_do_update(index_elements=["url_hash"], set_=fresh), listed)


_COLUMNS = tuple(field.name for field in fields(CheckRow))


def counts(connection: sa.Connection) -> dict[Health, int]:
    """Return how many addresses were found in each health."""
    query = sa.select(_CHECK.c.health, sa.func.count()).group_by(_CHECK.c.health)
    found = {health: int(number) for health, number in connection.execute(query)}
    return {health: found[health] for health in Health if health in found}


def take_turn(connection: sa.Connection, names: Collection[str], *, now: int, until: int) -> dict[str, int | None]:
    """Reserve hosts for one request each, until a moment at the longest; answers why not, for those that are not.

    The answer has a host's next moment (UTC microseconds), or None where a crawl holds its lease.  Nobody else
    asks a host meanwhile: neither a crawl, which leases what is due, nor another check.
    """
    host_ids(connection, names)
    refused: dict[str, int | None] = {}
    for part in dialect.chunks(sorted(names)):
        query = sa.select(_HOST.c.name, _HOST.c.next_at, _HOST.c.lease_worker, _HOST.c.lease_until)
        for row in connection.execute(query.where(_HOST.c.name.in_(part)).with_for_update()):
            if row.lease_worker is not None and row.lease_until >= now:
                refused[row.name] = None
            elif row.next_at > now:
                refused[row.name] = int(row.next_at)
        taken = [name for name in part if name not in refused]
        connection.execute(sa.update(_HOST).where(_HOST.c.name.in_(taken)).values(next_at=until))
    return refused


def end_turns(connection: sa.Connection, moments: Mapping[str, int]) -> None:
    """Let hosts that had been reserved be asked again from a moment on (UTC microseconds)."""
    rows = [{"b_name": name, "b_next": moment} for name, moment in sorted(moments.items())]
    if rows:
        ended = sa.update(_HOST).where(_HOST.c.name == sa.bindparam("b_name")).values(next_at=sa.bindparam("b_next"))
        connection.execute(ended, rows)
