"""Cookies and passwords are bound to scheme, host and port: any change of one of them leaves them behind."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.fetch import Client, ClientSettings, Homes
from spider.model import Request
from spider.store import Database
from tests.conftest import ROOT
from tests.server import Reply, WebServer

Web = Callable[..., WebServer]

CERTIFICATE = ROOT / "tests" / "cases" / "fetch" / "localhost.pem"
SET = Reply("<p>", headers=(("Set-Cookie", "k=v; Path=/"), ("Set-Cookie", "w=v; Domain=localhost; Path=/")))
NAMES = {"overlap": "one host has two names here"}
OPENERS = {"authorization", "cookie", "proxy-authorization"}


@pytest.fixture
def tls() -> ssl.SSLContext:
    """Speak TLS as localhost."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let localhost and its children be this machine."""
    real = socket.getaddrinfo

    def look_up(host: bytes, port: int, **options: int) -> object:
        if host.endswith(b"localhost") and not options.get("flags"):
            host = b"127.0.0.1"
        return real(host, port, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.fixture
def places(web: Web, tls: ssl.SSLContext, names: None) -> dict[str, tuple[str, WebServer]]:  # noqa: ARG001
    """Give the same host at another scheme, at another port, under another name, and the host itself."""
    plain, other, secure = (web({"/": SET}, skip=NAMES, tls=how) for how in (None, None, tls))
    return {
        "itself": (f"http://localhost:{plain.port}/", plain),
        "another port": (f"http://localhost:{other.port}/", other),
        "another scheme": (f"https://localhost:{secure.port}/", secure),
        "another host": (f"http://127.0.0.1:{plain.port}/", plain),
        "a host below": (f"http://a.localhost:{plain.port}/", plain),
    }


MOVES = [
    (one, two)
    for one in ("itself", "another scheme")
    for two in ("itself", "another port", "another scheme", "another host", "a host below")
]


@pytest.mark.parametrize(("one", "two"), MOVES, ids=[f"{one} to {two}" for one, two in MOVES])
def test_what_goes_along(one: str, two: str, places: dict[str, tuple[str, WebServer]]) -> None:
    """From one origin to another nothing goes along; to the same one, what belongs to it."""
    start, end = places[one][0], places[two][0]
    homes = Homes.of([start])
    port = start.rpartition(":")[2].strip("/")
    auth = (f"localhost:{port}=user:secret",)
    with Client(ClientSettings(ca_file=str(CERTIFICATE), auth=auth, homes=lambda: homes)) as client:
        client.get(Request(start))
        client.get(Request(end))
    sent = OPENERS & set(places[two][1].requests[-1].headers)
    assert sent == ({"cookie", "authorization"} if one == two else set())


def test_redirects_too(web: Web, tmp_path: Path) -> None:
    """In a crawl, what was set for one port of a host is not shown to another that it redirects to."""
    other = web({"/": "<p>"})
    moved = Reply(status=302, headers=(("Location", other.url), ("Set-Cookie", "k=v; Path=/")))
    server = web({"/": '<a href="/go">x</a>', "/go": moved})
    plan = Plan(delay=0, min_free=0, scope="any", sitemaps=False, auth=["127.0.0.1=user:secret"])
    with Database.open(str(tmp_path / "x.db")) as database:
        list(Crawler(database, plan, seeds=[Seed(server.url)]).run())
    (asked,) = [asked for asked in other.requests if asked.path == "/"]
    assert not OPENERS & set(asked.headers)
    (asked,) = [asked for asked in server.requests if asked.path == "/go"]
    assert OPENERS & set(asked.headers) == {"authorization"}
