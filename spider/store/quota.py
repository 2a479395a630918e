"""How many pages of each host a run has read, where that is limited: kept for all its workers, and gone with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from spider.store import dialect
from spider.store.schema import Host, Quota, Worker, table

__all__ = ["add", "clear", "left", "read"]

_HOST = table(Host)
_QUOTA = table(Quota)


def read(connection: sa.Connection, run_id: int, host_ids: Sequence[int]) -> dict[int, int]:
    """Return how many pages of some hosts a run has read."""
    mine = sa.select(_QUOTA.c.host_id, _QUOTA.c.pages).where(_QUOTA.c.run_id == run_id)
    found: dict[int, int] = {}
    for part in dialect.chunks(host_ids):
        found.update({row.host_id: row.pages for row in connection.execute(mine.where(_QUOTA.c.host_id.in_(part)))})
    return found


def add(connection: sa.Connection, run_id: int, pages: Mapping[int, int]) -> None:
    """Count pages that were read, by host."""
    rows = [{"run_id": run_id, "host_id": host, "pages": number} for host, number in sorted(pages.items())]
    if rows:
        insert = dialect.insert(connection, _QUOTA)
        more = {"pages": _QUOTA.c.pages + insert.excluded.pages}
        connection.execute(insert.on_conflict_do_update(index_elements=["run_id", "host_id"], set_=more), rows)


def left(run_id: int, most: int) -> sa.ColumnElement[bool]:
    """Return the condition that a run may read more of a host."""
    full = sa.exists().where(_QUOTA.c.run_id == run_id, _QUOTA.c.host_id == _HOST.c.id, _QUOTA.c.pages >= most)
    return sa.not_(full)


def clear(connection: sa.Connection) -> None:
    """Drop what was counted for runs at which nobody is at work any more."""
    here = sa.select(table(Worker).c.run_id).scalar_subquery()
    connection.execute(sa.delete(_QUOTA).where(_QUOTA.c.run_id.not_in(here)))
