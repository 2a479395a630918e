"""Laws of proxies: they count where asked for, see no more than they must, and their password stays theirs."""

from __future__ import annotations

import base64
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.errors import FetchError, SettingError
from spider.fetch import Client, Guard
from spider.fetch.proxies import Proxies
from spider.model import Reason, Request
from tests.fetch.proxy import StubProxy
from tests.server import WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]
Stub = Callable[..., StubProxy]

PEM = Path(__file__).parent.parent / "cases" / "fetch" / "localhost.pem"
PAGE = "<html>page</html>"
LOGIN = f"Basic {base64.b64encode(b'me:p@ss').decode()}"


@pytest.fixture
def tls() -> ssl.SSLContext:
    """The server's side of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


def with_login(stub: StubProxy) -> str:
    """Return the proxy's address with a login in it."""
    return stub.url.replace("://", "://me:p%40ss@")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_what_is_plain_is_forwarded(web: Web, client: Clients, proxy: Stub, tls: ssl.SSLContext, scheme: str) -> None:
    """An http address is asked of the proxy whole, over one connection; the site sees no password of the proxy's."""
    stub, server = (
        proxy(tls=tls if scheme == "https" else None),
        web(lambda _: PAGE, skip={"overlap": "the proxy's connections"}),
    )
    one = client(proxy=with_login(stub), ca_file=str(PEM))
    for path in ("a", "b?c=d"):
        assert one.get(Request(f"{server.url}{path}")).body == PAGE.encode()
    assert [head.split("\r\n")[0] for head in stub.heads] == [
        f"GET {server.url}{path} HTTP/1.1" for path in ("a", "b?c=d")
    ]
    assert all(f"\r\nProxy-Authorization: {LOGIN}\r\n" in head for head in stub.heads)
    assert all(f"\r\nHost: 127.0.0.1:{server.port}\r\n" in head for head in stub.heads)
    assert not any("proxy-authorization" in asked.headers for asked in server.requests)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_what_is_encrypted_goes_by_a_tunnel(
    web: Web, client: Clients, proxy: Stub, tls: ssl.SSLContext, scheme: str
) -> None:
    """The proxy gives a tunnel to an https address and sees host and port alone; the site sees no password of its."""
    stub, server = proxy(tls=tls if scheme == "https" else None), web(lambda _: PAGE, tls=tls)
    one = client(proxy=with_login(stub), ca_file=str(PEM), auth=(f"127.0.0.1:{server.port}=you:pw",))
    for path in ("a", "b"):
        assert one.get(Request(f"{server.url}{path}")).body == PAGE.encode()
    (head,) = stub.heads
    assert head == f"CONNECT 127.0.0.1:{server.port} HTTP/1.0\r\nProxy-Authorization: {LOGIN}\r\n\r\n"
    assert [asked.path for asked in server.requests] == ["/a", "/b"]
    assert not any("proxy-authorization" in asked.headers for asked in server.requests)


def test_the_site_s_certificate_counts_in_a_tunnel(web: Web, client: Clients, proxy: Stub, tls: ssl.SSLContext) -> None:
    """A certificate by nobody fails with tls behind a proxy too, as does the proxy's own, and no request is sent."""
    plain, secure, server = proxy(), proxy(tls=tls), web(lambda _: PAGE, tls=tls)
    for stub in (plain, secure):
        with pytest.raises(FetchError) as caught:
            client(proxy=stub.url).get(Request(server.url))
        assert caught.value.reason == Reason.TLS
    assert (server.requests, secure.heads) == ([], [])


def test_a_proxy_that_refuses(web: Web, client: Clients, proxy: Stub, tls: ssl.SSLContext) -> None:
    """A tunnel that is refused fails with connect and names the proxy; for a plain address its answer is the answer."""

    def refuse(sock: socket.socket, _head: str) -> None:
        sock.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")

    stub, server = proxy(act=refuse), web(lambda _: PAGE, tls=tls)
    one = client(proxy=with_login(stub), ca_file=str(PEM))
    with pytest.raises(FetchError) as caught:
        one.get(Request(server.url))
    assert caught.value.reason == Reason.CONNECT
    assert "407" in caught.value.message
    assert "p@ss" not in caught.value.message
    assert one.get(Request("http://museum.example/")).status == 407
    with pytest.raises(FetchError) as caught:
        client(proxy="http://127.0.0.1:9").get(Request("http://museum.example/"))
    assert caught.value.reason == Reason.CONNECT
    assert caught.value.message.startswith("cannot connect through the proxy 127.0.0.1:9: ")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_deadline_holds_for_proxies(
    web: Web, client: Clients, proxy: Stub, tls: ssl.SSLContext, scheme: str
) -> None:
    """A proxy that drips its answer to CONNECT ends at the deadline, and so does a site that is silent in a tunnel."""

    def drip(sock: socket.socket, _head: str) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\n")
        for _ in range(40):
            time.sleep(0.1)
            sock.sendall(b"X-More: y\r\n")

    stub = proxy(act=drip, tls=tls if scheme == "https" else None)
    began = time.monotonic()
    with pytest.raises(FetchError) as caught:
        client(proxy=stub.url, ca_file=str(PEM), deadline=0.6).get(Request("https://127.0.0.1:9999/"))
    assert caught.value.reason == Reason.DEADLINE
    assert time.monotonic() - began < 3
    silent = web(lambda _: time.sleep(1.5) or PAGE, tls=tls)
    with pytest.raises(FetchError) as caught:
        client(proxy=proxy(tls=tls if scheme == "https" else None).url, ca_file=str(PEM), deadline=0.6).get(
            Request(silent.url)
        )
    assert caught.value.reason in {Reason.DEADLINE, Reason.TIMEOUT}


def test_the_guard_judges_what_is_asked_not_the_proxy(web: Web, client: Clients, proxy: Stub) -> None:
    """A proxy may stand in a private network; a private address in numbers is refused behind it all the same."""
    stub, server = proxy(), web(lambda _: PAGE)
    one = client(proxy=stub.url, guard=Guard(private=False))
    with pytest.raises(FetchError) as caught:
        one.get(Request(server.url))
    assert caught.value.reason == Reason.REFUSED
    assert stub.heads == []
    assert len(server.connections) == 0


def test_the_environment_s_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables count where asked for, by scheme, but for the hosts of no_proxy; --proxy goes before."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("http_proxy", "http://a.example:1")
    monkeypatch.setenv("https_proxy", "https://b.example")
    monkeypatch.setenv("no_proxy", "plain.example, .inside.example,port.example:81")
    ways = Proxies(environment=True)

    def way(scheme: str, host: str, port: int) -> str | None:
        found = ways.way((scheme, host, port))
        return None if found is None else f"{found.scheme}://{found.host}:{found.port}"

    assert way("http", "x.example", 80) == "http://a.example:1"
    assert way("https", "x.example", 443) == "https://b.example:443"
    for host in ("plain.example", "deep.inside.example"):
        assert way("http", host, 80) is None
        assert way("https", host, 443) is None
    assert (way("http", "port.example", 81), way("http", "port.example", 80)) == (None, "http://a.example:1")
    assert Proxies().way(("http", "x.example", 80)) is None
    one = Proxies(proxy="http://c.example:3", environment=True).way(("http", "plain.example", 80))
    assert one is not None
    assert one.host == "c.example"
    monkeypatch.setenv("http_proxy", "socks5://me:pw@a.example")
    with pytest.raises(SettingError) as caught:
        Proxies(environment=True)
    assert str(caught.value) == "http_proxy: not the address of a proxy; write http://host:port or https://host:port"


def test_one_proxy_s_login_is_not_another_s(
    web: Web, client: Clients, proxy: Stub, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the way from http to https the proxy changes with the scheme, and the first one's login stays behind."""
    first, second = proxy(), proxy()
    plain, secure = web(lambda _: PAGE), web(lambda _: PAGE, tls=tls)
    for name in ("no_proxy", "NO_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", with_login(first))
    monkeypatch.setenv("https_proxy", second.url)
    one = client(environment_proxies=True, ca_file=str(PEM))
    for url in (plain.url, secure.url):
        assert one.get(Request(url)).body == PAGE.encode()
    assert (len(first.heads), len(second.heads)) == (1, 1)
    assert (LOGIN in first.heads[0], "Proxy-Authorization" in second.heads[0]) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "socks5://a.example",
        "http://",
        "http://:80",
        "http://a.example:x",
        "http://a.example/x",
        "http://a b",
        "http://[::1",
    ],
)
def test_addresses_that_are_no_proxy_s(text: str) -> None:
    """What is no address of a proxy is refused in one line."""
    with pytest.raises(SettingError, match=r"^--proxy: not the address of a proxy"):
        Proxies(proxy=text)
