"""Who may ask which host: the leases that workers hold, and each host's pace.

A host is leased by one worker at a time, so that its politeness is kept in one place.  A lease ends
when it is let go, when it is not renewed in time, or when its worker is found dead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import LinkState
from spider.store import dialect
from spider.store.schema import CrawlerLink, Host, Worker, state_is, table

__all__ = [
    "Leased",
    "Which",
    "anything_waits",
    "due",
    "host_ids",
    "lease",
    "lease_host",
    "leased_names",
    "let_go",
    "next_due",
    "rest",
    "rich",
    "running",
    "set_pace",
    "shares",
    "soonest",
    "waiting",
]

Which = sa.ColumnElement[bool]
"""A condition on hosts."""

_HOST = table(Host)
_WORKER = table(Worker)


@dataclass(frozen=True, slots=True)
class Leased:
    """A host in this worker's hands; times and lengths in microseconds."""

    id: int
    name: str
    next_at: int
    delay: int
    latency: int
    failures: int


def host_ids(connection: sa.Connection, names: Collection[str]) -> dict[str, int]:
    """Return the row of each host name, made where there is none."""
    found = _host_ids(connection, names)
    missing = [name for name in names if name not in found]
    if missing:
        fresh = [
            {"name": name, "next_at": 0, "waiting": 0, "delay": 0, "latency": 0, "failures": 0}
            for name in sorted(missing)
        ]
        connection.execute(dialect.insert(connection, _HOST).on_conflict_do_nothing(), fresh)
        found |= _host_ids(connection, missing)
    return found


def _host_ids(connection: sa.Connection, names: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in dialect.chunks(list(names)):
        rows = connection.execute(sa.select(_HOST.c.name, _HOST.c.id).where(_HOST.c.name.in_(part)))
        found.update((name, number) for name, number in rows)
    return found


# --- leases ---------------------------------------------------------------------------------------

_FREE = sa.or_(_HOST.c.lease_worker.is_(None), _HOST.c.lease_until < sa.bindparam("now"))
_LEASED = sa.select(_HOST.c.id).where(sa.text("lease_worker IS NOT NULL"))
_RICH = sa.select(_HOST.c.id).where(_HOST.c.lease_worker == sa.bindparam("worker"), _HOST.c.waiting > 0)
_WAITS = sa.text("waiting > 0")  # written out, as the partial index needs it; a limit wants an order by it, too


def lease(
    connection: sa.Connection, worker_id: int, *, now: int, until: int, limit: int, which: Which | None = None
) -> list[Leased]:
    """Take up to `limit` free hosts that are due and have links waiting, longest due first; of some alone."""
    if limit <= 0:
        return []
    due = (
        sa.select(_HOST.c.id)
        .where(_WAITS, _HOST.c.next_at <= sa.bindparam("now"), _FREE, *_only(which))
        .order_by(_HOST.c.next_at, _HOST.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return _take(connection, due, worker_id, now=now, until=until)


def _only(which: Which | None) -> tuple[Which, ...]:
    return () if which is None else (which,)


def lease_host(connection: sa.Connection, worker_id: int, name: str, *, now: int, until: int) -> Leased | None:
    """Take one host by name, whether it has links waiting or not; None where another worker holds it."""
    number = host_ids(connection, [name])[name]
    one = sa.select(_HOST.c.id).where(_HOST.c.id == number, _FREE).with_for_update(skip_locked=True)
    taken = _take(connection, one, worker_id, now=now, until=until)
    return taken[0] if taken else None


def _take(
    connection: sa.Connection, which: sa.Select[tuple[int]], worker_id: int, *, now: int, until: int
) -> list[Leased]:
    ids = dialect.filled(connection.scalars(which, {"now": now}).all())
    if not ids:
        return []
    statement = (
        sa.update(_HOST)
        .where(_HOST.c.id.in_(ids))
        .values(lease_worker=worker_id, lease_until=until)
        .returning(_HOST.c.id, _HOST.c.name, _HOST.c.next_at, _HOST.c.delay, _HOST.c.latency, _HOST.c.failures)
    )
    taken = [Leased(*row) for row in connection.execute(statement)]
    return sorted(taken, key=lambda host: (host.next_at, host.id))


def let_go(connection: sa.Connection, worker_id: int, hosts: Sequence[int] | None = None) -> None:
    """End this worker's leases: of the hosts named, or of all when None."""
    mine = sa.update(_HOST).where(_HOST.c.lease_worker == worker_id).values(lease_worker=None, lease_until=None)
    if hosts is None:
        connection.execute(mine)
        return
    for part in dialect.chunks(hosts):
        connection.execute(mine.where(_HOST.c.id.in_(part)))


_PACE = (
    sa.update(_HOST)
    .where(_HOST.c.id == sa.bindparam("b_id"))
    .values(
        next_at=sa.bindparam("b_next_at"),
        delay=sa.bindparam("b_delay"),
        latency=sa.bindparam("b_latency"),
        failures=sa.bindparam("b_failures"),
    )
)


def set_pace(connection: sa.Connection, paces: Iterable[Leased]) -> None:
    """Write down when each host may be asked again and how it answers, so that a restart knows."""
    rows = [
        {
            "b_id": pace.id,
            "b_next_at": pace.next_at,
            "b_delay": pace.delay,
            "b_latency": pace.latency,
            "b_failures": pace.failures,
        }
        for pace in sorted(paces, key=lambda pace: pace.id)
    ]
    if rows:
        connection.execute(_PACE, rows)


def next_due(connection: sa.Connection, now: int, *, which: Which | None = None) -> int | None:
    """Return when the next free host with links waiting is due, of some alone; None when no such host is."""
    query = sa.select(sa.func.min(_HOST.c.next_at)).where(_WAITS, _FREE, *_only(which))
    moment: int | None = connection.scalar(query, {"now": now})
    return moment


def due(connection: sa.Connection, name: str, now: int) -> int | None:
    """Return when a host may be asked by one who holds no lease (UTC microseconds); None while a worker holds it."""
    columns = (_HOST.c.next_at, _HOST.c.lease_worker, _HOST.c.lease_until)
    row = connection.execute(sa.select(*columns).where(_HOST.c.name == name)).first()
    if row is not None and row.lease_worker is not None and row.lease_until >= now:
        return None
    return 0 if row is None else int(row.next_at)


def rest(connection: sa.Connection, name: str, *, until: int) -> None:
    """Let a host be asked again no sooner than a moment (UTC microseconds): one who holds no lease has asked it."""
    number = host_ids(connection, [name])[name]
    sooner = sa.update(_HOST).where(_HOST.c.id == number, _HOST.c.next_at < until)
    connection.execute(sooner.values(next_at=until))


def shares(connection: sa.Connection, *, since: int, most: int) -> tuple[int, int]:
    """Count the hosts that there is work on, up to `most`, and the workers whose heartbeat is younger than `since`.

    There is work on hosts with links waiting, and on those that are in hand: all their links may be, too.
    """
    workers = connection.scalar(sa.select(sa.func.count()).select_from(_WORKER).where(_WORKER.c.heartbeat_at >= since))
    free = sa.select(_HOST.c.id).where(_WAITS, _HOST.c.lease_worker.is_(None)).order_by(_HOST.c.next_at)
    return min(most, _counted(connection, free, most) + _counted(connection, _LEASED, most)), workers or 0


def waiting(connection: sa.Connection, *, most: int) -> int:
    """Count the hosts with links waiting, up to `most`."""
    return _counted(connection, sa.select(_HOST.c.id).where(_WAITS).order_by(_HOST.c.next_at), most)


def _counted(connection: sa.Connection, which: sa.Select[tuple[int]], most: int) -> int:
    return connection.scalar(sa.select(sa.func.count()).select_from(which.limit(most).subquery())) or 0


def rich(connection: sa.Connection, worker_id: int) -> frozenset[int]:
    """Return which of a worker's hosts have links waiting."""
    return frozenset(connection.scalars(_RICH, {"worker": worker_id}))


def leased_names(connection: sa.Connection, *, most: int) -> list[str]:
    """Return the names of up to `most` hosts that workers hold."""
    query = sa.select(_HOST.c.name).where(sa.text("lease_worker IS NOT NULL"))
    query = query.order_by(_HOST.c.lease_worker).limit(most)
    return list(connection.scalars(query))


def soonest(connection: sa.Connection, *, most: int) -> list[tuple[str, int]]:
    """Return up to `most` hosts with links waiting, with the moment of their next turn, the soonest first."""
    query = sa.select(_HOST.c.name, _HOST.c.next_at).where(_WAITS).order_by(_HOST.c.next_at, _HOST.c.id).limit(most)
    return [(name, moment) for name, moment in connection.execute(query)]


def running(connection: sa.Connection) -> bool:
    """Whether any worker has a link in R."""
    link = table(CrawlerLink)
    return connection.scalar(sa.select(link.c.id).where(state_is(LinkState.R)).limit(1)) is not None


def anything_waits(connection: sa.Connection, *, which: Which | None = None) -> bool:
    """Whether any host, in whose hands ever, has links waiting; of some alone."""
    one = sa.select(_HOST.c.id).where(_WAITS, *_only(which)).order_by(_HOST.c.next_at).limit(1)
    return connection.scalar(one) is not None
