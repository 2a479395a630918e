"""Laws of ``spider workers`` and ``spider db copy``: who is at work, and how a crawl moves to another database."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import Any

from spider.store import Database, Tally, runs, workers
from tests.cli.conftest import Run
from tests.report.filled import fill
from tests.server import WebServer

Spider = Callable[..., CompletedProcess[str]]
Begin = Callable[..., Popen[str]]
Site = Callable[..., tuple[Path, dict[str, Any]]]


def test_who_is_at_work(web: Callable[..., WebServer], here: Spider, spider_process: Begin, site: Site) -> None:
    """Each process at work is listed with the hosts it holds and the pages it has read; one that was killed is dead."""
    root, _ = site(pages=50, bytes=2000, links=12)
    server = web(root, hosts=4)
    urls = [f"{url}index.html" for url in server.urls]
    process = spider_process("crawl", *urls, "--delay", "1", "--workers", "2")
    rows: list[dict[str, Any]] = []
    while sum(row["hosts"] for row in rows) < 4 or not all(row["pages"] and row["pid"] != process.pid for row in rows):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
        rows = json.loads(here("workers", "--format", "json").stdout or "[]")
    assert len(rows) == 2
    assert {row["state"] for row in rows} == {"at work"}
    assert {row["run"] for row in rows} == {1}
    assert {row["machine"] for row in rows} == {os.uname().nodename}
    head, *lines = here("workers").stdout.splitlines()
    assert head.split()[:3] == ["worker", "run", "pid"]
    assert len(lines) == 2
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    done = here("workers")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "spider: nobody is at work on spider.db\n")


def test_the_dead_are_shown(run: Run, tmp_path: Path) -> None:
    """A worker that died and was not found yet is shown as what it is."""
    with Database.open(str(tmp_path / "spider.db")) as database, database.write() as connection:
        row = workers.WorkerRow(0, runs.begin(connection, now=0), "elsewhere/1", "boot", 1, "0", 2_000_000, 1_000_000)
        workers.note(connection, workers.register(connection, row), {workers.PAGES: 7, "media.video": 1})
        Tally().flush(connection)
    (found,) = json.loads(run("workers", "--format", "json").stdout)
    assert (found["state"], found["machine"], found["pages"], found["pages_per_second"]) == (
        "dead",
        "elsewhere",
        7,
        7.0,
    )


def test_copy(run: Run, tmp_path: Path) -> None:
    """A copy says how many rows it has; the same place, a missing source and a target with rows are told in a line."""
    fill(tmp_path / "spider.db")
    done = run("db", "copy", "spider.db", "new.db")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("spider.db copied to new.db: ")
    assert run("report", "--format", "json").stdout == run("--db", "new.db", "report", "--format", "json").stdout
    again = run("db", "copy", "spider.db", "new.db")
    assert (again.exit_code, again.stderr) == (
        5,
        "spider: new.db is not empty: Count has rows; name a new database\n",
    )
    same = run("db", "copy", "spider.db", "spider.db")
    assert (same.exit_code, same.stderr) == (2, "spider: FROM and TO are the same database\n")
    assert run("db", "copy", "missing.db", "other.db").exit_code == 5
    assert not (tmp_path / "other.db").exists()
