"""Laws of the log file: a line for each address, whatever it says; small files and few; no log breaks a crawl."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.cli import log as logs
from spider.model import Failed, Fetched, Reason, Request, Response, Skipped
from tests.cli.conftest import Run
from tests.server import WebServer

Serve = Callable[..., WebServer]

SITE = {"/": '<a href="/a">a</a> <a href="/gone">g</a> <a href="/no">n</a>', "/a": "<video src=x.mp4></video>"}
ROBOTS = {"/robots.txt": "User-agent: *\nDisallow: /no\n"}
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def test_each_outcome_is_a_line(web: Serve, run: Run, tmp_path: Path) -> None:
    """The text log has when, what and which address; what stands in it is not said on the terminal too."""
    site = web({**SITE, **ROBOTS})
    done = run("-q", "crawl", site.url, "--delay", "0", "--log", "x.log")
    assert (done.exit_code, done.output) == (0, "")
    lines = (tmp_path / "x.log").read_text().splitlines()
    assert all(re.match(rf"{MOMENT} ", line) for line in lines)
    said = [line.partition(" ")[2] for line in lines]
    assert said[0] == "begin"
    assert said[-1].startswith("end 2 pages in ")
    assert {f"C 200 {site.url}", f"C 200 {site.url}a", f"- robots {site.url}no"} <= set(said)
    assert f"E client {site.url}gone (HTTP status 404)" in said


def test_json_lines_are_json(web: Serve, run: Run, tmp_path: Path) -> None:
    """Each line of the JSON log is an object; a second crawl goes on in the same file."""
    site = web({**SITE, **ROBOTS})
    for _ in range(2):
        run("-q", "crawl", site.url, "--delay", "0", "--log", "x.log", "--log-format", "json")
    rows = [json.loads(line) for line in (tmp_path / "x.log").read_text().splitlines()]
    assert [row["event"] for row in rows].count("begin") == 2
    by_url = {row["url"].removeprefix(site.url): row for row in rows if "url" in row}
    assert (by_url["a"]["event"], by_url["a"]["status"], by_url["a"]["media"]) == ("visited", 200, 1)
    assert (by_url["gone"]["event"], by_url["gone"]["reason"], by_url["gone"]["status"]) == ("failed", "client", 404)
    assert (by_url["no"]["event"], by_url["no"]["rule"]) == ("refused", "robots")
    assert all(re.fullmatch(MOMENT, row["time"]) for row in rows)


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_is_a_line(form: str, tmp_path: Path) -> None:
    """Line ends, controls and half characters in what a server says do not leave their line."""
    request = Request("http://x.example/")
    bad = "one\ntwo\r\u2028three\x1b[31m\x85\ud800"
    with logs.logged(str(tmp_path / "x"), form) as log:
        log.outcome(Failed(request, Reason.TLS, bad))
        log.outcome(Fetched(request, Response(request, request.url, 301, {}, location="http://x.example/y")))
        log.outcome(Skipped(request, bad))
        log.failed(ValueError(bad))
    text = (tmp_path / "x").read_text(encoding="utf-8")
    assert len(text.splitlines()) == 5
    assert "\x1b" not in text


def test_files_stay_small_and_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its size a file is renamed, and the oldest goes."""
    monkeypatch.setattr(logs, "SIZE", 500)
    monkeypatch.setattr(logs, "KEPT", 2)
    with logs.logged(str(tmp_path / "x"), "text") as log:
        for number in range(100):
            log.outcome(Skipped(Request(f"http://x.example/{number}"), "depth"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x", "x.1", "x.2"]
    assert all(path.stat().st_size <= 500 for path in tmp_path.iterdir())
    assert "/99" in (tmp_path / "x").read_text()


@pytest.mark.parametrize("name", [".", "nowhere/x.log", "n" * 300])
def test_a_log_that_cannot_be_written_is_one_line(name: str, run: Run) -> None:
    """A place that cannot be written is the user's error, before anything is visited."""
    done = run("crawl", "http://127.0.0.1:9/", "--log", name)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"spider: cannot write the log {name}: ")
    assert done.stderr.count("\n") == 1


def test_a_full_disk_ends_the_log_and_not_the_crawl(web: Serve, run: Run) -> None:
    """A log that can be written no more says so once; the crawl goes on."""
    site = web(SITE)
    done = run("-q", "crawl", site.url, "--delay", "0", "--log", "/dev/full")
    assert (done.exit_code, done.stderr) == (0, f"spider: the log ends here: [Errno 28] {os.strerror(28)}\n")
