"""Laws of the way that a browser goes by: it hands on what servers say, and leads only where the client may go."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spider.fetch import Client, Guard, Homes
from spider.fetch.proxy import Admits, GuardedProxy
from spider.model import Accepted, Rejected, Request
from tests.fetch.proxy import StubProxy
from tests.server import Raw, Reply, WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]
Door = Callable[..., GuardedProxy]

PEM = Path(__file__).parent.parent / "cases" / "fetch" / "localhost.pem"


@pytest.fixture
def door(client: Clients) -> Iterator[Door]:
    """Give a function that opens a proxy of a client of its own."""
    with contextlib.ExitStack() as stack:

        def make(home: str = "", admits: Admits | None = None, **settings: object) -> GuardedProxy:
            one = client(**settings)
            return stack.enter_context(one.proxy(one.guard_of(home), admits))

        yield make


def ask(
    proxy: GuardedProxy, url: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, bytes, dict[str, str]]:  # fmt: skip
    """Ask the proxy for an address: status, body, headers."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)) as line:
        line.request(method, url, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}


def tunnel(proxy: GuardedProxy, place: str) -> tuple[int, socket.socket]:
    """Ask the proxy for a tunnel: status, and the socket."""
    sock = socket.create_connection(("127.0.0.1", proxy.port), timeout=20)
    sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head and (got := sock.recv(1)):
        head += got
    return int(head.split()[1]), sock


def lead(monkeypatch: pytest.MonkeyPatch, *places: tuple[int, str], port: int) -> list[bytes]:
    """Let every name lead to these addresses in turn, the last for ever; returns the names looked up."""
    asked: list[bytes] = []
    real = socket.getaddrinfo

    def look_up(host: bytes | str, *rest: object, **names: int) -> list[object]:
        if names.get("flags") or host == "127.0.0.1":
            return list(real(host, *rest, **names))  # type: ignore[arg-type]  # as it was called
        asked.append(host if isinstance(host, bytes) else host.encode())
        family, address = places[min(len(asked), len(places)) - 1]
        return [(family, 1, 6, "", (address, port) if family == socket.AF_INET else (address, port, 0, 0))]

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    return asked


# --- handing on -----------------------------------------------------------------------------------


def test_answers_come_as_they_are(web: Web, door: Door) -> None:
    """Status, headers and bytes are the server's own, of known length or not, coded or not, over one connection."""
    many = b"x" * 300_000
    server = web({
        "/": "<p>page",
        "/many": Reply(many),
        "/unknown": Reply(many, length=False),
        "/coded": Reply(b"\x1f\x8bnot looked at", headers=(("Content-Encoding", "gzip"),)),
        "/none": Reply(status=204),
        "/lost": Reply("gone", status=404),
        "/away": Reply(status=302, headers=(("Location", "/there"), ("Set-Cookie", "a=b"), ("X-Own", "1"))),
    })  # fmt: skip
    proxy = door()
    for path, status, body in (
        ("", 200, b"<p>page"), ("many", 200, many), ("unknown", 200, many), ("coded", 200, b"\x1f\x8bnot looked at"),
        ("none", 204, b""), ("lost", 404, b"gone"),
    ):  # fmt: skip
        assert ask(proxy, server.url + path)[:2] == (status, body)
    status, _, headers = ask(proxy, server.url + "away")
    assert (status, headers["location"], headers["set-cookie"], headers["x-own"]) == (302, "/there", "a=b", "1")
    assert ask(proxy, server.url + "many", "HEAD")[:2] == (200, b"")
    assert [asked.method for asked in server.requests][-1] == "HEAD"
    assert len(server.connections) <= 3  # the first, and one after each answer that ended by its connection


def test_requests_go_as_they_are_but_for_the_way(web: Web, door: Door) -> None:
    """Method, body and headers reach the server; what was said to the proxy does not, nor anything of the proxy's."""
    server = web(lambda _: Reply("ok"))
    headers = {
        "Cookie": "a=b", "X-Own": "1", "Proxy_Connection": "keep-alive", "Connection": "X-Private", "X-Private": "2",
        "Proxy_Authorization": "Basic eA==", "User_Agent": "browser",
    }  # fmt: skip
    assert ask(door(), server.url, "POST", b"body", **headers)[0] == 200
    (asked,) = server.requests
    assert (asked.method, asked.body) == ("POST", b"body")
    assert (asked.headers["cookie"], asked.headers["user-agent"]) == ("a=b", "browser")
    assert not {"proxy-connection", "proxy-authorization", "x-private", "via", "x-forwarded-for"} & set(asked.headers)


def test_a_tunnel_carries_both_ways(web: Web, door: Door) -> None:
    """TLS is the browser's own affair: certificate and bytes are the server's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    server = web({"/": "<p>secret"}, tls=context)
    status, sock = tunnel(door(), f"127.0.0.1:{server.port}")
    own = ssl.create_default_context(cafile=str(PEM))
    own.check_hostname = False
    with own.wrap_socket(sock) as secure:
        secure.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b""
        while not answer.endswith(b"<p>secret") and (piece := secure.recv(65536)):
            answer += piece
    assert (status, answer[:15]) == (200, b"HTTP/1.1 200 OK")


def test_a_connection_that_the_server_closed_is_no_failure(web: Web, door: Door) -> None:
    """A server may end an idle connection at any time: the request is sent once more on a fresh one."""
    server = web({"/": "<p>"})
    proxy = door()
    for _ in range(3):
        assert ask(proxy, server.url)[0] == 200
        for connection in server.connections:
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)


# --- where it leads -------------------------------------------------------------------------------

INSIDE = [
    "127.0.0.1", "localhost", "10.0.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "[::1]", "[::]", "[fd00::1]",
    "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1]", "app.localhost",
]  # fmt: skip


@pytest.mark.parametrize("host", INSIDE)
def test_a_page_leads_to_no_private_machine(web: Web, door: Door, host: str) -> None:
    """Forwarded or through a tunnel, by whatever spelling: refused, and nothing is connected."""
    server = web({"/": "<p>secret"})
    proxy = door(guard=Guard(private=False))
    status, body, _ = ask(proxy, f"http://{host}:{server.port}/")
    assert (status, b"secret" in body) == (403, False)
    status, sock = tunnel(proxy, f"{host}:{server.port}")
    sock.close()
    assert status == 403
    assert not server.connections


@pytest.mark.parametrize(
    "address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::ffff:127.0.0.1")]
)
def test_a_name_is_judged_by_where_it_leads_now(
    web: Web, door: Door, monkeypatch: pytest.MonkeyPatch, address: tuple[int, str]
) -> None:
    """A public name that is led elsewhere (DNS rebinding) is refused when that counts: as it is connected."""
    server = web({"/": "<p>secret"})
    asked = lead(monkeypatch, address, port=server.port)
    proxy = door(guard=Guard(private=False))
    assert ask(proxy, f"http://rebind.example:{server.port}/")[0] == 403
    status, sock = tunnel(proxy, f"rebind.example:{server.port}")
    sock.close()
    assert (status, asked) == (403, [b"rebind.example"] * 2)
    assert not server.connections


def test_a_typed_host_is_asked_for_its_own_pages_alone(web: Web, door: Door) -> None:
    """Of private machines a page reaches the one it came from, where that was typed; not those of other seeds."""
    server = web({"/": "<p>home"}, hosts=2)
    homes = Homes.of(server.urls)
    own = door("127.0.0.1", guard=Guard(private=False), homes=lambda: homes)
    other = door("public.example", guard=Guard(private=False), homes=lambda: homes)
    assert [ask(own, url)[0] for url in server.urls] == [200, 403]
    assert [ask(other, url)[0] for url in server.urls] == [403, 403]


@pytest.mark.parametrize("url", ["http://127.0.0.1:25/", "http://user@127.0.0.1/", "ftp://127.0.0.1/", "/", "http:///"])
def test_only_the_web_is_asked(door: Door, url: str) -> None:
    """Ports of other protocols, credentials of others, other schemes and what is no address are refused."""
    assert ask(door(), url)[0] == 403


@pytest.mark.parametrize("place", ["127.0.0.1:25", "127.0.0.1", ":", "x:y", "127.0.0.1:99999", "a@b:443"])
def test_a_tunnel_leads_to_the_web_alone(door: Door, place: str) -> None:
    """Likewise for tunnels."""
    status, sock = tunnel(door(), place)
    sock.close()
    assert status in {400, 403}


class Gate:
    """Admits one host, and sockets at /open; writes down what it is asked."""

    def __init__(self, host: str) -> None:
        """Admit this host."""
        self.host = host
        self.seen: list[tuple[str, int]] = []

    def admits(self, host: str, port: int) -> bool:
        """Admit the host."""
        self.seen.append((host, port))
        return host == self.host

    def admits_socket(self, url: str) -> bool:
        """Admit what is open."""
        return url.endswith("/open")


def test_a_plain_socket_is_judged_by_its_address(web: Web, door: Door) -> None:
    """A socket opened in a tunnel passes no other gate: one that is not admitted ends before it is asked for."""
    server = web({"/open": "<p>", "/closed": "<p>"})
    proxy = door(admits=Gate("127.0.0.1"))
    for path, answer in (("/open", b"HTTP/1.1 200"), ("/closed", b""), ("x/open", b"")):
        status, sock = tunnel(proxy, f"127.0.0.1:{server.port}")
        with sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n".encode())
            assert (status, sock.recv(12)) == (200, answer)
    assert server.asked() == ["/open"]


def test_nobody_is_spoken_to_who_was_not_admitted(web: Web, door: Door) -> None:
    """What the gate before the browser has let through is all that gets out."""
    server = web({"/": "<p>"}, hosts=2)
    gate = Gate("127.0.0.1")
    proxy = door(admits=gate)
    assert [ask(proxy, url)[0] for url in server.urls] == [200, 403]
    status, sock = tunnel(proxy, f"127.0.0.2:{server.port}")
    sock.close()
    assert status == 403
    assert gate.seen == [("127.0.0.1", server.port), ("127.0.0.2", server.port), ("127.0.0.2", server.port)]
    assert [connection.host for connection in server.connections] == ["127.0.0.1"]


def test_the_limit_of_a_host_holds_for_both(web: Web, client: Clients) -> None:
    """The browser's plain requests and the client's are one after another, on one connection at a time."""
    server = web(lambda _: Reply("<p>", delay=0.01))
    one = client(deadline=30.0)
    answers: list[int] = []
    with one.proxy(one.guard_of("")) as proxy:

        def work(number: int) -> None:
            url = f"{server.url}{number}"
            answers.append(ask(proxy, url)[0] if number % 2 else one.get(Request(url)).status)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert answers == [200] * 12


def test_a_stream_keeps_nobody_waiting(web: Web, door: Door) -> None:
    """An event stream, which has no end, takes no seat of its host: other requests go on beside it."""

    def stream(sock: socket.socket, stop: threading.Event) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        stop.wait(20)

    server = web({"/stream": Raw(stream), "/": "<p>"}, skip={"overlap": "a stream is open beside other requests"})
    proxy = door(deadline=20.0)
    line = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    line.request("GET", f"{server.url}stream", headers={"Accept": "text/event-stream"})
    with contextlib.closing(line):
        assert line.getresponse().read(9) == b"data: 1\n\n"
        assert ask(proxy, server.url)[0] == 200


# --- by way of another proxy ------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_user_s_proxy_is_honoured(web: Web, door: Door, proxy: Callable[..., StubProxy], scheme: str) -> None:
    """Plain requests are forwarded by it, tunnels begin in it, with its password, which goes no further."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    stub = proxy(tls=context if scheme == "https" else None)
    server = web(lambda _: "<html>page</html>", skip={"overlap": "the stub opens a connection for each request"})
    own = door(proxy=stub.url.replace("://", "://me:pw@"), ca_file=str(PEM))
    assert ask(own, server.url)[:2] == (200, b"<html>page</html>")
    status, sock = tunnel(own, f"127.0.0.1:{server.port}")
    with sock:
        sock.sendall(b"GET /in HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (status, sock.recv(12)) == (200, b"HTTP/1.1 200")
    assert [head.split("\r\n")[0] for head in stub.heads] == [
        f"GET {server.url} HTTP/1.1", f"CONNECT 127.0.0.1:{server.port} HTTP/1.1",
    ]  # fmt: skip
    assert all("Proxy-Authorization: Basic bWU6cHc=" in head for head in stub.heads)
    assert not any("proxy-authorization" in asked.headers for asked in server.requests)


def test_a_proxy_that_gives_no_tunnel_is_a_failure(door: Door, proxy: Callable[..., StubProxy]) -> None:
    """Its refusal is told as one, and the connection ends."""
    for answer in (b"HTTP/1.1 407 Log in\r\n\r\n", b"", b"x" * 100_000):
        stub = proxy(act=lambda sock, _, answer=answer: sock.sendall(answer))
        status, sock = tunnel(door(proxy=stub.url), "site.example:443")
        sock.close()
        assert status == 502


# --- ends -----------------------------------------------------------------------------------------


def test_what_is_too_large_is_cut(web: Web, door: Door) -> None:
    """An answer above the greatest size does not come to its end, whether its length is known or not."""
    server = web({"/": Reply(b"x" * 500_000), "/unknown": Reply(b"x" * 500_000, length=False)})
    proxy = door(max_size=100_000)
    for path in ("", "unknown"):
        with pytest.raises(http.client.IncompleteRead):
            ask(proxy, server.url + path)
    assert ask(proxy, server.url, "POST", b"x" * 100_001)[0] == 413


def test_what_has_no_end_ends(web: Web, door: Door) -> None:
    """A server that sends a byte now and then, in head or body, is left when the deadline has passed."""

    def drip(before: bytes) -> Callable[[socket.socket, threading.Event], None]:
        def act(sock: socket.socket, stop: threading.Event) -> None:
            sock.sendall(before)
            while not stop.wait(0.05):
                sock.sendall(b"x")

        return act

    server = web({
        "/head": Raw(drip(b"HTTP/1.1 200 OK\r\nX-Long: ")), "/body": Raw(drip(b"HTTP/1.1 200 OK\r\n\r\n")),
    })  # fmt: skip
    proxy = door(deadline=0.5)
    assert ask(proxy, f"{server.url}head")[0] == 504
    with pytest.raises(http.client.IncompleteRead):
        ask(proxy, f"{server.url}body")


def test_who_does_not_answer_is_told(door: Door) -> None:
    """No connection, and no answer, is a failure of a gateway."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert ask(door(deadline=0.3), f"http://127.0.0.1:{port}/")[0] == 504
    assert ask(door(), f"http://127.0.0.1:{port}/")[0] == 502
    status, sock = tunnel(door(), f"127.0.0.1:{port}")
    sock.close()
    assert status == 502


def test_closing_ends_all(web: Web, client: Clients) -> None:
    """A tunnel that is open ends with the proxy, and nobody answers any more."""
    server = web({"/": "<p>"})
    one = client()
    proxy = one.proxy(one.guard_of(""))
    status, sock = tunnel(proxy, f"127.0.0.1:{server.port}")
    with sock:
        proxy.close()
        assert (status, sock.recv(1)) == (200, b"")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", proxy.port), timeout=1)


@pytest.mark.parametrize("host", ["[::1]", "127.0.0.1", "localhost"])
def test_a_typed_host_is_known_by_any_spelling(client: Clients, host: str) -> None:
    """A page's host is the one that was typed, whatever kind of name it has."""
    url = f"http://{host}:8000/"
    homes = Homes.of([url])
    one = client(guard=Guard(private=False), homes=lambda: homes)
    assert one.guard_of(host).url(url) == Accepted()
    assert one.guard_of("public.example").url(url) == Rejected("private-address")
