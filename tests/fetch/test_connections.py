"""Laws of the connections: re-used where they can be, never more to a host than it may bear."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from spider.errors import FetchError
from spider.fetch import Client
from spider.model import Reason, Request
from tests.server import Asked, Raw, Reply, WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]


def in_threads(client: Client, urls: list[str], threads: int) -> list[int]:
    """Ask all addresses by that many threads and return the statuses in order."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda url: client.get(Request(url)).status, urls))


def test_one_connection_serves_many_requests(web: Web, client: Clients) -> None:
    """Pages, errors, short redirects and empty answers leave the connection open for the next request."""
    moved = Reply("<p>moved", status=301, headers=(("Location", "/"),))
    pages = {"/": "<p>", "/moved": moved, "/none": Reply(status=204), "/icon": Reply(b"x" * 100, type="image/png")}
    server = web(pages)
    one = client()
    for path in ("", "moved", "none", "missing", "icon", ""):
        one.get(Request(server.url + path))
    assert [connection.requests for connection in server.connections] == [6]


def test_threads_share_connections(web: Web, client: Clients) -> None:
    """A host that is served by one thread and then another keeps its one connection."""
    server = web({"/": "<p>"})
    one = client()
    for _ in range(5):
        in_threads(one, [server.url], 1)
    assert len(server.connections) == 1


def test_a_host_has_one_request_at_a_time(web: Web, client: Clients) -> None:
    """Whatever the threads, a host sees one connection at a time; the server's own check sees to it."""
    server = web({"/": Reply("<p>", delay=0.002)}, hosts=4)
    assert in_threads(client(), server.urls * 25, 16) == [200] * 100
    assert len(server.connections) == 4


@pytest.mark.parametrize("per_host", [2, 3])
def test_more_connections_where_they_are_allowed(web: Web, client: Clients, per_host: int) -> None:
    """A host that may bear more gets as many at once, and no more."""
    meet = threading.Barrier(per_host, timeout=5)

    def answer(_: Asked) -> str:
        meet.wait()
        return "<p>"

    server = web(answer, per_host=per_host)
    assert in_threads(client(per_host=per_host, timeout=5.0), [server.url] * per_host * 4, 8) == [200] * per_host * 4
    assert len(server.connections) == per_host


def test_a_busy_host_blocks_no_other(web: Web, client: Clients) -> None:
    """While a host is slow, the others are answered."""
    server = web({"127.0.0.1": {"/": Reply("<p>", delay=0.9)}, "127.0.0.2": {"/": "<p>"}})
    one = client()
    slow = threading.Thread(target=one.get, args=(Request(server.urls[0]),))
    slow.start()
    began = time.monotonic()
    in_threads(one, [server.urls[1]] * 20, 2)
    assert time.monotonic() - began < 0.8
    slow.join()


def test_a_host_that_stays_busy_is_given_up(web: Web, client: Clients) -> None:
    """Waiting for a connection to get free has an end as well."""
    server = web({"/": Reply("<p>", delay=0.8)})
    one = client(deadline=0.3, timeout=2.0)
    reasons: list[str] = []

    def ask() -> None:
        with pytest.raises(FetchError) as caught:
            one.get(Request(server.url))
        reasons.append(caught.value.reason)

    both = [threading.Thread(target=ask) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert set(reasons) <= {Reason.TIMEOUT, Reason.DEADLINE}
    first, *rest = server.requests
    # Whoever began a little later has that little left when the first gives up, and asks in it.
    assert all(asked.time - first.time > 0.25 for asked in rest)


def test_another_port_of_a_host_waits_for_the_first_to_close(web: Web, client: Clients) -> None:
    """Connections belong to a host name: one to another port of it closes the idle one first."""
    first, second = web({"/": "<p>"}), web({"/": "<p>"})
    one = client()
    for server in (first, second, first):
        one.get(Request(server.url))
        time.sleep(0.02)
        still = [c for s in (first, second) for c in s.connections if not c.ended()]
        assert len(still) == 1
    assert (len(first.connections), len(second.connections)) == (2, 1)


def test_leaving_a_host_closes_its_connections(web: Web, client: Clients) -> None:
    """After `leave` another process may ask the host; the other hosts' connections stay."""
    server = web({"/": "<p>"}, hosts=2)
    one = client()
    in_threads(one, server.urls, 1)
    one.leave("127.0.0.1")
    one.leave("127.0.0.9")
    time.sleep(0.02)
    assert [connection.ended() for connection in server.connections] == [True, False]
    in_threads(one, server.urls, 1)
    assert len(server.connections) == 3


def test_closing_closes_all(web: Web, client: Clients) -> None:
    """After `close` nothing is open, and the client can still be used."""
    server = web({"/": "<p>"}, hosts=3)
    one = client()
    in_threads(one, server.urls, 3)
    one.close()
    time.sleep(0.02)
    assert all(connection.ended() for connection in server.connections)
    assert one.get(Request(server.url)).status == 200


def closing_after(requests: int, *, reset: bool) -> Callable[[Asked], Reply | Raw]:
    """Answer, and close the connection in silence after that many requests."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\n<p>"
    count = iter(range(1, 1_000_000))
    return lambda _: Raw(answer, reset=reset) if next(count) % requests == 0 else Reply("<p>")


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_a_connection_that_the_server_closed_costs_nothing(
    web: Web, client: Clients, pause: float, *, reset: bool
) -> None:
    """A server that closes an idle connection makes no request fail, and gets none twice."""
    server = web(closing_after(2, reset=reset))
    one = client()
    for _ in range(8):
        assert one.get(Request(server.url)).body == b"<p>"
        time.sleep(pause)
    assert len(server.requests) == 8


def test_a_request_that_meets_the_end_of_its_connection_is_sent_again(web: Web, client: Clients) -> None:
    """A connection that ends on a request before any answer is tried once more, on a fresh one, if it was used."""
    count = iter(range(100))
    server = web(lambda _: Raw(b"") if next(count) in {1, 3, 4} else Reply("<p>"))
    one = client()
    assert one.get(Request(server.url)).status == 200
    assert one.get(Request(server.url)).status == 200  # on its second try
    with pytest.raises(FetchError) as caught:
        one.get(Request(server.url))  # both tries meet the end
    assert caught.value.reason == Reason.CONNECT
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nno gzip..",
        b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 99999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        b"HTTP/1.1 101 Go\r\n\r\n",
    ],
)
def test_what_is_left_of_an_answer_is_never_taken_for_the_next(web: Web, client: Clients, answer: bytes) -> None:
    """A connection whose answer was not read to a clear end is closed, so that its rest goes nowhere."""
    stale = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nstale"

    def act(sock: socket.socket, stop: threading.Event) -> None:
        sock.sendall(answer)
        stop.wait(0.5)
        sock.sendall(stale)
        stop.wait(5)

    server = web({"/bad": Raw(act), "/good": "fresh"})
    one = client(timeout=0.2)
    try:
        one.get(Request(f"{server.url}bad"))
    except FetchError as error:
        assert error.reason in {Reason.TIMEOUT, Reason.PROTOCOL, Reason.CONTENT}  # noqa: PT017  # or none
    assert one.get(Request(f"{server.url}good")).body == b"fresh"
    assert len(server.connections) == 2


def test_a_failure_behind_the_head_keeps_no_connection_busy(web: Web, client: Clients) -> None:
    """Where an answer came whole and is refused for what it says, its connection serves the next request."""
    answers = {"/bad": Reply(status=302, headers=(("Location", "http://[::1"),)), "/good": "fresh"}
    server = web(answers)
    one = client()
    for _ in range(3):
        with pytest.raises(FetchError) as caught:
            one.get(Request(f"{server.url}bad"))
        assert one.get(Request(f"{server.url}good")).body == b"fresh"
        assert caught.value.reason == Reason.REDIRECT  # and still at hand, with all that it was raised in
    assert len(server.connections) == 1


def test_extra_bytes_are_not_the_next_answer(web: Web, client: Clients) -> None:
    """Bytes past the end of an answer, which nobody asked for, are thrown away with their connection."""
    extra = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nfalse"

    def act(sock: socket.socket, stop: threading.Event) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<p>")
        stop.wait(0.05)
        sock.sendall(extra)
        stop.wait(5)

    server = web({"/bad": Raw(act), "/good": "fresh"})
    one = client()
    assert one.get(Request(f"{server.url}bad")).body == b"<p>"
    time.sleep(0.15)
    assert one.get(Request(f"{server.url}good")).body == b"fresh"


def test_idle_connections_are_bounded(web: Web, client: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many hosts only the last keep a connection, and none for long."""
    monkeypatch.setattr("spider.fetch.pool.MAX_IDLE", 8)
    server = web({"/": "<p>"}, hosts=30)
    one = client()
    in_threads(one, server.urls, 4)
    time.sleep(0.02)
    assert sum(not connection.ended() for connection in server.connections) <= 8
    monkeypatch.setattr("spider.fetch.pool.IDLE_SECONDS", 0.0)
    in_threads(one, server.urls[:3], 1)
    time.sleep(0.02)
    assert sum(not connection.ended() for connection in server.connections) <= 4
