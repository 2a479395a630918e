"""Every move of a link between W, R, C and E is in this file, and nothing else moves a link.

add → W, check_out W→R, complete R→C, fail R→E, release R→W, retry E→W, renew C→W, withdraw W→E.  A move that finds
a link not in the state it expects, or in another worker's hands, does nothing to it.  All functions
work within the caller's transaction and note what they change in its `Tally`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import sqlalchemy as sa

from spider.model import LinkState, Reason, Request
from spider.store import dialect
from spider.store.adoption import WITHDRAWN, adopt, crawled
from spider.store.handout import Failure, Moved, Rank, first_rank, request_of, with_validators
from spider.store.hosts import host_ids
from spider.store.identity import Known, NewLink, distinct, known, same
from spider.store.schema import CrawlerLink, Nearer, Page, state_is, table
from spider.store.tally import Tally
from spider.store.ways import CHECK_OUT, DONE, DROPPED, FAILED, RELEASED, SENT_ON, Way, new

__all__ = [
    "Failure",
    "Moved",
    "NewLink",
    "Rank",
    "add",
    "check_out",
    "complete",
    "deepen",
    "drop",
    "fail",
    "next_retry",
    "refresh",
    "release",
    "renew",
    "renew_nearer",
    "restore",
    "retry",
    "retry_due",
    "send_on",
    "withdraw",
]

W, R, C, E = LinkState.W, LinkState.R, LinkState.C, LinkState.E
CUT = "cut.depth"
"""The counter of links that a seed's depth limit cut."""

_LINK = table(CrawlerLink)
_PAGE = table(Page)


# --- → W ------------------------------------------------------------------------------------------


def add(connection: sa.Connection, links: Iterable[NewLink], tally: Tally) -> dict[tuple[str, int], int]:
    """Put links in W that are not known yet, in the order given; one met again nearer gets the smaller depth.

    Returns the row of every link given, by host and hash.  Two links with one hash are compared by
    their keys (never their addresses): a true second one is hashed again and lives beside the first.
    """
    met = pending = list(links)
    ladder = dialect.ladder(connection)
    hosts = host_ids(connection, {link.host for link in pending})
    rows: dict[tuple[str, int], int] = {}
    salt = 0
    while pending:
        wanted, pending = distinct(pending, hosts, salt, ladder), []
        there = known(connection, wanted)
        fresh: list[tuple[int, int, NewLink]] = []
        for (host_id, h), meeting in wanted.items():
            row = there.get((host_id, h))
            if row is None:
                fresh.append((host_id, h, meeting.pop(0)))
            for link in meeting:
                if row is not None and same(row.url, link.url, ladder):
                    rows[link.host, link.h] = row.id
                    _meet(connection, row, link, tally)
                else:
                    pending.append(link)
        rows.update(_insert(connection, fresh, tally))
        salt += 1
    _hasten(connection, {rows[link.host, link.h]: link.changed for link in met if link.changed is not None}, tally)
    return rows


def _hasten(connection: sa.Connection, changed: Mapping[int, int], tally: Tally) -> None:
    """Let complete pages wait again that were fetched before they changed."""
    for part in dialect.chunks(list(changed)):
        query = sa.select(_PAGE.c.link_id, _PAGE.c.fetched_at).where(_PAGE.c.link_id.in_(part))
        due = [row.link_id for row in connection.execute(query) if row.fetched_at < changed[row.link_id]]
        if due:
            _to_waiting(connection, C, [_LINK.c.id.in_(due)], tally, {"attempt": 0, "hops": 0})


def _meet(connection: sa.Connection, row: Known, link: NewLink, tally: Tally) -> None:
    """Take note of a known link met nearer; renew it where its own links were, or may have been, cut.

    One that waits behind the others, and is met on a page that is no copy, waits behind them no more; one of a
    seed that is not crawled joins the tree that it is met in.
    """
    if row.seed_id != link.seed_id and adopt(connection, row, link.seed_id, tally):
        _to_waiting(connection, E, [_LINK.c.id == row.id, _LINK.c.message == WITHDRAWN], tally, {})
    if row.late and not link.late:
        connection.execute(sa.update(_LINK).where(_LINK.c.id == row.id).values(late=False))
    if link.parent_id is None and link.depth == 0 and row.depth > 0:  # a page that became a seed
        connection.execute(sa.update(_LINK).where(_LINK.c.id == row.id).values(source=link.source))
    if link.depth >= row.depth:
        return
    connection.execute(sa.update(_LINK).where(_LINK.c.id == row.id).values(depth=link.depth))
    if row.state is C and (row.depth >= link.limit or tally.counted(connection, row.seed_id, CUT)):
        renew(connection, [row.id], tally)
    elif row.state is C:
        nearer = dialect.insert(connection, table(Nearer)).values(link_id=row.id, seed_id=row.seed_id)
        connection.execute(nearer.on_conflict_do_nothing())


def renew_nearer(connection: sa.Connection, tally: Tally) -> None:
    """Renew the pages that came nearer before anything of their trees was cut, where this transaction cuts."""
    cut = [seed_id for (seed_id, name), number in tally.counts.items() if name == CUT and number]
    for part in dialect.chunks(cut):
        nearer = sa.delete(Nearer).where(Nearer.seed_id.in_(part)).returning(Nearer.link_id)
        renew(connection, connection.scalars(nearer).all(), tally)


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
            "late": link.late,
            "attempt": 0,
        }
        for host_id, h, link in fresh
    ]
    ids = {(row.host_id, row.h): row.id for row in connection.execute(new(connection), rows)}
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
        there = known(connection, lost)
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
    rank: Rank | None = None,
    deepest: bool = False,
) -> list[Request]:
    """Take up to `limit` of a leased host's links for this worker, nearest first, then in the order found.

    All are of one rank, late or not and of one depth: of `rank` where it is given, else of the first
    that waits, so that no deeper link is taken before the nearer ones have shown theirs.  `deepest`
    turns the order of depths round (paper 3's depth first).
    """
    rank = rank or first_rank(connection, host_id, deepest=deepest)
    if rank is None:
        return []
    given = {"b_host": host_id, "b_late": rank[0], "b_depth": rank[1], "b_limit": limit, "b_worker": worker_id}
    taken = [request_of(row) for row in connection.execute(CHECK_OUT, given)]
    for request in taken:
        tally.move(request.seed_id, host_id, W, R)
    return with_validators(connection, sorted(taken, key=lambda request: request.link_id))


# --- R → C, E, W ----------------------------------------------------------------------------------


def complete(connection: sa.Connection, worker_id: int, link_ids: Sequence[int], tally: Tally) -> dict[int, Moved]:
    """Move this worker's links R→C; one that is not in its hands any more is not in the answer."""
    return _finish(connection, worker_id, link_ids, tally, DONE)


def fail(connection: sa.Connection, worker_id: int, failures: Sequence[Failure], tally: Tally) -> dict[int, Moved]:
    """Move this worker's links R→E, each with its reason; one not in its hands is not in the answer."""
    moved: dict[int, Moved] = {}
    for failure in failures:
        why = {"b_reason": failure.reason, "b_message": failure.message, "b_retry_at": failure.retry_at}
        moved.update(_finish(connection, worker_id, [failure.link_id], tally, FAILED, why))
    return moved


def release(
    connection: sa.Connection, worker_id: int, tally: Tally, link_ids: Sequence[int] | None = None
) -> dict[int, Moved]:
    """Move this worker's links R→W, all of them when `link_ids` is None; the try that did not happen is not counted."""
    return _finish(connection, worker_id, link_ids, tally, RELEASED)


def send_on(connection: sa.Connection, worker_id: int, link_id: int, url: str, tally: Tally) -> dict[int, Moved]:
    """Move a link R→W under another spelling of itself, where it redirects to an address with its own key."""
    return _finish(connection, worker_id, [link_id], tally, SENT_ON, {"b_url": url})


def drop(connection: sa.Connection, worker_id: int, link_id: int, tally: Tally) -> dict[int, Moved]:
    """Take one of this worker's links out of R and of the forest: it was a guess that came to nothing."""
    moved = {row.id: Moved(*row) for row in connection.execute(DROPPED, {"b_id": link_id, "b_worker": worker_id})}
    for link in moved.values():
        tally.leave(link.seed_id, link.host_id, R)
        tally.add(link.seed_id, f"relation.{link.relation}", -1)
    return moved


def _finish(  # noqa: PLR0917  # whose links, which way, and with what
    connection: sa.Connection,
    worker_id: int,
    link_ids: Sequence[int] | None,
    tally: Tally,
    way: Way,
    given: Mapping[str, object] = MappingProxyType({}),
) -> dict[int, Moved]:
    """Take links out of R, if they are in this worker's hands."""
    moved: dict[int, Moved] = {}
    parts = [None] if link_ids is None else dialect.chunks(link_ids)
    for part in parts:
        values = {"b_worker": worker_id, **given}
        rows = (
            connection.execute(way.all, values)
            if part is None
            else connection.execute(way.some, {**values, "b_ids": part})
        )
        for row in rows:
            moved[row.id] = Moved(*row)
            tally.move(row.seed_id, row.host_id, R, way.after)
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
    """Move links of E back to W because someone asks: a seed's, a reason's, those named, or all.  Returns how many.

    Those of seeds that are not crawled stay.
    """
    which: list[sa.ColumnElement[bool]] = [crawled(_LINK.c.seed_id)]
    if seed_id is not None:
        which.append(_LINK.c.seed_id == seed_id)
    if reason is not None:
        which.append(_LINK.c.reason == reason)
    if link_ids is not None:
        which.append(_LINK.c.id.in_(link_ids))
    return _to_waiting(connection, E, which, tally, {"attempt": 0})


def restore(connection: sa.Connection, seed_id: int, tally: Tally) -> int:
    """Move E→W what was withdrawn of a seed that is crawled again; returns how many."""
    return _to_waiting(connection, E, [_LINK.c.seed_id == seed_id, _LINK.c.message == WITHDRAWN], tally, {"attempt": 0})


def renew(connection: sa.Connection, link_ids: Sequence[int], tally: Tally) -> int:
    """Move complete links back to W, to be read anew whether they changed or not; returns how many."""
    return sum(_read_anew(connection, [_LINK.c.id.in_(part)], tally) for part in dialect.chunks(link_ids))


def deepen(connection: sa.Connection, seed_id: int, limit: int, tally: Tally) -> int:
    """Renew a seed's complete pages from its old depth limit down, after that was raised (0: all of its pages)."""
    return _read_anew(connection, [_LINK.c.seed_id == seed_id, _LINK.c.depth >= limit], tally)


def refresh(
    connection: sa.Connection,
    tally: Tally,
    *,
    before: int,
    sooner: int,
    listing: int = 0,
    listings: Collection[str] = (),
) -> int:
    """Move complete links of the seeds that are crawled C→W, where they were fetched up to `before`; returns how many.

    Those next to a seed, and those that had changed when they were last fetched, up to `sooner`; those whose
    source is one of `listings`, which tell what changed, up to `listing`.
    """
    changed = sa.or_(_LINK.c.depth <= 1, _PAGE.c.changed_at == _PAGE.c.fetched_at)
    due = sa.select(_PAGE.c.link_id).join(_LINK, _LINK.c.id == _PAGE.c.link_id)
    due = due.where(
        sa.or_(
            _PAGE.c.fetched_at <= before,
            sa.and_(_PAGE.c.fetched_at <= sooner, changed),
            sa.and_(_PAGE.c.fetched_at <= listing, _LINK.c.source.in_(listings)),
        )
    )
    due = due.where(crawled(_LINK.c.seed_id))
    return _to_waiting(connection, C, [_LINK.c.id.in_(due.scalar_subquery())], tally, {"attempt": 0, "hops": 0})


def _read_anew(connection: sa.Connection, which: Sequence[sa.ColumnElement[bool]], tally: Tally) -> int:
    """Renew links without what would let their pages pass as unchanged."""
    pages = sa.select(_LINK.c.id).where(state_is(C), *which).scalar_subquery()
    blank = sa.update(_PAGE).where(_PAGE.c.link_id.in_(pages))
    connection.execute(blank.values(content_hash=0, etag=None, last_modified=None))
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


def withdraw(connection: sa.Connection, seed_ids: Sequence[int], tally: Tally) -> int:
    """Move W→E what waits of seeds that are not crawled any more, and let none of theirs come back by itself."""
    mine = _LINK.c.seed_id.in_(seed_ids)
    again = sa.update(_LINK).where(state_is(E), _LINK.c.retry_at.is_not(None), mine)
    connection.execute(again.values(retry_at=None))
    refused = {"state": E, "reason": Reason.REFUSED, "message": WITHDRAWN}
    gone = sa.update(_LINK).where(state_is(W), mine).values(refused)
    rows = connection.execute(gone.returning(_LINK.c.seed_id, _LINK.c.host_id)).all()
    for seed_id, host_id in rows:
        tally.move(seed_id, host_id, W, E)
    return len(rows)


def next_retry(connection: sa.Connection) -> int | None:
    """Return when the next link of E is due by itself (UTC microseconds); None when none is."""
    moment: int | None = connection.scalar(sa.select(sa.func.min(_LINK.c.retry_at)).where(state_is(E)))
    return moment
