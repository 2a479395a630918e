"""A real browser and the test sites; tests that need what is not here skip, and say what."""

from __future__ import annotations

import fcntl
import functools
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spider.ajax import Application, Browser, Explorer, Limits, Terms, Ways
from spider.ajax.gate import Permit
from spider.ajax.tab import Tab
from spider.errors import BrowserError
from spider.model import Accepted, Purpose, Verdict
from tests.replies import Asked, Raw, Reply
from tests.server import WebServer

SITES = Path(__file__).resolve().parents[1] / "sites" / "ajax"
HTML = Reply('<a href="/htmx/part.html">part</a>')


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one browser for all tests of a process; skip where there is none."""
    try:
        program = Browser().__enter__()
    except BrowserError as error:
        pytest.skip(f"no browser: {error}")
    yield program
    program.close()


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the sites' libraries, installed from npm when it is not there."""
    place = SITES / "node_modules"
    base = tmp_path_factory.getbasetemp().parent
    with (base / "npm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / ".package-lock.json").exists():
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip("the sites' libraries come from npm, and there is no npm here")
            done = subprocess.run(
                [npm, "ci", "--ignore-scripts"], cwd=SITES, capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"npm does not install the sites' libraries: {done.stderr.strip()[:200]}")
    return place


def endless(sock: socket.socket, stop: threading.Event) -> None:
    """Answer without end, a byte at a time."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not stop.wait(0.1):
        sock.sendall(b"1\r\nx\r\n")


def flood(sock: socket.socket, stop: threading.Event) -> None:
    """Answer without end, and fast."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not stop.wait(0.005):
        sock.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")


def events(sock: socket.socket, stop: threading.Event) -> None:
    """Send one event and keep the stream open."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
    stop.wait(30)


SPECIAL: dict[str, Reply | Raw] = {
    "/endless": Raw(endless),
    "/events": Raw(events),
    "/flood": Raw(flood),
    "/api/htmx/part": HTML,
    "/worker.js": Reply("fetch('/api/streams/worker')", type="text/javascript"),
}


def content(asked: Asked) -> Reply | Raw | None:
    """Answer for all sites: their pages, their libraries, JSON for what is below /api/."""
    path = asked.path.partition("?")[0]
    if path in SPECIAL:
        return SPECIAL[path]
    if path.startswith("/api/"):
        return Reply("{}", type="application/json")
    folder = SITES / "node_modules" / path.removeprefix("/lib/") if path.startswith("/lib/") else SITES / path[1:]
    if folder.suffix not in {".html", ".js"} or not folder.is_file():
        return None
    kind = "text/javascript" if folder.suffix == ".js" else "text/html; charset=utf-8"
    return Reply(folder.read_bytes(), type=kind)


@dataclass(frozen=True, slots=True)
class Found:
    """An exploration with the server it was done on."""

    application: Application
    server: WebServer

    def path(self, url: str) -> str:
        """Return an address of the server without its beginning."""
        return "/" + url.removeprefix(self.server.url) if url.startswith(self.server.url) else url

    @property
    def depths(self) -> list[int]:
        """The states' depths, sorted."""
        return sorted(state.depth for state in self.application.states)

    @property
    def resources(self) -> set[str]:
        """Method and path of each resource."""
        return {f"{one.method} {self.path(one.url)}" for one in self.application.resources.values()}

    @property
    def links(self) -> set[str]:
        """The paths of the links."""
        return {self.path(url) for url in self.application.links}

    @property
    def media(self) -> set[str]:
        """The paths of the media."""
        return {self.path(url) for url in self.application.media}


Explore = Callable[..., Found]
Visit = Callable[..., Found]
SKIP = {"overlap": "a browser opens connections as it likes"}


def accept(_url: str, _purpose: Purpose) -> Verdict:
    """Permit all."""
    return Accepted()


@pytest.fixture
def explore(browser: Browser, web: Callable[..., WebServer]) -> Explore:
    """Give a function that explores a page of what a server answers; keywords are those of `Ways`, and these."""

    def explored(
        answers: Callable[[Asked], Reply | Raw | None], page: str = "", *, permit: Permit = accept,
        limits: Limits | None = None, terms: Terms | None = None,
        **ways: Any,  # noqa: ANN401  # the fields of Ways
    ) -> Found:  # fmt: skip
        server = web(answers, per_host=64, skip=SKIP)

        async def tab() -> Tab:
            return await browser.tab(permit, terms)

        limits = limits or Limits(seconds=60)
        explorer = Explorer(server.url + page, tab, browser.discard, limits=limits, ways=Ways(**ways))
        return Found(browser.run(explorer.explore()), server)

    return explored


@pytest.fixture
def visit(explore: Explore) -> Visit:
    """Give a function that explores a page of the test sites; keywords as `explore` takes them."""
    return functools.partial(explore, content)
