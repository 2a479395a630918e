"""Forget a host or an address: what is known of it goes, and it is not visited again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spider import url as urls
from spider.errors import InputError, InvalidURL
from spider.model import SeedStatus
from spider.store import dialect, identity
from spider.store.schema import (
    MEDIA,
    CrawlerLink,
    Edge,
    Forgotten,
    Host,
    Likeness,
    MediaCheck,
    Nearer,
    Origin,
    OutLink,
    Page,
    Resource,
    SeedLink,
    Skipped,
    State,
    Transition,
    table,
)
from spider.store.tally import LANDED, Tally

__all__ = ["Forgot", "covers", "drop_tree", "forget", "forgotten"]

_LINK = table(CrawlerLink)
_HOST = table(Host)
_SEED = table(SeedLink)
_TARGETS = sa.select(Forgotten.target)


@dataclass(frozen=True, slots=True)
class Forgot:
    """How many links and media went."""

    target: str
    links: int
    media: int


def forgotten(connection: sa.Connection) -> frozenset[str]:
    """Return every target forgotten: host names, and keys of addresses."""
    return frozenset(connection.scalars(_TARGETS))


def covers(targets: Collection[str], url: str | None, ladder: str) -> bool:
    """Tell whether an address is one of the forgotten, or on one of their hosts; a text that is no URL is not."""
    if not targets or url is None:
        return False
    try:
        return urls.host(url) in targets or urls.key(url, ladder) in targets
    except InvalidURL:
        return False


def forget(connection: sa.Connection, target: str, tally: Tally, *, now: int) -> Forgot:
    """Forget a host name, or an address (it has "://"); InputError where it is neither.

    Seeds there are not crawled any more, and running crawls are told.  What stays is the name: among the
    forgotten, in the list of hosts and in that of seeds.
    """
    host, name = _read(connection, target)
    ids = _links_of(connection, host, None if host == name else name)
    media = _drop_links(connection, ids, tally) + _drop_told(connection, host, name)
    _drop_mentions(connection, host, name)
    _reject_seeds(connection, name, now)
    if host == name:
        host_id = sa.select(_HOST.c.id).where(_HOST.c.name == name).scalar_subquery()
        connection.execute(sa.delete(Origin).where(Origin.host_id == host_id))
    known = dialect.insert(connection, table(Forgotten)).values(target=name, at=now)
    connection.execute(known.on_conflict_do_nothing())
    tally.add(*LANDED)
    return Forgot(name, len(ids), media)


def _read(connection: sa.Connection, target: str) -> tuple[str, str]:
    """Return the host of a target and its name among the forgotten: the host again, or the key of the address."""
    if "://" in target:
        address = urls.normalize(target)
        return urls.host(address), identity.key_of(connection, address)
    if not target.strip():
        msg = "a host name, or an address with its scheme, is wanted, not nothing"
        raise InputError(msg)
    root = urls.parse(f"http://{target}/")
    host = urls.host(str(root))
    if str(root) != f"http://{host}/":
        msg = f"a host name, or an address with its scheme, is wanted: {target}"
        raise InputError(msg)
    return host, host


def _links_of(connection: sa.Connection, host: str, key: str | None) -> Sequence[int]:
    """Return the links of a host; with a key, those of the address that has it."""
    query = sa.select(_LINK.c.id, _LINK.c.url).join(_HOST, _HOST.c.id == _LINK.c.host_id).where(_HOST.c.name == host)
    return [
        number for number, url in connection.execute(query) if key is None or identity.key_of(connection, url) == key
    ]


def _drop_links(connection: sa.Connection, ids: Sequence[int], tally: Tally) -> int:
    """Delete links with all that hangs on them; what they showed first loses that memory.  Returns the media."""
    return sum(_drop(connection, part, tally)[1] for part in dialect.chunks(ids))


def drop_tree(connection: sa.Connection, seed_id: int, tally: Tally) -> tuple[int, int]:
    """Delete all links of a seed's tree with all that hangs on them.  Returns how many links and media."""
    return _drop(connection, sa.select(_LINK.c.id).where(_LINK.c.seed_id == seed_id), tally)


def _drop(
    connection: sa.Connection, part: Sequence[int] | sa.Select[tuple[int]], tally: Tally
) -> tuple[int, int]:  # fmt: skip
    """Delete some links with all that hangs on them.  Returns how many links and media."""
    links = media = 0
    states = sa.select(State.id).where(State.page_id.in_(part)).scalar_subquery()
    connection.execute(sa.delete(Resource).where(Resource.state_id.in_(states)))
    connection.execute(sa.delete(Transition).where(Transition.from_id.in_(states)))
    connection.execute(sa.delete(State).where(State.page_id.in_(part)))
    for model in MEDIA.values():
        media += connection.execute(sa.delete(model).where(model.page_id.in_(part))).rowcount
    connection.execute(sa.delete(Edge).where(sa.or_(Edge.page_id.in_(part), Edge.link_id.in_(part))))
    connection.execute(sa.delete(Nearer).where(Nearer.link_id.in_(part)))
    connection.execute(sa.delete(Likeness).where(Likeness.link_id.in_(part)))
    connection.execute(sa.delete(Page).where(Page.link_id.in_(part)))
    connection.execute(sa.update(Page).where(Page.copy_of.in_(part)).values(copy_of=None))
    connection.execute(sa.update(_LINK).where(_LINK.c.parent_id.in_(part)).values(parent_id=None))
    connection.execute(sa.delete(OutLink).where(OutLink.page_id.in_(part)))
    connection.execute(sa.delete(Skipped).where(Skipped.page_id.in_(part)))
    gone = sa.delete(_LINK).where(_LINK.c.id.in_(part))
    for row in connection.execute(gone.returning(_LINK.c.seed_id, _LINK.c.host_id, _LINK.c.state, _LINK.c.relation)):
        links += 1
        tally.leave(row.seed_id, row.host_id, row.state)
        tally.add(row.seed_id, f"relation.{row.relation}", -1)
    return links, media


def _drop_told(connection: sa.Connection, host: str, name: str) -> int:
    """Delete what other pages told of the target: media, checks, links out, refusals.  Returns the media."""
    dropped = 0
    for model in (*MEDIA.values(), MediaCheck, OutLink, Skipped, Resource):
        rows = table(model)
        bad = _telling(connection, rows, "url", host, name)
        for part in dialect.chunks(bad):
            connection.execute(sa.delete(rows).where(_number(rows).in_(part)))
        if model in MEDIA.values():
            dropped += len(bad)
    return dropped


def _drop_mentions(connection: sa.Connection, host: str, name: str) -> None:
    """Blank the columns of other rows that name the target."""
    for column in _MENTIONS:
        rows = column.table
        for part in dialect.chunks(_telling(connection, rows, column.name, host, name)):
            connection.execute(sa.update(rows).where(_number(rows).in_(part)).values({column.name: None}))


def _reject_seeds(connection: sa.Connection, name: str, now: int) -> None:
    """Crawl no seed of the target any more."""
    listed = connection.execute(sa.select(_SEED.c.id, _SEED.c.url)).all()
    ladder = dialect.ladder(connection)
    bad = [row.id for row in listed if covers({name}, row.url, ladder)]
    for part in dialect.chunks(bad):
        rejected = {"status": SeedStatus.REJECTED, "decided_at": now}
        connection.execute(sa.update(_SEED).where(_SEED.c.id.in_(part)).values(rejected))


def _telling(connection: sa.Connection, rows: sa.Table, column: str, host: str, name: str) -> list[int]:
    """Return the rows whose address in a column is the target's; only those that have the host's name are looked at."""
    named = rows.c[column].contains(host, autoescape=True)
    found = connection.execute(sa.select(_number(rows), rows.c[column]).where(named))
    ladder = dialect.ladder(connection)
    return [number for number, url in found if covers({name}, url, ladder)]


def _number(rows: sa.Table) -> sa.Column[int]:
    """Return the column that tells a table's rows apart."""
    (number,) = rows.primary_key.columns
    return number


_MENTIONS = (
    table(Page).c.redirect_to,
    table(Page).c.canonical,
    *(table(model).c.poster for model in MEDIA.values()),
    table(MediaCheck).c.moved_to,
    _SEED.c.landed_url,
)
