"""What the tests' web server hears and says: requests, connections, answers, and where answers come from."""

from __future__ import annotations

import mimetypes
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

__all__ = ["Answer", "Asked", "Connection", "Content", "Raw", "Reply", "respond"]

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
