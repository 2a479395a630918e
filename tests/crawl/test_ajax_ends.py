"""Laws of the browser's life in a crawl: it dies, hangs, is stopped or is not there, and nothing is lost or left."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider.ajax import Browser, require
from spider.ajax import browser as program
from spider.crawl import Crawler, Plan, Seed, render
from spider.errors import BrowserError
from spider.model import Failed, Fetched, Outcome, Reason
from spider.store import Database
from tests.crawl.apps import APP, JSON, SITE, SMALL, START, browsers, command, processes, script
from tests.crawl.conftest import sound
from tests.replies import Answer, Asked, Reply
from tests.server import WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

try:
    require()
except BrowserError as error:
    pytest.skip(f"no browser: {error}", allow_module_level=True)


def deadly(times: int) -> Callable[[Asked], Answer | None]:
    """Return a site whose data comes with the death of the browser that asks for it, so many times."""
    left = iter(range(times))

    def answer(asked: Asked) -> Answer | None:
        if asked.path == "/api/films" and next(left, None) is not None:
            for one in browsers(os.getpid()):
                os.kill(one, signal.SIGKILL)
        return SMALL.get(asked.path)

    return answer


def test_a_browser_that_dies_is_started_anew(web: Web, crawl: Crawl, rows: Rows) -> None:
    """The page that it was at gets a class that heals and another try, and nothing of it is lost."""
    server = web(deadly(1))
    crawler, outcomes = crawl(server.url, ajax="auto", retries=2)
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert [(one.reason, one.request.attempt) for one in failed] == [(Reason.BROWSER, 1)]
    assert crawler.exit_code == 0
    assert rows("SELECT count(*) FROM Video WHERE state_id IS NOT NULL") == [(2,)]
    assert browsers(os.getpid()) == []


def test_a_page_that_always_kills_it_is_read_without(web: Web, crawl: Crawl, rows: Rows) -> None:
    """After the last try the page is what its document says, with a note; the crawl goes on."""
    server = web(deadly(99))
    crawler, outcomes = crawl(server.url, ajax="auto", retries=1)
    assert [type(outcome) for outcome in outcomes] == [Failed, Fetched]
    assert crawler.exit_code == 0
    assert "ajax-browser" in crawler.last_line()
    assert rows("SELECT status, title FROM Page") == [(200, "Films")]
    assert rows("SELECT count(*) FROM State") == [(0,)]


def test_a_browser_that_does_not_answer_is_left(
    web: Web, crawl: Crawl, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exploration that has no end is given up, the page is what its document says, and the browser ends."""
    monkeypatch.setattr(render, "LATE", 1.0)
    monkeypatch.setattr(program, "CLOSING", 1.0)

    def answer(asked: Asked) -> Answer | None:
        if asked.path == "/api/films":
            for one in browsers(os.getpid()):
                os.kill(one, signal.SIGSTOP)
        return SMALL.get(asked.path)

    crawler, _ = crawl(web(answer).url, ajax="auto", ajax_time=5.0, retries=0)
    assert rows("SELECT title FROM Page") == [("Films",)]
    assert rows("SELECT count(*) FROM State") == [(0,)]
    assert crawler.last_line().endswith("cut short: 1 ajax-deadline")
    end = time.monotonic() + 60
    while browsers(os.getpid()):
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_browser_serves_its_time(web: Web, crawl: Crawl, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many pages it is started anew, whatever its memory holds."""
    monkeypatch.setattr(render, "RENEWED", 2)
    begun: list[Browser] = []
    start = Browser.start

    async def counted(self: Browser) -> None:
        begun.append(self)
        await start(self)

    monkeypatch.setattr(Browser, "start", counted)
    links = "".join(f'<a href="/{number}">{number}</a>' for number in range(5))
    crawl(web({"/": links, **{f"/{number}": f"<p>{number}" for number in range(5)}}).url, ajax="always")
    assert rows("SELECT count(*) FROM State") == [(6,)]
    assert len(begun) == 3


def test_a_stop_does_not_wait_for_an_exploration(web: Web, tmp_path: Path, rows: Rows) -> None:
    """What is being explored is broken off, waits for the next crawl, and no browser is left."""
    more = START + "for (const n of Array(200).keys()) button('B' + n, () => ask('/api/' + n));"
    crawlers: list[Crawler] = []

    def answer(asked: Asked) -> Answer | None:
        if asked.path.startswith("/api/"):
            crawlers[0].stop()
            return Reply("[]", type=JSON, delay=0.1)
        site: dict[str, Answer] = {"/": APP, "/app.js": script(more)}
        return site.get(asked.path)

    server = web(answer)
    with Database.open(str(tmp_path / "x.db")) as database:
        plan = Plan(delay=0.0, sitemaps=False, allow_private=True, ajax="auto")
        crawlers.append(Crawler(database, plan, seeds=[Seed(server.url)]))
        assert list(crawlers[0].run()) == []
    sound(tmp_path / "x.db")
    assert rows("SELECT state, attempt FROM CrawlerLink") == [(1, 0)]
    assert len([path for path in server.asked() if path.startswith("/api/")]) < 50
    assert browsers(os.getpid()) == []


def test_a_stop_lets_no_exploration_begin(web: Web, tmp_path: Path, rows: Rows) -> None:
    """A page that was asked for when the stop came is not explored any more, and starts no browser."""
    crawlers: list[Crawler] = []

    def answer(asked: Asked) -> Answer | None:
        if asked.path == "/":
            crawlers[0].stop()
            return Reply(APP, delay=1.0)
        return SMALL.get(asked.path)

    server = web(answer)
    with Database.open(str(tmp_path / "x.db")) as database:
        plan = Plan(delay=0.0, sitemaps=False, allow_private=True, ajax="always", browser="/bin/false")
        crawlers.append(Crawler(database, plan, seeds=[Seed(server.url)]))
        assert list(crawlers[0].run()) == []
    assert rows("SELECT state, attempt FROM CrawlerLink") == [(1, 0)]
    assert "/api/films" not in server.asked()


def test_no_browser_is_told_at_once(web: Web, spider: Callable[..., Any]) -> None:
    """Where there is none to be had the crawl does not begin; one that does not start ends it: one line, code 6."""
    server = web(SITE)
    done = spider("crawl", "--ajax", "auto", "--browser", "/nowhere/chromium", server.url)
    assert (done.returncode, server.asked()) == (6, [])
    assert done.stderr.splitlines() == ["spider: --browser or SPIDER_BROWSER names no program: /nowhere/chromium"]
    done = spider("crawl", "--ajax", "auto", "--browser", "/bin/false", "--delay", "0", server.url)
    assert done.returncode == 6
    assert done.stderr.splitlines()[-1].startswith("spider: /bin/false does not start: ")
    assert "/api/films" not in server.asked()


@pytest.fixture
def begun(web: Web, spider_process: Callable[..., Any]) -> tuple[Any, list[int]]:
    """Give a crawl that is exploring an application without end, and the processes below it."""
    reached = threading.Event()

    def answer(asked: Asked) -> Answer | None:
        if asked.path.startswith("/api/"):
            reached.set()
            return Reply("[]", type=JSON, delay=0.2)
        more = START + "let n = 0; setInterval(() => ask('/api/' + n++), 100);"
        site: dict[str, Answer] = {"/": APP, "/app.js": script(more)}
        return site.get(asked.path)

    server = web(answer, skip={"overlap": "the crawl is killed"})
    process = spider_process("crawl", "--ajax", "always", "--delay", "0", server.url)
    assert reached.wait(60)
    return process, processes(process.pid)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_crawl_that_ends(begun: tuple[Any, list[int]], number: signal.Signals) -> None:
    """Killed or ended in order, no process stays behind."""
    process, below = begun
    assert below
    process.send_signal(number)
    process.communicate(timeout=60)
    end = time.monotonic() + 60
    while alive := [one for one in below if command(one)]:
        assert time.monotonic() < end, [command(one) for one in alive]
        time.sleep(0.1)
