"""The processes at work on the database: they register, say that they live, and are ended when they die.

Whether a process is dead is asked of the caller (`is_dead`): only a machine knows its own processes.  What a
worker has done stands in its row, written with the outcomes themselves, and goes to its run when it leaves.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import LinkState
from spider.store import frontier, hosts
from spider.store.schema import CrawlerLink, Host, Run, Worker, state_is, table
from spider.store.tally import Tally

__all__ = [
    "PAGES",
    "Grant",
    "WorkerRow",
    "beat",
    "forsake",
    "grant",
    "hosts_held",
    "note",
    "noted",
    "one_at_a_time",
    "recover",
    "register",
    "renew",
    "rows",
    "run_done",
    "unregister",
]

ALONE = 0x5B1DE5  # any fixed number of our own: PostgreSQL's advisory lock
PAGES = "pages"
"""The name that pages are counted under."""

_HOST = table(Host)
_LINK = table(CrawlerLink)
_WORKER = table(Worker)
_RUN = table(Run)


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A process that said it works on the database; times in UTC microseconds."""

    id: int
    run_id: int
    machine: str
    boot_id: str
    pid: int
    started: str
    heartbeat_at: int
    began_at: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True)
class Grant:
    """How many pages a worker may read in all, and how many its run has read so far."""

    mine: int
    read: int


# --- life -----------------------------------------------------------------------------------------


def register(connection: sa.Connection, worker: WorkerRow) -> int:
    """Write a worker down (its own id is not looked at) and return the number it gets."""
    names = ("run_id", "machine", "boot_id", "pid", "started", "heartbeat_at", "began_at")
    values = {name: getattr(worker, name) for name in names}
    number = connection.execute(sa.insert(_WORKER).values(**values).returning(_WORKER.c.id)).scalar_one()
    return int(number)


def beat(connection: sa.Connection, worker_id: int, *, now: int) -> bool:
    """Say that this worker lives; False when others have given it up for dead."""
    alive = connection.execute(sa.update(_WORKER).where(_WORKER.c.id == worker_id).values(heartbeat_at=now))
    return alive.rowcount > 0


def renew(connection: sa.Connection, worker_id: int, *, until: int) -> None:
    """Let this worker's leases last until a moment (UTC microseconds)."""
    connection.execute(sa.update(_HOST).where(_HOST.c.lease_worker == worker_id).values(lease_until=until))


def unregister(connection: sa.Connection, worker_id: int, tally: Tally) -> None:
    """End a worker: its links go back to W, its hosts are free, what it did is its run's, its row is gone."""
    frontier.release(connection, worker_id, tally)
    hosts.let_go(connection, worker_id)
    row = connection.execute(sa.select(_WORKER.c.run_id).where(_WORKER.c.id == worker_id)).first()
    if row is None:
        return
    _lock(connection, row.run_id)
    gone = sa.delete(_WORKER).where(_WORKER.c.id == worker_id).returning(_WORKER.c.pages, _WORKER.c.done)
    left = connection.execute(gone).first()
    if left is None or not (left.pages or left.done):
        return
    kept = connection.scalar(sa.select(_RUN.c.done).where(_RUN.c.id == row.run_id))
    values = {"pages": _RUN.c.pages + left.pages, "done": _written(_read(kept) + _read(left.done))}
    connection.execute(sa.update(_RUN).where(_RUN.c.id == row.run_id).values(values))


def forsake(
    connection: sa.Connection, worker_id: int, tally: Tally, *, links: Collection[int], held: Collection[int]
) -> set[int]:
    """Give back what this worker holds and does not know of, after it lost sight of the database.

    `links` and `held` are the links and hosts it knows to be in its hands; a transaction whose end it never
    heard of may have given it more.  Returns the hosts that are still its own.
    """
    mine = sa.select(_LINK.c.id).where(state_is(LinkState.R), _LINK.c.worker_id == worker_id)
    frontier.release(connection, worker_id, tally, sorted(set(connection.scalars(mine)) - set(links)))
    leased = set(connection.scalars(sa.select(_HOST.c.id).where(_HOST.c.lease_worker == worker_id)))
    hosts.let_go(connection, worker_id, sorted(leased - set(held)))
    return leased & set(held)


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


def hosts_held(connection: sa.Connection) -> dict[int, int]:
    """Return how many hosts each worker holds, of those that hold any."""
    held = sa.select(_HOST.c.lease_worker, sa.func.count()).where(sa.text("lease_worker IS NOT NULL"))
    return {int(worker): int(number) for worker, number in connection.execute(held.group_by(_HOST.c.lease_worker))}


_COLUMNS = ("id", "run_id", "machine", "boot_id", "pid", "started", "heartbeat_at", "began_at", "pages")


# --- what they did --------------------------------------------------------------------------------


def note(connection: sa.Connection, worker_id: int, did: Mapping[str, int]) -> None:
    """Write down all that a worker has done, by name: `PAGES` and whatever else is counted."""
    rest = Counter({name: number for name, number in did.items() if name != PAGES})
    values = {"pages": did.get(PAGES, 0), "done": _written(rest)}
    connection.execute(sa.update(_WORKER).where(_WORKER.c.id == worker_id).values(values))


def noted(connection: sa.Connection, worker_id: int) -> Counter[str]:
    """Return what stands written of a worker; nothing of one that is not written down."""
    query = sa.select(_WORKER.c.pages, _WORKER.c.done).where(_WORKER.c.id == worker_id)
    return sum((_read(row.done) + Counter({PAGES: row.pages}) for row in connection.execute(query)), Counter())


def run_done(connection: sa.Connection, run_id: int) -> Counter[str]:
    """Return what all workers of a run have done, those that left and those at work."""
    left = sa.select(_RUN.c.pages, _RUN.c.done).where(_RUN.c.id == run_id)
    here = sa.select(_WORKER.c.pages, _WORKER.c.done).where(_WORKER.c.run_id == run_id)
    both = sa.union_all(left, here)
    return sum((_read(row.done) + Counter({PAGES: row.pages}) for row in connection.execute(both)), Counter())


def grant(connection: sa.Connection, worker_id: int, run_id: int, *, wanted: int, most: int) -> Grant:
    """Let a worker read `wanted` pages in all, as far as its run's limit of `most` pages allows.

    What one was granted no other gets, so that all together keep the limit to the page; what a worker does
    not want any more, or died with, goes back.  `wanted` is never less than what it has read or begun.
    """
    _lock(connection, run_id)
    left = connection.execute(sa.select(_RUN.c.pages).where(_RUN.c.id == run_id)).scalar_one()
    query = sa.select(_WORKER.c.id, _WORKER.c.pages, _WORKER.c.granted).where(_WORKER.c.run_id == run_id)
    here = connection.execute(query).all()
    others = sum(row.granted for row in here if row.id != worker_id)
    mine = max(0, min(wanted, most - left - others))
    connection.execute(sa.update(_WORKER).where(_WORKER.c.id == worker_id).values(granted=mine))
    return Grant(mine, left + sum(row.pages for row in here))


def _lock(connection: sa.Connection, run_id: int) -> None:
    """Let the workers of a run take turns from here on; SQLite's writers do anyhow."""
    connection.execute(sa.select(_RUN.c.id).where(_RUN.c.id == run_id).with_for_update())


def _read(text: str | None) -> Counter[str]:
    return Counter(json.loads(text)) if text else Counter()


def _written(counts: Counter[str]) -> str | None:
    return json.dumps(counts, sort_keys=True) if counts else None
