"""Laws of ``spider seeds``: the list as a person keeps it, and what a crawl makes of each decision."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from spider.cli import main, seeds
from spider.crawl import Crawler, Plan, Seed
from spider.store import Database
from tests.cli.conftest import Run
from tests.cli.test_crawl import endless
from tests.crawl.conftest import sound
from tests.crawl.test_candidates import API, SITE, Engine
from tests.server import WebServer

Serve = Callable[..., WebServer]
LOOK = ("--delay", "0", "--allow-private")
QUICK = ("--delay", "0", "--retries", "0", "--no-sitemaps")


def listed(run: Run, *args: str) -> list[dict[str, Any]]:
    """Return the list of seeds."""
    rows: list[dict[str, Any]] = json.loads(run("seeds", "list", "--format", "json", *args).stdout)
    return rows


def statuses(run: Run) -> dict[int, str]:
    """Return the status of each seed by its number."""
    return {row["id"]: row["status"] for row in listed(run)}


# --- the three ways ----------------------------------------------------------


def test_by_hand(run: Run, tmp_path: Path) -> None:
    """Addresses, files and the standard input go into the list, each once, options and note with them."""
    (tmp_path / "more.txt").write_text("b.example/  depth=2\nhttp://A.example/\n")
    done = run("seeds", "add", "http://a.example/", "more.txt", "-", "--note", "mine", stdin="c.example/x")
    assert (done.exit_code, done.stdout) == (0, "3 seeds added\n")
    assert run("seeds", "add", "https://c.example/x", "http://d.example/").stdout == "1 seed added, 1 known before\n"
    rows = listed(run)
    assert [(row["id"], row["url"], row["options"]) for row in rows] == [
        (1, "http://a.example/", None),
        (2, "https://b.example/", '{"depth": 2}'),
        (3, "https://c.example/x", None),
        (4, "http://d.example/", None),
    ]
    assert {(row["status"], row["origin"], row["note"]) for row in rows[:3]} == {("active", "hand", "mine")}
    assert all(row["added_at"] and row["decided_at"] is None for row in rows)


def test_by_search(web: Serve, run: Run) -> None:
    """What an engine finds is listed and waits as candidates; what the list has stays as it is."""
    results = [{"url": "http://films.example/", "title": "Films \x1b[31m"}, {"url": "http://known.example/"}]
    engine = web(Engine(results), skip=API)
    run("seeds", "add", "http://known.example/")
    done = run("seeds", "search", "old films", "--engine", f"{engine.url}sx/", "--delay", "0")
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert done.stdout.splitlines()[0] == "2  http://films.example/"
    assert [(row["status"], row["origin"], row["note"]) for row in listed(run)] == [
        ("active", "hand", None),
        ("candidate", "search", "Films \x1b[31m"),
    ]
    assert run("crawl", "--max-time", "0.001").exit_code in {0, 3, 4}  # asks nothing of the candidate
    rows = json.loads(run("seeds", "search", "w", "--engine", f"{engine.url}sx/", "--format", "json").stdout)
    assert [row["id"] for row in rows] == [2, 1]


def test_a_search_that_finds_nothing_or_fails(web: Serve, run: Run) -> None:
    """Nothing found is 0 with a line; an engine that does not answer is named, code 3; a bad address is code 2."""
    engine = web(Engine(), skip=API)
    done = run("seeds", "search", "w", "--engine", f"{engine.url}sx/")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"spider: {engine.url}sx/ finds nothing of the kind\n"
    done = run("seeds", "search", "w", "--engine", engine.url, "--delay", "0")
    assert (done.exit_code, done.stderr) == (3, f"spider: client: {engine.url}: HTTP status 404\n")
    assert run("seeds", "search", "w", "--engine", "ftp://x.example/").exit_code == 2
    assert run("seeds", "search", "w").exit_code == 2


def test_by_submission(run: Run) -> None:
    """What is submitted waits; submitting it again changes nothing."""
    assert (
        run("seeds", "submit", "films.example/x", "--note", "see!").stdout == "1  https://films.example/x  candidate\n"
    )
    assert run("seeds", "reject", "1").stdout == "1  https://films.example/x  rejected\n"
    assert run("seeds", "submit", "films.example/x").stdout == "1  https://films.example/x  rejected\n"
    (row,) = listed(run)
    assert (row["origin"], row["note"], row["decided_at"] is not None) == ("submitted", "see!", True)
    for bad in ("mailto://x", "mailto:x@films.example", "http://[::1/", "javascript:alert(1)"):
        done = run("seeds", "submit", bad)
        assert (done.exit_code, done.stdout) == (2, ""), bad


# --- decisions ---------------------------------------------------------------


def test_a_check_is_shown_before_the_question(web: Serve, run: Run) -> None:
    """Confirming shows what was seen and asks; yes crawls the seed from now on, anything else leaves it."""
    site = web(SITE)
    for path in ("films/", "films/b"):
        run("seeds", "submit", f"{site.url}{path}")
    done = run("seeds", "confirm", "1", f"{site.url}films/b", *LOOK, stdin="y\n\n")
    assert done.exit_code == 3
    assert done.stdout.splitlines() == [
        f"1  {site.url}films/",
        "   “Old films”",
        "   its name resolves · status 200 · HTML · robots.txt allows it",
        f"     1 video, 1 audio  {site.url}films/",
        f"     1 video, 1 flash  {site.url}films/a",
        f"     HTTP status 404, text/html  {site.url}films/b",
        f"     robots: robots.txt closes it  {site.url}films/closed",
        "   2 video, 1 audio, 1 flash on 4 of its pages",
        "   good",
        f"1  {site.url}films/  confirmed",
        f"2  {site.url}films/b",
        "   its name resolves · status 404 · HTML · robots.txt allows it",
        "   HTTP status 404",
        "   not good",
        f"2  {site.url}films/b  stays candidate",
    ]
    assert f"Crawl {site.url}films/ from now on? [y/N] " in done.stderr
    assert statuses(run) == {1: "active", 2: "candidate"}


def test_without_questions(web: Serve, run: Run) -> None:
    """--yes confirms what is good, no answer is a no, --unchecked asks nobody; a check decides nothing."""
    site = web(SITE)
    for path in ("films/", "films/b"):
        run("seeds", "submit", f"{site.url}{path}")
    done = run("seeds", "check", *LOOK)
    assert (done.exit_code, done.stdout.count("\n   good\n"), done.stdout.count("\n   not good\n")) == (3, 1, 1)
    assert run("seeds", "confirm", "1", "2", *LOOK).exit_code == 3
    assert statuses(run) == {1: "candidate", 2: "candidate"}
    assert run("seeds", "confirm", "1", "2", "--yes", *LOOK).exit_code == 3
    assert statuses(run) == {1: "active", 2: "candidate"}
    assert run("seeds", "confirm", "2", "--unchecked").stdout == "1 seed confirmed\n"
    assert statuses(run) == {1: "active", 2: "active"}
    assert run("seeds", "check").stderr == "spider: no candidate waits for a decision\n"


def test_nobody_vouches_for_a_candidate(web: Serve, run: Run) -> None:
    """A candidate on a private address is not asked, unless that is allowed: its address is a stranger's."""
    site = web(SITE)
    run("seeds", "submit", f"{site.url}films/")
    done = run("seeds", "check", "--delay", "0")
    assert done.exit_code == 3
    assert "private-address" in done.stdout
    assert site.asked() == []


def test_a_host_that_is_being_crawled_is_not_asked(web: Serve, run: Run, tmp_path: Path) -> None:
    """While a crawl holds a candidate's host, the check says so and asks nothing."""
    site = web({**SITE, "/other/": "x"})
    with Database.open(str(tmp_path / "spider.db")) as database:
        crawl = Crawler(database, Plan(delay=0.2, sitemaps=False), seeds=[Seed(f"{site.url}films/")]).run()
        next(crawl)
        run("seeds", "submit", f"{site.url}other/")
        done = run("seeds", "check", *LOOK)
        assert "rate: a crawl is asking this host now" in done.stdout
        assert run("seeds", "remove", "1").exit_code == 8
        list(crawl)
    assert "/other/" not in site.asked()


def test_a_check_and_the_crawl_after_it_keep_the_delay(web: Serve, run: Run) -> None:
    """The crawl that comes right after a check leaves the host alone as long as if it had asked itself."""
    site = web({"/": "x"})
    run("seeds", "submit", site.url)
    run("seeds", "confirm", "1", "--delay", "0.7", "--allow-private", stdin="y\n")
    assert run("crawl", "--delay", "0.7", "--no-sitemaps").exit_code == 0
    times = [asked.time for asked in site.requests]
    assert len(times) >= 3
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= 0.695


def test_a_crawl_under_way_heeds_it(web: Serve, run: Run, tmp_path: Path) -> None:
    """A crawl of an endless site ends by itself once its seed is disabled."""
    site = web(endless)
    with Database.open(str(tmp_path / "spider.db")) as database:
        plan = Plan(delay=0.0, depth=10**6, sitemaps=False)
        outcomes = Crawler(database, plan, seeds=[Seed(site.url)]).run()
        for _ in range(3):
            next(outcomes)
        assert run("seeds", "disable", "1").exit_code == 0
        assert len(list(outcomes)) < 50
    sound(tmp_path / "spider.db")


def test_decisions_hold_for_the_next_crawl(web: Serve, run: Run, tmp_path: Path) -> None:
    """Disabled, a seed's links are not visited; enabled, they are; removed, nothing of it is left."""
    site = web({"/a/": "<video src=v.mp4></video><a href=1>1</a><a href=2>2</a>", "/a/1": "x", "/a/2": "x", "/b/": "x"})
    run("seeds", "add", f"{site.url}a/", f"{site.url}b/")
    assert run("crawl", *QUICK, "--max-pages", "2").exit_code == 4
    before = site.asked()
    assert run("seeds", "disable", f"{site.url}a/").exit_code == 0
    assert run("crawl", *QUICK, "--refresh", "0").exit_code == 0
    assert set(site.asked()[len(before) :]) <= {"/robots.txt", "/b/"}
    assert json.loads(run("report", "--format", "json").stdout) != []
    assert json.loads(run("errors", "--format", "json").stdout) == []
    assert run("seeds", "enable", "1").exit_code == 0
    assert run("crawl", *QUICK).exit_code == 0
    assert {"/a/1", "/a/2"} <= set(site.asked())
    assert run("seeds", "remove", "1").stdout == f"1  {site.url}a/  removed, with 3 links and 1 medium\n"
    sound(tmp_path / "spider.db")
    assert json.loads(run("report", "--format", "json").stdout) == []
    assert statuses(run) == {2: "active"}
    count = len(site.asked())
    assert run("crawl", *QUICK).exit_code == 0
    assert not {"/a/", "/a/1"} & set(site.asked()[count:])


def test_what_a_list_does_not_have(run: Run) -> None:
    """A seed that is not there is named, code 2, and nothing is decided; an empty list says so."""
    run("seeds", "add", "http://a.example/")
    for name in ("remove", "disable", "enable", "reject", "confirm"):
        done = run("seeds", name, "1", "77")
        assert (done.exit_code, done.stderr) == (2, "spider: no such seed: 77\n"), name
        assert run("seeds", name).exit_code == 2
    assert statuses(run) == {1: "active"}
    done = run("seeds", "list", "--status", "rejected")
    assert (done.exit_code, done.stderr) == (
        0,
        "spider: spider.db has no seed that is rejected; spider seeds add URL\n",
    )


# --- its shape ---------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(seeds.command.commands))
def test_help_fits_and_explains(name: str) -> None:
    """The help of each part fits 80 columns, and each option explains itself."""
    text = CliRunner().invoke(main, ["seeds", name, "--help"], terminal_width=80).output
    assert [line for line in text.splitlines() if len(line) > 80 or line != line.rstrip()] == []
    options = [each for each in seeds.command.commands[name].params if isinstance(each, click.Option)]
    assert [each.name for each in options if not (each.help or "").endswith(".")] == []


def test_values_come_from_everywhere(web: Serve, run: Run, tmp_path: Path) -> None:
    """An option of a part may be a variable, a line of the file, or one of the file's table [seeds]."""
    engine = web(Engine([{"url": "http://a.example/"}], [{"url": "http://b.example/"}]), skip=API)
    (tmp_path / "spider.toml").write_text(f'delay = 0\n[seeds]\nengine = "{engine.url}sx/"\n')
    assert run("seeds", "search", "w").exit_code == 0
    assert len(engine.asked()) == 1
    assert run("seeds", "search", "w", SPIDER_PAGES="2").exit_code == 0
    assert len(engine.asked()) == 3
    (tmp_path / "spider.toml").write_text("[seeds]\nengin = 1\n")
    done = run("seeds", "list")
    assert (done.exit_code, done.stderr) == (
        2,
        "spider: spider.toml, [seeds]: unknown key 'engin' (did you mean engine?)\n",
    )
