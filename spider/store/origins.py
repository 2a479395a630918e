"""robots.txt as it was last asked for, by origin: scheme, host and port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spider import url as urls
from spider.store import dialect
from spider.store.schema import Host, Origin, table

__all__ = ["OriginRow", "origin_row", "origin_rows", "save_origins"]

_ORIGIN = table(Origin)


@dataclass(frozen=True, slots=True)
class OriginRow:
    """robots.txt of one origin as last asked for; `status` 0 is no answer, times in UTC microseconds."""

    host_id: int
    scheme: str
    port: int
    robots_body: bytes | None
    robots_status: int
    robots_at: int
    crawl_delay: int | None


_ORIGIN_COLUMNS = ("host_id", "scheme", "port", "robots_body", "robots_status", "robots_at", "crawl_delay")


def origin_rows(connection: sa.Connection, host_ids: Sequence[int]) -> list[OriginRow]:
    """Return what is known of the origins of some hosts."""
    rows: list[OriginRow] = []
    for part in dialect.chunks(host_ids):
        query = sa.select(*(_ORIGIN.c[name] for name in _ORIGIN_COLUMNS)).where(_ORIGIN.c.host_id.in_(part))
        rows.extend(OriginRow(*row) for row in connection.execute(query))
    return rows


def origin_row(connection: sa.Connection, robots_url: str) -> OriginRow | None:
    """Return what is known of the robots.txt at an address; None where it is no origin's own, or not known."""
    parts = urls.parse(robots_url)
    if parts.path != "/robots.txt" or parts.query is not None:
        return None
    host = sa.select(Host.id).where(Host.name == urls.host(robots_url)).scalar_subquery()
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    columns = (_ORIGIN.c[name] for name in _ORIGIN_COLUMNS)
    query = sa.select(*columns).where(
        _ORIGIN.c.host_id == host, _ORIGIN.c.scheme == parts.scheme, _ORIGIN.c.port == port
    )
    row = connection.execute(query).first()
    return None if row is None else OriginRow(*row)


def save_origins(connection: sa.Connection, rows: Sequence[OriginRow]) -> None:
    """Write down the robots.txt of origins."""
    values = [{name: getattr(row, name) for name in _ORIGIN_COLUMNS} for row in rows]
    if values:
        connection.execute(_saved(connection), values)


@dialect.once
def _saved(connection: sa.Connection) -> sa.Insert:
    insert = dialect.insert(connection, _ORIGIN)
    fresh = {name: insert.excluded[name] for name in _ORIGIN_COLUMNS[3:]}
    return insert.on_conflict_do_update(index_elements=["host_id", "scheme", "port"], set_=fresh)
