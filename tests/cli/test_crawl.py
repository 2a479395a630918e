"""Laws of crawling from the command line: progress, signals, exit codes, the last line."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest

from spider.store import Database
from tests.cli.conftest import Run
from tests.cli.test_output import ESCAPE, on_a_terminal
from tests.conftest import environment
from tests.replies import Asked, Reply
from tests.server import WebServer

Serve = Callable[..., WebServer]
Program = Callable[..., CompletedProcess[str]]
Start = Callable[..., Popen[str]]

SITE = {
    "/": '<title>Home</title><a href="/films/">Films</a> <a href="/gone.html">Gone</a> <a href="http://other.example/">x</a>',
    "/films/": '<title>Films</title><video src="a.mp4"></video> <a href="b.ogg">b</a> <a href="/">Home</a>',
}
ABOUT = {"/robots.txt", "/sitemap.xml"}
QUICK = ("--delay", "0", "--retries", "0")


def test_a_crawl_and_its_report(web: Serve, run: Run) -> None:
    """Seeds in, pages with media out; progress is on the standard error stream; its end says what is next."""
    site = web(SITE)
    done = run("crawl", site.url, *QUICK)
    assert (done.exit_code, done.stdout) == (0, "")
    *_, summary, last, advice = done.stderr.splitlines()
    assert re.fullmatch(r"2 pages in [0-9.]+ s: video 1  audio 1  flash 0\.  Links: W 0  R 0  C 2  E 1", summary)
    assert last == "done; refused: 1 external; cut short: nothing"
    assert advice == "next: spider report shows the media; spider errors tells why 1 failed"
    rows = json.loads(run("report", "--format", "json").stdout)
    assert [(row["page"], row["media"], row["kind"], row["text"]) for row in rows] == [
        (f"{site.url}films/", f"{site.url}films/a.mp4", "video", ""),
        (f"{site.url}films/", f"{site.url}films/b.ogg", "audio", "b"),
    ]
    errors = json.loads(run("errors", "--format", "json").stdout)
    assert [(row["url"], row["reason"], row["status"]) for row in errors] == [(f"{site.url}gone.html", "client", 404)]


def test_quiet_and_verbose(web: Serve, run: Run) -> None:
    """-q says nothing of a crawl that goes well; -v names each link as it is done."""
    site = web(SITE)
    done = run("-q", "crawl", site.url, *QUICK)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    done = run("-v", "--db", "other.db", "crawl", site.url, *QUICK)
    assert {f"C 200 {site.url}", f"C 200 {site.url}films/"} <= set(done.stderr.splitlines())
    assert any(line.startswith(f"E client {site.url}gone.html (") for line in done.stderr.splitlines())


def test_seeds_from_the_standard_input_and_those_known(web: Serve, run: Run) -> None:
    """A dash reads seeds; without any, those of the database are gone on with; a database without any is told."""
    site = web(SITE)
    assert run("crawl", "-", *QUICK, stdin=f"{site.url} depth=0\n").exit_code == 0
    assert pages(site) == ["/"]
    assert run("crawl", *QUICK).exit_code == 0
    done = run("--db", "new.db", "crawl")
    assert done.exit_code == 5
    assert done.stderr.count("\n") == 1


def test_a_crawl_of_nothing_is_told(run: Run, tmp_path: Path) -> None:
    """Without a seed, given or known, there is nothing to crawl: one line, exit code 2."""
    Database.open(str(tmp_path / "spider.db")).close()
    done = run("crawl")
    assert done.exit_code == 2
    assert done.stderr == "spider: no seed is given, and spider.db knows none; try spider crawl seeds.txt, or a URL\n"


def test_a_limit_that_ends_a_crawl_is_code_4(web: Serve, run: Run) -> None:
    """With links still waiting, --max-pages ends with 4, and the next crawl goes on."""
    site = web(SITE)
    assert run("crawl", site.url, "--max-pages", "1", *QUICK).exit_code == 4
    assert run("crawl", *QUICK).exit_code == 0
    assert sorted(pages(site)) == ["/", "/films/", "/gone.html"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_lets_it_finish(
    number: signal.Signals, code: int, web: Serve, spider_process: Start, here: Program
) -> None:
    """A signal ends the crawl with what is in flight, says so, and loses nothing."""
    site = web(endless)
    process = spider_process("crawl", site.url, "--delay", "0", "--depth", "99")
    wait_for(lambda: len(site.requests) > 5)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, "")
    assert "spider: finishing what is in flight; once more stops at once" in err
    rows = json.loads(here("status", "--format", "json").stdout)
    assert rows[-1]["R"] == 0
    assert rows[-1]["C"] == len(pages(site))


def test_the_second_signal_stops_it_at_once(web: Serve, spider_process: Start, here: Program) -> None:
    """A second signal does not wait for a slow answer; its link waits for the next crawl."""
    site = web(slow)
    process = spider_process("crawl", site.url, "--delay", "0")
    wait_for(lambda: "/" in site.asked())
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - began < 7
    assert process.returncode == 130
    assert "spider: stopping at once" in err
    rows = json.loads(here("status", "--format", "json").stdout)
    assert (rows[-1]["W"] > 0, rows[-1]["R"], rows[-1]["C"]) == (True, 0, 0)


def test_a_terminal_gets_a_picture(web: Serve, tmp_path: Path) -> None:
    """On a terminal the crawl is drawn: states, pages a second, media, hosts; the summary stays."""
    site = web({**SITE, "/gone.html": Reply("<p>late</p>", delay=0.7)})
    code, text = on_a_terminal(["crawl", site.url, *QUICK], tmp_path)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert code == 0
    assert ESCAPE.search(text)
    assert re.search(r"W \d+ +R \d+ +C \d+ +E \d+ +[0-9.]+ s", plain)
    assert re.search(r"\d+ pages, [0-9.]+/s now, [0-9.]+/s mean, \d", plain)
    assert "video 1  audio 1  flash 0" in plain
    assert "127.0.0.1" in plain
    assert plain.rstrip().splitlines()[-2] == "done; refused: 1 external; cut short: nothing"


def test_a_dumb_terminal_gets_lines(web: Serve, tmp_path: Path) -> None:
    """Where nothing can be drawn, plain lines come instead."""
    site = web(SITE)
    code, text = on_a_terminal(["crawl", site.url, *QUICK], tmp_path, TERM="dumb")
    assert code == 0
    assert "\x1b" not in text
    assert text.splitlines()[-2].startswith("done; ")


def test_a_crawl_goes_on_when_nobody_reads_its_progress(web: Serve, tmp_path: Path) -> None:
    """A reader of the standard error stream that leaves takes nothing with it but the lines."""
    site = web(SITE)
    line = f"{sys.executable} -m spider -v crawl {site.url} --delay 0 2>&1 | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 1, "")
    assert sorted(pages(site)) == ["/", "/films/", "/gone.html"]


def test_a_seed_that_fails_is_named(web: Serve, run: Run) -> None:
    """A seed that cannot be fetched ends the crawl with 3 and has a line of its own, though others went well."""
    site = web(SITE)
    done = run("-q", "crawl", site.url, f"{site.url}nowhere/", *QUICK)
    assert done.exit_code == 3
    assert done.stderr.startswith(f"spider: seed {site.url}nowhere/: client: ")
    assert done.stderr.count("\n") == 1


def test_a_seed_that_is_refused_is_named(web: Serve, run: Run) -> None:
    """A seed that robots.txt closes, or that was forgotten, has its line with the rule."""
    site = web({"/robots.txt": "User-agent: *\nDisallow: /x/", "/": "Home", "/x/": "closed"})
    done = run("-q", "crawl", f"{site.url}x/", *QUICK)
    assert (done.exit_code, done.stderr) == (3, f"spider: seed {site.url}x/: refused by rule robots\n")
    assert run("forget", site.url).exit_code == 0
    done = run("-q", "crawl", site.url, *QUICK)
    assert done.stderr.startswith(f"spider: seed {site.url}: refused by rule forgotten\n")


def pages(site: WebServer) -> list[str]:
    """Return the pages that were asked for: not what a site says of itself."""
    return [path for path in site.asked() if path not in ABOUT]


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so; fail after a while."""
    last = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < last, "nothing happened"
        time.sleep(0.02)


def endless(asked: Asked) -> Reply:
    """Answer with a page that leads to another, for ever."""
    if asked.path in ABOUT:
        return Reply(status=404)
    number = int(asked.path.strip("/") or "0")
    return Reply(f'<a href="/{number + 1}">next</a>', delay=0.03)


def slow(asked: Asked) -> Reply:
    """Answer what is asked of the site itself at once and anything else late."""
    return Reply(status=404) if asked.path in ABOUT else Reply("late", delay=8)
