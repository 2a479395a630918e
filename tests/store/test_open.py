"""Laws of opening a database: what is made, what is taken as it is, and one clear line for what is refused."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from spider import store
from spider import url as urls
from spider.errors import SettingError, StorageError
from spider.store import Database, schema
from spider.store.database import address_of, migrations
from tests.conftest import ROOT, environment

SPAWN = multiprocessing.get_context("spawn")


def refusal(address: str, *, create: bool = True) -> str:
    """Return the one line that opening ends with."""
    with pytest.raises(StorageError) as caught:
        Database.open(address, create=create).close()
    line = str(caught.value)
    assert line.strip()
    assert "\n" not in line
    return line


def facts(address: str) -> tuple[str | None, str | None]:
    """Return the revision and the key ladder that a database holds."""
    with Database.open(address) as database, database.read() as connection:
        revision = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
        ladder = connection.scalar(sa.select(schema.Meta.value).where(schema.Meta.key == "key_ladder"))
    return revision, ladder


# --- what is opened -------------------------------------------------------------------------------


def test_new_file(tmp_path: Path) -> None:
    """A path with nothing at it becomes a database at the newest revision with the ladder of its keys."""
    assert facts(str(tmp_path / "x.db")) == (schema.HEAD, urls.KEY_LADDER)


def test_empty_file(tmp_path: Path) -> None:
    """A file of no bytes is a database that nothing was written to yet."""
    (tmp_path / "x.db").touch()
    assert facts(str(tmp_path / "x.db")) == (schema.HEAD, urls.KEY_LADDER)


def test_opening_again_changes_nothing(address: str) -> None:
    """What is in a database is there when it is opened again, also by one who must not make it."""
    with Database.open(address) as database, database.write() as connection:
        connection.execute(sa.insert(schema.Forgotten).values(target="a.test", at=1))
    with Database.open(address, create=False) as database, database.read() as connection:
        assert connection.scalars(sa.select(schema.Forgotten.target)).all() == ["a.test"]


def test_a_name_that_needs_quoting(tmp_path: Path) -> None:
    """A path is a path, whatever characters are in it."""
    path = tmp_path / "a b?c#d%20é.db"
    assert facts(str(path))[0] == schema.HEAD
    assert path.exists()
    assert facts(f"sqlite:///{tmp_path}/y.db")[0] == schema.HEAD
    assert (tmp_path / "y.db").exists()


TOLD = {
    "sqlite": """
        SELECT name, '', sql FROM sqlite_master
        UNION ALL SELECT made.name, held.cid, held.name FROM sqlite_master AS made, pragma_table_info(made.name) AS held
        """,
    "postgresql": """
        SELECT table_name, column_name, ordinal_position || data_type || is_nullable || coalesce(column_default, '')
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'""",
}
"""How each engine tells of all tables, columns, keys and indexes."""


def definitions(connection: sa.Connection) -> set[tuple[object, ...]]:
    """Return what the engine itself says of its tables, whatever the order that their keys are told in."""
    rows = connection.exec_driver_sql(TOLD[connection.dialect.name])
    return {(*row[:2], *sorted(line.strip(" \t,") for line in str(row[2]).splitlines())) for row in rows}


def migrate(connection: sa.Connection) -> None:
    """Give an empty database the schema by its migrations, from the first to the last."""
    config = Config()
    config.set_main_option("script_location", str(migrations()))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_models_equal_migrations(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A new database, which is made from the models, is on either engine what the migrations would have made."""
    names = itertools.count()
    new = request.getfixturevalue("new_postgres") if engine == "postgresql" else lambda: f"{tmp_path}/{next(names)}.db"
    with Database.open(new()) as made, made.read() as connection:
        found = definitions(connection)
    old = sa.create_engine(address_of(new()))
    with old.begin() as connection:
        migrate(connection)
        assert definitions(connection) == found
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.Base.metadata) == []
    old.dispose()


def make(address: str, start: object) -> None:
    """Open a database the moment that all are ready."""
    start.wait(30)  # type: ignore[attr-defined]  # a barrier of another process
    Database.open(address).close()


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_made_by_many_at_once(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Processes that make one database at the same moment all get it, and it is made once."""
    new = request.getfixturevalue("new_postgres") if engine == "postgresql" else lambda: str(tmp_path / "x.db")
    address, start = new(), SPAWN.Barrier(2)
    makers = [SPAWN.Process(target=make, args=(address, start)) for _ in range(2)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join(60)
    assert [maker.exitcode for maker in makers] == [0, 0]
    assert facts(address) == (schema.HEAD, urls.KEY_LADDER)


def test_pragmas(sqlite_database: Database) -> None:
    """Each connection to SQLite is in WAL mode, writes with synchronous NORMAL and waits thirty seconds."""
    expected = {"journal_mode": "wal", "synchronous": 1, "busy_timeout": 30_000, "mmap_size": 64 << 20}
    with sqlite_database.read() as one, sqlite_database.write() as other:
        for connection in (one, other):
            asked = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in expected}
            assert asked == expected


def test_a_read_sees_one_moment(database: Database) -> None:
    """A reading transaction does not see what is written after it began to read."""
    target = sa.select(schema.Forgotten.target)
    with database.read() as connection:
        assert connection.scalars(target).all() == []
        with database.write() as other:
            other.execute(sa.insert(schema.Forgotten).values(target="a.test", at=1))
        assert connection.scalars(target).all() == []


def test_a_write_that_fails_leaves_no_trace(database: Database) -> None:
    """A block that raises commits nothing."""

    def half() -> None:
        with database.write() as connection:
            connection.execute(sa.insert(schema.Forgotten).values(target="a.test", at=1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    with database.read() as connection:
        assert connection.scalars(sa.select(schema.Forgotten.target)).all() == []


# --- what is refused ------------------------------------------------------------------------------


def test_text_is_no_database(tmp_path: Path) -> None:
    """A file of another kind is refused and stays as it was."""
    path = tmp_path / "x.db"
    path.write_text("http://a.test/\n" * 100)
    assert "is not a database" in refusal(str(path))
    assert path.read_text() == "http://a.test/\n" * 100
    assert list(tmp_path.iterdir()) == [path]


def test_a_broken_database(tmp_path: Path) -> None:
    """A file that begins as SQLite's do and goes on as noise is refused."""
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 32)
    refusal(str(path))


def test_a_cut_database(tmp_path: Path, sqlite_template: Path) -> None:
    """A database that lost its end is refused when its tables are asked."""
    path = tmp_path / "x.db"
    path.write_bytes(sqlite_template.read_bytes()[:5000])
    refusal(str(path))


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("table", ["bookmarks", "alembic_version"])
def test_another_programs_database(mode: str, table: str, tmp_path: Path) -> None:
    """Another program's database is refused, and neither its content nor its journal mode changes."""
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE stars (url TEXT)")
        connection.execute(f"CREATE TABLE {table} (version_num TEXT)")
    connection.close()
    before = path.read_bytes()
    assert "not a spider's" in refusal(str(path))
    assert path.read_bytes() == before


def test_another_programs_postgres(new_postgres: Callable[[], str]) -> None:
    """So is a PostgreSQL database with other tables in it."""
    address = new_postgres()
    engine = sa.create_engine(address)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE bookmarks (url TEXT)"))
    engine.dispose()
    assert "not a spider's" in refusal(address)


def test_a_directory(tmp_path: Path) -> None:
    """A directory is refused as one."""
    assert "is a directory" in refusal(str(tmp_path))


@pytest.mark.parametrize("name", ["pipe", "device"])
def test_no_file(name: str, tmp_path: Path) -> None:
    """What is neither file nor directory is refused at once: nobody waits at a pipe."""
    path = tmp_path / "pipe" if name == "pipe" else Path("/dev/null")
    if name == "pipe":
        os.mkfifo(path)
    assert "is not a file, not" in refusal(str(path))


def test_no_parent(tmp_path: Path) -> None:
    """A file in a directory that is not there is refused, and names the directory."""
    assert "no directory" in refusal(str(tmp_path / "no" / "x.db"))
    (tmp_path / "file").touch()
    refusal(str(tmp_path / "file" / "x.db"))


def test_where_nobody_may_write() -> None:
    """A place where no file can be made is refused, whoever asks."""
    assert "/proc/x.db" in refusal("/proc/x.db")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root may become another user")
@pytest.mark.parametrize("what", ["file", "directory"])
def test_where_this_user_may_not_write(what: str, sqlite_template: Path) -> None:
    """A user who may read but not write gets one line and exit code 5's error, not a trace."""
    path = Path("/tmp") / f"spider-{os.getpid()}-{what}" / "x.db"  # noqa: S108  # pytest's folder is closed to others
    path.parent.mkdir(mode=0o777)
    try:
        if what == "file":
            shutil.copyfile(sqlite_template, path)
            path.chmod(0o444)
        path.parent.chmod(0o755)
        code = (
            "import sys; from spider.errors import StorageError; from spider.store import Database\n"
            "try: Database.open(sys.argv[1])\nexcept StorageError as error: print(error)"
        )
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", sys.executable, "-c", code]
        run = subprocess.run(
            [*command, str(path)], env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
        )
    finally:
        shutil.rmtree(path.parent)
    assert run.stdout.count("\n") == 1
    assert str(path) in run.stdout


def test_create_false(tmp_path: Path) -> None:
    """One who must not make a database is told that there is none, and none is made."""
    assert "there is no database" in refusal(str(tmp_path / "x.db"), create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", [":memory:", "sqlite://", "sqlite:///:memory:", ""])
def test_memory(address: str) -> None:
    """A database in memory is refused: each connection would have its own."""
    assert "must be a file" in refusal(address)


def test_a_newer_schema(address: str) -> None:
    """A database of a newer spider is refused and keeps its revision."""
    newer = sa.text("UPDATE alembic_version SET version_num = :revision")
    with Database.open(address) as database, database.write() as connection:
        connection.execute(newer, {"revision": "9999"})
    try:
        assert "newer spider" in refusal(address)
        engine = sa.create_engine(address if "://" in address else f"sqlite:///{address}")
        with engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "9999"
    finally:
        with engine.begin() as connection:
            connection.execute(newer, {"revision": schema.HEAD})
        engine.dispose()


def test_a_database_keeps_its_key_ladder(tmp_path: Path) -> None:
    """The ladder that a database was made with holds for good: asked for or not, and never another one."""
    address = str(tmp_path / "x.db")
    with Database.open(address, ladder=" www,escapes, www") as database:
        assert database.ladder == "escapes,www"
    with Database.open(address) as database:
        assert database.ladder == "escapes,www"
        with database.read() as connection:
            assert store.ladder_of(connection) == "escapes,www"
        with database.write() as connection:
            assert store.ladder_of(connection) == "escapes,www"
    for other in ("", urls.KEY_LADDER):
        with pytest.raises(StorageError) as caught:
            Database.open(address, ladder=other)
        assert "escapes,www" in str(caught.value)
        assert (other or "no steps") in str(caught.value)


def test_a_ladder_of_no_steps(tmp_path: Path) -> None:
    """A ladder may merge nothing at all; a step that there is none of is refused before a file is made."""
    with Database.open(str(tmp_path / "x.db"), ladder="") as database:
        assert database.ladder == ""
    with pytest.raises(SettingError, match="no step 'lift'"):
        Database.open(str(tmp_path / "y.db"), ladder="lift")
    assert not (tmp_path / "y.db").exists()


def test_a_key_ladder_of_steps_unknown(address: str) -> None:
    """A database whose links were told apart in a way unknown here is refused, with the ladder named."""
    fact = sa.update(schema.Meta).where(schema.Meta.key == "key_ladder")
    with Database.open(address) as database:
        with database.write() as connection:
            connection.execute(fact.values(value="escapes,lift"))
        try:
            line = refusal(address)
        finally:
            with database.write() as connection:
                connection.execute(fact.values(value=urls.KEY_LADDER))
    assert "escapes,lift" in line


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://host:port/x",
        "://",
        "x://y",
        "oracle://h/x",
        "mysql://h/x",
        "mysql+nodriver://h/x",
        "sqlite+nodriver:///x.db",
        "sqlite:////tmp/x.db?nonsense=1",
        "postgresql+psycopg:///x?nonsense=1",
        "a\0b.db",
        "x" * 5000,
    ],
)
def test_no_address(address: str) -> None:
    """What is no address, or none of an engine that the spider knows, is one line."""
    refusal(address)


def test_a_password_is_not_shown() -> None:
    """No line that opening ends with holds the password that was in the address."""
    for address in ("postgresql://me:secret@host:port/x", "postgresql://me:secret@127.0.0.9:1/x", "x://me:secret@y"):
        assert "secret" not in refusal(address)


def test_postgres_is_not_there(new_postgres: Callable[[], str]) -> None:
    """A server that refuses, and one without that database, are one line each."""
    refusal("postgresql://127.0.0.9:1/x")
    missing = sa.make_url(new_postgres()).set(database="missing").render_as_string(hide_password=False)
    assert "missing" in refusal(missing)


@pytest.fixture
def deaf() -> Iterator[int]:
    """Give the port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.9", 0)) as server:
        yield server.getsockname()[1]


def test_postgres_that_does_not_answer(deaf: int) -> None:
    """A server that says nothing is given up when its time is over."""
    refusal(f"postgresql://127.0.0.9:{deaf}/x?connect_timeout=2")
