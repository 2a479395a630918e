"""Is the database sound?  What must be true of it at any moment, asked in full; and the counters, counted anew.

A crawl that was killed leaves nothing that counts as a fault here: links in R of a worker that is gone go back
to W at the next crawl.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from spider.errors import StorageError
from spider.model import LinkState, Relation
from spider.store import dialect
from spider.store.database import Database
from spider.store.schema import (
    MEDIA,
    Base,
    Count,
    CrawlerLink,
    Edge,
    Host,
    Likeness,
    Nearer,
    OutLink,
    Page,
    Skipped,
    State,
    state_is,
    table,
)

__all__ = ["Fault", "faults", "faults_at", "recount", "vacuum"]

_LINK = table(CrawlerLink)
_HOST = table(Host)
_COUNT = table(Count)
_PAGE = table(Page)
SHOWN = 20  # faults of one kind that are told one by one


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong: of which kind (integrity, orphans, states, counters), and in words."""

    kind: str
    text: str


def faults(database: Database) -> Iterator[Fault]:
    """Yield what is wrong with a database as it stands at one moment; nothing where it is sound."""
    try:
        with database.read() as connection:
            yield from faults_at(connection)
    except StorageError as error:  # it cannot even be read
        yield Fault("integrity", str(error))


def faults_at(connection: sa.Connection) -> Iterator[Fault]:
    """Yield what is wrong as a transaction sees it."""
    yield from _integrity(connection)
    yield from _orphans(connection)
    yield from _states(connection)
    yield from _counters(connection)


def recount(connection: sa.Connection) -> int:
    """Set every kept counter to what counting gives; returns how many were wrong."""
    wrong = 0
    for seed_id, name, _, counted in _miscounted(connection):
        insert = dialect.insert(connection, _COUNT).values(seed_id=seed_id, name=name, value=counted)
        connection.execute(insert.on_conflict_do_update(index_elements=["seed_id", "name"], set_={"value": counted}))
        wrong += 1
    for host_id, _, _, counted in _miswaiting(connection):
        connection.execute(sa.update(_HOST).where(_HOST.c.id == host_id).values(waiting=counted))
        wrong += 1
    return wrong


def vacuum(database: Database) -> None:
    """Give back the space that deleted rows took, and renew what is known for planning queries."""
    with database.engine.connect() as connection:
        if not database.is_sqlite:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM (ANALYZE)")
            return
        plain: Any = connection.connection.driver_connection  # the engine's own would begin a transaction first
        try:
            plain.execute("VACUUM")
            plain.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            msg = f"database {database.name}: {error}"
            raise StorageError(msg) from error


# --- integrity and orphans ------------------------------------------------------------------------


def _integrity(connection: sa.Connection) -> Iterator[Fault]:
    """Ask the engine itself, where it can tell: pages, indexes, values that may not be empty."""
    if connection.dialect.name != "sqlite":
        return
    for (line,) in connection.exec_driver_sql(f"PRAGMA integrity_check({SHOWN})"):
        if line != "ok":
            yield Fault("integrity", str(line))


def _references() -> Iterator[tuple[sa.Column[Any], sa.Column[Any]]]:
    """Yield each column that names a row, and the column that it names."""
    for each in Base.metadata.sorted_tables:
        for key in each.foreign_keys:
            yield key.parent, key.column
    links = (
        _LINK.c.parent_id,
        _PAGE.c.copy_of,
        table(Nearer).c.link_id,
        table(Likeness).c.link_id,
        table(OutLink).c.page_id,
        table(Skipped).c.page_id,
        table(Edge).c.page_id,
        table(Edge).c.link_id,
    )
    for column in links:
        yield column, _LINK.c.id
    for model in MEDIA.values():
        yield table(model).c.state_id, table(State).c.id


def _orphans(connection: sa.Connection) -> Iterator[Fault]:
    """Find rows that speak of rows which are not there."""
    for column, named in _references():
        # Under another name, since a link may name another link.
        other = named.table.alias("named")
        there = sa.exists().where(other.c[named.name] == column)
        count = connection.scalar(
            sa.select(sa.func.count()).select_from(column.table).where(column.is_not(None), ~there)
        )
        if count:
            which = f"{column.table.name}.{column.name} names no {named.table.name}"
            yield Fault("orphans", f"{count:,} row{'s' * (count != 1)}: {which}")


# --- states ---------------------------------------------------------------------------------------

_CODES = [state.code for state in LinkState]


def _in(state: LinkState) -> sa.ColumnElement[bool]:
    return sa.type_coerce(_LINK.c.state, sa.Integer) == state.code


_BROKEN = (
    ("a state that is none of W, R, C, E", sa.type_coerce(_LINK.c.state, sa.Integer).not_in(_CODES)),
    ("in R without a worker", sa.and_(_in(LinkState.R), _LINK.c.worker_id.is_(None))),
    ("of a worker, but not in R", sa.and_(~_in(LinkState.R), _LINK.c.worker_id.is_not(None))),
    ("in E without a reason", sa.and_(_in(LinkState.E), _LINK.c.reason.is_(None))),
    ("with a reason, but not in E", sa.and_(~_in(LinkState.E), _LINK.c.reason.is_not(None))),
    ("to be tried again, but not in E", sa.and_(~_in(LinkState.E), _LINK.c.retry_at.is_not(None))),
    ("in C without a page", sa.and_(_in(LinkState.C), ~sa.exists().where(_PAGE.c.link_id == _LINK.c.id))),
)


def _states(connection: sa.Connection) -> Iterator[Fault]:
    """Find links whose columns do not fit their state."""
    for words, condition in _BROKEN:
        count = connection.scalar(sa.select(sa.func.count()).select_from(_LINK).where(condition))
        if count:
            yield Fault("states", f"{count:,} link{'s' * (count != 1)}: {words}")


# --- counters -------------------------------------------------------------------------------------


def _counters(connection: sa.Connection) -> Iterator[Fault]:
    """Find counters that are not what counting gives."""
    wrong = [
        Fault("counters", f"{whose}: {name} is kept as {kept:,}, counted {counted:,}")
        for whose, name, kept, counted in (
            *((f"seed {seed_id}", name, kept, counted) for seed_id, name, kept, counted in _miscounted(connection)),
            *((f"host {host}", "waiting", kept, counted) for _, host, kept, counted in _miswaiting(connection)),
        )
    ]
    yield from wrong[:SHOWN]
    if len(wrong) > SHOWN:
        yield Fault("counters", f"and {len(wrong) - SHOWN:,} more")


def _miscounted(connection: sa.Connection) -> list[tuple[int, str, int, int]]:
    """Return the counters (seed, name) that are wrong: as kept, and as counted.

    Those of links alone can be counted; what was refused or cut is told by its counter only.
    """
    counted: dict[tuple[int, str], int] = {}
    names = {state.code: state.value for state in LinkState}, {each.code: f"relation.{each}" for each in Relation}
    for column, words in zip((_LINK.c.state, _LINK.c.relation), names, strict=True):
        coded = sa.type_coerce(column, sa.Integer)
        tally = sa.select(_LINK.c.seed_id, coded, sa.func.count()).group_by(_LINK.c.seed_id, coded)
        for seed_id, code, number in connection.execute(tally):
            if code in words:
                counted[seed_id, words[code]] = number
    query = sa.select(_COUNT.c.seed_id, _COUNT.c.name, _COUNT.c.value)
    states = {state.value for state in LinkState}
    kept = {
        (seed_id, name): value
        for seed_id, name, value in connection.execute(query)
        if name in states or name.startswith("relation.")
    }
    return [
        (*place, kept.get(place, 0), counted.get(place, 0))
        for place in sorted({*kept, *counted})
        if kept.get(place, 0) != counted.get(place, 0)
    ]


def _miswaiting(connection: sa.Connection) -> list[tuple[int, str, int, int]]:
    """Return the hosts whose number of waiting links is wrong: row, name, as kept, as counted."""
    waiting = (
        sa.select(sa.func.count())
        .select_from(_LINK)
        .where(_LINK.c.host_id == _HOST.c.id, state_is(LinkState.W))
        .scalar_subquery()
    )
    query = sa.select(_HOST.c.id, _HOST.c.name, _HOST.c.waiting, waiting).where(_HOST.c.waiting != waiting)
    return [(number, name, kept, counted) for number, name, kept, counted in connection.execute(query)]
