"""Candidates for the list of seeds (paper 2's second and third ways): where they come from, and whether they would do.

`search` asks a meta search engine, `check` looks at a candidate as a crawl would: robots.txt first, one
request to a host at a time, at its pace.  Values in, values out; what is decided is a person's.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from spider import page as pages
from spider import url as urls
from spider.errors import FetchError, InvalidURL
from spider.fetch import Access, Client, Pace, Ruling, ask, retry_after, robots_url
from spider.model import Confidence, MediaKind, Page, Reason, Request, Response
from spider.page.charset import clean
from spider.settings import AGENT_TOKEN

__all__ = ["Candidate", "Check", "Courtesy", "Looked", "check", "search"]

MAX_HOPS = 10
OK = 200
FORBIDDEN = 403
RESULTS = 1000  # of one page of answers; engines give ten or twenty
TITLE = 300  # characters
HTML = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A site that a search engine names: its address, normalized, the title and the text it is shown with."""

    url: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Looked:
    """A page of a candidate that was looked at: what it holds by kind, or why it could not be read."""

    url: str
    media: Mapping[MediaKind, int] = field(default_factory=dict)
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """What a person needs to decide of a candidate.

    `landed` is where its redirects end, `status` the HTTP status there (None: no answer); `resolves` whether
    its name does; `allowed` what robots.txt says of it (None: nobody could be asked).  `sample` are its own
    page and some that it links to, within its tree; `problem` is what went wrong with it.
    """

    url: str
    landed: str
    resolves: bool = True
    allowed: bool | None = None
    status: int | None = None
    html: bool = False
    title: str = ""
    sample: tuple[Looked, ...] = ()
    problem: str | None = None

    @property
    def media(self) -> dict[MediaKind, int]:
        """How many media of each kind the sample holds."""
        return {kind: sum(looked.media.get(kind, 0) for looked in self.sample) for kind in MediaKind}

    @property
    def good(self) -> bool:
        """Whether nothing speaks against it: it answers with HTML, robots.txt allows it, it holds media."""
        sound = self.resolves and self.status == OK and self.html and self.allowed is True
        return sound and any(self.media.values())


class Courtesy:
    """Asks one address after another, each host at its pace and as its robots.txt allows.

    `pace` is what a host begins with; `steady` and `sleep` are the clock (seconds); `skip` leaves alone who asks
    for longer waits than the pace grants, in place of waiting as long as it does; `ready` tells how many
    seconds a host wants to be left alone yet, by others' account, and may raise FetchError.
    """

    def __init__(
        self,
        client: Client,
        pace: Pace,
        *,
        steady: Callable[[], float],
        sleep: Callable[[float], None],
        obey: bool = True,
        skip: bool = False,
        ready: Callable[[str], float] = lambda _: 0.0,
    ) -> None:
        """Know no host yet."""
        self._client = client
        self._pace = pace
        self._steady = steady
        self._sleep = sleep
        self._obey = obey
        self._skip = skip
        self._ready = ready
        self._hosts: dict[str, tuple[Pace, float]] = {}
        self._rulings: dict[str, Ruling] = {}

    def get(self, request: Request, *, whole: bool = False) -> Response:
        """Ask once the host may be asked; FetchError where no response comes."""
        host = urls.host(request.url)
        pace, due = self._hosts.get(host) or (self._pace, self._steady() + self._ready(host))
        if self._pace.setting > 0 and due > self._steady():
            self._sleep(due - self._steady())
        status, latency, asked = 0, 0.0, None
        try:
            response = self._client.whole(request) if whole else self._client.get(request)
            status, latency = response.status, response.latency
            asked = retry_after(response.headers.get("retry-after"), time.time())
        finally:
            pace = pace.after(status, latency)
            self._hosts[host] = pace, self._steady() + pace.wait(asked)
        return response

    @property
    def pauses(self) -> dict[str, float]:
        """The seconds for which each host that was asked should be left alone yet."""
        now = self._steady()
        return {host: due - now for host, (pace, due) in self._hosts.items() if pace.setting > 0 and due > now}

    def permit(self, url: str) -> None:
        """Ask each origin's robots.txt, once; FetchError where it, or the want of an answer, closes the address."""
        if not self._obey:
            return
        origin = robots_url(url)
        if origin not in self._rulings:
            self._rulings[origin] = ruling = ask(lambda request: self.get(request, whole=True), url)
            self._slow_down(urls.host(url), ruling.robots.crawl_delay(AGENT_TOKEN))
        ruling = self._rulings[origin]
        if ruling.access is Access.DISALLOW and ruling.failure is not None:
            raise ruling.failure
        if ruling.access is Access.DISALLOW:
            raise FetchError(Reason.ROBOTS_UNREACHABLE, f"robots.txt: HTTP status {ruling.status}")
        if not ruling.allows(AGENT_TOKEN, url):
            raise FetchError(Reason.ROBOTS, "robots.txt closes it")
        asked = ruling.robots.crawl_delay(AGENT_TOKEN)
        if self._skip and asked is not None and asked > self._pace.cap:
            raise FetchError(Reason.ROBOTS, f"robots.txt asks for {asked:,.0f} s between two requests: too long")

    def arrive(self, url: str) -> Response:
        """Ask for a page and follow its redirects, each as its own robots.txt allows; FetchError where none comes."""
        for hops in range(MAX_HOPS + 1):
            self.permit(url)
            response = self.get(Request(url, hops=hops))
            if response.location is None:
                return response
            url = response.location
        raise FetchError(Reason.REDIRECT, f"more than {MAX_HOPS} redirects in a row")

    def _slow_down(self, host: str, asked: float | None) -> None:
        """Keep the Crawl-delay of a host from its next request on."""
        known = self._hosts.get(host)
        if asked is not None and known is not None:
            pace = replace(known[0], crawl_delay=asked)
            self._hosts[host] = pace, max(known[1], self._steady() + pace.delay)


# --- searching ------------------------------------------------------------------------------------


def search(courtesy: Courtesy, engine: str, words: str, *, count: int = 1) -> Iterator[Candidate]:
    """Ask a SearXNG instance for sites, `count` pages of answers, and yield each address once.

    `engine` is the instance's normalized address, with ``search`` at its end or without.  Its JSON API is
    there to be asked by programs, so that its robots.txt is not looked at.  FetchError where it does not
    answer, or with something else.
    """
    seen: set[str] = set()
    for number in range(1, count + 1):
        results = _results(_asked(courtesy, _question(engine, words, number)))
        for result in results[:RESULTS]:
            candidate = _candidate(result)
            if candidate is not None and urls.key(candidate.url) not in seen:
                seen.add(urls.key(candidate.url))
                yield candidate
        if not results:
            return


def _question(engine: str, words: str, number: int) -> str:
    """Return the address that asks for one page of answers."""
    base = urls.directory(engine) if not engine.partition("?")[0].endswith("/search") else engine
    place = "search" if base.endswith("/") else base.partition("?")[0]
    return urls.normalize(f"{place}?{urlencode({'q': words, 'format': 'json', 'pageno': number})}", base)


def _asked(courtesy: Courtesy, url: str) -> Response:
    for hops in range(MAX_HOPS + 1):
        response = courtesy.get(Request(url, hops=hops), whole=True)
        if response.location is None:
            return response
        url = response.location
    raise FetchError(Reason.REDIRECT, f"more than {MAX_HOPS} redirects in a row")


def _results(response: Response) -> Sequence[object]:
    """Return the list of results in an answer."""
    if response.status == FORBIDDEN:
        hint = "status 403: a SearXNG gives JSON where its settings.yml has json among search.formats"
        raise FetchError(Reason.CLIENT, hint, status=response.status)
    if response.status != OK:
        reason = Reason.SERVER if response.status >= 500 else Reason.CLIENT  # noqa: PLR2004  # the class of server errors
        raise FetchError(reason, f"HTTP status {response.status}", status=response.status)
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise FetchError(Reason.CONTENT, "the answer is no JSON") from error
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise FetchError(Reason.CONTENT, "the answer is not a SearXNG's: it has no list of results")
    return results


def _candidate(result: object) -> Candidate | None:
    """Return one result, if it names an address of the web."""
    if not isinstance(result, dict) or not isinstance(result.get("url"), str):
        return None
    try:
        url = urls.normalize(result["url"])
    except InvalidURL:
        return None
    if not url.startswith(("http://", "https://")) or urls.has_login(url):
        return None  # a login in an address is refused wherever it comes from
    return Candidate(url, _text(result.get("title")), _text(result.get("content")))


def _text(value: object) -> str:
    return clean(value)[:TITLE] if isinstance(value, str) else ""


# --- checking -------------------------------------------------------------------------------------


def check(courtesy: Courtesy, url: str, *, count: int = 5) -> Check:
    """Look at a candidate: its own page and up to `count` of those that it links to within its tree.

    Whatever happens is told in the answer; nothing is raised.
    """
    try:
        response = courtesy.arrive(url)
    except FetchError as error:
        return _failed(url, error)
    found = Check(url, response.url, allowed=True, status=response.status, html=_is_html(response))
    if found.status != OK or not found.html:
        what = response.content_type or "of no type" if found.status == OK else f"HTTP status {response.status}"
        return replace(found, problem=what)
    page = _read(response)
    sample = [
        Looked(response.url, _media(page)),
        *(_look(courtesy, link) for link in _chosen(page, response.url, count)),
    ]
    return replace(found, title=page.title[:TITLE], sample=tuple(sample))


def _failed(url: str, error: FetchError) -> Check:
    """Return the check of a candidate that gave no response."""
    closed = error.reason in {Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE}
    return Check(
        url,
        url,
        resolves=error.reason != Reason.DNS,
        allowed=False if closed else None,
        status=error.status,
        problem=str(error),
    )


def _look(courtesy: Courtesy, url: str) -> Looked:
    """Look at one page of the sample."""
    try:
        response = courtesy.arrive(url)
    except FetchError as error:
        return Looked(url, problem=str(error))
    if response.status != OK or not _is_html(response):
        return Looked(url, problem=f"HTTP status {response.status}, {response.content_type or 'no type'}")
    return Looked(url, _media(_read(response)))


def _is_html(response: Response) -> bool:
    """Whether a response is a page: HTML by its type, or untyped and looking like it."""
    return response.content_type in HTML or (not response.content_type and response.body.lstrip()[:1] == b"<")


def _read(response: Response) -> Page:
    return pages.read(response.body, response.url, headers=response.headers)


def _media(page: Page) -> dict[MediaKind, int]:
    """Count the media of a page that are sure enough for a report."""
    return Counter(medium.kind for medium in page.media if medium.confidence.rank <= Confidence.LINK.rank)


def _chosen(page: Page, url: str, count: int) -> list[str]:
    """Choose pages to look at: links within the tree that are no media, spread over the whole page."""
    tree = urls.directory(url)
    held = {medium.h for medium in page.media}
    own = urls.identify(url)
    links = {
        link.h: link.url
        for link in page.links
        if link.url.startswith(tree) and link.h not in held and link.h != own and not link.nofollow
        and pages.media_kind(link.url) is None
    }  # fmt: skip
    listed = list(links.values())
    step = max(1.0, len(listed) / max(1, count))
    return [listed[int(place * step)] for place in range(min(count, len(listed)))]
