"""The way of a browser to the network: a forward proxy on the loopback interface, with the client's own manners.

A browser judges no address: a page may lead it, by a redirect, a script, a socket or a name that is looked
up anew, to machines of the network that it runs in.  So it is let out through here alone, where each
connection is made as the client's are: the guard judges the address of the machine that answers, plain
requests share the client's connections (and so its limit for a host), and all of it has an end.

HTTP is forwarded (RFC 9112, section 3.2.2), everything else is tunnelled (CONNECT, RFC 9110, section 9.3.6).
What goes through a tunnel is the browser's own; who may be spoken to is decided before.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Protocol, Self

from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from spider.errors import FetchError
from spider.fetch.guard import Guard, Origin, split
from spider.fetch.pool import AnyLine, Pool
from spider.fetch.sockets import Allowance
from spider.fetch.transport import failure
from spider.fetch.tunnel import IDLE, relay
from spider.model import Reason, Rejected
from spider.settings import AGENT_TOKEN

__all__ = ["Admits", "Bounds", "GuardedProxy"]


class Admits(Protocol):
    """Says who may be spoken to, before the guard is asked."""

    def admits(self, host: str, port: int) -> bool:
        """Whether a host and port may be spoken to at all."""
        ...

    def admits_socket(self, url: str) -> bool:
        """Whether a plain socket may be opened at an address (its scheme is http): no other gate sees it."""
        ...


HOP_BY_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
})  # fmt: skip  # RFC 9110, section 7.6.1, and what older clients send
BODILESS = frozenset({204, 205, 304})
BROKEN = (OSError, HTTPException, HTTPError, ValueError)  # whatever either side can make the libraries raise
PIECE = 65536
TLS = b"\x16"  # how a handshake of TLS begins (RFC 8446, section 5.1)
TUNNEL = 16  # answers of the greatest size may go through one tunnel: many requests share it
PROXY_NAME = AGENT_TOKEN
"""The name under which answers of the proxy's own say so, in Proxy-Status."""

# The status of what failed, and the word for it of RFC 9209, section 2.3.
FAILED = {
    Reason.REFUSED: (403, "destination_ip_prohibited"),
    Reason.TIMEOUT: (504, "connection_timeout"),
    Reason.DEADLINE: (504, "http_response_timeout"),
    Reason.DNS: (502, "dns_error"),
    Reason.CONNECT: (502, "connection_refused"),
    Reason.PROTOCOL: (502, "http_protocol_error"),
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What holds for each answer: seconds to connect and for each read, seconds and bytes (not decoded) in all."""

    timeout: float = 10.0
    deadline: float = 60.0
    max_size: int = 10_000_000

    def allowance(self) -> Allowance:
        """Start the clock of one answer."""
        return Allowance(self.timeout, self.deadline)


class GuardedProxy:
    """The proxy, a port of 127.0.0.1; it serves from its making until `close`.

    `pool` gives the connections, `guard` judges where they lead; `admits` is asked first.
    """

    def __init__(self, pool: Pool, guard: Guard, *, bounds: Bounds, admits: Admits | None = None) -> None:
        """Listen, and serve in threads that keep no process from its end."""
        self._server = _Server(pool, guard, bounds, admits)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="proxy").start()

    def close(self) -> None:
        """Listen no more, and end every connection."""
        self._server.shutdown()
        self._server.server_close()
        self._server.end()

    def __enter__(self) -> Self:
        """Do nothing: it serves already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class _Server(ThreadingTCPServer):
    """Listens; a thread for each connection."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, pool: Pool, guard: Guard, bounds: Bounds, admits: Admits | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pool, self.guard, self.bounds, self.admits = pool, guard, bounds, admits
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def knowing(self, sock: socket.socket) -> Iterator[None]:
        """Know of a socket while it is in use, so that it can be ended."""
        with self._lock:
            self._open.add(sock)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(sock)

    def end(self) -> None:
        """Shut every socket that is in use; the threads that wait for them end."""
        with self._lock:
            for sock in self._open:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  # socketserver's signature
        """Say nothing: a connection that broke is the browser's to tell."""


class _Handler(BaseHTTPRequestHandler):
    """One connection of the browser; its requests one after another."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE
    server: _Server

    def handle(self) -> None:
        """Serve the connection until either side ends it."""
        with self.server.knowing(self.connection), contextlib.suppress(*BROKEN):
            super().handle()

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Forward every method alike; `http.server` looks for a `do_` of each."""
        if name.startswith("do_"):
            return self._forward
        raise AttributeError(name)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's signature
        """Write nothing."""

    def version_string(self) -> str:
        """Name nobody."""
        return ""

    # -- judging -----------------------------------------------------------------------------------

    def _judged(self, url: str) -> tuple[Origin, str] | None:
        """Return the origin of an address and the target there; None where it may not be asked, which is answered."""
        verdict = self.server.guard.url(url)
        if isinstance(verdict, Rejected):
            self._refuse(verdict.rule)
            return None
        scheme, host, port, target = split(url)
        if self.server.admits is not None and not self.server.admits.admits(host, port):
            self._refuse("not admitted")
            return None
        return (scheme, host, port), target

    def _refuse(self, rule: str) -> None:
        self._say(403, "http_request_denied", f"refused by rule {rule}")

    def _failed(self, error: Exception, allowance: Allowance) -> None:
        """Say that no answer came, in a status of a gateway."""
        told = failure(error, allowance)
        status, word = FAILED.get(Reason(told.reason), (502, "connection_terminated"))
        self._say(status, word, str(told))

    def _say(self, status: int, error: str, text: str) -> None:
        """Answer in the server's place, and say so (RFC 9209)."""
        body = text[:300].encode("utf-8", "replace") + b"\n"
        self.close_connection = True
        self.send_response_only(status)
        self._headers(
            {
                "Proxy-Status": f"{PROXY_NAME}; error={error}",
                "Content-Type": "text/plain; charset=utf-8",
                "Content-Length": str(len(body)),
            }
        )
        self.wfile.write(body)

    def _headers(self, headers: Mapping[str, str]) -> None:
        for name, value in headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    # -- plain requests ------------------------------------------------------------------------------

    def _forward(self) -> None:
        """Ask for a plain address, and hand the answer on as it comes."""
        if not self.path.startswith("http://"):
            return self._refuse("scheme")
        judged = self._judged(self.path)
        if judged is None:
            return None
        size = self.headers.get("Content-Length", "0")
        if "transfer-encoding" in self.headers or not size.isdigit() or int(size) > self.server.bounds.max_size:
            return self._say(413, "http_request_error", "the request's body is too large, or of no known size")
        body, allowance = self.rfile.read(int(size)) or None, self.server.bounds.allowance()
        (origin, target), pool = judged, self.server.pool
        # A stream that the server ends when it likes must not keep the host's seat from all other requests.
        endless = "text/event-stream" in self.headers.get("Accept", "")
        try:
            with contextlib.nullcontext() if endless else pool.seat(origin[1], allowance):
                line, used = (pool.fresh(origin), False) if endless else pool.take(origin)
                self._exchange(_Exchange(line, origin, allowance, keep=not endless), target, body, again=used)
        except FetchError as error:
            self._failed(error, allowance)
        return None

    def _exchange(self, exchange: _Exchange, target: str, body: bytes | None, *, again: bool) -> None:
        """Send the request, and on a connection that the server had closed once more; hand the answer on."""
        try:
            raw = exchange.ask(self.server.guard, self.command, target, self._sent_on(), body)
        except ConnectionError as error:
            exchange.line.close()
            if not again or self.command not in {"GET", "HEAD"}:
                return self._failed(error, exchange.allowance)
            fresh = _Exchange(self.server.pool.fresh(exchange.origin), exchange.origin, exchange.allowance)
            return self._exchange(fresh, target, body, again=False)
        except (*BROKEN, FetchError) as error:
            exchange.line.close()
            return self._failed(error, exchange.allowance)
        sound = False
        try:
            sound = self._hand_on(raw, exchange.allowance)
        finally:
            if sound and exchange.keep and exchange.line.sock is not None:
                self.server.pool.give(exchange.origin, exchange.line)
            else:
                exchange.line.close()
        return None

    def _sent_on(self) -> dict[str, str]:
        """Return the request's headers but for those that were meant for this proxy."""
        named = {word.strip().lower() for word in self.headers.get("Connection", "").split(",")}
        return {
            name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP | named
        }  # a browser sends no header twice

    def _hand_on(self, raw: HTTPResponse, allowance: Allowance) -> bool:
        """Write an answer as it comes; say whether it came to its end.  One too large or too late is cut off."""
        named = {word.strip().lower() for word in raw.headers.get("Connection", "").split(",")}
        self.send_response_only(raw.status, (raw.reason or "")[:100])
        for name, value in raw.headers.items():
            if name.lower() not in HOP_BY_HOP | named:
                self.send_header(name, value)
        bare = self.command == "HEAD" or raw.status in BODILESS
        chunked = not bare and raw.length_remaining is None
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if bare:
            return True
        try:
            whole = self._pour(raw, allowance, chunked=chunked)
        except BROKEN:
            whole = False
        self.close_connection = self.close_connection or not whole
        return whole

    def _pour(self, raw: HTTPResponse, allowance: Allowance, *, chunked: bool) -> bool:
        size = 0
        while piece := raw.read1(PIECE, decode_content=False):
            size += len(piece)
            if size > self.server.bounds.max_size or allowance.over:
                return False
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")
        return not raw.length_remaining

    # -- tunnels -------------------------------------------------------------------------------------

    def do_CONNECT(self) -> None:
        """Give a tunnel to a host and port; one that does not begin with TLS must be admitted as a socket first."""
        host, _, port = self.path.rpartition(":")
        judged = self._judged(f"https://{host}:{port}/")
        if judged is None:
            return
        if self.server.admits is None or port == "443":
            far = self._reached(judged[0])
            if far is not None:
                self._established()
                self._relay(far, b"")
            return
        self._established()
        first = self._first_words(judged[0])
        far = self._reached(judged[0]) if first is not None else None
        if far is not None:
            self._relay(far, first or b"")

    def _established(self) -> None:
        self.close_connection = True
        self.send_response_only(200, "Connection established")
        self.end_headers()

    def _reached(self, origin: Origin) -> socket.socket | None:
        """Return a connection to an origin; None where none comes, which is said."""
        allowance = self.server.bounds.allowance()
        try:
            return self.server.pool.tunnel(origin, allowance, self.server.guard)
        except (*BROKEN, FetchError) as error:
            if not self.close_connection:
                self._failed(error, allowance)
            return None

    def _first_words(self, origin: Origin) -> bytes | None:
        """Return what a tunnel begins with and was read already; None where it may not go on.

        What is not TLS is the handshake of a socket (RFC 6455, section 4.1), and is judged by its address.
        """
        if self.connection.recv(1, socket.MSG_PEEK) == TLS:
            return b""
        head = b""
        while b"\r\n\r\n" not in head:
            got = self.connection.recv(PIECE)
            head += got
            if not got or len(head) > PIECE:
                return None
        _, host, port = origin
        target = (head.split(b" ", 2)[1:2] or [b""])[0].decode("latin-1")
        place = f"[{host}]" if ":" in host else host
        admits = self.server.admits
        if admits is None or not target.startswith("/") or not admits.admits_socket(f"http://{place}:{port}{target}"):
            return None
        return head

    def _relay(self, far: socket.socket, first: bytes) -> None:
        with far, self.server.knowing(far):
            far.sendall(first)
            relay(self.connection, far, most=TUNNEL * self.server.bounds.max_size)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """One request on one connection; `keep` says that the connection may serve another."""

    line: AnyLine
    origin: Origin
    allowance: Allowance
    keep: bool = True

    def ask(self, guard: Guard, method: str, target: str, headers: dict[str, str], body: bytes | None) -> HTTPResponse:
        """Send the request and read the head of the answer."""
        line = self.line
        line.prepare(self.allowance, guard)
        if line.way is not None and line.forwarded is not None:
            target, headers = f"{line.forwarded}{target}", {**headers, **line.way.headers}
        line.request(method, target, headers=headers, body=body, preload_content=False, decode_content=False)
        return line.getresponse()
