"""The record of crawls: each begins a Run and says how it ended."""

from __future__ import annotations

import sqlalchemy as sa

from spider.store import quota
from spider.store.schema import CrawlerLink, Host, Origin, Page, Run, table

__all__ = ["begin", "end", "ended"]


DAY = 86_400_000_000
WRITTEN = {
    Host: ("next_at",),
    CrawlerLink: ("retry_at",),
    Page: ("fetched_at", "changed_at"),
    Origin: ("robots_at",),
    Run: ("began_at", "ended_at"),
}
"""The moments that decide when something is due."""


def begin(connection: sa.Connection, *, now: int) -> int:
    """Write down that a crawl begins; returns its number.

    What a clock that was days ahead wrote down before counts as of now, or nothing would be due until then.
    """
    if (connection.scalar(sa.select(sa.func.max(Run.began_at))) or 0) > now + DAY:
        _set_back(connection, now)
    quota.clear(connection)
    return int(connection.execute(sa.insert(Run).values(began_at=now, pages=0).returning(Run.id)).scalar_one())


def end(connection: sa.Connection, run_id: int, *, now: int, why: str, counts: str) -> None:
    """Write down that it ended, why, and what it did (a JSON object)."""
    connection.execute(sa.update(Run).where(Run.id == run_id).values(ended_at=now, why=why, counts=counts))


def ended(connection: sa.Connection, *, began_by: int) -> int | None:
    """Return when the crawls that began up to a moment had all ended; None where there was none."""
    moment: int | None = connection.scalar(sa.select(sa.func.max(Run.ended_at)).where(Run.began_at <= began_by))
    return moment


def _set_back(connection: sa.Connection, now: int) -> None:
    for model, columns in WRITTEN.items():
        for name in columns:
            column = table(model).c[name]
            connection.execute(sa.update(model).where(column > now).values({name: now}))
