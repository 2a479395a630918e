"""Where a demo keeps its database: a new one each time, and never in place of anybody else's.

A demo's database carries a mark in its header (SQLite's application id), which is set before anything else is
in it; only a file with the mark, or an empty one, gives way.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from spider.errors import InputError, StorageError

__all__ = ["APPLICATION_ID", "make_way"]

APPLICATION_ID = 0x5D1DE40
"""The application id of a demo's database (https://www.sqlite.org/fileformat2.html, section 1.2.15)."""

_MAGIC = b"SQLite format 3\0"
_PLACE = slice(68, 72)
_BESIDE = ("", "-wal", "-shm", "-journal")


def make_way(path: Path) -> None:
    """Put a new, empty, marked database at `path`; a demo's own from before goes.

    InputError where something else stands there, StorageError where it cannot be written.
    """
    try:
        if not _may_go(path):
            raise InputError(f"{path} is not a demo's database, so the demo leaves it alone; name another with --db")
        for end in _BESIDE:
            path.with_name(path.name + end).unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(f"cannot make the database {path}: {str(reason).lower()}") from error


def _may_go(path: Path) -> bool:
    """Tell whether nothing of worth stands at `path`."""
    if not path.exists():
        return not path.is_symlink()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(100)
    return not head or (head.startswith(_MAGIC) and head[_PLACE] == APPLICATION_ID.to_bytes(4, "big"))
