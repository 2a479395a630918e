"""Tell what was met before, however much that is: hashes in a scratch file of SQLite's own, not in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

from spider.store.ask import MediaRow

__all__ = ["once"]

CACHE = "PRAGMA cache_size = -4096"


def once(rows: Iterable[MediaRow]) -> Iterator[MediaRow]:
    """Yield each medium the first time that it comes, on whatever page; its address is known by 64 bits of it."""
    with closing(sqlite3.connect("", isolation_level=None)) as scratch:  # a file that is gone when it is closed
        for pragma in (CACHE, "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"):
            scratch.execute(pragma)
        scratch.execute("CREATE TABLE met (h INTEGER PRIMARY KEY)")
        scratch.execute("BEGIN")
        for row in rows:
            if scratch.execute("INSERT OR IGNORE INTO met VALUES (?)", (hash(row.media),)).rowcount:
                yield row
