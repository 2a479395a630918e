"""Laws of ``spider map``: paper 3's T(u), as lines that are fit for a pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import environment
from tests.replies import Reply
from tests.server import WebServer

Serve = Callable[..., WebServer]

QUICK = ("--delay", "0", "--retries", "0")


def page(*hrefs: str) -> str:
    """Return a page with links."""
    return "".join(f'<a href="{href}">x</a> ' for href in hrefs)


SITE = {
    "/": page("/a/", "/b.html", "/film.mp4", "/dead.html", "http://other.example/x", "/moved"),
    "/a/": page("/a/1.html", "../", "http://other.example/x", "http://third.example/"),
    "/a/1.html": page("/a/2.html"),
    "/a/2.html": page("/a/3.html"),
    "/a/3.html": page("/a/4.html"),
    "/b.html": page("/"),
    "/film.mp4": Reply(b"\0\0\0\x18ftypmp42", type="video/mp4"),
    "/moved": Reply(status=301, headers=(("Location", "/b.html"),)),
}


@pytest.fixture
def site(web: Serve) -> WebServer:
    """Serve the site."""
    return web(SITE)


def test_it_lists_what_answered(site: WebServer, run: Run, tmp_path: Path) -> None:
    """Three links deep, each address once, dead and external ones left out; no database is left behind."""
    done = run("map", site.url, *QUICK)
    paths = ["", "a/", "b.html", "film.mp4", "a/1.html", "a/2.html"]
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [site.url + path for path in paths]
    assert list(tmp_path.iterdir()) == []


def test_depth_and_order(site: WebServer, run: Run) -> None:
    """--depth is the number of links from the start; --order depth goes down first."""
    assert run("map", site.url, "--depth", "0", *QUICK).stdout == f"{site.url}\n"
    deep = run("map", site.url, "--depth", "9", "--order", "depth", *QUICK).stdout.splitlines()
    assert (
        deep.index(f"{site.url}a/4.html") < deep.index(f"{site.url}b.html") if f"{site.url}a/4.html" in deep else True
    )
    assert deep.index(f"{site.url}a/3.html") < deep.index(f"{site.url}b.html")


def test_external_and_dead_on_request(site: WebServer, run: Run) -> None:
    """Every line says what it is, then; an external address comes once, a dead one with its reason."""
    lines = [line.split("\t") for line in run("map", site.url, "--external", "--dead", *QUICK).stdout.splitlines()]
    assert sorted(line[1] for line in lines if line[0] == "external") == [
        "http://other.example/x",
        "http://third.example/",
    ]
    dead = [line[1:] for line in lines if line[0] == "dead"]
    assert [url for url, _ in dead] == [f"{site.url}dead.html"]
    assert dead[0][1].startswith("client: ")
    assert {line[0] for line in lines} == {"internal", "external", "dead"}


def test_it_ends_quietly_with_its_reader(site: WebServer) -> None:
    """`spider map URL | head -1` is no error and leaves no trace."""
    command = f"{sys.executable} -m spider -q map {site.url} --delay 0 --depth 9 | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{site.url}\n", "")


def test_a_start_that_cannot_be_had(web: Serve, run: Run) -> None:
    """A start that does not answer is 3; one that is no address is 2."""
    assert run("map", web({}).url, *QUICK).exit_code == 3
    assert run("map", "http://[::1/").exit_code == 2
    assert run("map", "ftp://museum.example/").exit_code == 2


def test_what_is_no_address_of_the_web_is_asked_of_nobody(run: Run) -> None:
    """A scheme without slashes is a scheme still: one line says that it cannot be read."""
    done = run("map", "mailto:x@127.0.0.1", *QUICK)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "not an address of the web" in done.stderr
