"""Connections that end on time: every wait of theirs is bounded by the deadline of the whole response.

A read timeout alone is kept by a server that sends one byte a second, in the headers or the body; so
the sockets here look at the clock at every read and shorten their own timeout as the deadline nears.
Connecting bounds the name look-up too, which the system's resolver cannot.  Errors are `FetchError`.
"""

from __future__ import annotations

import contextlib
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable
from http.client import CONTINUE, OK, SWITCHING_PROTOCOLS, HTTPException, HTTPResponse, parse_headers
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection, HTTPSConnection, ProxyConfig
from urllib3.util import Timeout
from urllib3.util.url import Url

from spider.errors import FetchError
from spider.fetch.guard import Guard, Origin, refused
from spider.fetch.proxies import Proxy
from spider.model import Reason, Rejected

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Allowance", "Line", "PlainLine", "SecureLine", "line_to", "secure_context"]

MAX_INTERIM = 20  # answers of the class 1xx before the one that counts
MAX_ADDRESSES = 6  # of one name are tried


class Allowance(Timeout):
    """The time that one response may take: `wait` seconds to connect and for each read, and an end to it all."""

    def __init__(self, wait: float, deadline: float) -> None:
        """Start the clock: `deadline` is in seconds from now."""
        super().__init__(connect=wait, read=wait)
        self.wait = wait
        self.deadline = time.monotonic() + deadline

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least a millisecond, for 0 would mean not to wait."""
        return max(0.001, self.deadline - time.monotonic())

    @property
    def step(self) -> float:
        """Seconds that the next step may take."""
        return min(self.wait, self.left)

    @property
    def over(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline


class _Timed(socket.socket):
    """A socket that reads no longer than its deadline (monotonic seconds) allows."""

    deadline: float = math.inf

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        """Read as ever, with the rest of the time as the timeout where that is shorter."""
        _hurry(self, self.deadline)
        return super().recv_into(buffer, nbytes, flags)


class _TimedTLS(ssl.SSLSocket):
    """The same for TLS."""

    deadline: float = math.inf

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        """Read as ever, with the rest of the time as the timeout where that is shorter."""
        _hurry(self, self.deadline)
        return super().recv_into(buffer, nbytes, flags)

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Likewise; this is how TLS within TLS reads."""
        _hurry(self, self.deadline)
        return super().recv(buflen, flags)


def _hurry(sock: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("deadline")
    timeout = sock.gettimeout()
    if timeout is None or left < timeout:
        sock.settimeout(left)


def secure_context(ca_file: str | None) -> ssl.SSLContext:
    """Make the TLS context: certificates are checked against `ca_file`, in PEM."""
    context = ssl.create_default_context(cafile=ca_file)
    context.set_alpn_protocols(["http/1.1"])
    context.sslsocket_class = _TimedTLS
    return context


class _Final(HTTPResponse):
    """An answer that is no interim one: http.client passes over 100 only, and would take 103 for the answer."""

    def _read_status(self) -> tuple[str, int, str]:
        """Read status lines, and what belongs to them, up to the first that counts (RFC 9110, section 15.2)."""
        for _ in range(MAX_INTERIM):
            version, status, reason = super()._read_status()  # type: ignore[misc]  # typeshed hides it
            if status in {CONTINUE, SWITCHING_PROTOCOLS} or not CONTINUE <= status < OK:
                return version, status, reason
            parse_headers(self.fp)
        raise HTTPException("interim answers without end")


class Line:
    """What plain and TLS connections have in common; mixed into urllib3's classes.

    `allowance` and `guard` are set by whoever takes the connection, before each request.
    """

    allowance: Allowance
    guard: Guard
    sock: Any
    response_class = _Final
    way: Proxy | None = None
    forwarded: str | None = None  # what goes before a target that a proxy is asked for

    def _new_conn(self) -> socket.socket:
        """Connect, as urllib3 asks for it: to the proxy, which the user chose and nobody judges, where there is one."""
        guard = self.guard if self.way is None else Guard()
        sock = _dial(self._dns_host, self.port, self.allowance, guard)  # type: ignore[attr-defined]  # urllib3's
        sock.deadline = self.allowance.deadline
        return sock

    def prepare(self, allowance: Allowance, guard: Guard) -> None:
        """Connect where that is needed, and let the socket know its deadline."""
        self.allowance, self.guard = allowance, guard
        if self.sock is None:
            try:
                self.connect()  # type: ignore[attr-defined]  # urllib3's
            except ssl.SSLError as error:
                raise FetchError(Reason.TLS, str(error)) from error
            except (TimeoutError, OSError) as error:
                raise _connect_error(error, allowance, self.way) from error
        self.timeout = allowance.step
        self.sock.deadline = allowance.deadline
        if hasattr(self.sock, "socket"):  # TLS within TLS: what waits is the socket inside
            self.sock.socket.deadline = allowance.deadline


class PlainLine(Line, HTTPConnection):  # type: ignore[misc]  # the two agree on `sock` closely enough
    """A connection of http."""


class SecureLine(Line, HTTPSConnection):  # type: ignore[misc]  # as above
    """A connection of https, or to a proxy under TLS."""

    def _connect_tls_proxy(self, hostname: str, sock: socket.socket) -> ssl.SSLSocket:
        """Begin TLS with the proxy; what is said within ends on time too."""
        wrapped = super()._connect_tls_proxy(hostname, sock)
        wrapped.deadline = self.allowance.deadline  # type: ignore[attr-defined]  # one of ours
        return wrapped


def line_to(origin: Origin, way: Proxy | None, context: Callable[[], ssl.SSLContext]) -> PlainLine | SecureLine:
    """Make a connection to an origin, not opened yet, through a proxy where there is one.

    A proxy is asked for what is plain, and gives a tunnel (CONNECT) to what is not, so that the certificate
    checked is the site's own; to a proxy of https TLS is spoken first, and its certificate checked as well.
    """
    scheme, host, port = origin
    if way is None:
        if scheme == "http":
            return PlainLine(host, port)
        return SecureLine(host, port, ssl_context=context(), cert_reqs="CERT_REQUIRED")
    if way.scheme == "http" and way.forwards(origin):
        line: PlainLine | SecureLine = PlainLine(way.host, way.port)
    else:
        secure = context()
        line = SecureLine(
            way.host,
            way.port,
            ssl_context=secure,
            cert_reqs="CERT_REQUIRED",
            proxy=Url(way.scheme, host=way.host, port=way.port),
            proxy_config=ProxyConfig(secure, False, None, None),  # noqa: FBT003  # urllib3's
        )
    if way.forwards(origin):
        line.forwarded = f"http://{f'[{host}]' if ':' in host else host}:{port}".removesuffix(":80")
    else:
        line.set_tunnel(host, port, dict(way.headers), way.scheme)
    line.way = way
    return line


def _connect_error(error: OSError, allowance: Allowance, way: Proxy | None) -> FetchError:
    """Tell why there is no connection, and that a proxy was in the way where one was: the site may be well."""
    whom = "" if way is None else f" through the proxy {way.host}:{way.port}"
    if not isinstance(error, TimeoutError):
        return FetchError(Reason.CONNECT, f"cannot connect{whom}: {error}")
    if allowance.over:
        return FetchError(Reason.DEADLINE, f"the deadline passed while connecting{whom}")
    return FetchError(Reason.TIMEOUT, f"connecting{whom} took too long")


def _dial(host: str, port: int, allowance: Allowance, guard: Guard) -> _Timed:
    """Connect to the first of a host's addresses that answers and that the guard accepts."""
    end = time.monotonic() + allowance.step
    addresses = _resolve(host, port, allowance.step)[:MAX_ADDRESSES]
    failure: Exception = FetchError(Reason.DNS, f"{host} has no address")
    for number, (family, address) in enumerate(addresses):
        share = max(0.001, (end - time.monotonic()) / (len(addresses) - number))
        try:
            return _reach(family, address, share, (guard, host))
        except (OSError, FetchError) as error:
            failure = error
    raise failure


def _reach(family: int, address: tuple[Any, ...], timeout: float, judge: tuple[Guard, str]) -> _Timed:
    """Connect to one address of a host; the guard judges it before, and the peer that it turned out to be after."""
    guard, host = judge
    _judge(guard, str(address[0]), host)
    sock = _Timed(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect(address)
        peer = str(sock.getpeername()[0])
        _judge(guard, peer, host)
        guard.met(peer, host)
    except BaseException:
        sock.close()
        raise
    return sock


def _judge(guard: Guard, address: str, host: str) -> None:
    verdict = guard.peer(address, host)
    if isinstance(verdict, Rejected):
        raise refused(verdict, address)


def _resolve(host: str, port: int, timeout: float) -> list[tuple[int, tuple[Any, ...]]]:
    """Look a host up, for `timeout` seconds at most; an address in numbers needs no look-up."""
    with contextlib.suppress(OSError, UnicodeError):
        return _getaddrinfo(host, port, socket.AI_NUMERICHOST)
    answer: list[list[tuple[int, tuple[Any, ...]]] | Exception] = []

    def ask() -> None:
        try:
            answer.append(_getaddrinfo(host, port, 0))
        except (OSError, UnicodeError) as error:
            answer.append(error)

    # The system's resolver has no timeout of its own: a daemon thread waits for it, or is left behind.
    thread = threading.Thread(target=ask, daemon=True, name=f"look up {host}")
    thread.start()
    thread.join(timeout)
    if not answer:
        raise FetchError(Reason.DNS, f"looking up {host} took too long")
    if isinstance(answer[0], Exception):
        raise FetchError(Reason.DNS, f"{host} has no address: {answer[0]}")
    return answer[0]


def _getaddrinfo(host: str, port: int, flags: int) -> list[tuple[int, tuple[Any, ...]]]:
    # As bytes, for Python would put a text through its IDNA codec, which refuses names that the DNS has.
    found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM, flags=flags)
    return [(int(family), address) for family, _, _, _, address in found]
