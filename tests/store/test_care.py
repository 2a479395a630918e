"""Laws of care: a sound database has no fault, every kind of damage is found, a copy is whole or not there."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from spider.errors import StorageError
from spider.model import Reason, Relation
from spider.store import Database, backup, care, catalog, database, frontier, schema
from tests.store.things import (
    HOST,
    LIMIT,
    LINK,
    a_link,
    a_medium,
    check_counters,
    fetched,
    new_link,
    one_link,
    seed,
    take,
    writing,
)


@pytest.fixture
def filled(address: str) -> Iterator[Database]:
    """Give a database with links in every state, a page, media, a link out and a refusal, on either engine."""
    with Database.open(address) as opened:
        worker_id, request = one_link(opened)
        out = a_link("http://elsewhere.test/", relation=Relation.EXTERNAL)
        shown = fetched(
            request,
            a_medium("http://a.test/v.mp4"),
            links=tuple((a_link(f"http://a.test/{name}"), request.seed_id) for name in "bcd"),
            refused=((out, "tree"), (a_link("http://a.test/x"), "depth")),
        )
        with writing(opened) as (connection, tally):
            catalog.record(connection, worker_id, [shown], tally, now=1, limits={request.seed_id: LIMIT})
            taken = take(connection, worker_id, tally)
            failures = [frontier.Failure(taken[0].link_id, Reason.TIMEOUT, "slow")]
            frontier.fail(connection, worker_id, failures, tally)
            frontier.release(connection, worker_id, tally, [taken[1].link_id])
        yield opened


def kinds(opened: Database) -> list[str]:
    """Return the kinds of the faults that are found."""
    return [fault.kind for fault in care.faults(opened)]


def test_a_sound_one_has_no_fault(filled: Database) -> None:
    """Links in all four states, with all that hangs on them, are no fault."""
    assert list(care.faults(filled)) == []
    with filled.write() as connection:
        assert care.recount(connection) == 0


DAMAGE = [
    ("UPDATE \"Count\" SET value = value + 1 WHERE name = 'W'", ["counters"]),
    ("UPDATE \"Count\" SET value = 7 WHERE name = 'relation.downward'", ["counters"]),
    ("DELETE FROM \"Count\" WHERE name = 'C'", ["counters"]),
    ("INSERT INTO \"Count\" (seed_id, name, value) VALUES (99, 'E', 3)", ["counters"]),
    ('UPDATE "Host" SET waiting = waiting + 2', ["counters"]),
    ('UPDATE "CrawlerLink" SET worker_id = NULL WHERE state = 2', ["states"]),
    ('UPDATE "CrawlerLink" SET worker_id = 1 WHERE state = 1', ["states"]),
    ('UPDATE "CrawlerLink" SET reason = NULL WHERE state = 4', ["states"]),
    ('UPDATE "CrawlerLink" SET reason = 3 WHERE state = 3', ["states"]),
    ('UPDATE "CrawlerLink" SET retry_at = 3 WHERE state = 3', ["states"]),
    ('UPDATE "CrawlerLink" SET state = 9, reason = NULL WHERE state = 4', ["states", "counters"]),
    ('DELETE FROM "Page"', ["states"]),
    ('UPDATE "CrawlerLink" SET parent_id = 999 WHERE state = 4', ["orphans"]),
    ('UPDATE "Page" SET copy_of = 999', ["orphans"]),
    ('UPDATE "OutLink" SET page_id = 999', ["orphans"]),
    ('UPDATE "Skipped" SET page_id = 999', ["orphans"]),
    ('UPDATE "Video" SET state_id = 999', ["orphans"]),
]


def test_damage_is_found(filled: Database) -> None:
    """Whatever does not fit is found, on either engine; counters, and they alone, can be set right."""
    for statement, found in DAMAGE:
        with filled.engine.connect() as connection:
            assert connection.exec_driver_sql(statement).rowcount, statement
            assert [fault.kind for fault in care.faults_at(connection)] == found, statement
            assert bool(care.recount(connection)) == ("counters" in found), statement
            rest = [kind for kind in found if kind != "counters"]
            assert [fault.kind for fault in care.faults_at(connection)] == rest, statement
            if not rest:
                check_counters(connection)
            connection.rollback()
    assert kinds(filled) == []


@pytest.mark.parametrize(
    "statement", ['DELETE FROM "SeedLink"', 'DELETE FROM "Host"', 'UPDATE "Video" SET page_id = 999']
)
def test_orphans_that_one_engine_forbids(sqlite_database: Database, statement: str) -> None:
    """On SQLite, which does not hold rows to what they name, rows without it are found."""
    one_link(sqlite_database)
    with writing(sqlite_database) as (connection, tally):
        frontier.add(connection, [new_link("http://a.test/b", 1)], tally)
        connection.exec_driver_sql(
            'INSERT INTO "Video" (page_id, url_hash, url, source, confidence, first_seen, last_seen) '
            "VALUES (1, 1, 'http://a.test/v', 'a@href', 1, 1, 1)"
        )
    assert kinds(sqlite_database) == []
    with sqlite_database.write() as connection:
        connection.exec_driver_sql(statement)
    assert "orphans" in kinds(sqlite_database)


def test_many_wrong_counters_are_few_lines(sqlite_database: Database) -> None:
    """Of many wrong counters the first are told, and how many more there are."""
    with writing(sqlite_database) as (connection, tally):
        number = seed(connection)
        frontier.add(connection, [new_link(f"http://h{n}.test/", number) for n in range(50)], tally)
    with sqlite_database.write() as connection:
        connection.execute(sa.update(HOST).values(waiting=5))
    found = list(care.faults(sqlite_database))
    assert len(found) == care.SHOWN + 1
    assert found[0].text == "host h0.test: waiting is kept as 5, counted 1"
    assert found[-1].text == "and 30 more"


def test_a_damaged_file(sqlite_database: Database) -> None:
    """A file whose pages are overwritten is told as that, in one line each, and nothing else is raised."""
    with writing(sqlite_database) as (connection, tally):
        number = seed(connection)
        frontier.add(connection, [new_link(f"http://h.test/{n}", number) for n in range(500)], tally)
    assert sqlite_database.path is not None
    care.vacuum(sqlite_database)
    sqlite_database.close()
    with sqlite_database.path.open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(size // 2)
        file.write(b"\xff" * (size // 3))
    found = list(care.faults(sqlite_database))
    assert found[0].kind == "integrity"
    assert all("\n" not in fault.text for fault in found)


def test_vacuum_gives_space_back(filled: Database) -> None:
    """After much was deleted the file is smaller, and all that was kept is there; PostgreSQL takes it too."""
    with writing(filled) as (connection, tally):
        number = seed(connection)
        links = [new_link(f"http://a.test/{'long' * 50}{n}", number) for n in range(2000)]
        frontier.add(connection, links, tally)
    care.vacuum(filled)
    before = filled.path.stat().st_size if filled.path else 0
    with filled.write() as connection:
        connection.execute(sa.delete(LINK).where(LINK.c.url.contains("longlong")))
        care.recount(connection)
    care.vacuum(filled)
    if filled.path:
        assert filled.path.stat().st_size < before / 2
    assert kinds(filled) == []


# --- copies ---------------------------------------------------------------------------------------


def test_a_copy_while_others_write(sqlite_database: Database, tmp_path: Path) -> None:
    """A copy made while a writer is at work is sound, of one moment, and waits for nobody."""
    stop, written = threading.Event(), [0]
    with writing(sqlite_database) as (connection, _):
        number = seed(connection)

    def write() -> None:
        while not stop.is_set():
            with writing(sqlite_database) as (connection, tally):
                frontier.add(
                    connection, [new_link(f"http://h.test/{written[0]}-{n}", number) for n in range(50)], tally
                )
            written[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        while written[0] < 3:
            stop.wait(0.01)
        assert sqlite_database.path is not None
        for name in ("one.db", "two.db"):
            before = written[0]
            assert backup.copy(sqlite_database.path, tmp_path / name) == (tmp_path / name).stat().st_size
            with Database.open(str(tmp_path / name)) as copied, copied.read() as connection:
                links = connection.scalar(sa.select(sa.func.count()).select_from(LINK)) or 0
                check_counters(connection)
            with Database.open(str(tmp_path / name)) as copied:
                assert kinds(copied) == []
            assert before * 50 <= links <= written[0] * 50 + 50
            assert links % 50 == 0
    finally:
        stop.set()
        thread.join()
    assert not list(tmp_path.glob("*.part*"))


def test_a_copy_keeps_its_permissions(sqlite_database: Database, tmp_path: Path) -> None:
    """Who may not read the database may not read the copy."""
    assert sqlite_database.path is not None
    sqlite_database.path.chmod(0o640)
    backup.copy(sqlite_database.path, tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o640


def test_a_copy_that_breaks_off(sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that cannot be made is one line, leaves nothing behind and replaces nothing."""
    assert sqlite_database.path is not None
    (tmp_path / "old").write_text("as it was")
    with pytest.raises(StorageError, match=r"cannot copy .* to .*: no such file or directory"):
        backup.copy(sqlite_database.path, tmp_path / "nowhere" / "copy")

    def connect(*_: object, **__: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(StorageError, match=r"cannot copy .* to .*: database or disk is full"):
        backup.copy(sqlite_database.path, tmp_path / "old")
    assert (tmp_path / "old").read_text() == "as it was"
    assert not list(tmp_path.glob("*.part*"))


# --- upgrades -------------------------------------------------------------------------------------

NEXT = '''"""A later revision, for tests."""

import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "{before}"
branch_labels = depends_on = None


def upgrade() -> None:
    """Go to this revision."""
    op.add_column("Meta", sa.Column("more", sa.Text()))
    {more}
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Give a function that makes the program one of a later schema, whose upgrade does `more`."""

    def make(more: str = "") -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(database.migrations(), folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / "0002_more.py").write_text(NEXT.format(before=schema.HEAD, more=more))
        monkeypatch.setattr(database, "migrations", lambda: folder)
        monkeypatch.setattr(schema, "HEAD", "0002")

    return make


def revision(path: Path) -> str:
    """Return the revision that a file says it has."""
    with sqlite3.connect(path) as connection:
        found: str = connection.execute("SELECT version_num FROM alembic_version").fetchone()[0]
    return found


def test_an_upgrade_keeps_a_copy(sqlite_database: Database, later: Callable[..., None]) -> None:
    """An older schema is upgraded when it is opened; the file as it was is kept beside it, sound and whole."""
    one_link(sqlite_database)
    before, path = schema.HEAD, sqlite_database.path
    assert path is not None
    sqlite_database.close()
    later()
    with Database.open(str(path)) as opened:
        kept = path.with_name(f"{path.name}.before-0002")
        assert (opened.upgraded_from, opened.kept_copy) == (before, kept)
        assert kinds(opened) == []
    assert (revision(path), revision(kept)) == ("0002", before)
    with sqlite3.connect(kept) as connection:
        assert connection.execute('SELECT count(*) FROM "CrawlerLink"').fetchone() == (1,)
    with Database.open(str(path)) as opened:
        assert (opened.upgraded_from, opened.kept_copy) == (None, None)


def test_an_upgrade_that_fails(
    sqlite_database: Database, later: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the upgrade fails, or its copy cannot be made, the file is as it was and can be opened by what made it."""
    one_link(sqlite_database)
    before, path = schema.HEAD, sqlite_database.path
    assert path is not None
    sqlite_database.close()
    with monkeypatch.context() as patched:
        later("op.execute('INSERT INTO nowhere VALUES (1)')")
        with pytest.raises(Exception, match="nowhere"):
            Database.open(str(path))
        assert revision(path) == before

        def full(*_: object) -> int:
            raise StorageError("cannot copy: disk is full")

        patched.setattr(backup, "copy", full)
        with pytest.raises(StorageError, match="disk is full"):
            Database.open(str(path))
    assert revision(path) == before


def test_no_copy_without_need(tmp_path: Path, address: str, later: Callable[..., None]) -> None:
    """A new file, one of a newer schema, and PostgreSQL, whose upgrade is one transaction, leave no copy."""
    with Database.open(str(tmp_path / "new.db")) as opened:
        assert opened.kept_copy is None
    with sqlite3.connect(tmp_path / "new.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    later()
    with pytest.raises(StorageError, match="newer spider"):
        Database.open(str(tmp_path / "new.db"))
    if "://" not in address:
        Database.open(address).close()
    assert [file.name for file in tmp_path.glob("*.before-*")] == (["x.db.before-0002"] if "://" not in address else [])
