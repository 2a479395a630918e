"""What came back: one request, one response, whatever the server does.

The client asks, reads at most what it was told to, within the time it was told, and returns a
`Response` for any status, or raises a `FetchError` with its class.  It follows no redirect, and knows
nothing of robots, pace or scope.  Cookies and passwords go to the origin they are bound to (`passes`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.response import HTTPResponse

from spider import __version__
from spider.errors import FetchError, InvalidURL
from spider.fetch.guard import PRIVATE, Guard, refused, split
from spider.fetch.homes import Homes, nowhere
from spider.fetch.passes import Passes
from spider.fetch.pool import Pool
from spider.fetch.proxies import Proxies
from spider.fetch.proxy import Admits, Bounds, GuardedProxy
from spider.fetch.robots import MAX_BODY
from spider.fetch.sockets import Allowance
from spider.fetch.transport import Adapter, Exchange, Prepared, failure
from spider.model import Reason, Rejected, Request, Response
from spider.settings import AGENT_TOKEN
from spider.url import normalize

__all__ = ["PAGE_TYPES", "REDIRECTS", "Client", "ClientSettings", "Reads", "every_type", "page_types"]

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", ""})  # "" is a server that does not say
REDIRECTS = frozenset({301, 302, 303, 307, 308})  # RFC 9110, section 15.4; 300 and 304 lead nowhere
BODILESS = frozenset({204, 205, 304})
CHUNK = 65536
UNKNOWN_CODINGS = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})  # registered, not asked for
UNJOINABLE = ("set-cookie", "x-robots-tag")  # a comma inside means something else: one value a line

Reads = Callable[[int, str], bool]


def page_types(status: int, media_type: str) -> bool:
    """Read pages: HTML, and what comes without a type."""
    return status not in REDIRECTS and media_type in PAGE_TYPES


def every_type(status: int, media_type: str) -> bool:  # noqa: ARG001  # one of several of this form
    """Read everything but the bodies of redirects."""
    return status not in REDIRECTS


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How to ask.

    `contact` goes into the User-Agent; `timeout` (seconds) bounds connecting and each read, `deadline`
    a whole response; `max_size` is in decoded bytes; `headers` are sent with every request; `reads` tells
    by status and media type whether a body is read; `ca_file` holds the certificates to trust, in PEM.
    `cookies` is the name of a Netscape cookies.txt, `auth` holds HOST=USER:PASSWORD, `proxy` leads to all
    addresses; `netrc` and `environment_proxies` say that the user's netrc and the environment count.  `homes`
    gives the places that the user typed, as they are known at the moment.
    """

    contact: str | None = None
    timeout: float = 10.0
    deadline: float = 60.0
    max_size: int = 10_000_000
    headers: tuple[tuple[str, str], ...] = ()
    per_host: int = 1
    reads: Reads = page_types
    guard: Guard = field(default_factory=Guard)
    ca_file: str | None = None
    cookies: str | None = None
    auth: tuple[str, ...] = field(default=(), repr=False)
    netrc: bool = False
    proxy: str | None = field(default=None, repr=False)
    environment_proxies: bool = False
    homes: Callable[[], Homes] = nowhere

    @property
    def user_agent(self) -> str:
        """The User-Agent: who asks, and how to reach who runs it."""
        agent = f"{AGENT_TOKEN}/{__version__}"
        return f"{agent} (+{self.contact})" if self.contact else agent


class Client:
    """The fetcher of plain HTTP: thread-safe, its connections shared by all threads.

    At most `per_host` connections to a host name are open at once, idle ones included.
    """

    def __init__(self, settings: ClientSettings | None = None) -> None:
        """Open no connection yet; SettingError where a file of the settings cannot be read."""
        self.settings = given = settings or ClientSettings()
        self._guard = replace(given.guard, homes=lambda: given.homes().hosts)
        self._passes = Passes(given.homes, cookies=given.cookies, auth=given.auth, netrc=given.netrc)
        proxies = Proxies(proxy=given.proxy, environment=given.environment_proxies)
        self._pool = Pool(per_host=given.per_host, ca_file=given.ca_file or DEFAULT_CA_BUNDLE_PATH, proxies=proxies)
        self._adapter = Adapter()
        own = {
            "User-Agent": self.settings.user_agent,
            "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        }
        self._headers = _merged(own, dict(self.settings.headers))

    def fetch(self, request: Request) -> Iterator[Response]:
        """Yield the one response to a request; FetchError where none comes, and no other exception."""
        yield self.get(request)

    def get(self, request: Request, *, reads: Reads | None = None, max_size: int | None = None) -> Response:
        """Return the response to a request; `reads` and `max_size` stand in for the settings' own."""
        verdict = self._guard.url(request.url)
        if isinstance(verdict, Rejected):
            raise refused(verdict, split(request.url)[1] if verdict.rule == PRIVATE else request.url)
        asking = _Asking(request, reads or self.settings.reads, max_size or self.settings.max_size)
        allowance = Allowance(self.settings.timeout, self.settings.deadline)
        try:
            return self._exchange(asking, allowance)
        except Exception as error:  # parsers of hostile bytes raise what they like; the class tells
            raise failure(error, allowance) from error

    def whole(self, request: Request) -> Response:
        """Return the response with its body whatever its type, up to what is read of a robots.txt."""
        return self.get(request, reads=every_type, max_size=MAX_BODY + 1)

    def headers_for(self, url: str) -> dict[str, str]:
        """Return what the user wants sent to an address beside a browser's own headers: cookies, passwords, headers."""
        scheme, host, port, target = split(url)
        return {**dict(self.settings.headers), **self._passes.headers((scheme, host, port), target)}

    def guard_of(self, home: str) -> Guard:
        """Return the guard of a page of host `home` that runs in a browser.

        Of machines that are none of the public internet only that host may be asked, and only where the user
        typed it, or allowed all.
        """
        homes, own = self.settings.homes, {home.strip("[]")}
        return replace(self._guard, homes=lambda: homes().hosts & own)

    def proxy(self, guard: Guard, admits: Admits | None = None) -> GuardedProxy:
        """Return a proxy for a page's browser, with this client's connections and limits.

        `guard` is the page's; `admits` is asked first.
        """
        given = self.settings
        return GuardedProxy(
            self._pool, guard, bounds=Bounds(given.timeout, given.deadline, given.max_size), admits=admits
        )

    def leave(self, host: str) -> None:
        """Close the idle connections to a host name; do so before another process may ask it."""
        self._pool.leave(host)

    def close(self) -> None:
        """Close all idle connections."""
        self._pool.close()

    def __enter__(self) -> Self:
        """Do nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _exchange(self, asking: _Asking, allowance: Allowance) -> Response:
        scheme, host, port, target = split(asking.request.url)
        origin = (scheme, host, port)
        headers = _merged(_merged(self._headers, asking.request.headers), self._passes.headers(origin, target))
        with self._pool.seat(host, allowance):
            exchange = Exchange(self._pool, origin, self._guard)
            request = asking.request
            prepared = Prepared(request.method, request.url, target, headers=headers, exchange=exchange)
            began = time.monotonic()
            sound = False
            try:
                raw = self._adapter.ask(prepared, allowance)
                response, sound = asking.read(raw, began), True
            finally:
                exchange.end(sound=sound)
        self._passes.took(origin, target, raw.headers.getlist("set-cookie"))
        if response.status in REDIRECTS:
            return _located(response, raw)
        return response


@dataclass(frozen=True, slots=True)
class _Asking:
    """A request, which bodies of its answer are wanted, and how much of them."""

    request: Request
    reads: Reads
    max_size: int

    def read(self, raw: HTTPResponse, began: float) -> Response:
        """Read the answer, or its head alone."""
        latency = time.monotonic() - began
        headers = {name.lower(): value for name, value in raw.headers.itermerged()}
        headers |= {name: "\n".join(raw.headers.getlist(name)) for name in UNJOINABLE if name in headers}
        if "content-type" in headers:  # of several the last counts (Fetch standard, section 2.2.2)
            headers["content-type"] = raw.headers.getlist("content-type")[-1]
        body, truncated, size = b"", False, _declared(headers)
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if self.request.method != "HEAD" and self.reads(raw.status, media_type):
            body, truncated = _body(raw, headers, self.max_size)
            size = len(body)
        elapsed = time.monotonic() - began
        url = self.request.url
        return Response(self.request, url, raw.status, headers, body, truncated, None, elapsed, latency, size)


def _merged(headers: Mapping[str, str], more: Mapping[str, str]) -> Mapping[str, str]:
    """Add headers; one that is there already, in any casing, is replaced."""
    if not more:
        return headers
    names = {name.lower() for name in more}
    return {name: value for name, value in headers.items() if name.lower() not in names} | dict(more)


def _declared(headers: Mapping[str, str]) -> int:
    """Return the length that the server declares, 0 where it declares none that can be believed."""
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 19 else 0  # noqa: PLR2004  # 64 bits


def _body(raw: HTTPResponse, headers: Mapping[str, str], limit: int) -> tuple[bytes, bool]:
    """Read and decode the body, up to `limit` bytes; say whether it was cut there."""
    if raw.headers.get("transfer-encoding", "chunked").strip().lower() not in {"chunked", "identity"}:
        raise FetchError(Reason.PROTOCOL, f"transfer coding not asked for: {raw.headers['transfer-encoding'][:80]}")
    codings = {coding.strip().lower() for coding in headers.get("content-encoding", "").split(",")}
    if codings & UNKNOWN_CODINGS and raw.status not in BODILESS:
        raise FetchError(Reason.CONTENT, f"content coding not asked for: {headers['content-encoding'][:80]}")
    parts: list[bytes] = []
    size = 0
    # read1 returns what is there; read would wait for a whole chunk, past any deadline
    while size <= limit and (part := raw.read1(CHUNK, decode_content=True)):
        parts.append(part)
        size += len(part)
        if raw.length_remaining == 0 and codings == {""}:
            break  # nothing is left to be asked for
    body = b"".join(parts)
    return body[:limit], size > limit


def _located(response: Response, raw: HTTPResponse) -> Response:
    """Make a redirect's Location absolute; FetchError (redirect) where it leads nowhere."""
    values = raw.headers.getlist("location")
    if not values:
        return response
    try:
        text = values[0].encode("latin-1").decode("utf-8")
    except UnicodeError:
        text = values[0]
    try:
        location = normalize(text, response.url)
    except InvalidURL as error:
        message = f"redirect to nowhere ({error.reason}): {text[:200]}"
        raise FetchError(Reason.REDIRECT, message, status=response.status) from error
    return replace(response, location=location)
