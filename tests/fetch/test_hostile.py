"""Laws of the client where the server is not honest: it ends in time and memory, with a class or a response."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spider.errors import FetchError
from spider.fetch import Client, ClientSettings
from spider.model import Reason, Request, Response
from tests.server import Raw, Reply, WebServer

Get = Callable[..., Response]
Web = Callable[..., WebServer]
Act = Callable[[socket.socket, threading.Event], None]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def drip(head: bytes, drop: bytes, pause: float = 0.05) -> Raw:
    """Send a head, then one drop after the other, for as long as anybody listens."""

    def act(sock: socket.socket, stop: threading.Event) -> None:
        sock.sendall(head)
        while not stop.wait(pause):
            sock.sendall(drop)

    return Raw(act)


def flood(head: bytes, wave: bytes) -> Raw:
    """Send without a pause and without an end."""
    return drip(head, wave, pause=0)


def silence(head: bytes = b"") -> Raw:
    """Send the beginning and no more, but stay."""

    def act(sock: socket.socket, stop: threading.Event) -> None:
        sock.sendall(head)
        stop.wait(20)

    return Raw(act)


def failure(get: Get, url: str, **given_settings: object) -> Reason:
    """Return the class of the failure that asking ends with."""
    with pytest.raises(FetchError) as caught:
        get(url, **given_settings)
    assert len(str(caught.value)) < 400
    return Reason(caught.value.reason)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(drip(OK, b"X-More: y\r\n", 0.1), Reason.DEADLINE, id="drip of headers"),
        pytest.param(drip(b"", b"H", 0.1), Reason.DEADLINE, id="drip before the status"),
        pytest.param(
            drip(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"), Reason.DEADLINE, id="100s"
        ),
        pytest.param(drip(OK + b"Content-Length: 1000\r\n\r\n", b"x", 0.1), Reason.DEADLINE, id="drip of a body"),
        pytest.param(drip(OK + b"\r\n", b"x", 0.1), Reason.DEADLINE, id="drip without a length"),
        pytest.param(drip(CHUNKED, b"1\r\nx\r\n", 0.1), Reason.DEADLINE, id="drip of chunks"),
        pytest.param(drip(CHUNKED, b"0", 0.1), Reason.DEADLINE, id="drip of a chunk's length"),
        pytest.param(drip(CHUNKED + b"0\r\n", b"X: y\r\n", 0.1), Reason.DEADLINE, id="drip of trailers"),
        pytest.param(
            drip(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10], b"\0\0\0\xff\xff", 0.02),
            Reason.DEADLINE,
            id="gzip that decodes to nothing",
        ),
    ],
)
def test_the_deadline_ends_every_drip(web: Web, get: Get, answer: Raw, reason: Reason) -> None:
    """However little a server sends at a time, the deadline of the whole response ends it."""
    began = time.monotonic()
    assert failure(get, web({"/": answer}).url, deadline=0.6, timeout=0.4) == reason
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\n", OK + b"\r\n", OK + b"Content-Length: 9\r\n\r\nx", CHUNKED + b"5\r\nx"]
)
def test_the_timeout_ends_every_silence(web: Web, get: Get, head: bytes) -> None:
    """A server that says nothing for the timeout, at whatever point, fails with timeout."""
    began = time.monotonic()
    assert failure(get, web({"/": silence(head)}).url, deadline=5.0, timeout=0.3) == Reason.TIMEOUT
    assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Raw(b""), Reason.CONNECT),
        (Raw(b"", reset=True), Reason.CONNECT),
        (Raw(OK[:9], reset=True), Reason.CONNECT),
        (Raw(b"hello\r\n\r\n"), Reason.PROTOCOL),
        (Raw(b"\0\xff" * 50), Reason.PROTOCOL),
        (Raw(b"SSH-2.0-OpenSSH_9.2\r\n"), Reason.PROTOCOL),
        (Raw(b"<html>HTTP/0.9"), Reason.PROTOCOL),
        (Raw(b"HTTP/1.1 abc OK\r\n\r\n"), Reason.PROTOCOL),
        (Raw(b"HTTP/1.1 1000 OK\r\n\r\n"), Reason.PROTOCOL),
        (Raw(b"HTTP/1.1 -20 OK\r\n\r\n"), Reason.PROTOCOL),
        (Raw(b"HTTP/9.9 200 OK\r\n\r\n"), Reason.PROTOCOL),
        (Raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"), Reason.PROTOCOL),
        (Raw(b"HTTP/1.1 103 Early\r\n\r\n" * 500), Reason.PROTOCOL),
        (Raw(OK + b"X: y\r\n" * 1000 + b"\r\n"), Reason.PROTOCOL),
        (Raw(OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n"), Reason.PROTOCOL),
        (flood(OK + b"X: ", b"y" * 65536), Reason.PROTOCOL),
        (flood(b"", b"y" * 65536), Reason.PROTOCOL),
        (Raw(OK + b"Content-Length: 10\r\n\r\nshort"), Reason.CONTENT),
        (Raw(OK + b"Content-Length: 10\r\n\r\nshort", reset=True), Reason.CONNECT),
        (Raw(OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello"), Reason.CONTENT),
        (Raw(OK + b"Content-Length: 99999999999999999999999999\r\n\r\nhello"), Reason.CONTENT),
        (Raw(CHUNKED + b"xyz\r\nhello\r\n"), Reason.PROTOCOL),
        (Raw(CHUNKED + b"5\r\nhel"), Reason.PROTOCOL),
        (Raw(CHUNKED + b"5\r\nhello\r\n"), Reason.PROTOCOL),
        (Raw(CHUNKED + b"-5\r\nhello\r\n0\r\n\r\n"), Reason.PROTOCOL),
        (Raw(CHUNKED + b"5" * 70_000), Reason.PROTOCOL),
        (flood(CHUNKED, b"5" * 65536), Reason.PROTOCOL),
        (Raw(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), Reason.PROTOCOL),
        (Reply(b"no gzip", headers=(("Content-Encoding", "gzip"),)), Reason.CONTENT),
        (Reply(b"no deflate", headers=(("Content-Encoding", "deflate"),)), Reason.CONTENT),
        (Reply(b"x", headers=(("Content-Encoding", "br"),)), Reason.CONTENT),
        (Reply(b"x", headers=(("Content-Encoding", "gzip, zstd"),)), Reason.CONTENT),
        (Reply(gzip.compress(b"x"), headers=(("Content-Encoding", ", ".join(["gzip"] * 50)),)), Reason.CONTENT),
    ],
)
def test_each_fault_has_its_class(web: Web, get: Get, answer: Raw | Reply, reason: Reason) -> None:
    """What a server breaks is told by a class, and never by another exception."""
    assert failure(get, web({"/": answer}).url) == reason


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (Raw(OK + b"Content-Length: abc\r\n\r\nhello"), b"hello"),
        (Raw(OK + b"Content-Length: -5\r\n\r\nhello"), b"hello"),
        (Raw(OK + b"Content-Length: 5\r\n\r\nhello, and more"), b"hello"),
        (Raw(OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), b"hello"),
        (Raw(OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), b"hello"),
        (Raw(OK + b"no colon here\r\nX: y\r\n\r\nhello"), None),
        (Raw(b"HTTP/1.1 200\r\n\r\nhello"), b"hello"),
        (Raw(b"HTTP/1.0 200 \xff\xfe\r\nX: \xff\0\r\n\r\nhello"), b"hello"),
        (Raw(b"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello"), b""),
        (Raw(b"HTTP/1.1 304 No\r\nContent-Encoding: br\r\n\r\n"), b""),
    ],
)
def test_slips_are_read_as_browsers_do(web: Web, get: Get, answer: Raw, body: bytes | None) -> None:
    """A slip that leaves no doubt about the body costs nothing."""
    got = get(web({"/": answer}).url).body
    assert body is None or got == body


def test_a_body_without_end_is_cut(web: Web, get: Get) -> None:
    """An endless body is read to the cap and no further."""
    response = get(web({"/": flood(OK + b"\r\n", b"x" * 65536)}).url, max_size=3_000_000)
    assert (len(response.body), response.truncated) == (3_000_000, True)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip"])
def test_a_bomb_is_cut_and_fits_in_memory(web: Web, get: Get, coding: str) -> None:
    """Decoded bytes are counted as they come: 100 MB out of 100 kB are never held."""
    pump = zlib.compressobj(9, wbits=15 if coding == "deflate" else 31)
    bomb = b"".join(pump.compress(bytes(1_000_000)) for _ in range(100)) + pump.flush()
    if coding == "gzip, gzip":
        bomb = gzip.compress(bomb)
    server = web({"/": Reply(bomb, headers=(("Content-Encoding", coding),))})
    tracemalloc.start()
    try:
        response = get(server.url, max_size=2_000_000, deadline=10.0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (len(response.body), response.truncated) == (2_000_000, True)
    assert peak < 12_000_000


def test_a_bomb_in_a_redirect_is_not_touched(web: Web, get: Get) -> None:
    """The body of a redirect is not decoded, and not waited for."""
    bomb = (("Location", "/x"), ("Content-Encoding", "gzip"))
    server = web({"/": Reply(b"\x1f\x8bbroken", status=302, headers=bomb)})
    assert get(server.url).location == f"{server.url}x"
    endless = drip(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 3000\r\n\r\n", b"x", 0.1)
    began = time.monotonic()
    assert get(web({"/": endless}).url).status == 302
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("host", ["nowhere.invalid", "a..b", "a" * 70 + ".invalid", "xn--a.invalid", "-.invalid"])
def test_names_that_lead_nowhere(get: Get, host: str) -> None:
    """A name without an address fails with dns."""
    assert failure(get, f"http://{host}/") == Reason.DNS


def test_a_slow_look_up_ends_in_time(get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver cannot be hurried; who waits for it can."""
    real, asked = socket.getaddrinfo, threading.Event()

    def slow(host: bytes, port: int, *args: int, **names: int) -> object:
        if names.get("flags"):
            return real(host, port, *args, **names)
        asked.wait(3)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    assert failure(get, "http://slow.test/", timeout=0.2) == Reason.DNS
    assert time.monotonic() - began < 2.5
    asked.set()


def test_each_address_of_a_name_is_tried(web: Web, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a name has several addresses, the first that answers is taken; the others cost no more than their share."""
    server = web({"/": "<p>"})
    dead = [(2, 1, 6, "", (f"127.0.0.{n}", server.port)) for n in (7, 8)]

    def look_up(host: bytes, _port: int, **names: int) -> list[object]:
        if names.get("flags"):
            raise OSError(host)
        return [*dead, (2, 1, 6, "", ("127.0.0.1", server.port))] if host == b"some.test" else list(dead)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    assert get(f"http://some.test:{server.port}/").body == b"<p>"
    assert failure(get, f"http://none.test:{server.port}/") == Reason.CONNECT
    dead.clear()
    assert failure(get, f"http://none.test:{server.port}/") == Reason.DNS


def test_nobody_listens(get: Get) -> None:
    """A port where nobody listens fails with connect."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    assert failure(get, f"http://127.0.0.1:{port}/") == Reason.CONNECT


def test_nobody_accepts(get: Get) -> None:
    """A connection that is never made fails with timeout."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as listener:
        address = listener.getsockname()
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                filler = stack.enter_context(socket.socket())
                filler.setblocking(False)  # noqa: FBT003  # the standard library's signature
                filler.connect_ex(address)
            assert failure(get, f"http://127.0.0.1:{address[1]}/", timeout=0.3) == Reason.TIMEOUT


@pytest.mark.parametrize("headers", [{"X": "a\r\nY: b"}, {"X\r\nY": "b"}, {"X": "日本"}, {"": "x"}], ids=repr)
def test_headers_that_cannot_be_sent(web: Web, get: Get, headers: dict[str, str]) -> None:
    """A header that would smuggle or cannot be written is a failure, and nothing is sent."""
    server = web({"/": "x"})
    failure(get, server.url, headers=headers)
    assert server.asked() == []


PIECES = st.sampled_from([
    b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 302 Found\r\n", b"Location: http://[", b"Content-Length: ", b"5\r\n",
    b"\r\n\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"\x1f\x8b\x08\0",
    b"Content-Type: text/html\r\n", b"Connection: keep-alive\r\n", b"Set-Cookie: a=b\r\n", b"Retry-After: x\r\n",
    b": \r\n", b" \r\n", b"0\r\n\r\n",
])  # fmt: skip


@given(answer=st.lists(PIECES | st.binary(max_size=20), max_size=12).map(b"".join))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_comes_is_a_response_or_a_failure(noise: tuple[WebServer, list[bytes]], answer: bytes) -> None:
    """No bytes make the client raise anything but FetchError."""
    server, answers = noise
    answers.append(answer)
    with Client(ClientSettings(timeout=0.5, deadline=1.0)) as client:
        try:
            response = client.get(Request(server.url))
        except FetchError as error:
            assert error.reason in set(Reason) - {Reason.INTERNAL}  # noqa: PT017  # either way is right
        else:
            assert response.status >= 200


@pytest.fixture
def noise(web: Web) -> tuple[WebServer, list[bytes]]:
    """A server that answers with the last bytes of a list."""
    answers: list[bytes] = []
    return web(lambda _: Raw(answers[-1])), answers
