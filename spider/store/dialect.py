"""What SQLite and PostgreSQL say alike but SQLAlchemy spells in two places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from spider.url import KEY_LADDER

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["LADDER", "chunks", "filled", "insert", "ladder", "once", "server_time", "streamed"]

CHUNK = 512  # values in one IN list: far below either engine's limit, and few statements a page

LADDER = "spider_ladder"  # the execution option that tells a connection its database's key ladder

KEPT = ("PRAGMA cache_size = -65536", "PRAGMA mmap_size = 67108864")
"""How much of the file SQLite keeps in memory, and how much it reads by way of memory: that counts as the process's."""

STREAMING = ("PRAGMA cache_size = -4096", "PRAGMA mmap_size = 0")

STREAMS = "spider_streams"

T = TypeVar("T")
P = ParamSpec("P")


def insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that knows ON CONFLICT in the connection's dialect."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_there  # noqa: PLC0415  # a tenth of a start

        return insert_there(table)
    from sqlalchemy.dialects.sqlite import insert as insert_here  # noqa: PLC0415  # loaded with the dialect

    return insert_here(table)


def once(build: Callable[Concatenate[sa.Connection, P], T]) -> Callable[Concatenate[sa.Connection, P], T]:
    """Let a statement be built once for each engine and each list of (hashable) arguments.

    Building one takes longer than running it; `build` may ask its connection for the dialect alone.
    """
    made: dict[tuple[object, ...], T] = {}

    def get(connection: sa.Connection, /, *args: P.args, **kwargs: P.kwargs) -> T:
        place = (connection.dialect.name, *args, *kwargs.items())
        if place not in made:
            made[place] = build(connection, *args, **kwargs)
        return made[place]

    return get


def server_time(connection: sa.Connection) -> int | None:
    """Return the database server's clock, in UTC microseconds; None where there is no server."""
    if connection.dialect.name != "postgresql":
        return None
    moment = sa.func.extract("epoch", sa.func.clock_timestamp()) * 1_000_000
    return int(connection.execute(sa.select(sa.cast(moment, sa.BigInteger))).scalar_one())


def ladder(connection: sa.Connection) -> str:
    """Return the key ladder of a connection's database: which addresses are one there."""
    return str(connection.get_execution_options().get(LADDER, KEY_LADDER))


def streamed(connection: sa.Connection, query: sa.Select[Any], *, at_once: int = 500) -> Iterator[Any]:
    """Yield rows as they come, a few in memory; the query ends too where nobody reads to its end.

    What passes once is not worth keeping: meanwhile SQLite keeps less of the file in memory.
    """
    _begin_stream(connection)
    result = connection.execute(query, execution_options={"yield_per": at_once})
    try:
        yield from result
    finally:
        if not connection.closed:  # an answer that broke off is let go later than the database
            result.close()
            _end_stream(connection)


def _begin_stream(connection: sa.Connection) -> None:
    """Keep little in memory from the first of the streams that run at once."""
    streams = connection.info.get(STREAMS, 0)
    connection.info[STREAMS] = streams + 1
    if not streams:
        _keep(connection, STREAMING)


def _end_stream(connection: sa.Connection) -> None:
    """Keep as much as before from the end of the last of them."""
    connection.info[STREAMS] -= 1
    if not connection.info[STREAMS]:
        _keep(connection, KEPT)


def _keep(connection: sa.Connection, pragmas: Sequence[str]) -> None:
    if connection.dialect.name == "sqlite":
        for pragma in pragmas:
            connection.exec_driver_sql(pragma)


def chunks(values: Sequence[T]) -> Iterator[list[T]]:
    """Cut a sequence into parts that fit an IN list, each filled up to a power of two with its last value.

    A list of each length is a statement of its own, which the driver takes apart and the engine plans anew: so there
    are ten of each and not five hundred.
    """
    for start in range(0, len(values), CHUNK):
        yield filled(values[start : start + CHUNK])


def filled(values: Sequence[T]) -> list[T]:
    """Return values for an IN list, filled up to a power of two with the last of them."""
    wanted = 1 << (len(values) - 1).bit_length() if values else 0
    return [*values, *list(values[-1:]) * (wanted - len(values))]
