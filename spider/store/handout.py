"""A link as it is handed out: whose turn it is, and its row, with what is known of its page, as a `Request`.

And what goes back with it: why it failed, where it stood.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sqlalchemy as sa

from spider.model import LinkState, Reason, Relation, Request, Source
from spider.store import dialect
from spider.store.hosts import Leased
from spider.store.schema import CrawlerLink, Host, Page, state_is, table

__all__ = [
    "COLUMNS",
    "Failure",
    "Moved",
    "Rank",
    "first_rank",
    "hosts_in_turn",
    "in_turn",
    "request_of",
    "with_validators",
]

COLUMNS = ("id", "host_id", "seed_id", "url", "depth", "attempt", "hops", "source", "text", "parent_id", "late")
"""The columns of CrawlerLink that a request is made from."""

Rank = tuple[bool, int]
"""What links wait by: whether they are late, and their depth."""

_LINK = table(CrawlerLink)
_PAGE = table(Page)
_HOST = table(Host)


_VALIDATORS = sa.select(_PAGE.c.link_id, _PAGE.c.content_hash, _PAGE.c.etag, _PAGE.c.last_modified).where(
    _PAGE.c.link_id.in_(sa.bindparam("ids", expanding=True))
)
_WAITS: tuple[sa.ColumnElement[bool] | sa.TextClause, ...] = (
    _LINK.c.host_id == sa.bindparam("host"),
    state_is(LinkState.W),
)
_SOONEST = sa.select(_LINK.c.late).where(*_WAITS).order_by(_LINK.c.late).limit(1)
_NEAREST = sa.select(sa.func.min(_LINK.c.depth)).where(*_WAITS, _LINK.c.late == sa.bindparam("late"))
_DEEPEST = sa.select(sa.func.max(_LINK.c.depth)).where(*_WAITS, _LINK.c.late == sa.bindparam("late"))


@dataclass(frozen=True, slots=True)
class Failure:
    """What goes with a link into E; `retry_at` in UTC microseconds, None for not by itself."""

    link_id: int
    reason: Reason
    message: str
    retry_at: int | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """A link that was moved: whose tree it is in and how deep it stands now."""

    link_id: int
    seed_id: int
    host_id: int
    depth: int
    parent_id: int | None
    relation: Relation


def with_validators(connection: sa.Connection, taken: list[Request]) -> list[Request]:
    """Give those that were read before what a server needs to say that nothing has changed (RFC 9110, 13.1)."""
    if not taken:
        return []
    rows = connection.execute(_VALIDATORS, {"ids": dialect.filled([request.link_id for request in taken])})
    known = {link_id: (content, etag, modified) for link_id, content, etag, modified in rows}
    return [
        replace(request, known=known[request.link_id][0], headers=_conditions(*known[request.link_id]))
        if request.link_id in known
        else request
        for request in taken
    ]


def _conditions(content: int, etag: str | None, modified: str | None) -> dict[str, str]:
    if not content:
        return {}
    conditions = {"If-None-Match": etag, "If-Modified-Since": modified}
    return {name: value for name, value in conditions.items() if value}


def request_of(row: sa.Row[tuple[object, ...]]) -> Request:
    """Return the request that a row with `COLUMNS` stands for."""
    tag, _, attribute = row.source.partition("@")
    return Request(
        url=row.url,
        depth=row.depth,
        attempt=row.attempt,
        hops=row.hops,
        link_id=row.id,
        host_id=row.host_id,
        seed_id=row.seed_id,
        source=Source(tag, attribute),
        text=row.text or "",
        parent_id=row.parent_id,
        late=row.late,
    )


def first_rank(connection: sa.Connection, host_id: int, *, deepest: bool) -> Rank | None:
    """Return whose turn it is: links that are not late before those that are, then by depth."""
    late = connection.scalar(_SOONEST, {"host": host_id})
    if late is None:
        return None
    return late, connection.execute(_DEEPEST if deepest else _NEAREST, {"host": host_id, "late": late}).scalar_one()


def in_turn(connection: sa.Connection, host_id: int, *, deepest: bool, limit: int, offset: int) -> list[Request]:
    """Return some of the links that wait for a host, in the order in which they would be handed out."""
    depth = _LINK.c.depth.desc() if deepest else _LINK.c.depth
    query = sa.select(*(_LINK.c[name] for name in COLUMNS)).where(_LINK.c.host_id == host_id, state_is(LinkState.W))
    rows = connection.execute(query.order_by(_LINK.c.late, depth, _LINK.c.id).limit(limit).offset(offset))
    return with_validators(connection, [request_of(row) for row in rows])


def hosts_in_turn(connection: sa.Connection, *, limit: int) -> list[Leased]:
    """Return hosts with links waiting, in whose hands ever, by when they may be asked."""
    columns = (_HOST.c.id, _HOST.c.name, _HOST.c.next_at, _HOST.c.delay, _HOST.c.latency, _HOST.c.failures)
    waits = sa.text("waiting > 0")  # written out, as the partial index needs it to be used
    query = sa.select(*columns).where(waits).order_by(_HOST.c.next_at, _HOST.c.id).limit(limit)
    return [Leased(*row) for row in connection.execute(query)]
