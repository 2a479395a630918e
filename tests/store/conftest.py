"""Fresh databases on both engines."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from spider.store import Database
from tests.postgres import address, common, new_postgres, postgres_address, sqlite_template

__all__ = ["address", "common", "new_postgres", "postgres_address", "sqlite_template"]


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    """Give that database, open."""
    with Database.open(address) as opened:
        yield opened


@pytest.fixture
def sqlite_database(tmp_path: Path, sqlite_template: Path) -> Iterator[Database]:
    """Give a fresh SQLite database, open, for what only SQLite does."""
    path = tmp_path / "only.db"
    shutil.copyfile(sqlite_template, path)
    with Database.open(str(path)) as opened:
        yield opened
