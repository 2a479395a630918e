"""Requests' transport adapter over connections of our own: one request, one answer, nothing followed.

`requests` is used from its adapter on: its sessions look for proxies, passwords and cookies at every
request, and follow redirects, which is all decided elsewhere here.
"""

from __future__ import annotations

import contextlib
import errno
import ssl
import time
from collections.abc import Mapping
from http.client import OK, HTTPException
from typing import TYPE_CHECKING, Any, cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.exceptions import DecodeError, HTTPError, InvalidHeader, ProtocolError, ReadTimeoutError, SSLError
from urllib3.exceptions import IncompleteRead as LengthError
from urllib3.response import BaseHTTPResponse, HTTPResponse

from spider.errors import FetchError
from spider.fetch.guard import Guard, Origin
from spider.fetch.pool import AnyLine, Pool
from spider.fetch.sockets import Allowance
from spider.model import Reason

if TYPE_CHECKING:
    from urllib3 import HTTPConnectionPool

__all__ = ["Adapter", "Exchange", "Prepared", "failure"]

BrokenConnection = ConnectionError  # the built-in one; requests has another of this name
DRAIN = 4096  # bytes of an unwanted body that are read, in this time, when that saves the connection
DRAIN_SECONDS = 0.25
CROWDED = frozenset({errno.EMFILE, errno.ENFILE})
CROWDED_SECONDS = 0.05  # until a file descriptor is looked for again
MAX_MESSAGE = 300  # characters of what the server made some library say
EXPECTED = (OSError, HTTPException, HTTPError, ValueError)  # whatever a server can make the libraries raise


class Exchange:
    """One request and its answer on one connection; requests' adapter takes it for a connection pool."""

    def __init__(self, pool: Pool, origin: Origin, guard: Guard) -> None:
        """Say where to; whoever makes one holds a seat of the pool."""
        self._pool, self._origin, self._guard = pool, origin, guard
        self._line: AnyLine | None = None
        self.raw: HTTPResponse | None = None

    def urlopen(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        timeout: Allowance,
        **_: object,
    ) -> HTTPResponse:
        """Send the request and read the head of the answer.

        A connection that was used before may have been closed by the server at this very moment: then,
        and only then, the request is sent once more on a fresh one (RFC 9112, section 9.3.1).
        """
        line, used = self._pool.take(self._origin)
        self._line = line
        try:
            self._connect(line, timeout)
            self.raw = _ask(line, method, url, headers)
        except FetchError:
            line.close()
            raise
        except EXPECTED as error:
            line.close()
            if used and isinstance(error, BrokenConnection):
                return self.urlopen(method, url, headers=headers, timeout=timeout)
            raise failure(error, timeout) from error
        return self.raw

    def _connect(self, line: AnyLine, timeout: Allowance) -> None:
        """Connect where that is needed; without a file descriptor left, idle connections make room, or time does."""
        while True:
            try:
                line.prepare(timeout, self._guard)
            except FetchError as error:
                if timeout.over or getattr(error.__cause__, "errno", None) not in CROWDED:
                    raise
            else:
                return
            self._pool.spare()
            time.sleep(CROWDED_SECONDS)

    def end(self, *, sound: bool) -> None:
        """Keep the connection for the next request if the answer is `sound` and was read to its end, else close it."""
        line, raw = self._line, self.raw
        self._line = self.raw = None
        if line is None:
            return
        if sound and raw is not None and line.sock is not None and _ended(raw, line):
            raw.close()  # of the connection it knows nothing; without a length it would stay open till it is collected
            self._pool.give(self._origin, line)
            return
        if raw is not None:
            raw.close()
        line.close()


def _ended(raw: HTTPResponse, line: AnyLine) -> bool:
    """Tell whether nothing of the answer is left; a short rest that nobody wanted is thrown away, undecoded."""
    if raw.closed or raw.length_remaining == 0:
        return True
    if raw.length_remaining is None or raw.length_remaining > DRAIN:
        return False
    line.sock.deadline = time.monotonic() + DRAIN_SECONDS
    with contextlib.suppress(*EXPECTED):
        while raw.read1(DRAIN, decode_content=False):
            pass
    return raw.length_remaining == 0


def _ask(line: AnyLine, method: str, target: str, headers: Mapping[str, str]) -> HTTPResponse:
    if line.way is not None and line.forwarded is not None:
        target, headers = f"{line.forwarded}{target}", {**headers, **line.way.headers}
    line.request(method, target, headers=headers, preload_content=False, decode_content=False)
    answer = line.getresponse()
    if answer.status < OK:
        raise FetchError(Reason.PROTOCOL, f"status {answer.status}, which nobody asked for")
    return answer


class Adapter(HTTPAdapter):
    """Requests' adapter, told by each prepared request which exchange it belongs to."""

    def get_connection_with_tls_context(
        self, request: requests.PreparedRequest, *_: object, **__: object
    ) -> HTTPConnectionPool:
        """Hand out the exchange in place of a pool."""
        return cast("HTTPConnectionPool", cast("Prepared", request).exchange)

    def cert_verify(self, *_: object, **__: object) -> None:
        """Leave the certificates to the connection's context."""

    def request_url(self, request: requests.PreparedRequest, *_: object, **__: object) -> str:
        """Return the target, which was split off already."""
        return cast("Prepared", request).target

    def ask(self, request: Prepared, allowance: Allowance) -> HTTPResponse:
        """Send the request and return the answer, its body unread."""
        answer = self.send(request, stream=True, timeout=cast("Any", allowance))  # requests knows urllib3's Timeout
        return cast("HTTPResponse", answer.raw)

    def build_response(self, req: requests.PreparedRequest, resp: BaseHTTPResponse) -> requests.Response:
        """Make the response without what is not looked at: cookies, encoding."""
        response = requests.Response()
        response.status_code, response.raw, response.request = resp.status, resp, req
        return response


class Prepared(requests.PreparedRequest):
    """A request with nothing left to prepare."""

    def __init__(self, method: str, url: str, target: str, *, headers: Mapping[str, str], exchange: Exchange) -> None:
        """Fill in by hand what `prepare` would parse and encode again."""
        super().__init__()
        self.method, self.url, self.body = method, url, None
        self.headers = cast("Any", headers)
        self.target, self.exchange = target, exchange


# What failed, by the exception that tells; the first row that fits counts.
FAILURES: tuple[tuple[tuple[type[Exception], ...], Reason], ...] = (
    ((TimeoutError, ReadTimeoutError), Reason.TIMEOUT),
    ((ssl.SSLError, SSLError), Reason.TLS),
    ((DecodeError, InvalidHeader), Reason.CONTENT),
    ((LengthError,), Reason.CONTENT),  # fewer bytes than Content-Length says
    ((BrokenConnection,), Reason.CONNECT),  # RemoteDisconnected too, which is a BadStatusLine as well
    ((HTTPException,), Reason.PROTOCOL),  # broken chunks are http.client's IncompleteRead, and so here
    ((OSError,), Reason.CONNECT),
    ((HTTPError, ValueError), Reason.PROTOCOL),
)


def failure(error: Exception, allowance: Allowance) -> FetchError:
    """Tell the class of a failure from its exception; past the deadline it is that, whatever was raised."""
    if isinstance(error, FetchError):
        return error
    if allowance.over:
        return FetchError(Reason.DEADLINE, "the whole response took too long")
    inner = error.__cause__ if isinstance(error, ProtocolError) and isinstance(error.__cause__, Exception) else error
    reason = next((reason for kinds, reason in FAILURES if isinstance(inner, kinds)), Reason.INTERNAL)
    return FetchError(reason, f"{type(inner).__name__}: {inner}"[:MAX_MESSAGE])
