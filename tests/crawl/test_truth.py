"""The promise above all others: every page once, every medium, nothing else, with default options."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

import pytest

from tests.crawl.conftest import KINDS, found, sound, times
from tests.server import WebServer

Web = Callable[..., WebServer]
Spider = Callable[..., CompletedProcess[str]]
Begin = Callable[..., Popen[str]]
Site = Callable[..., tuple[Path, dict[str, Any]]]


def same_report(here: Spider, server: WebServer, truth: dict[str, Any], database: str = "x.db") -> None:
    """Hold each kind's report to the truth of the site, which every host serves."""
    for kind in KINDS:
        done = here("--db", database, "report", "--media", kind, "--format", "json")
        assert done.returncode == 0, done.stderr
        for url in server.urls:
            base = url.removesuffix("/")
            mine = {page: media for page, media in found(done.stdout, base).items() if page.startswith("/")}
            assert mine == truth[kind]


def test_every_page_once_every_medium(web: Web, spider: Spider, here: Spider, site: Site, tmp_path: Path) -> None:
    """A crawl of a site of 400 pages asks for each exactly once, and its reports are the truth exactly."""
    root, truth = site(pages=400)
    server = web(root, database=tmp_path / "x.db")
    done = spider("--db", "x.db", "crawl", f"{server.url}index.html", "--delay", "0")
    assert done.returncode == 0, done.stderr
    assert times(server) == {f"{server.url}{path[1:]}": 1 for path in truth["pages"]}
    assert server.asked().count("/robots.txt") == 1
    same_report(here, server, truth)
    assert "refused: 1 external; cut short: nothing" in done.stderr
    sound(tmp_path / "x.db")


def test_every_page_once_on_forty_hosts(web: Web, spider: Spider, here: Spider, site: Site, tmp_path: Path) -> None:
    """The same holds for 40 hosts of 50 pages each, crawled at once from a seeds file."""
    root, truth = site(pages=50)
    server = web(root, hosts=40, database=tmp_path / "x.db")
    (tmp_path / "seeds.txt").write_text("".join(f"{url}index.html\n" for url in server.urls))
    done = spider("--db", "x.db", "crawl", "seeds.txt", "--delay", "0", timeout=110)
    assert done.returncode == 0, done.stderr
    assert times(server) == {f"{url}{path[1:]}": 1 for url in server.urls for path in truth["pages"]}
    same_report(here, server, truth)
    sound(tmp_path / "x.db")


def test_killed_ten_times(
    web: Web, spider: Spider, here: Spider, spider_process: Begin, site: Site, tmp_path: Path
) -> None:
    """A crawl killed with SIGKILL at ten random moments, and started again at once each time, ends with the truth.

    No link is lost, and none is fetched again once it is complete: a page is asked for again only where
    the kill came between its request and its transaction.
    """
    root, truth = site(pages=400)
    server = web(
        root, database=tmp_path / "x.db", skip={"overlap": "a killed process cannot close its connection first"}
    )
    dice = random.Random(20)
    kills = 0
    for _ in range(10):
        process = spider_process("-q", "--db", "x.db", "crawl", f"{server.url}index.html", "--delay", "0")
        time.sleep(dice.uniform(0.3, 1.0))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        complete = set(_complete(tmp_path / "x.db"))
        before = times(server)
        if process.returncode == 0:
            break
        assert all(before[url] for url in complete)
    assert kills >= 3
    asked, complete = times(server), set(_complete(tmp_path / "x.db"))
    done = spider("--db", "x.db", "crawl", f"{server.url}index.html", "--delay", "0")
    assert done.returncode == 0, done.stderr
    again = times(server) - asked
    assert not complete & set(again)
    assert set(asked | again) == {f"{server.url}{path[1:]}" for path in truth["pages"]}
    assert sorted(_complete(tmp_path / "x.db")) == sorted(set(asked | again))
    same_report(here, server, truth)
    sound(tmp_path / "x.db")


def test_two_crawls_share_a_database(web: Web, here: Spider, spider_process: Begin, site: Site, tmp_path: Path) -> None:
    """Two crawls on one SQLite file at once share eight hosts: no page twice, none lost, no lock in the way."""
    root, truth = site(pages=100)
    server = web(root, hosts=8, database=tmp_path / "x.db")
    (tmp_path / "seeds.txt").write_text("".join(f"{url}index.html\n" for url in server.urls))
    both = [spider_process("-v", "--db", "x.db", "crawl", "seeds.txt", "--delay", "0") for _ in range(2)]
    ends = [process.communicate(timeout=110) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert not any("locked" in text for end in ends for text in end)
    assert times(server) == {f"{url}{path[1:]}": 1 for url in server.urls for path in truth["pages"]}
    done = [sum(line.startswith("C 200") for line in err.splitlines()) for _, err in ends]
    assert sum(done) == 800
    assert min(done) >= 100, f"the work was not shared: {done}"
    same_report(here, server, truth)
    sound(tmp_path / "x.db")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_a_signal_loses_nothing(
    web: Web,
    spider: Spider,
    here: Spider,
    spider_process: Begin,
    site: Site,
    tmp_path: Path,
    *,
    number: int,
    twice: bool,
) -> None:
    """The first signal finishes what is in flight, the second stops at once; a later crawl ends as if none came."""
    root, truth = site(pages=100)
    server = web(root, database=tmp_path / "x.db")
    process = spider_process("--db", "x.db", "crawl", f"{server.url}index.html", "--delay", "0.02")
    while len(times(server)) < 10:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    if twice:
        process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    sound(tmp_path / "x.db")
    before = times(server)
    assert max(before.values()) == 1
    assert spider("--db", "x.db", "crawl", "--delay", "0").returncode == 0
    asked = times(server)
    assert set(asked) == {f"{server.url}{path[1:]}" for path in truth["pages"]}
    assert sum(asked.values()) <= len(asked) + twice
    same_report(here, server, truth)


def _complete(database: Path) -> list[str]:
    if not database.exists():
        return []
    with sqlite3.connect(database) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'CrawlerLink'").fetchone():
            return []
        return [url for (url,) in connection.execute("SELECT url FROM CrawlerLink WHERE state = 3")]
