"""The demo's database is new each time, and nobody else's is ever lost to it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from spider.demo import make_way
from spider.errors import InputError, StorageError
from spider.store import Database


def tables(path: Path) -> set[str]:
    """Return the names of a database's tables."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_demos_database_gives_way_to_the_next(tmp_path: Path) -> None:
    """A used database of a demo, with all files beside it, is replaced by an empty one."""
    path = tmp_path / "demo.db"
    make_way(path)
    with Database.open(str(path)) as database, database.read():
        pass
    assert "SeedLink" in tables(path)
    make_way(path)
    assert tables(path) == set()
    assert [file.name for file in tmp_path.iterdir()] == ["demo.db"]


def test_a_demo_that_was_cut_short_gives_way_too(tmp_path: Path) -> None:
    """The mark is there before anything else: a demo's database can be told even if nothing followed."""
    path = tmp_path / "demo.db"
    make_way(path)
    make_way(path)
    assert tables(path) == set()


def test_a_spider_opens_the_marked_database(tmp_path: Path) -> None:
    """To the store a new demo's database is an empty one, and stays marked when it is in use."""
    path = tmp_path / "demo.db"
    make_way(path)
    with Database.open(str(path)) as database, database.read():
        make_way(tmp_path / "other.db")
    make_way(path)


@pytest.mark.parametrize("content", [b"a letter", b"SQLite format 3\0 but cut short"])
def test_another_file_is_left_alone(content: bytes, tmp_path: Path) -> None:
    """What is not a demo's database stays as it is."""
    path = tmp_path / "demo.db"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a demo's database"):
        make_way(path)
    assert path.read_bytes() == content


def test_a_crawls_database_is_left_alone(tmp_path: Path) -> None:
    """A spider's database that was not made by the demo stays as it is."""
    path = tmp_path / "spider.db"
    with Database.open(str(path)) as database, database.read():
        pass
    with pytest.raises(InputError, match=r"not a demo's database.* --db"):
        make_way(path)
    assert "SeedLink" in tables(path)


def test_directories_devices_and_dangling_links_are_left_alone(tmp_path: Path) -> None:
    """Only a regular file can give way."""
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    for path in (tmp_path, Path(os.devnull), dangling):
        with pytest.raises(InputError, match="not a demo's database"):
            make_way(path)
    assert dangling.is_symlink()


def test_an_empty_file_may_be_used(tmp_path: Path) -> None:
    """An empty file holds nothing that could be lost."""
    path = tmp_path / "demo.db"
    path.touch()
    make_way(path)
    assert path.stat().st_size > 0


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """A missing directory is a storage error of one line."""
    with pytest.raises(StorageError, match=r"cannot make the database .*demo.db: unable to open"):
        make_way(tmp_path / "no" / "demo.db")
