"""Laws of many processes over one database, on both engines: together they are one crawl, and none is needed."""

from __future__ import annotations

import itertools
import os
import re
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest

from spider.crawl.process import Identity, is_alive
from spider.model import LinkState
from spider.store import Database, Tally, ask, care, runs, workers
from tests.crawl.conftest import times
from tests.server import WebServer

Web = Callable[..., WebServer]
Spider = Callable[..., CompletedProcess[str]]
Begin = Callable[..., Popen[str]]
Site = Callable[..., tuple[Path, dict[str, Any]]]

HOSTS = 40
PAGES = 50


def seeds(server: WebServer) -> list[str]:
    """Return the first page of every host."""
    return [f"{url}index.html" for url in server.urls]


def expected(server: WebServer, truth: dict[str, Any]) -> dict[str, int]:
    """Return every page of every host, once."""
    return {f"{url}{path[1:]}": 1 for url in server.urls for path in truth["pages"]}


def at_work(address: str) -> list[workers.WorkerRow]:
    """Return the workers that are written down; none where there is no database yet."""
    if "://" not in address and not Path(address).exists():
        return []
    with Database.open(address) as database, database.read() as connection:
        return workers.rows(connection)


def children(address: str, process: Popen[str], *, number: int, pages: int = 1) -> list[workers.WorkerRow]:
    """Wait until so many worker processes have read so many pages each, and nobody else is at work."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, process.communicate()
        found = at_work(address)
        if len(found) == number and all(row.pid != process.pid and row.pages >= pages for row in found):
            return found
        time.sleep(0.05)
    pytest.fail(f"no {number} workers with {pages} pages: {at_work(address)}")


def wait_for(what: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def sound(address: str, *, complete: int | None = None) -> None:
    """Hold a database to what must be true after any crawl that ended: no fault, nobody at work, nothing in R."""
    with Database.open(address) as database:
        assert list(care.faults(database)) == []
        with database.read() as connection:
            links = ask.link_counts(connection)
            assert workers.rows(connection) == []
    assert links[LinkState.R] == 0
    if complete is not None:
        assert links == {LinkState.W: 0, LinkState.R: 0, LinkState.C: complete, LinkState.E: 0}


def number_of_worker(address: str) -> int:
    """Return the number of a worker that comes now: none is ever given twice."""
    with Database.open(address) as database, database.write() as connection:
        row = workers.WorkerRow(0, runs.begin(connection, now=0), "machine", "boot", 1, "0", 0)
        number = workers.register(connection, row)
        workers.unregister(connection, number, Tally())
    return number


def test_every_page_once(web: Web, spider: Spider, site: Site, address: str) -> None:
    """Four workers ask for each of 2,000 pages on 40 hosts exactly once, and never over two connections at once."""
    root, truth = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=HOSTS)
    before = number_of_worker(address)
    done = spider("--db", address, "crawl", *seeds(server), "--delay", "0", "--workers", "4", timeout=110)
    assert done.returncode == 0, done.stderr
    assert times(server) == expected(server, truth)
    assert Counter(server.asked())["/robots.txt"] == HOSTS
    assert f"{HOSTS * PAGES:,} pages in " in done.stderr
    sound(address, complete=HOSTS * PAGES)
    assert number_of_worker(address) - before == 6  # one that began alone, the four, and this


def test_gaps_are_kept(web: Web, spider: Spider, site: Site, address: str) -> None:
    """Requests to a host keep their distance, whoever makes them and whoever had the host before."""
    root, truth = site(pages=25, bytes=500, links=8)
    server = web(root, hosts=6)
    before = number_of_worker(address)
    words = ["--delay", "0.3", "--workers", "3", "--no-sitemaps"]
    done = spider("--db", address, "crawl", *seeds(server), *words, timeout=110)
    assert done.returncode == 0, done.stderr
    assert times(server) == expected(server, truth)
    by_host: dict[str, list[float]] = defaultdict(list)
    for asked in sorted(server.requests, key=lambda asked: asked.time):
        by_host[asked.host].append(asked.time)
    gaps = [later - sooner for moments in by_host.values() for sooner, later in itertools.pairwise(moments)]
    assert min(gaps) > 0.29
    assert number_of_worker(address) - before == 5


def test_one_that_is_killed(web: Web, spider_process: Begin, site: Site, address: str) -> None:
    """A worker that is killed mid-way loses nothing: another takes its place, its hosts go on, the crawl ends well."""
    root, truth = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=8)
    before = number_of_worker(address)
    process = spider_process(
        "--db", address, "crawl", *seeds(server), "--delay", "0.1", "--workers", "2", "--threads", "2"
    )
    dead = children(address, process, number=2, pages=5)[0]
    os.kill(dead.pid, signal.SIGKILL)
    _, said = process.communicate(timeout=110)
    assert process.returncode == 0, said
    asked = times(server)
    assert asked.keys() == expected(server, truth).keys()
    assert sum(asked.values()) - len(asked) <= 64 + 2 * 2  # what it had not written down: one batch, and in flight
    sound(address, complete=8 * PAGES)
    assert number_of_worker(address) - before == 5
    assert f"{8 * PAGES:,} pages in " in said


def test_no_orphans(web: Web, spider_process: Begin, spider: Spider, site: Site, address: str) -> None:
    """Where the process that was begun is killed, the workers end by themselves, and the next crawl ends the work."""
    root, truth = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=8)
    words = ("--db", address, "crawl", *seeds(server), "--delay", "0.1", "--workers", "2", "--threads", "2")
    process = spider_process(*words)
    left = children(address, process, number=2)
    process.kill()
    wait_for(lambda: not any(is_alive(Identity(row.machine, row.boot_id, row.pid, row.started)) for row in left))
    assert at_work(address) == []  # they gave everything back
    assert spider(*words, timeout=110).returncode == 0
    assert times(server).keys() == expected(server, truth).keys()
    sound(address, complete=8 * PAGES)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("group", [False, True])
def test_signals_are_passed_on(
    group: bool, number: signal.Signals, web: Web, spider_process: Begin, site: Site, tmp_path: Path  # noqa: FBT001
) -> None:  # fmt: skip
    """Ctrl-C or TERM lets all workers finish what is in flight; the code is the signal's; nothing is left in hand.

    So it is too where the terminal sends it to every process at once.
    """
    root, _ = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=8)
    address = str(tmp_path / "x.db")
    process = spider_process("--db", address, "crawl", *seeds(server), "--delay", "0.05", "--workers", "2")
    here = children(address, process, number=2)
    for pid in [process.pid, *(row.pid for row in here if group)]:
        os.kill(pid, number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number, said
    assert "stopped; refused: " in said
    sound(address)
    assert max(times(server).values()) == 1
    with Database.open(address) as database, database.read() as connection:
        assert [row.why for row in ask.runs(connection)] == ["stopped"]


def test_the_limit_of_pages(web: Web, spider: Spider, site: Site, address: str) -> None:
    """So many pages and no more, however many workers there are; the code is 4."""
    root, _ = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=8)
    words = ["--delay", "0", "--workers", "3", "--max-pages", "150", "--no-sitemaps"]
    done = spider("--db", address, "crawl", *seeds(server), *words, timeout=110)
    assert done.returncode == 4, done.stderr
    assert sum(times(server).values()) == 150
    assert "150 pages in " in done.stderr
    assert "ended by max-pages; " in done.stderr
    sound(address)


def test_the_limit_of_time(web: Web, spider: Spider, site: Site, tmp_path: Path) -> None:
    """The time is the crawl's, however many workers there are; the code is 4."""
    root, _ = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=4)
    words = ["--delay", "0.5", "--workers", "2", "--max-time", "4"]
    done = spider("--db", tmp_path / "x.db", "crawl", *seeds(server), *words, timeout=110)
    assert done.returncode == 4, done.stderr
    assert "ended by max-time; " in done.stderr
    sound(str(tmp_path / "x.db"))


def test_all_is_told(web: Web, spider: Spider, site: Site, tmp_path: Path) -> None:
    """The log has a line for each address, from whichever worker; -q says nothing; what failed of seeds is named."""
    root, truth = site(pages=PAGES, bytes=2000, links=12)
    server = web(root, hosts=4)
    missing = f"{server.url}nowhere.html"
    words = ["--delay", "0", "--workers", "2", "--log", "log.txt", "--no-sitemaps"]
    done = spider("--db", "x.db", "-q", "crawl", *seeds(server), missing, *words, timeout=110)
    assert done.returncode == 3, done.stderr
    assert [line for line in done.stderr.splitlines() if line] == [f"spider: seed {missing}: client: HTTP status 404"]
    logged = re.findall(r"C 200 (\S+)", (tmp_path / "log.txt").read_text())
    assert Counter(logged) == expected(server, truth)


def test_few_hosts_are_one_process_s_work(web: Web, spider: Spider, site: Site, tmp_path: Path) -> None:
    """A crawl of one host is done by the process that was begun, whatever number of workers it may have."""
    root, _ = site(pages=9, bytes=500, links=8)
    server = web(root)
    done = spider("--db", "x.db", "crawl", *seeds(server), "--delay", "0", "--workers", "4")
    assert done.returncode == 0, done.stderr
    assert number_of_worker(str(tmp_path / "x.db")) == 2
