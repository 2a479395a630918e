"""One database: opened, brought up to date, asked and written in transactions.

A path is SQLite (WAL, one writer at a time by BEGIN IMMEDIATE, thirty seconds of patience); any other
address is SQLAlchemy's.  Whatever goes wrong leaves here as a `StorageError` of one line.
This file knows connections; what is said over them is `frontier` and `catalog`.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
from sqlalchemy import event, exc

from spider import url as urls
from spider.errors import SettingError, StorageError, StorageLostError
from spider.store import backup, dialect, schema
from spider.store.columns import on_postgresql

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor

__all__ = ["Database", "address_of", "load_driver", "migrations"]

BUSY_SECONDS = 30
SQLITE_MAGIC = b"SQLite format 3\0"
WRITE_LOCK = 0x5B1DE4  # any fixed number: PostgreSQL's advisory lock that makes writers take turns
LOST = ("08", "57P", "40", "53300", "55P03")
"""How PostgreSQL's codes begin where the same may succeed later: connections, its own end, transactions that gave way
to others, too many connections, a lock that stayed taken."""
NO_PRIVILEGE = "42501"  # PostgreSQL's code for what its user may not do
PRAGMAS = ("PRAGMA synchronous = NORMAL", *dialect.KEPT)


def address_of(text: str) -> sa.URL:
    """Turn a path or an SQLAlchemy URL into a URL; StorageError where it is neither, or of an unknown engine."""
    if "\0" in text:
        msg = f"not a database address: {_without_password(text)!r}"
        raise StorageError(msg)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        where = sa.make_url(text)
    except (exc.ArgumentError, ValueError) as error:
        msg = f"not a database address: {_without_password(text)!r}"
        raise StorageError(msg) from error
    if where.get_backend_name() not in {"sqlite", "postgresql"}:
        msg = f"no such kind of database: {where.drivername}; a path, sqlite:// and postgresql:// are known"
        raise StorageError(msg)
    if where.get_backend_name() == "sqlite" and where.query:
        msg = f"a file takes no options: {', '.join(where.query)}"
        raise StorageError(msg)
    if where.drivername == "postgresql":  # SQLAlchemy's own choice differs between its releases
        return where.set(drivername="postgresql+psycopg")
    return where


def _without_password(text: str) -> str:
    return re.sub(r"(password=)[^&]*", r"\1***", re.sub(r"(://[^:/]*):[^/]*@", r"\1:***@", text))


def _shown(where: sa.URL) -> str:
    """Return an address without the passwords that it holds, before the host or among its options."""
    hidden = {name: "***" for name in where.query if "password" in name.lower()}
    return where.update_query_dict(hidden).render_as_string(hide_password=True)


def migrations() -> Path:
    """Find the migrations: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent / "alembic"


def load_driver(address: str) -> None:
    """Load what a kind of database needs, and open nothing: copies of this process will have it then.

    What cannot be loaded is told of when the database is opened.
    """
    with contextlib.suppress(StorageError, exc.SQLAlchemyError, ImportError):
        address_of(address).get_dialect().import_dbapi()


class Database:
    """A spider's database at its newest schema.  Threads may share it; each transaction is one thread's."""

    def __init__(self, engine: sa.Engine, address: str, name: str) -> None:
        """Keep the engine; `open` is the way in."""
        self.engine = engine
        self.address = address
        self.name = name
        self.upgraded_from: str | None = None
        self.kept_copy: Path | None = None
        self.ladder = urls.KEY_LADDER
        self._writer = engine.execution_options(spider_write=True)
        # PostgreSQL's usual level shows each statement another moment.
        self._reader = engine if self.is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")

    @classmethod
    def open(cls, address: str, *, create: bool = True, ladder: str | None = None) -> Self:
        """Open the database at a path or an SQLAlchemy URL and upgrade it to the newest schema.

        Before an older schema is upgraded the file is copied to FILE.before-REVISION (`kept_copy`); PostgreSQL's
        upgrades are one transaction, and copies of it are its own tools'.
        With `create` False a file that is not there is a StorageError, as are: a file that is no
        database, another program's database, one made by a newer spider or with another key ladder.
        `ladder` is the one that a new database gets and an old one must have: by default the usual one
        (`spider.url.KEY_LADDER`), and whatever it has.
        """
        wanted = None if ladder is None else urls.read_ladder(ladder)
        where = address_of(address)
        name = _shown(where) if "://" in address else address
        if where.get_backend_name() == "sqlite":
            _check_file(where, name, create=create)
        database = cls(_engine(where, name), address, name)
        try:
            database._upgrade(wanted)
        except BaseException:
            database.close()
            raise
        return database

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite: one machine, one writer at a time."""
        return self.engine.dialect.name == "sqlite"

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""
        return Path(str(self.engine.url.database)) if self.is_sqlite else None

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection in a transaction that only reads; it sees one moment of the database."""
        with self._reader.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Give a connection in a transaction that commits when the block ends well, else leaves no trace.

        Writers take turns on either engine: on PostgreSQL too, where two that met the same links, hosts
        and counters in different orders would wait for each other in a ring, or both take one link out.
        """
        with self._writer.connect() as connection, connection.begin():
            if not self.is_sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(WRITE_LOCK)))
            yield connection

    def close(self) -> None:
        """Let every connection go."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        """Be the database of a with block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close at its end."""
        self.close()

    def _upgrade(self, wanted: str | None) -> None:
        with self.read() as connection:
            current = _revision(connection, self.name)
        if current != schema.HEAD:
            with self.write() as connection:
                current = _revision(connection, self.name)
                if current != schema.HEAD:
                    self._migrate(connection, current)
                _note_ladder(connection, urls.KEY_LADDER if wanted is None else wanted)
        with self.read() as connection:
            found = connection.scalar(sa.select(schema.Meta.value).where(schema.Meta.key == "key_ladder"))
        self._climb(str(found), wanted)

    def _climb(self, found: str, wanted: str | None) -> None:
        """Let every connection know the ladder that the database was made with; it must be the one wanted, if any."""
        try:
            known = urls.read_ladder(found) == found
        except SettingError:
            known = False
        if not known:
            msg = f"{self.name} was made with a key whose steps this spider does not know: {found}"
            raise StorageError(msg)
        if wanted not in {None, found}:
            msg = f"{self.name} keeps the key that it was made with ({found or 'no steps'}), not {wanted or 'no steps'}"
            raise StorageError(msg)
        self.ladder = found
        self._reader = self._reader.execution_options(**{dialect.LADDER: found})
        self._writer = self._writer.execution_options(**{dialect.LADDER: found})

    def _migrate(self, connection: sa.Connection, current: str | None) -> None:
        """Upgrade within the caller's transaction; what was there before is kept in a copy."""
        if current is None:
            _make(connection)
            return
        upgrade = _migration(connection, self.name, current)
        if self.path is not None:
            kept = self.path.with_name(f"{self.path.name}.before-{schema.HEAD}")
            backup.copy(self.path, kept)
            self.kept_copy = kept
        upgrade()
        self.upgraded_from = current


def _check_file(where: sa.URL, name: str, *, create: bool) -> None:
    if where.database in {None, "", ":memory:"}:
        msg = "the database must be a file: several connections share it"
        raise StorageError(msg)
    path = Path(str(where.database))
    try:
        if not path.exists():
            _check_absent(path, name, create=create)
            return
        if not path.is_file():
            msg = f"{name} is {'a directory' if path.is_dir() else 'not a file'}, not a database"
            raise StorageError(msg)
        with path.open("rb") as file:
            head = file.read(len(SQLITE_MAGIC))
    except OSError as error:
        msg = f"cannot open the database {name}: {error.strerror}"
        raise StorageError(msg) from error
    if head and head != SQLITE_MAGIC:
        msg = f"{name} is not a database"
        raise StorageError(msg)


def _check_absent(path: Path, name: str, *, create: bool) -> None:
    if not create:
        msg = f"there is no database {name}; `spider crawl URL` makes one"
        raise StorageError(msg)
    if not path.parent.is_dir():
        msg = f"cannot make the database {name}: there is no directory {path.parent}"
        raise StorageError(msg)


def _engine(where: sa.URL, name: str) -> sa.Engine:
    connect: dict[str, Any] = {"timeout": BUSY_SECONDS, "check_same_thread": False, "isolation_level": None}
    if where.get_backend_name() != "sqlite":
        patience = {"connect_timeout": BUSY_SECONDS, "options": f"-c lock_timeout={BUSY_SECONDS}s"}
        connect = {name: value for name, value in patience.items() if name not in where.query}
    try:
        engine = sa.create_engine(where, connect_args=connect)
    except exc.NoSuchModuleError as error:
        msg = f"no such kind of database: {where.drivername}"
        raise StorageError(msg) from error
    except ModuleNotFoundError as error:
        msg = f"{where.drivername} needs a driver: pip install 'multimedia-spider[postgres]'"
        raise StorageError(msg) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "handle_error", lambda context: _translate(context, name))
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _record: object) -> None:
    """Set a new connection up; the switch to WAL is tried again while another process makes it."""
    cursor = connection.cursor()
    last = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            if not _is_foreign(cursor):
                cursor.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            # The busy handler does not serve this switch: SQLite answers "locked" at once.
            if "locked" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(0.01)
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _is_foreign(cursor: DBAPICursor) -> bool:
    """Tell another program's database, which is refused soon and must stay as it is until then."""
    cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return not _may_be_ours([row[0] for row in cursor.fetchall()])


def _may_be_ours(tables: Collection[str]) -> bool:
    """Whether these are the tables of a spider's database, or of one with nothing in it yet."""
    return not tables or ("alembic_version" in tables and ("SeedLink" in tables or len(tables) == 1))


def _begin_sqlite(connection: sa.Connection) -> None:
    """Begin as a writer where the transaction will write: a later upgrade of a reader could be refused."""
    writes = connection.get_execution_options().get("spider_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _translate(context: sa.engine.ExceptionContext, name: str) -> None:
    """Turn what a driver raises about the database itself into one line; faults of a statement stay as they are."""
    error, driver = context.original_exception, context.dialect.loaded_dbapi
    if not isinstance(error, driver.Error):
        return
    of_statement = isinstance(error, (driver.IntegrityError, driver.ProgrammingError, driver.DataError))
    if of_statement and context.connection is not None and getattr(error, "sqlstate", None) != NO_PRIVILEGE:
        return
    line = (str(error).strip() or type(error).__name__).splitlines()[0]
    msg = f"database {name}: {line}"
    raise (StorageLostError if _is_lost(context, error) else StorageError)(msg) from error


def _is_lost(context: sa.engine.ExceptionContext, error: BaseException) -> bool:
    """Whether the server went away or let the transaction go; a file has no server."""
    if context.dialect.name == "sqlite":
        return False
    code = getattr(error, "sqlstate", None)
    return context.is_disconnect or (code.startswith(LOST) if code else isinstance(error, _driver_fault(context)))


def _driver_fault(context: sa.engine.ExceptionContext) -> type[Exception]:
    driver = context.dialect.loaded_dbapi
    fault: type[Exception] = driver.OperationalError  # no code: the server was not reached at all
    return fault


def _revision(connection: sa.Connection, name: str) -> str | None:
    """Read the schema's revision; None for an empty database, StorageError for another program's."""
    tables = sa.inspect(connection).get_table_names()
    if not _may_be_ours(tables):
        msg = f"{name} is a database, but not a spider's"
        raise StorageError(msg)
    if not tables:
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def _make(connection: sa.Connection) -> None:
    """Give an empty database the newest schema as the models tell it, to the letter what the migrations make.

    The migrations themselves would have to be loaded first, which takes longer than the rest of a start.
    """
    if connection.dialect.name == "postgresql":
        on_postgresql(schema.Base.metadata)
    schema.Base.metadata.create_all(connection)
    key = sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc")
    version = sa.Table("alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32)), key)
    version.create(connection)
    connection.execute(sa.insert(version).values(version_num=schema.HEAD))


def _migration(connection: sa.Connection, name: str, current: str) -> Callable[[], None]:
    """Return what upgrades to the newest revision; StorageError where the present one is of a newer spider."""
    # Loaded only when there is something to upgrade: it takes longer than the rest of a start.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415
    from alembic.util import CommandError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations()))
    config.attributes["connection"] = connection
    try:
        ScriptDirectory.from_config(config).get_revision(current)
    except CommandError as error:
        msg = f"{name} was made by a newer spider (its schema is {current}, which this one does not know)"
        raise StorageError(msg) from error
    return lambda: command.upgrade(config, "head")


def _note_ladder(connection: sa.Connection, ladder: str) -> None:
    known = connection.scalar(sa.select(schema.Meta.value).where(schema.Meta.key == "key_ladder"))
    if known is None:
        connection.execute(sa.insert(schema.Meta).values(key="key_ladder", value=ladder))
