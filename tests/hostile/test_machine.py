"""What the machine does to a crawl: it is suspended, its clock jumps, it has no files left, it loses its power."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.crawl.clock import SystemClock
from spider.errors import StorageError
from spider.model import LinkState
from spider.store import Database, ask, database
from tests.conftest import environment
from tests.crawl.conftest import sound, times
from tests.crawl.pages import page
from tests.server import WebServer

Web = Callable[..., WebServer]
Spider = Callable[..., CompletedProcess[str]]
Process = Callable[..., Popen[str]]
HOUR = 3_600_000_000  # microseconds


def tree(pages: int) -> dict[str, str]:
    """Make a site of a root and so many pages below it."""
    return {"/": page(*(f"/{n}" for n in range(pages)))} | {f"/{n}": page() for n in range(pages)}


def run(folder: Path, *words: str, **limits: int) -> CompletedProcess[str]:
    """Run the program under limits of the system (NOFILE=64)."""

    def less() -> None:
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    command = [sys.executable, "-m", "spider", *words]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False, preexec_fn=less
    )  # fmt: skip


# --- row 52: file descriptors ---------------------------------------------------------------------


@pytest.mark.parametrize("files", [40, 24])
def test_few_files_are_enough(web: Web, tmp_path: Path, files: int) -> None:
    """With few files to open, hosts by the hundred are crawled all the same: idle connections make room."""
    server = web(tree(2), hosts=100)
    seeds = [f"http://{host}:{server.port}/" for host in server.contents]
    (tmp_path / "seeds.txt").write_text("\n".join(seeds))
    done = run(tmp_path, "-q", "crawl", "seeds.txt", "--delay", "0", "--threads", "16", "--retries", "0", NOFILE=files)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(times(server)) == 300
    sound(tmp_path / "spider.db")


def test_no_files_at_all_is_one_line(tmp_path: Path) -> None:
    """Where not even the database can be opened, that is said, with its code."""
    done = run(tmp_path, "crawl", "http://127.0.0.1:9/", NOFILE=5)
    assert done.returncode in {1, 5}
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2


# --- row 48: suspended ----------------------------------------------------------------------------


def test_a_suspended_crawl_goes_on(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """A crawl that is stopped for longer than its timeouts goes on when it may, and misses nothing."""
    server = web(tree(30))
    words = ("--delay", "0.02", "--timeout", "0.5", "--deadline", "1", "--retries", "3")
    process = spider_process("-q", "crawl", server.url, *words)
    for _ in range(3):
        wait_for(lambda: len(server.requests) >= 4)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.8)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.2)
    assert process.wait(60) == 0
    assert len(times(server)) == 31
    sound(tmp_path / "spider.db")


def wait_for(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


# --- row 47: the clock ----------------------------------------------------------------------------


class Jumping(SystemClock):
    """A clock whose time of day is set, back and forth, every few looks; its steady side is steady."""

    def __init__(self, jumps: list[int]) -> None:
        """Take the jumps in microseconds."""
        self._jumps, self._looks, self._shift = jumps, 0, 0

    def now(self) -> int:
        """Return the time of day, as it was set."""
        self._looks += 1
        if self._looks % 20 == 0 and self._jumps:
            self._shift += self._jumps.pop(0)
        return super().now() + self._shift


@pytest.mark.parametrize("jumps", [[-HOUR], [HOUR], [-HOUR, HOUR, HOUR, -HOUR, -24 * HOUR], [365 * 24 * HOUR]], ids=str)
def test_a_clock_that_is_set(web: Web, tmp_path: Path, jumps: list[int]) -> None:
    """However the clock is set meanwhile, a crawl asks for each page once, keeps its delay, and ends."""
    server = web(tree(40))
    path = tmp_path / "x.db"
    with Database.open(str(path)) as opened:
        crawler = Crawler(opened, Plan(delay=0.02, min_free=0), seeds=[Seed(server.url)], clock=Jumping(list(jumps)))
        list(crawler.run())
    assert times(server) == dict.fromkeys((f"{server.url}{name}" for name in ("", *range(40))), 1)
    gaps = [b.time - a.time for a, b in zip(server.requests, server.requests[1:], strict=False)]
    assert min(gaps) >= 0.015
    sound(path)


# --- row 43: power --------------------------------------------------------------------------------


def test_a_torn_log_loses_the_last_commits_alone(
    web: Web, spider: Spider, spider_process: Process, tmp_path: Path
) -> None:
    """Whatever part of the write-ahead log reached the disk, the database is sound and a crawl goes on from there."""
    server = web(tree(60))
    process = spider_process("-q", "--db", "base.db", "crawl", server.url, "--delay", "0.01")
    wait_for(lambda: len(server.requests) >= 40)
    process.kill()
    process.wait()
    log = (tmp_path / "base.db-wal").read_bytes()
    assert log
    known = []
    for number in range(12):
        torn = tmp_path / f"{number}.db"
        shutil.copyfile(tmp_path / "base.db", torn)
        part = log[: len(log) * number // 12 + 7 * number]
        torn.with_name(f"{torn.name}-wal").write_bytes(part + os.urandom(3000))
        with Database.open(str(torn)) as again, again.read() as connection:
            assert connection.exec_driver_sql("PRAGMA integrity_check").fetchall() == [("ok",)]
            known.append(ask.link_counts(connection)[LinkState.C])
    assert known == sorted(known)
    done = spider("-q", "--db", torn, "crawl", server.url, "--delay", "0")
    assert done.returncode == 0
    assert len(times(server)) == 61
    sound(torn)


# --- row 45: locked -------------------------------------------------------------------------------


@pytest.fixture
def held(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Give a database that another program has locked for writing."""
    Database.open(str(tmp_path / "spider.db")).close()
    other = sqlite3.connect(tmp_path / "spider.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_lock_that_is_let_go_costs_nothing(web: Web, spider_process: Process, held: sqlite3.Connection) -> None:
    """Another program's lock is waited for."""
    server = web(tree(3))
    process = spider_process("-q", "crawl", server.url, "--delay", "0")
    time.sleep(1.5)
    assert process.poll() is None
    held.execute("COMMIT")
    assert process.wait(60) == 0
    assert len(times(server)) == 4


def test_a_lock_that_stays_is_one_line(
    held: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that is never let go ends a crawl with a StorageError of one line; readers do not mind it."""
    assert held.in_transaction
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.3)
    with Database.open(str(tmp_path / "spider.db")) as opened:
        with pytest.raises(StorageError, match=r"database .*: database is locked") as caught:
            list(Crawler(opened, Plan(min_free=0), seeds=[Seed("http://127.0.0.1:9/")]).run())
        assert (caught.value.exit_code, "\n" in str(caught.value)) == (5, False)
        with opened.read() as connection:
            assert ask.link_counts(connection)[LinkState.W] == 0


# --- row 49: signals ------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_signals_lose_nothing(web: Web, spider_process: Process, tmp_path: Path, number: int, code: int) -> None:
    """A signal lets the crawl finish what is in flight and ends it with the signal's code; the next goes on."""
    server = web(tree(40))
    process = spider_process("-q", "crawl", server.url, "--delay", "0.03")
    wait_for(lambda: len(server.requests) >= 5)
    process.send_signal(number)
    assert process.wait(60) == code
    sound(tmp_path / "spider.db")
    assert spider_process("-q", "crawl", "--delay", "0").wait(60) == 0
    assert set(times(server).values()) == {1}
    assert len(times(server)) == 41
    sound(tmp_path / "spider.db")


def test_nohup_holds(web: Web, tmp_path: Path) -> None:
    """A hang-up that is ignored, as under nohup, does not stop a crawl."""
    server = web(tree(5))

    def ignoring() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    words = [sys.executable, "-m", "spider", "-q", "crawl", server.url, "--delay", "0.05"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), preexec_fn=ignoring) as process:  # noqa: PLW1509  # as nohup does
        wait_for(lambda: len(server.requests) >= 3)
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 0
    assert len(times(server)) == 6
