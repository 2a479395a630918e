"""Rows of the catalog into records: the columns and their order, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spider.report.formats import Value
from spider.report.text import iso

if TYPE_CHECKING:
    from spider.store.ask import ErrorRow, MediaRow

__all__ = ["ERROR_COLUMNS", "MEDIA_COLUMNS", "error_record", "media_record"]

MEDIA_COLUMNS = (
    *("page", "title", "media", "kind", "text", "source", "seed", "depth", "first_seen", "last_seen"),
    *("health", "status", "type", "size", "moved_to", "checked_at"),
)
"""The report's columns; later ones are appended.  From `health` on they tell what a check found."""

ERROR_COLUMNS = ("url", "reason", "message", "status", "attempt", "retry_at", "seed", "depth", "parent")
"""The columns of the list of errors."""


def media_record(row: MediaRow) -> dict[str, Value]:
    """Return a page with one of its media as a record: times in ISO 8601, the source as ``tag@attribute``."""
    return {
        "page": row.page,
        "title": row.title,
        "media": row.media,
        "kind": str(row.kind),
        "text": row.text,
        "source": str(row.source),
        "seed": row.seed,
        "depth": row.depth,
        "first_seen": iso(row.first_seen),
        "last_seen": iso(row.last_seen),
        "health": None if row.health is None else str(row.health),
        "status": row.status or None,
        "type": row.served,
        "size": row.size,
        "moved_to": row.moved_to,
        "checked_at": None if row.checked_at is None else iso(row.checked_at),
    }


def error_record(row: ErrorRow) -> dict[str, Value]:
    """Return a link in E as a record; `retry_at` is None where it is not tried again by itself."""
    return {
        "url": row.url,
        "reason": str(row.reason),
        "message": row.message,
        "status": row.status,
        "attempt": row.attempt,
        "retry_at": None if row.retry_at is None else iso(row.retry_at),
        "seed": row.seed,
        "depth": row.depth,
        "parent": row.parent,
    }
