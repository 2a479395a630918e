"""The list of seeds: SeedLink rows, and the link in W that each begins with."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from spider import url as urls
from spider.errors import InputError
from spider.model import LinkState, Relation, SeedOrigin, SeedStatus
from spider.store import dialect, frontier, identity, takedown
from spider.store.ask import find_seed
from spider.store.schema import Count, CrawlerLink, Page, SeedLink, state_is, table
from spider.store.tally import LANDED, Tally

__all__ = [
    "SeedRow",
    "add_seed",
    "find",
    "land",
    "plant",
    "plant_all",
    "remove",
    "seed_rows",
    "set_status",
    "unfetched",
    "withdraw_idle",
]

_SEED = table(SeedLink)
_LINK = table(CrawlerLink)
_COUNT = table(Count)
_PAGE = table(Page)
_ACTIVE = _SEED.c.status == SeedStatus.ACTIVE
LIMIT = "limit.depth"
SOURCE = "seed@url"
"""The source of a link that a seed begins with, and of what it redirects to."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A seed as it stands in the list; `options` are its own settings, times UTC microseconds."""

    id: int
    url: str
    origin: SeedOrigin
    status: SeedStatus
    note: str | None
    landed_url: str | None
    options: Mapping[str, object]
    added_at: int = 0
    decided_at: int | None = None

    @property
    def root(self) -> str:
        """The address that its scope is reckoned from."""
        return self.landed_url or self.url


def add_seed(
    connection: sa.Connection,
    url: str,
    *,
    now: int,
    origin: SeedOrigin = SeedOrigin.HAND,
    options: Mapping[str, object] | None = None,
    note: str | None = None,
    tally: Tally | None = None,
) -> int:
    """Put a normalized address in the list and return its row; one that is there, given by hand, becomes active.

    Options given replace the ones it had; none given leaves them.  With a `tally`, what waited when the seed
    was disabled waits again.
    """
    if tally is not None and origin is SeedOrigin.HAND:
        there = connection.scalar(
            sa.select(_SEED.c.id).where(_SEED.c.key == identity.key_of(connection, url), ~_ACTIVE)
        )
        if there is not None:
            set_status(connection, there, SeedStatus.ACTIVE, tally, now=now)
    values = {"note": note} if note is not None else {}
    if options:
        values["options"] = json.dumps(options, sort_keys=True)
    fresh = {"url": url, "key": identity.key_of(connection, url), "origin": origin, "added_at": now}
    status = SeedStatus.ACTIVE if origin is SeedOrigin.HAND else SeedStatus.CANDIDATE
    insert = dialect.insert(connection, _SEED).values(**fresh, **values, status=status)
    again = {**values, "status": status} if origin is SeedOrigin.HAND else {"key": _SEED.c.key}
    statement = insert.on_conflict_do_update(index_elements=[_SEED.c.key], set_=again)
    return int(connection.execute(statement.returning(_SEED.c.id)).scalar_one())


def plant(connection: sa.Connection, seed: SeedRow, *, limit: int, tally: Tally) -> int:
    """Put the seed's own link in W at depth 0, unless it is known; returns the link's row."""
    link = _own_link(connection, seed, limit)
    return frontier.add(connection, [link], tally)[link.host, link.h]


def _own_link(connection: sa.Connection, seed: SeedRow, limit: int) -> frontier.NewLink:
    return frontier.NewLink(
        url=seed.url,
        h=identity.hash_of(connection, seed.url),
        host=urls.host(seed.url),
        depth=0,
        seed_id=seed.id,
        limit=limit,
        source=SOURCE,
        relation=Relation.HORIZONTAL,
    )


def plant_all(connection: sa.Connection, limits: Mapping[int, int], tally: Tally, *, given: Collection[int]) -> None:
    """Plant the active seeds, each with the depth limit it is to be crawled with.

    One `given` anew whose link failed before is tried again; where the limit was raised since the last
    crawl, the pages that stood at the old one are read again for the links that it cut.
    """
    links = {seed.id: _own_link(connection, seed, limits[seed.id]) for seed in seed_rows(connection)}
    rows = frontier.add(connection, links.values(), tally)
    again = [rows[link.host, link.h] for seed_id, link in links.items() if seed_id in given]
    for part in dialect.chunks(again):
        frontier.retry(connection, tally, link_ids=part)
    known = _limits(connection)
    for seed_id in links:
        if seed_id in known and limits[seed_id] > known[seed_id]:
            frontier.deepen(connection, seed_id, known[seed_id], tally)
    _set_limits(connection, {seed_id: limits[seed_id] for seed_id in links if limits[seed_id] != known.get(seed_id)})


def seed_rows(connection: sa.Connection, *, status: SeedStatus | None = SeedStatus.ACTIVE) -> list[SeedRow]:
    """Return the seeds of a status (None: of any), in the order they came."""
    columns = (
        _SEED.c.id,
        _SEED.c.url,
        _SEED.c.origin,
        _SEED.c.status,
        _SEED.c.note,
        _SEED.c.landed_url,
        _SEED.c.options,
        _SEED.c.added_at,
        _SEED.c.decided_at,
    )
    query = sa.select(*columns).order_by(_SEED.c.id)
    if status is not None:
        query = query.where(_SEED.c.status == status)
    rows = connection.execute(query)
    return [SeedRow(*row[:6], json.loads(row.options or "{}"), row.added_at, row.decided_at) for row in rows]


def find(connection: sa.Connection, text: str) -> SeedRow:
    """Return a seed by its number or its address, however spelled; InputError where the list has no such seed."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else find_seed(connection, text)  # noqa: PLR2004  # digits of 64 bits
    for row in seed_rows(connection, status=None):
        if row.id == number:
            return row
    raise InputError(f"no such seed: {text}")


# --- decisions ------------------------------------------------------------------------------------


def set_status(connection: sa.Connection, seed_id: int, status: SeedStatus, tally: Tally, *, now: int) -> None:
    """Decide whether a seed is crawled; running crawls are told.

    What waits of one that is not crawled any more waits no longer, and comes back when it is crawled again.
    What it shares with other seeds is theirs once their pages, read anew, show it.
    """
    decided = sa.update(_SEED).where(_SEED.c.id == seed_id).values(status=status, decided_at=now)
    connection.execute(decided)
    if status is SeedStatus.ACTIVE:
        frontier.restore(connection, seed_id, tally)
    else:
        frontier.withdraw(connection, [seed_id], tally)
        _let_others_look(connection, seed_id)
    tally.add(*LANDED)


def withdraw_idle(connection: sa.Connection, tally: Tally) -> None:
    """Let nothing wait of seeds that are not crawled: links that were in flight when that was decided, or came back."""
    some = sa.select(_COUNT.c.seed_id).where(_COUNT.c.name.in_([LinkState.W, LinkState.E]), _COUNT.c.value > 0)
    ids = connection.scalars(sa.select(_SEED.c.id).where(~_ACTIVE, _SEED.c.id.in_(some))).all()
    if ids:
        frontier.withdraw(connection, ids, tally)


def remove(connection: sa.Connection, seed_id: int, tally: Tally) -> tuple[int, int]:
    """Take a seed off the list with all that was found from it; returns how many links and media went.

    No crawl may be at work meanwhile: it could still find links for the tree.
    """
    _let_others_look(connection, seed_id)
    gone = takedown.drop_tree(connection, seed_id, tally)
    tally.flush(connection)
    connection.execute(sa.delete(_COUNT).where(_COUNT.c.seed_id == seed_id))
    connection.execute(sa.delete(_SEED).where(_SEED.c.id == seed_id))
    tally.add(*LANDED)
    return gone


def _let_others_look(connection: sa.Connection, seed_id: int) -> None:
    """Let the pages of other seeds on the same hosts be read anew when they are next due, changed or not."""
    hosts = sa.select(_LINK.c.host_id).where(_LINK.c.seed_id == seed_id).distinct()
    pages = sa.select(_LINK.c.id).where(_LINK.c.host_id.in_(hosts), _LINK.c.seed_id != seed_id)
    blank = sa.update(_PAGE).where(_PAGE.c.link_id.in_(pages))
    connection.execute(blank.values(content_hash=0, etag=None, last_modified=None))


# --- what a crawl asks ----------------------------------------------------------------------------


def land(connection: sa.Connection, seed_id: int, url: str) -> None:
    """Take note of where a seed's redirects led: its scope is reckoned from there."""
    connection.execute(sa.update(_SEED).where(_SEED.c.id == seed_id).values(landed_url=url))


def unfetched(connection: sa.Connection, seed_ids: list[int]) -> list[str]:
    """Return the addresses of seeds, or of what they redirect to, that stand in E."""
    bad: list[str] = []
    for part in dialect.chunks(seed_ids):
        query = sa.select(_LINK.c.url).where(state_is(LinkState.E), _LINK.c.source == SOURCE, _LINK.c.seed_id.in_(part))
        bad.extend(connection.scalars(query))
    return bad


def _limits(connection: sa.Connection) -> dict[int, int]:
    """Return the depth limits that seeds were last crawled with."""
    kept = sa.select(_COUNT.c.seed_id, _COUNT.c.value).where(_COUNT.c.name == LIMIT)
    return {row.seed_id: row.value for row in connection.execute(kept)}


def _set_limits(connection: sa.Connection, limits: Mapping[int, int]) -> None:
    """Keep the depth limits that seeds are crawled with, so that a greater one later reaches deeper."""
    insert = dialect.insert(connection, _COUNT)
    insert = insert.on_conflict_do_update(index_elements=["seed_id", "name"], set_={"value": insert.excluded.value})
    rows = [{"seed_id": seed_id, "name": LIMIT, "value": value} for seed_id, value in limits.items()]
    if rows:
        connection.execute(insert, rows)
