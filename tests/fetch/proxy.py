"""A proxy of HTTP for tests: it forwards what is plain, gives tunnels, and writes down the heads it was sent."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable

Act = Callable[[socket.socket, str], None]


class StubProxy:
    """The proxy; `heads` are the heads of the requests it got, in order.

    With `tls` it is spoken to under TLS; `act` answers in place of what a proxy does.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, act: Act | None = None) -> None:
        """Listen on a free port."""
        self.heads: list[str] = []
        self._tls, self._act = tls, act
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._socks: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """End every connection."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()

    def _accept(self) -> None:
        while True:
            try:
                sock = self._listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, plain: socket.socket) -> None:
        with contextlib.suppress(OSError), plain:
            sock = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
            self._socks.append(sock)
            with sock:
                while head := _head(sock):
                    self.heads.append(head)
                    if self._act is not None:
                        self._act(sock, head)
                        return
                    if head.startswith("CONNECT "):
                        self._tunnel(sock, head)
                        return
                    self._forward(sock, head)

    def _tunnel(self, sock: socket.socket, head: str) -> None:
        host, _, port = head.split()[1].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as far:
            sock.sendall(b"HTTP/1.1 200 Here you are\r\nX-Proxy: yes\r\n\r\n")
            thread = threading.Thread(target=_pump, args=(sock, far), daemon=True)
            thread.start()
            _pump(far, sock)
            thread.join(5)

    def _forward(self, sock: socket.socket, head: str) -> None:
        first, _, rest = head.partition("\r\n")
        found = re.fullmatch(r"GET http://([^/:]+)(?::(\d+))?(/\S*) HTTP/1.1", first)
        if found is None:
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            return
        rest = re.sub(r"(?im)^proxy-authorization:.*\r\n", "", rest)
        with socket.create_connection((found[1], int(found[2] or 80)), timeout=10) as far:
            far.sendall(f"GET {found[3]} HTTP/1.1\r\nConnection: close\r\n{rest}".encode("latin-1"))
            answer = bytearray()
            while b"</html>" not in answer and (part := far.recv(65536)):
                answer += part
            sock.sendall(bytes(answer))


def _head(sock: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = sock.recv(1)
        if not part:
            return ""
        data += part
    return data.decode("latin-1")


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
