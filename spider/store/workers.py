"""The processes at work on the database: they register, say that they live, and are ended when they die.

Whether a process is dead is asked of the caller (`is_dead`): only a machine knows its own processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import LinkState
from spider.store import frontier, hosts
from spider.store.schema import CrawlerLink, Host, Worker, state_is, table
from spider.store.tally import Tally

__all__ = ["WorkerRow", "beat", "one_at_a_time", "recover", "register", "rows", "unregister"]

ALONE = 0x5B1DE5  # any fixed number of our own: PostgreSQL's advisory lock

_HOST = table(Host)
_LINK = table(CrawlerLink)
_WORKER = table(Worker)


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A process that said it works on the database."""

    id: int
    run_id: int
    machine: str
    boot_id: str
    pid: int
    started: str
    heartbeat_at: int


def register(connection: sa.Connection, worker: WorkerRow) -> int:
    """Write a worker down (its own id is not looked at) and return the number it gets."""
    values = {
        name: getattr(worker, name) for name in ("run_id", "machine", "boot_id", "pid", "started", "heartbeat_at")
    }
    number = connection.execute(sa.insert(_WORKER).values(**values).returning(_WORKER.c.id)).scalar_one()
    return int(number)


def beat(connection: sa.Connection, worker_id: int, *, now: int, until: int) -> bool:
    """Say that this worker lives and renew its leases; False when others have given it up for dead."""
    alive = connection.execute(sa.update(_WORKER).where(_WORKER.c.id == worker_id).values(heartbeat_at=now))
    connection.execute(sa.update(_HOST).where(_HOST.c.lease_worker == worker_id).values(lease_until=until))
    return alive.rowcount > 0


def unregister(connection: sa.Connection, worker_id: int, tally: Tally) -> None:
    """End a worker: its links go back to W, its hosts are free, its row is gone."""
    frontier.release(connection, worker_id, tally)
    hosts.let_go(connection, worker_id)
    connection.execute(sa.delete(_WORKER).where(_WORKER.c.id == worker_id))


def one_at_a_time(connection: sa.Connection) -> None:
    """Let nobody else pass here until the transaction ends: who wants to be alone looks and registers in one.

    SQLite has one writer at a time anyhow.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ALONE)))


def recover(connection: sa.Connection, is_dead: Callable[[WorkerRow], bool], tally: Tally) -> int:
    """End every worker that `is_dead` says so of; returns how many.

    What is in the hands of none that is written down comes back too: one that was given up for dead while
    it was only slow may have taken links after that.
    """
    dead = [row for row in rows(connection) if is_dead(row)]
    for row in dead:
        unregister(connection, row.id, tally)
    for number in _unknown(connection):
        unregister(connection, number, tally)
    return len(dead)


def _unknown(connection: sa.Connection) -> set[int]:
    """Return the workers that hold links or hosts and are not written down."""
    known = sa.select(_WORKER.c.id).scalar_subquery()
    links = sa.select(_LINK.c.worker_id).where(state_is(LinkState.R), _LINK.c.worker_id.not_in(known)).distinct()
    leases = sa.select(_HOST.c.lease_worker).where(
        _HOST.c.lease_worker.is_not(None), _HOST.c.lease_worker.not_in(known)
    )
    return {*connection.scalars(links), *connection.scalars(leases.distinct())}


def rows(connection: sa.Connection) -> list[WorkerRow]:
    """Return the workers that are written down, dead ones that nobody has found yet among them."""
    query = sa.select(*(_WORKER.c[name] for name in _COLUMNS)).order_by(_WORKER.c.id)
    return [WorkerRow(*row) for row in connection.execute(query)]


_COLUMNS = ("id", "run_id", "machine", "boot_id", "pid", "started", "heartbeat_at")
