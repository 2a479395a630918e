"""A real web server for tests, which watches the manners of whoever visits it.

It answers on 127.0.0.1, 127.0.0.2 … (the same free port on each, so that hosts differ by name only)
from a directory, a mapping of paths or a function, writes down every connection and every request, and
keeps a list of violations: connections to a host that overlap, requests that the host's robots.txt
closes, requests without a lease.  The fixture ``web`` fails the test that has any.

The server lives in the test's process; spiders may run in others and may be killed.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Self, cast

from tests.manners import CHECKS, Manners, Violation
from tests.replies import Asked, Connection, Content, Raw, Reply, respond

__all__ = ["CHECKS", "Asked", "Connection", "Content", "Raw", "Reply", "Violation", "WebServer"]


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
        self.contents = _by_host(content, hosts)
        self.manners = Manners(self.contents, per_host, skip or {})
        self.manners.database = database
        self.tls = tls
        self.requests: list[Asked] = []
        self.connections: list[Connection] = []
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._open: dict[str, dict[int, Connection]] = {host: {} for host in self.contents}
        self._files: dict[tuple[str, str], bytes] = {}
        self._threads: list[threading.Thread] = []
        self._listeners = _listen(tuple(self.contents))
        self.port: int = self._listeners[0].getsockname()[1]
        scheme = "https" if tls else "http"
        self.urls = [f"{scheme}://{host}:{self.port}/" for host in self.contents]
        self.url = self.urls[0]

    # -- what tests ask -------------------------------------------------------------------------

    @property
    def violations(self) -> list[Violation]:
        """What visitors did that they must not."""
        return self.manners.violations

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
        self.manners.excuses |= {(name, path) for name in self.contents if host in {None, name}}

    def watch(self, database: Path) -> None:
        """From now on, look for a lease in this database at every request."""
        self.manners.database = database

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
                others = list(self._open[host].values())
                self._open[host][connection.id] = connection
            self._spawn(self._serve, connection, others)

    def _serve(self, connection: Connection, others: list[Connection]) -> None:
        sock = connection.sock
        assert sock is not None
        try:
            self.manners.connected(connection, others)
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
                connection.sock = sock
            self._converse(sock, connection)
        except OSError:
            pass  # the visitor left; how it did is in the log
        finally:
            self.manners.done()
            with self._lock:
                connection.closed = time.monotonic()
                connection.sock = None
                self._open[connection.host].pop(connection.id, None)
            sock.close()

    def _converse(self, sock: socket.socket, connection: Connection) -> None:
        for asked in self._read(sock, connection):
            self.manners.asked(asked)
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
        if asked.path == "/robots.txt":
            self.manners.told(asked.host, reply)
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


def _by_host(content: Content | Mapping[str, Content], hosts: int) -> dict[str, Content]:
    """Give every host its content."""
    if isinstance(content, Mapping) and content and not any(key.startswith("/") for key in content):
        return dict(cast("Mapping[str, Content]", content))
    return {f"127.0.0.{n}": cast("Content", content) for n in range(1, hosts + 1)}


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
