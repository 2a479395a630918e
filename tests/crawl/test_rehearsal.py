"""A crawl that asks nobody tells what the next one does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.crawl.rehearsal import Step, rehearse
from spider.model import Outcome
from spider.store import Database
from tests.crawl.pages import page
from tests.server import Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Spider = Callable[..., CompletedProcess[str]]

ROBOTS = Reply("User-agent: *\nDisallow: /closed/\nCrawl-delay: 2", type="text/plain")


def dump(database: Path) -> list[str]:
    """Return all that is in a database."""
    with sqlite3.connect(database) as connection:
        return list(connection.iterdump())


def rehearsal(tmp_path: Path, *seeds: str, **fields: Any) -> list[Step]:  # noqa: ANN401  # the plan's own types
    """Rehearse over the database of the test, and hold it to leaving that as it was."""
    before = dump(tmp_path / "x.db")
    with Database.open(str(tmp_path / "x.db")) as database:
        plan = Plan(**{"delay": 0.0, "sitemaps": False, "allow_private": True, **fields})
        steps = rehearse(database, plan, seeds=[Seed(seed) for seed in seeds]).steps
    assert dump(tmp_path / "x.db") == before
    return list(steps)


@pytest.mark.parametrize("order", ["breadth", "depth"])
def test_what_is_told_is_what_happens(web: Web, crawl: Crawl, tmp_path: Path, order: str) -> None:
    """What waits is told in the order in which the next crawl asks for it; what it refuses, by its rule."""
    tree = {"/": page("/a", "/closed/x", "/b"), "/a": page("/a/1", "/a/2"), "/b": page("/b/1", "/closed/y")}
    leaves = {path: page() for path in ("/a/1", "/a/2", "/b/1")}
    server = web(tree | leaves | {"/robots.txt": ROBOTS})
    crawl(server.url, max_pages=3)
    done = len(server.requests)
    steps = rehearsal(tmp_path, order=order)
    assert len(server.requests) == done
    crawl(order=order)
    assert [step.url for step in steps if step.rule is None] == [
        f"{server.url}{path.removeprefix('/')}" for path in server.asked()[done:]
    ]
    assert {step.url for step in steps if step.rule == "robots"} <= {f"{server.url}closed/{name}" for name in "xy"}
    assert any(step.rule == "robots" for step in steps)


def test_hosts_take_turns_at_their_pace(web: Web, crawl: Crawl, tmp_path: Path) -> None:
    """Each host's links are told for when it may be asked: its delay apart, its robots.txt before all else."""
    site = {"/": page("/1", "/2"), "/1": page(), "/2": page()}
    server = web({"127.0.0.1": site | {"/robots.txt": ROBOTS}, "127.0.0.2": site})
    crawl(server.urls[0], max_pages=1)
    steps = rehearsal(tmp_path, server.urls[1], delay=1.5)
    known = [step for step in steps if step.url.startswith(server.urls[0])]
    assert [step.wait - known[0].wait for step in known] == [0.0, 2.0]
    (new,) = (step for step in steps if step.url == server.urls[1])
    assert (new.wait, new.robots_first, new.depth) == (1.5, True, 0)
    assert [step.wait for step in steps] == sorted(step.wait for step in steps)


def test_what_is_due_again_is_told(web: Web, crawl: Crawl, tmp_path: Path) -> None:
    """Pages that are due again are told as such; where none is, nothing is told."""
    server = web({"/": page("/1"), "/1": page()})
    crawl(server.url)
    assert rehearsal(tmp_path) == []
    assert [(step.url, step.again) for step in rehearsal(tmp_path, refresh=0)] == [
        (server.url, True),
        (f"{server.url}1", True),
    ]


def test_the_command_asks_nobody_and_leaves_nothing(web: Web, spider: Spider, tmp_path: Path) -> None:
    """Without a database it tells of the first crawl, and makes none; the address is shown with what comes first."""
    server = web({"/": page()})
    done = spider("crawl", "--dry-run", server.url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"+1 s  {server.url}",
        "      depth 0 · robots.txt first",
        "",
        "the first 1 of 1 that wait: visits 1; refused: nothing",
    ]
    assert server.requests == []
    assert list(tmp_path.iterdir()) == []
    assert spider("crawl", "--dry-run").returncode == 5
