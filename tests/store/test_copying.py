"""Laws of moving a crawl to another engine: all rows, each with its number, or none; the copy goes on by itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from spider.errors import StorageError
from spider.model import LinkState
from spider.store import Database, care, copying, frontier, hosts, workers
from spider.store.schema import Base, Meta, table
from tests.report.filled import fill
from tests.store.things import LINK, check_counters, new_link, one_link, rows, seed, take, worker, writing


def everything(database: Database) -> dict[str, set[tuple[Any, ...]]]:
    """Return all rows of all tables."""
    with database.read() as connection:
        return {
            each.name: {tuple(row) for row in connection.execute(sa.select(each))}
            for each in Base.metadata.sorted_tables
        }


def test_there_and_back(tmp_path: Path, new_postgres: Callable[[], str]) -> None:
    """A crawl that goes from SQLite to PostgreSQL and back is the one that it was, row by row."""
    fill(tmp_path / "first.db")
    names = [str(tmp_path / "first.db"), new_postgres(), str(tmp_path / "second.db")]
    for source, target in itertools.pairwise(names):
        with Database.open(source) as there, Database.open(target) as here:
            total = copying.row_count(there)
            assert [*copying.copied(there, here)][-1] == total
    found = []
    for name in names:
        with Database.open(name) as database:
            found.append(everything(database))
            assert list(care.faults(database)) == []
    assert found[0] == found[1] == found[2]
    assert sum(map(len, found[0].values())) == total + len(found[0][table(Meta).name])


def test_the_copy_goes_on(sqlite_database: Database, new_postgres: Callable[[], str]) -> None:
    """What was in a worker's hands waits in the copy, its hosts are free, and new rows get numbers of their own."""
    one_link(sqlite_database)
    with Database.open(new_postgres()) as target:
        assert [*copying.copied(sqlite_database, target)]
        assert rows(target, LINK, "id", "state") == [(1, LinkState.W)]
        with writing(target) as (connection, tally):
            assert workers.rows(connection) == []
            frontier.add(connection, [new_link(f"http://b.test/{n}", 1) for n in range(3)], tally)
            me = worker(connection, 2)
            assert len(take(connection, me, tally)) == 4
            assert len(hosts.leased_names(connection, most=9)) == 2
        assert rows(target, LINK, "id") == [(1,), (2,), (3,), (4,)]
        with target.read() as connection:
            check_counters(connection)
    assert rows(sqlite_database, LINK, "id", "state") == [(1, LinkState.R)]


def test_only_into_an_empty_one(sqlite_database: Database, address: str) -> None:
    """A target with rows is refused and left as it is."""
    one_link(sqlite_database)
    with Database.open(address) as target:
        with writing(target) as (connection, _):
            seed(connection, "http://other.test/")
        before = everything(target)
        with pytest.raises(StorageError, match=r"is not empty: SeedLink has rows"):
            list(copying.copied(sqlite_database, target))
        assert everything(target) == before


def test_all_or_nothing(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that breaks off, or whose numbers differ, leaves the target empty."""
    with writing(sqlite_database) as (connection, tally):
        frontier.add(connection, [new_link(f"http://a.test/{n}", seed(connection)) for n in range(9)], tally)
    insert = copying._insert
    monkeypatch.setattr(copying, "_insert", lambda c, each, names, found: insert(c, each, names, found[:5]))
    with Database.open(str(tmp_path / "target.db")) as target:
        with pytest.raises(StorageError, match=r"CrawlerLink: 9 rows were to be copied, 9 were, 5 are there"):
            list(copying.copied(sqlite_database, target))
        assert copying.row_count(target) == 0


def test_statistics_are_there(sqlite_database: Database, tmp_path: Path) -> None:
    """The copy knows its own sizes, so that its first questions are answered by the right indexes."""
    one_link(sqlite_database)
    with Database.open(str(tmp_path / "target.db")) as target:
        assert [*copying.copied(sqlite_database, target)]
        with target.read() as connection:
            assert connection.scalar(sa.text("SELECT count(*) FROM sqlite_stat1"))
