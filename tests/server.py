"""A real web server for tests, which watches the manners of whoever visits it.

It answers on 127.0.0.1, 127.0.0.2 … (the same free port on each, so that hosts differ by name only)
from a directory, a mapping of paths or a function, writes down every connection and every request, and
keeps a list of violations: connections to a host that overlap, requests that the host's robots.txt
closes, requests without a lease.  The fixture ``web`` fails the test that has any.

The server lives in the test's process; spiders may run in others and may be killed.
"""

from __future__ import annotations

import contextlib
import mimetypes
import socket
import sqlite3
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from protego import Protego

__all__ = ["CHECKS", "Asked", "Connection", "Content", "Raw", "Reply", "Violation", "WebServer"]

AGENT = "multimedia-spider"
CHECKS = ("overlap", "robots", "lease")
GRACE = 0.1  # seconds in which the end of an old connection may still be on its way to us
REASONS = {
    200: "OK",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: `time` in monotonic, `wall` in Unix seconds; `path` has the query; header names are lower case."""

    time: float
    wall: float
    host: str
    method: str
    path: str
    headers: Mapping[str, str]
    connection: int
    body: bytes = b""


@dataclass(slots=True)
class Connection:
    """One connection: `opened` and `closed` in monotonic seconds (None is still open), `requests` served."""

    id: int
    host: str
    opened: float
    closed: float | None = None
    requests: int = 0
    sock: socket.socket | None = field(default=None, repr=False)

    def ended(self) -> bool:
        """Tell whether the other side has closed it, even if its thread has not noticed yet."""
        sock = self.sock
        if self.closed is not None or sock is None:
            return True
        try:
            return socket.socket.recv(sock, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer.  `delay` is seconds before it is sent; `length` False leaves Content-Length out and closes."""

    body: bytes | str = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    type: str | None = "text/html; charset=utf-8"
    delay: float = 0.0
    length: bool = True

    def bytes(self, method: str = "GET") -> bytes:
        """Return the whole answer as it goes over the wire."""
        body = self.body.encode() if isinstance(self.body, str) else self.body
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        names = {name.lower() for name, _ in self.headers}
        if self.type is not None and "content-type" not in names:
            lines.append(f"Content-Type: {self.type}")
        if self.length and "content-length" not in names and self.status >= 200 and self.status not in {204, 304}:
            lines.append(f"Content-Length: {len(body)}")
        if not self.length:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")
        return head if method == "HEAD" or self.status in {204, 304} else head + body


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes, or a function that writes to the socket, in place of an answer; the connection ends after it.

    The function gets the socket and an event that is set when the server is to stop; `reset` ends
    the connection with RST in place of FIN.
    """

    act: bytes | Callable[[socket.socket, threading.Event], None]
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """What a visitor did that it must not: the name of the check, and the words for it."""

    check: str
    text: str


Answer = Reply | Raw | str | bytes
Content = Path | Mapping[str, Answer] | Callable[[Asked], Answer | None]
NOT_FOUND = Reply("<title>not found</title>", status=404)


def respond(content: Content, asked: Asked) -> Answer:
    """Find the answer in a directory, a mapping (with the query first, then without) or a function."""
    if isinstance(content, Path):
        return _file(content, asked.path)
    if callable(content):
        return content(asked) or NOT_FOUND
    return content.get(asked.path) or content.get(asked.path.partition("?")[0]) or NOT_FOUND


def _file(root: Path, path: str) -> Reply:
    """Read a file below `root`; a directory answers with its index.html."""
    target = (root / unquote(path.partition("?")[0]).lstrip("/")).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(root.resolve()) or not target.is_file():
        return NOT_FOUND
    return Reply(target.read_bytes(), type=mimetypes.guess_type(target.name)[0] or "application/octet-stream")


class WebServer:
    """The server: `start` (or ``with``) to begin, `close` to end.

    `content` is for every host, or a mapping from host addresses ("127.0.0.2") to each one's content.
    `per_host` connections to a host may be open at once.  `database` is the SQLite file whose
    Host.lease_until is looked up at each request.  `skip` switches checks off: {check: reason why}.
    """

    def __init__(
        self,
        content: Content | Mapping[str, Content],
        *,
        hosts: int = 1,
        per_host: int = 1,
        database: Path | None = None,
        skip: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Take the content and bind the addresses, so that `port` and `urls` are known."""
        self.skip = dict(skip or {})
        for check, reason in self.skip.items():
            if check not in CHECKS or not reason.strip():
                message = f"skip wants one of {CHECKS} and a reason, not {check!r}: {reason!r}"
                raise ValueError(message)
        self.contents = _by_host(content, hosts)
        self.per_host, self.database, self.tls = per_host, database, tls
        self.requests: list[Asked] = []
        self.connections: list[Connection] = []
        self.violations: list[Violation] = []
        self.excuses: set[tuple[str, str]] = set()
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._open: dict[str, set[int]] = {host: set() for host in self.contents}
        self._files: dict[tuple[str, str], bytes] = {}
        self._rules: dict[str, tuple[bytes, Protego]] = {}
        self._leases = threading.local()
        self._threads: list[threading.Thread] = []
        self._listeners = _listen(tuple(self.contents))
        self.port: int = self._listeners[0].getsockname()[1]
        scheme = "https" if tls else "http"
        self.urls = [f"{scheme}://{host}:{self.port}/" for host in self.contents]
        self.url = self.urls[0]

    # -- what tests ask -------------------------------------------------------------------------

    def asked(self, host: str | None = None) -> list[str]:
        """List the paths asked for, in order, of one host or of all."""
        with self._lock:
            return [r.path for r in self.requests if host in {None, r.host}]

    def pages(self) -> list[str]:
        """List the full addresses asked for, in order, without those of robots.txt."""
        with self._lock:
            scheme = "https" if self.tls else "http"
            return [f"{scheme}://{r.host}:{self.port}{r.path}" for r in self.requests if r.path != "/robots.txt"]

    def excuse(self, path: str, *, host: str | None = None, reason: str) -> None:
        """Let requests for `path` (exact, query and all) pass the checks of robots and lease; say why."""
        if not reason.strip():
            message = f"an excuse for {path} wants a reason"
            raise ValueError(message)
        self.excuses |= {(name, path) for name in self.contents if host in {None, name}}

    def watch(self, database: Path) -> None:
        """From now on, look for a lease in this database at every request."""
        self.database = database

    # -- life -------------------------------------------------------------------------------------

    def start(self) -> Self:
        """Begin to answer."""
        for listener in self._listeners:
            self._spawn(self._accept, listener)
        return self

    def close(self) -> None:
        """End every connection and thread."""
        self._stop.set()
        for listener in self._listeners:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._lock:
            socks = [c.sock for c in self.connections if c.sock is not None]
        for sock in socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _spawn(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    # -- connections --------------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                sock = listener.accept()[0]
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            host = sock.getsockname()[0]
            with self._lock:
                connection = Connection(len(self.connections) + 1, host, time.monotonic(), sock=sock)
                self.connections.append(connection)
                others = set(self._open[host])
                self._open[host].add(connection.id)
            self._spawn(self._serve, connection, others)

    def _serve(self, connection: Connection, others: set[int]) -> None:
        sock = connection.sock
        assert sock is not None
        try:
            self._check_overlap(connection, others)
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
                connection.sock = sock
            self._converse(sock, connection)
        except OSError:
            pass  # the visitor left; how it did is in the log
        finally:
            self._forget_leases()
            with self._lock:
                connection.closed = time.monotonic()
                connection.sock = None
                self._open[connection.host].discard(connection.id)
            sock.close()

    def _converse(self, sock: socket.socket, connection: Connection) -> None:
        for asked in self._read(sock, connection):
            self._check_robots(asked)
            self._check_lease(asked)
            if not self._answer(sock, asked):
                return

    def _read(self, sock: socket.socket, connection: Connection) -> Iterator[Asked]:
        buffer = b""
        while True:
            while (end := buffer.find(b"\r\n\r\n")) < 0:
                data = sock.recv(65536)
                if not data:
                    return
                buffer += data
            method, path, headers = _head(buffer[:end])
            buffer = buffer[end + 4 :]
            length = int(headers.get("content-length", "0"))
            while len(buffer) < length and (data := sock.recv(65536)):
                buffer += data
            asked = Asked(
                time.monotonic(), time.time(), connection.host, method, path, headers, connection.id, buffer[:length]
            )
            buffer = buffer[length:]
            with self._lock:
                self.requests.append(asked)
                connection.requests += 1
            yield asked

    def _answer(self, sock: socket.socket, asked: Asked) -> bool:
        """Send the answer; return whether the connection goes on."""
        content = self.contents[asked.host]
        key = (asked.host, asked.path)
        ready = self._files.get(key) if asked.method == "GET" else None
        if ready is not None:
            sock.sendall(ready)
            return True
        answer = respond(content, asked)
        if isinstance(answer, Raw):
            self._raw(sock, answer)
            return False
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        if reply.delay:
            self._stop.wait(reply.delay)
        data = reply.bytes(asked.method)
        sock.sendall(data)
        if isinstance(content, Path) and asked.method == "GET":
            self._files[key] = data
        return reply.length

    def _raw(self, sock: socket.socket, raw: Raw) -> None:
        if callable(raw.act):
            raw.act(sock, self._stop)
        else:
            sock.sendall(raw.act)
        if raw.reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")

    # -- checks ---------------------------------------------------------------------------------------

    def _violate(self, check: str, text: str) -> None:
        if check not in self.skip:
            with self._lock:
                self.violations.append(Violation(check, text))

    def _check_overlap(self, connection: Connection, others: set[int]) -> None:
        """Count the connections to this host that were open when `connection` came."""
        end = connection.opened + GRACE
        while True:
            with self._lock:
                still = [c for i in others if not (c := self.connections[i - 1]).ended()]
            if len(still) < self.per_host:
                return
            if time.monotonic() > end:
                break
            time.sleep(0.005)
        ids = ", ".join(str(c.id) for c in still)
        self._violate("overlap", f"connection {connection.id} to {connection.host} opened while {ids} was open")

    def _check_robots(self, asked: Asked) -> None:
        if asked.path == "/robots.txt" or "robots" in self.skip or (asked.host, asked.path) in self.excuses:
            return
        rules = self._robots(asked)
        if rules is not None and not rules.can_fetch(f"http://{asked.host}:{self.port}{asked.path}", AGENT):
            self._violate("robots", f"{asked.path} of {asked.host} was asked for, though robots.txt closes it")

    def _robots(self, asked: Asked) -> Protego | None:
        """Return the rules of the host's robots.txt as it stands now."""
        content = self.contents[asked.host]
        known = self._rules.get(asked.host)
        if known is not None and isinstance(content, Path):
            return known[1]
        question = Asked(asked.time, asked.wall, asked.host, "GET", "/robots.txt", {}, 0)
        answer = respond(content, question)
        if isinstance(answer, Raw) or (isinstance(answer, Reply) and answer.status != 200):
            body = b""
        else:
            text = answer.body if isinstance(answer, Reply) else answer
            body = text.encode() if isinstance(text, str) else text
        if known is None or known[0] != body:
            known = self._rules[asked.host] = body, Protego.parse(body.decode("utf-8-sig", "replace"))
        return known[1]

    def _check_lease(self, asked: Asked) -> None:
        if self.database is None or "lease" in self.skip or (asked.host, asked.path) in self.excuses:
            return
        try:
            row = self._look_up(asked.host)
        except sqlite3.Error as error:
            self._violate("lease", f"{asked.path} of {asked.host}: {self.database} cannot be asked: {error}")
            return
        if row is None or row[0] is None or (row[1] or 0) <= asked.wall * 1_000_000:
            self._violate("lease", f"{asked.path} of {asked.host} was asked for without a lease: {row}")

    def _look_up(self, host: str) -> tuple[int | None, int | None] | None:
        """Read the host's lease, through one read-only connection per thread."""
        known: tuple[Path, sqlite3.Connection] | None = getattr(self._leases, "known", None)
        if known is None or known[0] != self.database:
            assert self.database is not None
            connection = sqlite3.connect(f"{self.database.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
            known = self._leases.known = self.database, connection
        row: tuple[int | None, int | None] | None = (
            known[1]
            .execute(
                "SELECT lease_worker, lease_until FROM Host WHERE name = ?",
                (host,),
            )
            .fetchone()
        )
        return row

    def _forget_leases(self) -> None:
        """Close this thread's connection to the database."""
        known: tuple[Path, sqlite3.Connection] | None = getattr(self._leases, "known", None)
        if known is not None:
            known[1].close()


def _by_host(content: Content | Mapping[str, Content], hosts: int) -> dict[str, Content]:
    """Give every host its content."""
    if isinstance(content, Mapping) and content and not any(key.startswith("/") for key in content):
        return dict(content)  # type: ignore[arg-type]  # the keys told that the values are contents
    return {f"127.0.0.{n}": content for n in range(1, hosts + 1)}  # type: ignore[dict-item]  # as above, the other way


def _listen(hosts: tuple[str, ...]) -> list[socket.socket]:
    """Bind one free port on every address."""
    while True:
        listeners: list[socket.socket] = []
        port = 0
        try:
            for host in hosts:
                listeners.append(socket.create_server((host, port), backlog=512))
                port = listeners[0].getsockname()[1]
        except OSError:
            for listener in listeners:
                listener.close()
            if not port:
                raise
        else:
            return listeners


def _head(data: bytes) -> tuple[str, str, dict[str, str]]:
    """Split a request's head into method, target and headers."""
    first, *rest = data.decode("latin-1").split("\r\n")
    method, _, target = first.partition(" ")
    headers: dict[str, str] = {}
    for line in rest:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return method, target.rpartition(" ")[0], headers
