"""The record of crawls: each begins a Run and says how it ended."""

from __future__ import annotations

import sqlalchemy as sa

from spider.store.schema import Run

__all__ = ["begin", "end", "ended"]


def begin(connection: sa.Connection, *, now: int) -> int:
    """Write down that a crawl begins; returns its number."""
    return int(connection.execute(sa.insert(Run).values(began_at=now, pages=0).returning(Run.id)).scalar_one())


def end(connection: sa.Connection, run_id: int, *, now: int, why: str, counts: str) -> None:
    """Write down that it ended, why, and what it did (a JSON object)."""
    connection.execute(sa.update(Run).where(Run.id == run_id).values(ended_at=now, why=why, counts=counts))


def ended(connection: sa.Connection, *, began_by: int) -> int | None:
    """Return when the crawls that began up to a moment had all ended; None where there was none."""
    moment: int | None = connection.scalar(sa.select(sa.func.max(Run.ended_at)).where(Run.began_at <= began_by))
    return moment
