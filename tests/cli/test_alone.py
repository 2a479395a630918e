"""Laws of two crawls on one database: who wants to be alone leaves at once, and a death leaves no lock behind."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.errors import BusyError
from spider.store import Database, ask, seeds, workers
from tests.cli.test_crawl import endless, wait_for
from tests.server import WebServer

Serve = Callable[..., WebServer]
Program = Callable[..., CompletedProcess[str]]
Start = Callable[..., Popen[str]]


def test_the_second_leaves_at_once_with_code_8(
    web: Serve, spider_process: Start, spider: Program, here: Program
) -> None:
    """With --exclusive a second crawl is one line and code 8, quiet or not; after kill -9 the next one begins."""
    site = web(endless)
    first = spider_process("crawl", site.url, "--delay", "0", "--depth", "9999", "--exclusive")
    wait_for(lambda: len(site.requests) > 5)
    for quiet in ([], ["-q"]):
        second = spider(*quiet, "crawl", site.url, "--exclusive")
        assert (second.returncode, second.stdout) == (8, "")
        assert second.stderr == f"spider: run 1 (process {first.pid}) is at work on spider.db\n"
    assert [row["why"] for row in json.loads(here("runs", "--format", "json").stdout)] == ["running"]
    first.send_signal(signal.SIGKILL)
    first.wait(10)
    assert spider("crawl", "--delay", "0", "--depth", "9999", "--exclusive", "--max-pages", "3").returncode == 4
    rows = json.loads(here("runs", "--format", "json").stdout)
    assert [(row["run"], row["why"], row["pages"]) for row in rows] == [(2, "max-pages", 3), (1, "killed", None)]


def test_who_is_refused_leaves_no_trace(web: Serve, tmp_path: Path) -> None:
    """A run that may not begin adds no run, no worker and no seed; afterwards it may."""
    site = web({"/": "x", "/other": "y"})
    with Database.open(str(tmp_path / "x.db")) as database:
        first = Crawler(database, Plan(delay=0.0), seeds=[Seed(site.url)]).run()
        next(first)
        alone = Plan(delay=0.0, exclusive=True)
        with pytest.raises(BusyError, match=r"run 1 \(process \d+\) is at work on "):
            list(Crawler(database, alone, seeds=[Seed(f"{site.url}other")]).run())
        with database.read() as connection:
            assert len(ask.runs(connection)) == len(workers.rows(connection)) == 1
            assert [seed.url for seed in seeds.seed_rows(connection)] == [site.url]
        list(first)
        assert list(Crawler(database, alone, seeds=[Seed(f"{site.url}other")]).run())
