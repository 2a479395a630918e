"""What a server asked for outlives the process that it asked: Retry-After, the delay, a clock set wrong."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.fetch.pace import MAX_RETRY_AFTER
from spider.model import Outcome
from tests.crawl.conftest import sound
from tests.crawl.pages import page, paths
from tests.server import Asked, Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]
Spider = Callable[..., CompletedProcess[str]]
Begin = Callable[..., Popen[str]]

WAIT = 3.0
YEAR = 365 * 24 * 3600 * 10**6


def after(seconds: float) -> str:
    """Write the date of a moment that is to come."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_outlives_a_kill(
    web: Web, spider: Spider, spider_process: Begin, tmp_path: Path, rows: Rows, form: str
) -> None:
    """A host that asked to be left alone is left alone by the next process too, though the first was killed.

    So it is for all links of the host, not for the one that was answered so.
    """
    busy = iter([True])
    site = {"/": page("/a", "/b"), "/a": page(), "/b": page()}

    def answer(asked: Asked) -> Reply | str | None:
        if asked.path == "/a" and next(busy, False):
            # A date has whole seconds: one more keeps the promise.
            value = f"{WAIT:.0f}" if form == "seconds" else after(WAIT + 1)
            return Reply(status=503, headers=(("Retry-After", value),))
        return site.get(asked.path)

    server = web(answer, skip={"overlap": "a killed process cannot close its connection first"})
    process = spider_process("-q", "--db", "x.db", "crawl", server.url, "--delay", "0.01", "--no-sitemaps")
    until(lambda: (tmp_path / "x.db").exists() and "/a" in server.asked())
    until(lambda: rows("SELECT count(*) FROM CrawlerLink WHERE url LIKE '%/a' AND state = 4") == [(1,)])
    process.send_signal(signal.SIGKILL)
    process.wait()
    asked = [request.path for request in server.requests].count("/b")
    done = spider("-q", "--db", "x.db", "crawl", "--delay", "0.01", "--no-sitemaps")
    assert done.returncode == 0, done.stderr
    assert asked == 0
    assert paths(server) == {"/": 1, "/a": 2, "/b": 1}
    (first, *later) = [request.time for request in server.requests if request.path in {"/a", "/b"}]
    assert min(later) - first >= WAIT - 0.005
    sound(tmp_path / "x.db")


@pytest.mark.parametrize("value", ["999999999", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_retry_after_is_capped(web: Web, crawl: Crawl, rows: Rows, value: str) -> None:
    """A server that asks for years is waited for an hour, and no longer."""
    server = web({"/": Reply(status=429, headers=(("Retry-After", value),)), "/x": page()})
    began = time.time()
    crawl(server.url, f"{server.url}x", delay=0.01, max_time=1.0)
    (moment,) = rows("SELECT next_at FROM Host")[0]
    assert began < moment / 1e6 <= time.time() + MAX_RETRY_AFTER
    assert moment / 1e6 > began + MAX_RETRY_AFTER - 1


def test_what_was_waited_for_is_not_waited_for_again(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A host whose moment has passed while no crawl ran is asked at once."""
    server = web({"/": page("/a"), "/a": page()})
    crawl(server.url, max_pages=1)
    with_clock = "UPDATE Host SET next_at = 1"
    rows(with_clock)
    began = time.monotonic()
    crawl(delay=5.0)
    assert server.requests[-1].time - began < 4
    assert paths(server) == {"/": 1, "/a": 1}


def later(database: Path, by: int) -> None:
    """Let all that was written down be of another time (microseconds)."""
    with sqlite3.connect(database) as connection:
        for name, columns in {
            "Host": ("next_at",),
            "CrawlerLink": ("retry_at",),
            "Page": ("fetched_at", "changed_at"),
            "Origin": ("robots_at",),
            "Run": ("began_at", "ended_at"),
            "SeedLink": ("added_at",),
        }.items():
            for column in columns:
                connection.execute(f"UPDATE {name} SET {column} = {column} + ?", (by,))  # noqa: S608  # names of our own


@pytest.mark.parametrize("years", [-30, 30])
def test_a_clock_that_was_wrong_once(web: Web, crawl: Crawl, rows: Rows, tmp_path: Path, years: int) -> None:
    """A crawl made by a clock that was years off stops nothing: hosts, failed links, pages and robots.txt are due.

    What it said of the past is long ago; what it said of the future counts as of now.
    """
    bad = iter([True])
    site = {"/": page("/a", "/b"), "/a": page(), "/b": page(), "/new": page()}
    server = web(lambda asked: Reply(status=500) if asked.path == "/b" and next(bad, False) else site.get(asked.path))
    crawl(server.url, retries=0, delay=0.01)
    assert paths(server) == {"/": 1, "/a": 1, "/b": 1}
    later(tmp_path / "x.db", years * YEAR)
    crawl(f"{server.url}new", delay=0.01, refresh=86_400.0)
    assert paths(server) == ({"/": 2, "/a": 2} if years < 0 else {"/": 1, "/a": 1}) | {"/b": 2, "/new": 1}
    now = time.time_ns() // 1000
    for name, column in (("Page", "fetched_at"), ("Host", "next_at"), ("Origin", "robots_at"), ("Run", "began_at")):
        assert rows(f"SELECT max({column}) < ? FROM {name}", now + 60 * 10**6) == [(1,)]  # noqa: S608  # names of our own
    crawl(delay=0.01, refresh=0)
    assert paths(server)["/a"] == (3 if years < 0 else 2)
