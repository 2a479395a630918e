"""``spider demo``, and ``spider crawl`` on the sample site: what they find is the truth."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
import requests
from click.testing import CliRunner, Result

from spider.cli import main
from spider.demo import TRUTH, serve

Run = Callable[..., subprocess.CompletedProcess[str]]
Here = Callable[..., Result]
Start = Callable[..., subprocess.Popen[str]]
ENDLESS = "/lost/self.html"  # the one address that leads to itself
Row = dict[str, str | int | None]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Give a function that runs the program in this process, in `tmp_path`: a start costs more than a demo."""
    monkeypatch.chdir(tmp_path)

    def run(*args: object, **variables: str) -> Result:
        return CliRunner().invoke(main, [str(arg) for arg in args], env=variables)

    return run


def truth(base: str) -> set[tuple[str, str, str, int]]:
    """Return page, medium, kind and depth of everything that a crawl from `base` reports."""
    return {
        (
            urljoin(base, url),
            urljoin(base, medium.url),
            str(medium.kind),
            min(sight.depth, 1) if url in TRUTH.listed else sight.depth,
        )
        for url, sight in TRUTH.pages.items()
        for medium in sight.media
    }


def told(rows: list[Row]) -> set[tuple[object, ...]]:
    """Return the same of a report's rows."""
    return {(row["page"], row["media"], row["kind"], row["depth"]) for row in rows}


def report(here: Here, db: str) -> list[Row]:
    """Return a database's report, its media one by one."""
    ran = here("--db", db, "report", "--format", "json")
    assert (ran.exit_code, ran.stderr) == (0, "")
    rows: list[Row] = json.loads(ran.stdout)
    return rows


def test_a_crawl_of_the_site_finds_the_truth_and_asks_for_nothing_else(spider: Run, here: Here) -> None:
    """Every page once, every medium with its text, what fails with its status; no closed page, no medium's body."""
    log: list[str] = []
    with serve(log=log) as base:
        ran = spider("--db", "x.db", "crawl", base, "--delay", 0)
        assert ran.returncode == 0, ran.stderr
    asked = Counter(log)
    assert {path: asked.pop(path, 0) for path in TRUTH.pages} == dict.fromkeys(TRUTH.pages, 1)
    assert {path: asked.pop(path, 0) for path in TRUTH.dead} == dict.fromkeys(TRUTH.dead, 1)
    redirects = {path: asked.pop(path, 0) for path in TRUTH.redirects}
    assert 1 <= redirects.pop(ENDLESS) <= 21  # with hope, and then no more
    assert set(redirects.values()) == {1}
    assert dict(asked) == {"/robots.txt": 1, "/sitemap.xml": 1, "/listen/bell": 1}

    rows = report(here, "x.db")
    assert told(rows) == truth(base)
    assert len(rows) == len(truth(base))
    assert {row["seed"] for row in rows} == {base}
    for url, sight in TRUTH.pages.items():
        for row in (row for row in rows if row["page"] == urljoin(base, url)):
            assert row["title"] == sight.title
            texts = {urljoin(base, medium.url): medium.text for medium in sight.media if medium.text}
            assert row["text"] == texts.get(str(row["media"]), row["text"])

    failed = json.loads(here("--db", "x.db", "errors", "--format", "json").stdout)
    dead = {row["url"]: row["status"] for row in failed if row["reason"] == "client"}
    assert dead == {urljoin(base, path): status for path, status in TRUTH.dead.items()}
    others = {(row["url"], row["reason"]) for row in failed if row["reason"] != "client"}
    closed = {(urljoin(base, path), "robots") for path in TRUTH.closed}
    assert others == {(urljoin(base, ENDLESS), "redirect"), *closed}


def test_the_options_of_a_seed_hold_for_it_alone(here: Here, tmp_path: Path) -> None:
    """Depth, scope and patterns behind an address in a seeds file decide what is visited from it, and nothing else."""
    log: list[str] = []
    with serve(log=log) as base:
        lines = [
            f"{base}films/ depth=1 exclude=garden exclude=stream",
            f"{base}flash/ depth=0",
            f"{base}zh/  # all of it",
        ]
        (tmp_path / "seeds.txt").write_text("\n".join(lines))
        ran = here("crawl", "seeds.txt", "--delay", 0)
    assert ran.exit_code == 0, ran.stderr
    films = {
        "/films/",
        "/films/lights.html",
        "/films/shell.html",
        "/films/lost-reel.html",
        "/films/dances",
        "/films/dances/",
    }
    zh = {path for path in TRUTH.pages if path.startswith("/zh/")}
    assert Counter(log) == Counter({"/robots.txt", "/sitemap.xml", *films, "/flash/", *zh})


def test_the_demo_shows_a_whole_crawl(spider: Run, here: Here, tmp_path: Path) -> None:
    """It serves, crawls, reports and counts, in seconds, and leaves demo.db behind."""
    began = time.monotonic()
    ran = spider("demo")
    assert time.monotonic() - began < 20
    assert ran.returncode == 0, ran.stderr
    found = re.search(r"http://127\.0\.0\.1:\d+/", ran.stderr)
    assert found, ran.stderr
    assert told(report(here, "demo.db")) == truth(found[0])
    assert "puppet.swf" in ran.stdout
    assert "灯影" in ran.stdout
    assert re.search(r"(?m)^\s*0 +0 +\d+ .* http://127\S+$", ran.stdout), ran.stdout
    assert {file.name for file in tmp_path.iterdir()} <= {"demo.db", "demo.db-wal", "demo.db-shm"}


def test_the_demo_may_be_run_again(here: Here) -> None:
    """A second demo begins anew, on the same database, and finds the same."""
    first = here("--db", "mine.db", "demo")
    second = here("--db", "mine.db", "demo")
    assert (first.exit_code, second.exit_code) == (0, 0)
    seeds = {row["seed"] for row in report(here, "mine.db")}
    assert len(seeds) == 1
    assert str(seeds.pop()) in second.stderr


def test_the_demo_leaves_other_files_alone(here: Here, tmp_path: Path) -> None:
    """A database or file that is not a demo's is not touched; one line says so, and the code is 2."""
    letter = tmp_path / "letter.txt"
    letter.write_text("dear museum")
    ran = here("demo", SPIDER_DB="letter.txt")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "spider: letter.txt is not a demo's database, so the demo leaves it alone; name another with --db\n"
    )
    assert letter.read_text() == "dear museum"


def test_a_quiet_demo_gives_the_answers_alone(here: Here, tmp_path: Path) -> None:
    """With -q nothing is said beside report and counts; --output names and makes the place of demo.db."""
    ran = here("-q", "demo", "--output", "a/b")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert (tmp_path / "a/b/demo.db").is_file()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--db", "x.db", "demo", "--output", "y"), "--db and --output both say where the database stands"),
        (("--db", "postgresql://127.0.0.9/x", "demo"), "the demo's database is a file; name a path with --db"),
        (("demo", "--port", "65536"), "--port"),
        (("demo", "--output", "file/y"), "cannot make the directory file/y: not a directory"),
        (("--db", "file", "demo"), "file is not a demo's database"),
    ],
)
def test_what_cannot_be_shown_is_one_line(words: tuple[str, ...], line: str, here: Here, tmp_path: Path) -> None:
    """Bad options end with 2, one line, and nothing made."""
    (tmp_path / "file").write_text("x")
    ran = here(*words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert line in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_port_that_is_taken_is_one_line(here: Here) -> None:
    """A port somebody else has is told, with the code for what the user gave."""
    with serve() as base:
        ran = here("demo", "--serve-only", "--port", urlsplit(base).port)
    assert (ran.exit_code, ran.stderr) == (
        2,
        f"spider: cannot serve on port {urlsplit(base).port}: address already in use\n",
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_site_may_only_be_served(spider_process: Start, tmp_path: Path, number: int) -> None:
    """--serve-only prints the address, serves until Ctrl-C or SIGTERM, ends with 0, and makes no database."""
    process = spider_process("demo", "--serve-only")
    assert process.stdout is not None
    base = process.stdout.readline().strip()
    assert "The Lantern House" in requests.get(base, timeout=10).text
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (0, "", "")
    assert not list(tmp_path.iterdir())
