"""Laws of what can be asked of a crawl: its runs, what it refused, why an address stands where it does, what is new."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider.store import Database
from tests.cli.conftest import Run
from tests.report.dressed import APPLICATION, dress
from tests.report.filled import NOW, fill
from tests.report.large import grow
from tests.report.test_text import HOSTILE
from tests.server import Reply, WebServer

Serve = Callable[..., WebServer]
QUICK = ("--delay", "0", "--retries", "0", "--no-sitemaps")
SITE: dict[str, Any] = {
    "/robots.txt": "User-agent: *\nDisallow: /s/no\n",
    "/s/": '<a href=a>To  A</a><a href=no>n</a><a href="/up">u</a><a href="http://other.example/x">o</a>'
    '<a href="http://other.example/x">o</a>',
    "/s/a": '<a href=b>B</a><a href=gone>g</a><a href="/up">u</a><video src=v.mp4></video>',
    "/s/b": '<a href=deep>d</a><a href="http://other.example/x">o</a>',
    "/s/gone": Reply(status=410),
}


def asked(run: Run, *args: object) -> list[dict[str, Any]]:
    """Return a command's answer in JSON."""
    done = run(*args, "--format", "json")
    assert done.exit_code == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


@pytest.fixture
def site(web: Serve, run: Run) -> WebServer:
    """Crawl a site whose links are refused in all kinds of ways, down to depth 2."""
    server = web(SITE)
    done = run("crawl", f"{server.url}s/", *QUICK, "--depth", "2")
    assert done.exit_code == 0, done.stderr
    return server


# --- skipped -----------------------------------------------------------------


def test_everything_refused_is_listed(site: WebServer, run: Run) -> None:
    """Each refused address stands with its rule, the page that showed it first, and how often pages did."""
    rows = {(row["url"], row["rule"]): (row["page"], row["count"]) for row in asked(run, "skipped")}
    top = f"{site.url}s/"
    assert rows == {
        (f"{site.url}up", "tree"): (top, 2),
        (f"{site.url}s/no", "robots"): (top, 1),
        (f"{site.url}s/deep", "depth"): (f"{site.url}s/b", 1),
        ("http://other.example/x", "external"): (top, 2),
    }
    table = run("skipped").stdout
    assert table.splitlines()[-1] == "1 depth, 1 external, 1 robots, 1 tree"
    assert f"{site.url}up\n  refused by tree · 2 times · on {top}\n" in table


def test_one_rule_s_refusals(site: WebServer, run: Run) -> None:
    """--rule shows those of one rule; where it refused nothing, the rules that did are named."""
    for rule, url in (("external", "http://other.example/x"), ("depth", f"{site.url}s/deep")):
        assert [row["url"] for row in asked(run, "skipped", "--rule", rule)] == [url]
    done = run("skipped", "--rule", "kin")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "spider: nothing was refused by kin; rules that refused: depth, external, robots, tree\n"


# --- why ---------------------------------------------------------------------


def test_the_way_to_a_page(site: WebServer, run: Run) -> None:
    """The links from the seed to the address, in this order, each with its text, source, state and depth."""
    rows = asked(run, "why", f"{site.url}s/b#part")
    assert [(row["fact"], row["url"].removeprefix(site.url), row["depth"], row["text"]) for row in rows] == [
        ("page", "s/", 0, ""),
        ("page", "s/a", 1, "To A"),
        ("link", "s/b", 2, "B"),
    ]
    assert {row["state"] for row in rows} == {"C"}
    assert (rows[-1]["source"], rows[-1]["status"]) == ("a@href", 200)
    assert run("why", f"{site.url}s/b").stdout.count("\n") == 6


def test_why_an_address_failed_or_was_refused(site: WebServer, run: Run) -> None:
    """A failure tells its class and message; a refusal its rule and the page; both may hold for one address."""
    last = asked(run, "why", f"{site.url}s/gone")[-1]
    assert (last["state"], last["detail"], last["message"], last["status"]) == ("E", "client", "HTTP status 410", 410)
    assert "E: failed · status 410 · client: HTTP status 410 · not tried again by itself" in run(
        "why", f"{site.url}s/gone"
    ).stdout.replace("\n", " ")
    rows = asked(run, "why", f"{site.url}s/no")
    assert [(row["fact"], row["state"], row["detail"]) for row in rows] == [
        ("page", "C", None),
        ("link", "E", "robots"),
        ("refused", None, "robots"),
    ]
    (row,) = asked(run, "why", "http://OTHER.example:80/x")
    assert (row["fact"], row["url"], row["detail"], row["count"]) == ("refused", f"{site.url}s/", "external", 2)


def test_why_a_medium_is_known(site: WebServer, run: Run) -> None:
    """An address that is a medium stands with the pages that hold it; gone ones say so."""
    (row,) = asked(run, "why", f"{site.url}s/v.mp4")
    assert (row["fact"], row["url"], row["detail"]) == ("medium", f"{site.url}s/a", "video")
    site.contents["127.0.0.1"] = {**SITE, "/s/a": "nothing any more"}
    run("crawl", *QUICK, "--refresh", "0")
    (row,) = asked(run, "why", f"{site.url}s/v.mp4")
    assert row["fact"] == "medium gone"


def test_why_a_medium_of_an_application_is_known(run: Run, tmp_path: Path) -> None:
    """A medium that needs a state stands with its number, as in the report, and the events that lead there."""
    grow(tmp_path / "spider.db", media=40)
    dress(tmp_path / "spider.db")
    with sqlite3.connect(tmp_path / "spider.db") as connection:
        ((url,),) = connection.execute("SELECT url FROM Video WHERE page_id = 1 LIMIT 1")
    rows = [row for row in asked(run, "why", url) if row["message"]]
    ways = APPLICATION.way(4)
    told = ", ".join(f"{one.event} on {one.element}" for one in ways)
    assert [row["message"] for row in rows] == [f"in state 4, after {told}"]
    assert len(ways) == 2
    assert "in state 4, after " in run("why", url).stdout


@pytest.mark.parametrize("url", ["http://never.example/", "never.example/x", "http://127.0.0.1:1/s/zzz"])
def test_an_address_that_was_never_met(url: str, site: WebServer, run: Run) -> None:
    """It is said so, and that is no error."""
    assert site.requests
    done = run("why", url)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith(" was never met: no page that was read shows it\n")
    assert asked(run, "why", url) == []


def test_why_what_is_no_address(run: Run, tmp_path: Path) -> None:
    """What is no URL is the user's error, with a caret under the place."""
    Database.open(str(tmp_path / "spider.db")).close()
    done = run("why", "http://[::1/")
    assert done.exit_code == 2
    assert "^" in done.stderr


def test_a_redirect_a_copy_and_a_takedown_say_so(web: Serve, run: Run) -> None:
    """What a page turned out to be is told, and what was forgotten is named as such."""
    site = web({
        "/": "<a href=old>o</a><a href=one>1</a><a href=two>2</a>",
        "/old": Reply(status=301, headers=(("Location", "/one"),)),
        "/one": "same",
        "/two": "same",
    })  # fmt: skip
    assert run("crawl", site.url, *QUICK).exit_code == 0
    assert asked(run, "why", f"{site.url}old")[-1]["message"] == f"redirects to {site.url}one"
    assert asked(run, "why", f"{site.url}two")[-1]["message"] == f"a copy of {site.url}one"
    run("forget", f"{site.url}two")
    assert [row["fact"] for row in asked(run, "why", f"{site.url}two")] == ["forgotten"]
    run("seeds", "disable", site.url)
    assert "active" not in run("why", f"{site.url}one").stdout


# --- runs --------------------------------------------------------------------


def test_runs_tell_why_they_ended(web: Serve, run: Run) -> None:
    """Each crawl is a row, the newest first, with why it ended and what it did."""
    site = web(SITE)
    assert run("crawl", f"{site.url}s/", *QUICK, "--max-pages", "1").exit_code == 4
    run("crawl", *QUICK)
    rows = asked(run, "runs")
    assert [(row["run"], row["why"], row["pages"], row["video"]) for row in rows] == [
        (2, "done", 2, 1),
        (1, "max-pages", 1, 0),
    ]
    assert all(row["began_at"] <= row["ended_at"] for row in rows)
    assert rows[0]["refused"] == 3  # one of them leaves the site
    lines = run("runs").stdout.splitlines()
    assert lines[0].split() == [
        "run",
        "began_at",
        "ended_at",
        "pages",
        "video",
        "audio",
        "flash",
        *"WRCE",
        "refused",
        "why",
    ]
    assert [line.split()[-1] for line in lines[1:]] == ["done", "max-pages"]
    assert next(csv.reader(io.StringIO(run("runs", "--format", "csv").stdout)))[:4] == [
        "run",
        "began_at",
        "ended_at",
        "why",
    ]


def test_no_run_yet(run: Run, tmp_path: Path) -> None:
    """A database without a crawl says so, and what is asked of it is empty, not an error."""
    Database.open(str(tmp_path / "spider.db")).close()
    done = run("runs")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "spider: spider.db has seen no crawl yet; spider crawl URL begins\n"
    assert (run("skipped").exit_code, run("skipped").stderr) == (0, "spider: nothing was refused\n")
    assert run("report", "--new").exit_code == 0


def test_a_run_that_says_nothing_was_killed(run: Run, tmp_path: Path) -> None:
    """A run without an end whose process is gone was killed."""
    fill(tmp_path / "spider.db")
    assert [row["why"] for row in asked(run, "runs")] == ["killed"]


# --- what is new, what is gone -----------------------------------------------


def media(run: Run, *args: str) -> list[str]:
    """Return the last parts of the addresses in a report."""
    return sorted(row["media"].rpartition("/")[2] for row in asked(run, "report", *args))


NOTHING = {
    "--new": "nothing of the kind is new",
    "--gone --new": "nothing of the kind is gone since the last crawl",
    "--gone --media flash": "nothing of the kind is gone\n",
    "--dead": "spider check asks",
    "--since 1d --media flash": "seen first within that time",
    "--media flash": "no page with such media",
}
"""What is said where there is nothing to show, by what was asked for."""


def test_what_is_new_and_what_is_gone(web: Serve, run: Run, tmp_path: Path) -> None:
    """--new is what the last crawl saw first, --gone what it saw no more; a report leaves out what is gone."""
    site = web({"/": "<video src=old.mp4></video><video src=stays.mp4></video>"})
    run("crawl", site.url, *QUICK)
    assert media(run) == media(run, "--new") == ["old.mp4", "stays.mp4"]
    assert media(run, "--gone") == []
    site.contents["127.0.0.1"] = {"/": "<video src=new.mp4></video><video src=stays.mp4></video>"}
    run("crawl", *QUICK, "--refresh", "0")
    assert media(run) == ["new.mp4", "stays.mp4"]
    assert media(run, "--new") == ["new.mp4"]
    assert media(run, "--gone") == media(run, "--gone", "--new") == ["old.mp4"]
    assert asked(run, "status")[-1]["video"] == 1
    run("crawl", *QUICK, "--refresh", "0")
    assert media(run, "--new") == media(run, "--gone", "--new") == []
    for words, told in NOTHING.items():
        assert told in run("report", *words.split()).stderr
    day = 86_400 * 10**6
    with sqlite3.connect(tmp_path / "spider.db") as connection:
        connection.execute("UPDATE Video SET first_seen = first_seen - ? WHERE url LIKE '%stays%'", (8 * day,))
        connection.execute("UPDATE Video SET gone_at = gone_at - ? WHERE gone_at IS NOT NULL", (8 * day,))
    assert media(run, "--since", "7d") == ["new.mp4"]
    assert media(run, "--since", "9d") == ["new.mp4", "stays.mp4"]
    assert (media(run, "--gone", "--since", "7d"), media(run, "--gone", "--since", "9d")) == ([], ["old.mp4"])


def test_a_time_that_is_none(run: Run, tmp_path: Path) -> None:
    """What is no time is the user's error, in one line."""
    Database.open(str(tmp_path / "spider.db")).close()
    for bad in ("never", "-1", "soon", "7 days"):
        done = run("report", "--since", bad)
        assert done.exit_code == 2, bad
        assert done.stderr.startswith("spider: --since: ")
        assert done.stderr.count("\n") == 1


def test_a_class_of_failures_is_a_reason(run: Run, tmp_path: Path) -> None:
    """--class and --reason are one option, of errors and of retry."""
    fill(tmp_path / "spider.db")
    for option in ("--class", "--reason"):
        assert len(asked(run, "errors", option, "client")) == 1
        assert asked(run, "errors", option, "timeout") == []
    assert run("retry", "--class", "client").stdout == "1 link moved from E to W\n"


# --- hostile text ------------------------------------------------------------


@pytest.mark.parametrize("form", ["table", "json", "jsonl"])
def test_nothing_that_a_page_says_steers_a_terminal(form: str, run: Run, tmp_path: Path) -> None:
    """Anchor texts, rules, messages, notes and addresses come out as text, whatever is in them."""
    fill(tmp_path / "spider.db")
    evil = HOSTILE.replace(chr(0), "").replace(chr(0xD800), "")
    with sqlite3.connect(tmp_path / "spider.db") as connection:
        connection.execute("UPDATE CrawlerLink SET text = ?, message = ?", (evil, evil))
        connection.execute(
            "INSERT INTO Skipped (url_hash, url, rule, at, count) VALUES (1, ?, ?, ?, 1)",
            (f"http://x/{evil}", evil, NOW),
        )
        connection.execute("UPDATE SeedLink SET note = ?, landed_url = ?", (evil, f"http://x/{evil}"))
        connection.execute("UPDATE Run SET why = ?", (evil,))
    for command in (["skipped"], ["why", "http://museum.example/lost.html"], ["seeds", "list"], ["runs"]):
        done = run(*command, "--format", form)
        assert done.exit_code == 0
        assert done.stdout
        assert [line for line in done.stdout.split("\n") if not line.isprintable()] == [], command
