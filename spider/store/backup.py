"""Copies of a database file, made while others read and write it, and the room that its disk has.

A copy is whole or not there: it is made beside its name and takes it at the end.  SQLite alone; the tools
of PostgreSQL are better at their own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from spider.errors import StorageError

__all__ = ["copy", "free_bytes"]

PAGES = 4096  # pages copied at once, so that a signal need not wait for the end
PART = ".part"


def copy(source: Path, target: Path) -> int:
    """Copy a database file as it stands at one moment, and return the size in bytes; one at `target` is replaced.

    The copy has the permissions of the original.  StorageError where it cannot be made; then `target` is as it was.
    """
    part = target.with_name(f"{target.name}.{os.getpid()}{PART}")  # two at once do not meet
    try:
        with _told(source, target):
            _make(source, part)
            part.replace(target)
            return target.stat().st_size
    finally:
        for rest in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                part.with_name(part.name + rest).unlink()


def _make(source: Path, part: Path) -> None:
    mode = source.stat().st_mode & 0o777
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode & 0o600))
    with (
        contextlib.closing(sqlite3.connect(source, isolation_level=None)) as given,
        contextlib.closing(sqlite3.connect(part, isolation_level=None)) as taken,
    ):
        # One moment for all of it: without a transaction the copying begins anew whenever a crawl writes.
        given.execute("BEGIN")
        given.execute("SELECT count(*) FROM sqlite_master")
        given.backup(taken, pages=PAGES, sleep=0)
        given.execute("COMMIT")
    part.chmod(mode)


@contextlib.contextmanager
def _told(source: Path, target: Path) -> Iterator[None]:
    """Turn what goes wrong into one line."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        msg = f"cannot copy {source} to {target}: {reason.lower()}"
        raise StorageError(msg) from error


def free_bytes(path: Path) -> int | None:
    """Return how many bytes are free on the disk that a file is on; None where nobody can tell."""
    try:
        return shutil.disk_usage(path.resolve().parent).free
    except OSError:
        return None
