"""Laws of waiting: what the network, a stream or a socket brings late is there before the page is looked at."""

from __future__ import annotations

import base64
import hashlib
import socket
import threading
from collections.abc import Callable

import pytest

from spider.ajax import Limits
from tests.ajax.conftest import Explore
from tests.replies import Asked, Raw, Reply

SHOW = "document.body.insertAdjacentHTML('beforeend', '<a href=/found>x</a>')"
PAGES = {
    "slow network": f"<script>fetch('/late').then(() => setTimeout(() => {SHOW}, 2000))</script>",
    "socket": f"<script>new WebSocket('ws://' + location.host + '/socket').onmessage = () => {{ {SHOW} }}</script>",
    "stream": f"<script>new EventSource('/stream').onmessage = () => {{ {SHOW} }}</script>",
    "socket of an event": (
        "<button id=b>b</button><script>b.onclick = () => { new WebSocket('ws://' + location.host + '/socket')"
        f".onmessage = () => {{ {SHOW} }} }}</script>"
    ),
    "long chain": f"<script>let n = 0; (function f() {{ if (++n < 40) setTimeout(f, 100); else {SHOW} }})()</script>",
    "frames": f"<script>let n = 0; (function f() {{ if (++n < 3) requestAnimationFrame(f); else {SHOW} }})()</script>",
    "idle": f"<script>requestIdleCallback(() => {SHOW})</script>",
    "promises": f"<script>(async () => {{ for (let i = 0; i < 999; i++) await 0; {SHOW} }})()</script>",
    "nothing but a frame": "<iframe srcdoc='<a href=/found>x</a>'></iframe>",
}
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455, 1.3


def _late(sock: socket.socket, stop: threading.Event) -> None:
    stop.wait(1.5)
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")


def _stream(sock: socket.socket, stop: threading.Event) -> None:
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    stop.wait(0.25)
    sock.sendall(b"data: 1\n\n")
    stop.wait(20)


def _socket(asked: Asked) -> Raw:
    """Answer a WebSocket's handshake, and send one message a quarter of a second later."""
    key = next(value for name, value in asked.headers.items() if name.lower() == "sec-websocket-key")
    accepted = base64.b64encode(hashlib.sha1((key + _GUID).encode(), usedforsecurity=False).digest()).decode()

    def talk(sock: socket.socket, stop: threading.Event) -> None:
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        sock.sendall(f"{head}Sec-WebSocket-Accept: {accepted}\r\n\r\n".encode())
        stop.wait(0.25)
        sock.sendall(b"\x81\x01x")
        stop.wait(20)

    return Raw(talk)


@pytest.mark.parametrize("name", PAGES)
def test_what_comes_late_is_there(name: str, explore: Explore) -> None:
    """The link that comes last is found, whatever it came by."""

    def content(asked: Asked) -> Reply | Raw | None:
        special: dict[str, Callable[[], Reply | Raw]] = {
            "/": lambda: Reply("<!doctype html><body>" + PAGES[name]),
            "/late": lambda: Raw(_late),
            "/stream": lambda: Raw(_stream),
            "/socket": lambda: _socket(asked),
        }
        return special[asked.path]() if asked.path in special else None

    found = explore(content, limits=Limits(depth=2, seconds=60))
    assert "/found" in found.links
    assert found.application.notes == []
