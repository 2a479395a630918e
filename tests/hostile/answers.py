"""What hostile servers say, a function or a constant each; all of it is bounded in bytes and in time."""

from __future__ import annotations

import gzip
import socket
import threading
import time
import zlib

from tests.server import Raw, Reply

__all__ = [
    "CHUNKED",
    "OK",
    "bomb",
    "compressed",
    "drip",
    "flood",
    "moved",
    "page",
    "raw",
    "silence",
]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SECONDS = 20.0  # that any answer lasts
MOST = 400_000_000  # bytes that any answer has


def page(*hrefs: str, more: str = "") -> str:
    """Write a page with links."""
    return "<!doctype html><title>page</title>" + "".join(f'<a href="{href}">x</a> ' for href in hrefs) + more


def raw(data: bytes, *, reset: bool = False) -> Raw:
    """Send these bytes and close."""
    return Raw(data, reset=reset)


def moved(location: str, *headers: tuple[str, str], status: int = 302, body: bytes = b"") -> Reply:
    """Redirect."""
    return Reply(body, status=status, headers=(("Location", location), *headers))


def drip(head: bytes, drop: bytes, pause: float = 0.1) -> Raw:
    """Send a head, then one drop after the other, for as long as anybody listens."""

    def act(sock: socket.socket, stop: threading.Event) -> None:
        end, sent = time.monotonic() + SECONDS, 0
        sock.sendall(head)
        while not stop.wait(pause) and time.monotonic() < end and sent < MOST:
            sock.sendall(drop)
            sent += len(drop)

    return Raw(act)


def flood(head: bytes, wave: bytes) -> Raw:
    """Send without a pause."""
    return drip(head, wave, pause=0)


def silence(head: bytes = b"") -> Raw:
    """Send the beginning and no more, but stay."""

    def act(sock: socket.socket, stop: threading.Event) -> None:
        sock.sendall(head)
        stop.wait(SECONDS)

    return Raw(act)


def compressed(megabytes: int, *, wbits: int = 31) -> bytes:
    """Return so many megabytes of zeros, in about a thousandth of that."""
    pump = zlib.compressobj(9, wbits=wbits)
    return b"".join(pump.compress(bytes(1_000_000)) for _ in range(megabytes)) + pump.flush()


def bomb(megabytes: int, coding: str) -> Reply:
    """Return an answer that decodes to so many megabytes of zeros."""
    body = compressed(megabytes, wbits=15 if coding == "deflate" else 31)
    if coding == "gzip, gzip":
        body = gzip.compress(body)
    return Reply(body, headers=(("Content-Encoding", coding),))
