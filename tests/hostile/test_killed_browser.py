"""A crawl that explores applications in a browser, killed: nothing is lost, and no browser is left behind."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest

from spider.ajax import require
from spider.errors import BrowserError
from tests.crawl.conftest import sound
from tests.server import WebServer

Web = Callable[..., WebServer]
Process = Callable[..., Popen[str]]

try:
    require()
except BrowserError as error:
    pytest.skip(f"no browser: {error}", allow_module_level=True)

SKIP = {"overlap": "a browser opens connections as it likes, and a killed process cannot close its own first"}
OPTIONS = ("--delay", "0", "--ajax", "always", "--ajax-depth", "1", "--ajax-states", "4", "--no-sitemaps")
PAGES = 4


def application(name: str, *links: str) -> str:
    """Write an application of two states: a click shows a film."""
    hrefs = "".join(f'<a href="{link}">x</a>' for link in links)
    return (
        f"<!doctype html><title>{name}</title>{hrefs}<button id=b>show</button><div id=d></div><script>"
        "document.getElementById('b').addEventListener('click', () => {"
        f"document.getElementById('d').innerHTML = '<video src=\"/{name}.mp4\"></video>'; }});</script>"
    )


SITE = {"/": application("start", *(f"/{n}" for n in range(1, PAGES)))} | {
    f"/{n}": application(f"film{n}") for n in range(1, PAGES)
}


def browsers(pid: int) -> set[int]:
    """Return the processes below one."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found, new = {pid}, {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found - {pid}


def alive(pid: int) -> bool:
    """Tell whether a process still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def kill(times: int, server: WebServer, process: Process, folder: Path) -> None:
    """Kill a crawl at random moments, then let it end, and hold it to the truth."""
    dice = random.Random(times)
    for _ in range(times):
        crawl = process("-q", "--db", "x.db", "crawl", server.url, *OPTIONS)
        end = time.monotonic() + dice.uniform(0.5, 3.0)
        while crawl.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        below = browsers(crawl.pid)
        crawl.kill()
        crawl.wait()
        patience = time.monotonic() + 30
        while (left := {pid for pid in below if alive(pid)}) and time.monotonic() < patience:
            time.sleep(0.1)
        assert left == set()
    last = process("-q", "--db", "x.db", "crawl", server.url, *OPTIONS)
    assert last.wait(100) == 0
    sound(folder / "x.db")
    with contextlib.closing(sqlite3.connect(folder / "x.db")) as connection:
        assert connection.execute("SELECT state, count(*) FROM CrawlerLink GROUP BY state").fetchall() == [(3, PAGES)]
        films = {url.rpartition("/")[2] for (url,) in connection.execute("SELECT url FROM Video")}
    assert films == {"start.mp4", *(f"film{n}.mp4" for n in range(1, PAGES))}


def test_killed(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """Killed three times, and begun again, a crawl with a browser finds every film, each behind its click."""
    kill(3, web(SITE, per_host=64, skip=SKIP), spider_process, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_killed_many_times(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """The same, killed forty times."""
    kill(40, web(SITE, per_host=64, skip=SKIP), spider_process, tmp_path)
