"""Every move of a link between W, R, C and E is in this file, and nothing else moves a link.

add → W, check_out W→R, complete R→C, fail R→E, release R→W, retry E→W, renew C→W.  A move that finds
a link not in the state it expects, or in another worker's hands, does nothing to it.  All functions
work within the caller's transaction and note what they change in its `Tally`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spider import url as urls
from spider.model import LinkState, Reason, Relation, Request, Source
from spider.store import dialect
from spider.store.hosts import host_ids
from spider.store.schema import Count, CrawlerLink, Host, state_is, table
from spider.store.tally import Tally

__all__ = [
    "Failure",
    "Moved",
    "NewLink",
    "add",
    "check_out",
    "complete",
    "deepen",
    "fail",
    "next_retry",
    "release",
    "renew",
    "retry",
    "retry_due",
    "send_on",
]

W, R, C, E = LinkState.W, LinkState.R, LinkState.C, LinkState.E
CUT = "cut.depth"
"""The counter of links that a seed's depth limit cut."""

_LINK = table(CrawlerLink)
_HOST = table(Host)
_COUNT = table(Count)


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link as it was met, on its way to W.

    `limit` is the depth limit that holds for its tree: a complete page that stood at it and is met
    nearer is read again, since its own links were cut.
    """

    url: str
    h: int
    host: str
    depth: int
    seed_id: int
    limit: int
    source: str
    relation: Relation
    parent_id: int | None = None
    text: str = ""
    hops: int = 0


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


@dataclass(frozen=True, slots=True)
class _Known:
    """What `add` asks of a link that is there."""

    id: int
    url: str
    state: LinkState
    depth: int
    seed_id: int


# --- → W ------------------------------------------------------------------------------------------


def add(connection: sa.Connection, links: Iterable[NewLink], tally: Tally) -> dict[tuple[str, int], int]:
    """Put links in W that are not known yet, in the order given; one met again nearer gets the smaller depth.

    Returns the row of every link given, by host and hash.  Two links with one hash are compared by
    their keys (never their addresses): a true second one is hashed again and lives beside the first.
    """
    pending = list(links)
    hosts = host_ids(connection, {link.host for link in pending})
    rows: dict[tuple[str, int], int] = {}
    salt = 0
    while pending:
        wanted, pending = _distinct(pending, hosts, salt)
        known = _known(connection, wanted)
        fresh: list[tuple[int, int, NewLink]] = []
        for (host_id, h), link in wanted.items():
            row = known.get((host_id, h))
            if row is None:
                fresh.append((host_id, h, link))
            elif _same(row.url, link.url):
                rows[link.host, link.h] = row.id
                _meet(connection, row, link, tally)
            else:
                pending.append(link)
        rows.update(_insert(connection, fresh, tally))
        salt += 1
    return rows


def _distinct(
    links: Iterable[NewLink], hosts: dict[str, int], salt: int
) -> tuple[dict[tuple[int, int], NewLink], list[NewLink]]:
    """Gather links by their identity, the nearest of each; what only shares a hash is given back."""
    wanted: dict[tuple[int, int], NewLink] = {}
    again: list[NewLink] = []
    for link in links:
        identity = hosts[link.host], link.h if not salt else _salted(link.url, salt)
        there = wanted.get(identity)
        if there is None:
            wanted[identity] = link
        elif not _same(there.url, link.url):
            again.append(link)
        elif link.depth < there.depth:
            wanted[identity] = link
    return wanted, again


def _same(one: str, other: str) -> bool:
    return one == other or urls.key(one) == urls.key(other)


def _salted(url: str, salt: int) -> int:
    data = f"{urls.key(url)}\0{salt}".encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big", signed=True)


_KNOWN = sa.select(_LINK.c.id, _LINK.c.h, _LINK.c.url, _LINK.c.state, _LINK.c.depth, _LINK.c.seed_id).where(
    _LINK.c.host_id == sa.bindparam("host_id"), _LINK.c.h.in_(sa.bindparam("hashes", expanding=True))
)


def _known(connection: sa.Connection, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], _Known]:
    by_host: dict[int, list[int]] = {}
    for host_id, h in wanted:
        by_host.setdefault(host_id, []).append(h)
    known = {}
    for host_id, hashes in by_host.items():
        for part in dialect.chunks(hashes):
            for row in connection.execute(_KNOWN, {"host_id": host_id, "hashes": part}):
                known[host_id, row.h] = _Known(row.id, row.url, row.state, row.depth, row.seed_id)
    return known


def _meet(connection: sa.Connection, row: _Known, link: NewLink, tally: Tally) -> None:
    """Take note of a known link met nearer; renew it where its own links were, or may have been, cut."""
    if link.depth >= row.depth:
        return
    connection.execute(sa.update(_LINK).where(_LINK.c.id == row.id).values(depth=link.depth))
    if row.state is C and (row.depth >= link.limit or _was_cut(connection, row.seed_id)):
        renew(connection, [row.id], tally)


def _was_cut(connection: sa.Connection, seed_id: int) -> bool:
    cut = connection.scalar(sa.select(_COUNT.c.value).where(_COUNT.c.seed_id == seed_id, _COUNT.c.name == CUT))
    return bool(cut)


def _insert(
    connection: sa.Connection, fresh: Sequence[tuple[int, int, NewLink]], tally: Tally
) -> dict[tuple[str, int], int]:
    if not fresh:
        return {}
    rows = [
        {
            "host_id": host_id,
            "h": h,
            "url": link.url,
            "state": W,
            "depth": link.depth,
            "seed_id": link.seed_id,
            "parent_id": link.parent_id,
            "text": link.text or None,
            "source": link.source,
            "relation": link.relation,
            "hops": link.hops,
            "attempt": 0,
        }
        for host_id, h, link in fresh
    ]
    statement = (
        dialect.insert(connection, _LINK).on_conflict_do_nothing().returning(_LINK.c.id, _LINK.c.host_id, _LINK.c.h)
    )
    ids = {(row.host_id, row.h): row.id for row in connection.execute(statement, rows)}
    given: dict[tuple[str, int], int] = {}
    lost: list[tuple[int, int]] = []
    for host_id, h, link in fresh:
        if (host_id, h) in ids:
            given[link.host, link.h] = ids[host_id, h]
            tally.enter(link.seed_id, host_id, W)
            tally.add(link.seed_id, f"relation.{link.relation}")
        else:
            lost.append((host_id, h))
    if lost:  # another writer was quicker (PostgreSQL): the row is there, and counted there
        there = _known(connection, lost)
        given.update({(link.host, link.h): there[host_id, h].id for host_id, h, link in fresh if (host_id, h) in there})
    return given


# --- W → R ----------------------------------------------------------------------------------------


def check_out(
    connection: sa.Connection,
    worker_id: int,
    host_id: int,
    tally: Tally,
    *,
    limit: int,
    depth: int | None = None,
    deepest: bool = False,
) -> list[Request]:
    """Take up to `limit` of a leased host's links for this worker, nearest first, then in the order found.

    All are of one depth: of `depth` where it is given, else of the nearest that waits, so that no
    deeper link is taken before the nearer ones have shown theirs.  `deepest` turns the order of
    depths round (paper 3's depth first).
    """
    if depth is None:
        edge = sa.func.max(_LINK.c.depth) if deepest else sa.func.min(_LINK.c.depth)
        depth = connection.scalar(sa.select(edge).where(_LINK.c.host_id == host_id, state_is(W)))
        if depth is None:
            return []
    first = (
        sa.select(_LINK.c.id)
        .where(_LINK.c.host_id == host_id, state_is(W), _LINK.c.depth == depth)
        .order_by(_LINK.c.id)
        .limit(limit)
    )
    statement = (
        sa.update(_LINK)
        .where(_LINK.c.id.in_(first.scalar_subquery()))
        .values(state=R, worker_id=worker_id, attempt=_LINK.c.attempt + 1)
        .returning(*(_LINK.c[name] for name in _REQUEST))
    )
    taken = [_request(row) for row in connection.execute(statement)]
    for request in taken:
        tally.move(request.seed_id, host_id, W, R)
    return sorted(taken, key=lambda request: request.link_id)


_REQUEST = ("id", "host_id", "seed_id", "url", "depth", "attempt", "hops", "source", "text", "parent_id")


def _request(row: sa.Row[tuple[object, ...]]) -> Request:
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
    )


# --- R → C, E, W ----------------------------------------------------------------------------------


def complete(connection: sa.Connection, worker_id: int, link_ids: Sequence[int], tally: Tally) -> dict[int, Moved]:
    """Move this worker's links R→C; one that is not in its hands any more is not in the answer."""
    return _finish(
        connection, worker_id, link_ids, tally, {"state": C, "reason": None, "message": None, "retry_at": None}
    )


def fail(connection: sa.Connection, worker_id: int, failures: Sequence[Failure], tally: Tally) -> dict[int, Moved]:
    """Move this worker's links R→E, each with its reason; one not in its hands is not in the answer."""
    moved: dict[int, Moved] = {}
    for failure in failures:
        values = {
            "state": E,
            "reason": failure.reason,
            "message": failure.message,
            "retry_at": failure.retry_at,
        }
        moved.update(_finish(connection, worker_id, [failure.link_id], tally, values))
    return moved


def release(
    connection: sa.Connection, worker_id: int, tally: Tally, link_ids: Sequence[int] | None = None
) -> dict[int, Moved]:
    """Move this worker's links R→W, all of them when `link_ids` is None; the try that did not happen is not counted."""
    values = {"state": W, "attempt": _LINK.c.attempt - 1}
    return _finish(connection, worker_id, link_ids, tally, values)


def send_on(connection: sa.Connection, worker_id: int, link_id: int, url: str, tally: Tally) -> dict[int, Moved]:
    """Move a link R→W under another spelling of itself, where it redirects to an address with its own key."""
    return _finish(
        connection, worker_id, [link_id], tally, {"state": W, "url": url, "hops": _LINK.c.hops + 1, "attempt": 0}
    )


def _finish(
    connection: sa.Connection,
    worker_id: int,
    link_ids: Sequence[int] | None,
    tally: Tally,
    values: Mapping[str, object],
) -> dict[int, Moved]:
    """Take links out of R, if they are in this worker's hands."""
    moved: dict[int, Moved] = {}
    parts = [None] if link_ids is None else dialect.chunks(link_ids)
    after = values["state"]
    assert isinstance(after, LinkState)  # noqa: S101  # narrows the type; every caller gives one
    for part in parts:
        which: list[sa.ColumnElement[bool] | sa.TextClause] = [state_is(R), _LINK.c.worker_id == worker_id]
        if part is not None:
            which.append(_LINK.c.id.in_(part))
        statement = sa.update(_LINK).where(*which).values(worker_id=None, **values)
        for link_id, seed_id, host_id, depth in connection.execute(
            statement.returning(_LINK.c.id, _LINK.c.seed_id, _LINK.c.host_id, _LINK.c.depth)
        ):
            moved[link_id] = Moved(link_id, seed_id, host_id, depth)
            tally.move(seed_id, host_id, R, after)
    return moved


# --- E → W, C → W ---------------------------------------------------------------------------------


def retry_due(connection: sa.Connection, now: int, tally: Tally) -> int:
    """Move the links of E whose time has come back to W; returns how many."""
    return _to_waiting(connection, E, [_LINK.c.retry_at <= now], tally, {})


def retry(
    connection: sa.Connection,
    tally: Tally,
    *,
    seed_id: int | None = None,
    reason: Reason | None = None,
    link_ids: Sequence[int] | None = None,
) -> int:
    """Move links of E back to W because someone asks: a seed's, a reason's, those named, or all.  Returns how many."""
    which: list[sa.ColumnElement[bool]] = []
    if seed_id is not None:
        which.append(_LINK.c.seed_id == seed_id)
    if reason is not None:
        which.append(_LINK.c.reason == reason)
    if link_ids is not None:
        which.append(_LINK.c.id.in_(link_ids))
    return _to_waiting(connection, E, which, tally, {"attempt": 0})


def renew(connection: sa.Connection, link_ids: Sequence[int], tally: Tally) -> int:
    """Move complete links back to W, to be read again; returns how many."""
    return _to_waiting(connection, C, [_LINK.c.id.in_(link_ids)], tally, {"attempt": 0})


def deepen(connection: sa.Connection, seed_id: int, limit: int, tally: Tally) -> int:
    """Renew a seed's complete pages that stood at its old depth limit, after that was raised.  Returns how many."""
    which = [_LINK.c.seed_id == seed_id, _LINK.c.depth >= limit]
    return _to_waiting(connection, C, which, tally, {"attempt": 0})


def _to_waiting(
    connection: sa.Connection,
    before: LinkState,
    which: Sequence[sa.ColumnElement[bool]],
    tally: Tally,
    values: Mapping[str, object],
) -> int:
    statement = (
        sa.update(_LINK)
        .where(state_is(before), *which)
        .values(state=W, reason=None, message=None, retry_at=None, **values)
        .returning(_LINK.c.seed_id, _LINK.c.host_id)
    )
    rows = connection.execute(statement).all()
    for seed_id, host_id in rows:
        tally.move(seed_id, host_id, before, W)
    return len(rows)


def next_retry(connection: sa.Connection) -> int | None:
    """Return when the next link of E is due by itself (UTC microseconds); None when none is."""
    moment: int | None = connection.scalar(sa.select(sa.func.min(_LINK.c.retry_at)).where(state_is(E)))
    return moment
