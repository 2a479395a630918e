"""Bare connections to an origin, for what is not ours to read: a browser's TLS, a browser's sockets."""

from __future__ import annotations

import math
import selectors
import socket
import ssl
import time
from collections.abc import Callable
from typing import cast

from spider.errors import FetchError
from spider.fetch.guard import Guard, Origin
from spider.fetch.proxies import Proxy
from spider.fetch.sockets import Allowance, PlainLine
from spider.model import Reason

__all__ = ["IDLE", "relay", "tunnel_to"]

IDLE = 60.0  # seconds that a connection may stay without a word
PIECE = 65536
MOST = 65536  # bytes of the head of a proxy's answer


def tunnel_to(
    origin: Origin, way: Proxy | None, context: Callable[[], ssl.SSLContext], terms: tuple[Allowance, Guard]
) -> socket.socket:  # fmt: skip
    """Open a connection to an origin, by way of a proxy where there is one.

    The guard judges the machine that is connected; a proxy, which the user chose, is judged by nobody and is
    trusted with the name.  FetchError, or OSError where the connection breaks.
    """
    allowance, guard = terms
    _, host, port = origin
    line = PlainLine(host, port) if way is None else PlainLine(way.host, way.port)
    line.prepare(allowance, guard if way is None else Guard())
    sock: socket.socket = line.sock
    try:
        if way is not None:
            if way.scheme == "https":
                sock = context().wrap_socket(sock, server_hostname=way.host)
            _ask(sock, f"[{host}]:{port}" if ":" in host else f"{host}:{port}", way)
        sock.deadline = math.inf  # type: ignore[attr-defined]  # one of ours: who uses it has limits of their own
    except BaseException:
        sock.close()
        raise
    return sock


def _ask(sock: socket.socket, place: str, way: Proxy) -> None:
    """Ask a proxy for a tunnel, and read the head of its answer to the last byte and no further."""
    headers = "".join(f"{name}: {value}\r\n" for name, value in way.headers.items())
    sock.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{headers}\r\n".encode("latin-1"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        got = sock.recv(1)
        head += got
        if not got or len(head) > MOST:
            raise FetchError(Reason.PROTOCOL, "the proxy's answer is no answer")
    line = head.partition(b"\r\n")[0].decode("latin-1")
    if line.split(" ", 2)[1:2] != ["200"]:
        raise FetchError(Reason.CONNECT, f"the proxy gives no tunnel: {line[:100]}")


def relay(near: socket.socket, far: socket.socket, *, most: int) -> None:
    """Carry bytes both ways until either side ends, nothing moves for long, or too much came."""
    near.settimeout(IDLE)
    far.settimeout(IDLE)
    other = {near: far, far: near}
    with selectors.DefaultSelector() as selector:
        for sock in other:
            selector.register(sock, selectors.EVENT_READ)
        came, quiet = 0, time.monotonic() + IDLE
        while came <= most and time.monotonic() < quiet:
            for key, _ in selector.select(IDLE):
                sock = cast("socket.socket", key.fileobj)
                piece = sock.recv(PIECE)
                if not piece:
                    return
                other[sock].sendall(piece)
                came += len(piece) if sock is far else 0
                quiet = time.monotonic() + IDLE
