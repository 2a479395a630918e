"""Laws of https: certificates are checked, every time, and the deadline holds for what is encrypted too."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.errors import FetchError
from spider.fetch import Client
from spider.model import Reason, Request
from tests.server import Raw, Reply, WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]

# A self-signed certificate for 127.0.0.1 and localhost, with its key, made for these tests and trusted by nobody else.
PEM = Path(__file__).parent.parent / "cases" / "fetch" / "localhost.pem"


@pytest.fixture
def tls() -> ssl.SSLContext:
    """The server's side of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    return context


def test_a_trusted_server_is_asked(web: Web, client: Clients, tls: ssl.SSLContext) -> None:
    """A server whose certificate fits is asked over one connection, and redirects from it are told."""
    server = web({"/": "<p>secret", "/r": Reply(status=302, headers=(("Location", "/x"),))}, tls=tls)
    one = client(ca_file=str(PEM))
    assert one.get(Request(server.url)).body == b"<p>secret"
    assert one.get(Request(f"{server.url}r")).location == f"{server.url}x"
    assert len(server.connections) == 1


def test_a_certificate_by_nobody_is_refused(web: Web, client: Clients, tls: ssl.SSLContext) -> None:
    """A self-signed certificate fails with tls, again and again, and no request is sent."""
    server = web({"/": "<p>"}, tls=tls)
    one = client()
    for _ in range(2):
        with pytest.raises(FetchError) as caught:
            one.get(Request(server.url))
        assert caught.value.reason == Reason.TLS
    assert server.asked() == []


def test_a_certificate_of_another_is_refused(web: Web, client: Clients, tls: ssl.SSLContext) -> None:
    """A trusted certificate that names another host fails with tls."""
    server = web({"/": "<p>"}, hosts=2, tls=tls)
    with pytest.raises(FetchError) as caught:
        client(ca_file=str(PEM)).get(Request(server.urls[1]))
    assert caught.value.reason == Reason.TLS
    assert server.asked() == []


def test_plain_text_on_a_port_of_tls(web: Web, client: Clients, tls: ssl.SSLContext) -> None:
    """The wrong scheme for a port fails with a class, whichever way round, and soon."""
    plain, secure = web(lambda _: "never"), web({"/": "<p>"}, tls=tls)
    one = client(ca_file=str(PEM))
    began = time.monotonic()
    for url in (plain.url.replace("http:", "https:"), secure.url.replace("https:", "http:")):
        with pytest.raises(FetchError) as caught:
            one.get(Request(url))
        assert caught.value.reason in {Reason.TLS, Reason.CONNECT, Reason.PROTOCOL, Reason.TIMEOUT}
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"])
def test_the_deadline_ends_encrypted_drips(web: Web, client: Clients, tls: ssl.SSLContext, head: bytes) -> None:
    """A drip of headers or of a body ends at the deadline under TLS as well."""

    def act(sock: ssl.SSLSocket, stop: object) -> None:
        sock.sendall(head)
        while not stop.wait(0.05):  # type: ignore[attr-defined]  # an event
            sock.sendall(b"X-More: y\r\n")

    server = web({"/": Raw(act)}, tls=tls)  # type: ignore[arg-type]  # its socket is a TLS one
    began = time.monotonic()
    with pytest.raises(FetchError) as caught:
        client(ca_file=str(PEM), deadline=0.5).get(Request(server.url))
    assert caught.value.reason == Reason.DEADLINE
    assert time.monotonic() - began < 3


def test_certificates_that_cannot_be_read(client: Clients, tmp_path: Path) -> None:
    """A file of certificates that is none fails each request, as everything does, with a FetchError."""
    bad = tmp_path / "ca.pem"
    bad.write_text("nothing")
    for file in (bad, tmp_path / "missing.pem"):
        with pytest.raises(FetchError):
            client(ca_file=str(file)).get(Request("https://127.0.0.1:9999/"))
