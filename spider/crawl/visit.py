"""One link visited: ask, read, judge, and say what became of it.

Runs in the threads of a worker; it touches neither database nor clock.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
import traceback
from collections.abc import Callable, Container, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace

from spider import page as pages
from spider import url as urls
from spider.ajax import looks
from spider.crawl import feeds, memory
from spider.crawl.lane import Done, Lane, Visit
from spider.crawl.marks import in_hand
from spider.crawl.scope import Judge
from spider.errors import FetchError
from spider.fetch import Client, Pace, Permission, header_words, permission, retry_after
from spider.model import (
    Accepted,
    Confidence,
    Failed,
    Fetched,
    Link,
    Media,
    Outcome,
    Page,
    Reason,
    Rejected,
    Relation,
    Request,
    Response,
    Source,
)
from spider.settings import AGENT_TOKEN
from spider.states import Rendering

__all__ = ["MAX_HOPS", "Visitor", "hash_of", "no_trap"]

MAX_HOPS = 10
HTML = frozenset({"text/html", "application/xhtml+xml"})
LOCATION = Source("header", "location")
SEED = Source("seed", "url")
NOT_MODIFIED = 304
TOO_MANY = 429
LATER = frozenset({TOO_MANY, 503})  # statuses that Retry-After is meant for
NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
LARGE = 250_000  # bytes of a page: above, a tree of it may need a hundred times as much
SURE = frozenset({Confidence.ELEMENT, Confidence.LINK})


Explore = Callable[[Request, Response, Page, Pace], tuple[Page, Rendering]]
"""What a browser adds to a page that was read, given the pace of its host."""


def hash_of(body: bytes) -> int:
    """Return the signed 64-bit BLAKE2b of a body."""
    return int.from_bytes(hashlib.blake2b(body, digest_size=8).digest(), "big", signed=True)


def no_trap(_link: str, _page: str) -> None:
    """Refuse nothing."""


def not_explored(request: Request, response: Response, page: Page, pace: Pace) -> tuple[Page, Rendering]:
    """Leave a page as its document has it; one of several of this form."""
    del request, pace
    return page, Rendering(looks(page, response.body))


@dataclass(frozen=True, slots=True)
class Visitor:
    """What a visit needs.

    `passes` lets it pass over links that are known: all that is kept of a link is where it was met first.

    `judge` gives the judge of the moment: seeds may land elsewhere meanwhile.  `trap` names the rule by
    which a link met on a page leads into a space without end.  `explore` adds to a page what a browser finds.
    """

    client: Client
    judge: Callable[[], Judge]
    visit_media: bool = False
    obey_meta: bool = True
    obey_rel: bool = True
    sitemaps: bool = True
    alike: bool = False
    passes: bool = True
    ladder: str = urls.KEY_LADDER
    trap: Callable[[str, str], str | None] = no_trap
    explore: Explore = not_explored
    turn: threading.Lock = field(default_factory=threading.Lock)

    def visit(self, lane: Lane, job: Visit, request: Request) -> Done:
        """Visit a link; whatever happens is an outcome, never an exception.  None is a visit that was broken off."""
        with in_hand(request.link_id):
            return self._visit(lane, job, request)

    def _visit(self, lane: Lane, job: Visit, request: Request) -> Done:
        try:
            if feeds.is_feed(request):
                response = self.client.get(request, reads=feeds.reads, max_size=feeds.MAX_SIZE)
            else:
                response = self.client.get(request)
        except FetchError as error:
            failed = Failed(request, Reason(error.reason), error.message, error.status)
            return Done(lane, job, failed, status=error.status or 0, asked=error.retry_after)
        asked = retry_after(response.headers.get("retry-after"), time.time()) if response.status in LATER else None
        outcome: Outcome | None
        try:
            outcome = self._outcome(request, response, lane)
        except CancelledError:
            outcome = None
        except FetchError as error:
            outcome = Failed(request, Reason(error.reason), error.message, response.status)
        except Exception:  # noqa: BLE001  # one page's accident must not end the crawl; it is kept, with its trace
            outcome = Failed(request, Reason.INTERNAL, traceback.format_exc(limit=-3)[-2000:])
        return Done(lane, job, outcome, status=response.status, latency=response.latency, asked=asked)

    def _outcome(self, request: Request, response: Response, lane: Lane) -> Outcome:
        if response.status == NOT_MODIFIED and request.known:
            return Fetched(request, response, unchanged=True)
        if feeds.came_to_nothing(request, response):
            return Fetched(request, response, void=True)
        if response.location is not None:
            return self._redirected(request, response, response.location)
        if not 200 <= response.status < 300:  # noqa: PLR2004  # the class of success
            return Failed(request, _reason(response.status), f"HTTP status {response.status}", response.status)
        if _is_page(response) or (feeds.is_feed(request) and response.body):
            return self._read(request, response, lane)
        allowed = self._permission(response, ())
        return Fetched(request, response, medium=_medium(request, response, self.ladder) if allowed.index else None)

    def _redirected(self, request: Request, response: Response, location: str) -> Outcome:
        """Judge where a redirect leads.  A seed takes its scope along, so its own are followed anywhere."""
        if request.hops >= MAX_HOPS:
            return Failed(request, Reason.REDIRECT, f"more than {MAX_HOPS} redirects in a row", response.status)
        if location == request.url:
            return Failed(request, Reason.REDIRECT, "redirects to itself", response.status)
        if not location.startswith(("http://", "https://")):
            return Failed(request, Reason.REDIRECT, f"redirect to {location[:200]}", response.status)
        link = Link(
            url=location,
            h=urls.identify(location, ladder=self.ladder),
            source=LOCATION,
            relation=Relation(urls.relation(request.url, location)),
            text=request.text,
        )
        judge = self.judge()
        if request.source == SEED or feeds.is_feed(request):
            refused = judge.is_forgotten(location)
            verdict: Accepted | Rejected = Rejected("forgotten") if refused else Accepted(request.seed_id)
        else:
            verdict = judge.judge(location, request.url, seed_id=request.seed_id, depth=request.depth)
        match verdict:
            case Accepted():
                return Fetched(request, response, redirect=link)
            case Rejected(rule=rule):
                return Fetched(request, response, refused=((link, rule),))

    def _read(self, request: Request, response: Response, lane: Lane) -> Outcome:
        content = hash_of(response.body)
        if content == request.known:
            return Fetched(request, response, content_hash=content, unchanged=True)
        old = memory.Old(lane.known if self._may_pass(request) else {}, request.depth + 1, request.late)
        # Large pages take turns: their trees are never in memory together, and Python reads one at a time anyway.
        with self.turn if len(response.body) > LARGE else contextlib.nullcontext():
            page = pages.read(
                response.body,
                response.url,
                content_type=response.headers.get("content-type"),
                headers=response.headers,
                alike=self.alike,
                ladder=self.ladder,
                known=old,
            )
        rendering = None
        if not feeds.is_feed(request):
            page, rendering = self.explore(request, response, page, lane.pace)
        allowed = self._permission(response, page.robots)
        if not allowed.index:
            page = replace(page, media=(), notes=(*page.notes, "noindex: its media are not recorded"))
        links, refused = self._judged(request, page, old, follow=allowed.follow)
        return Fetched(
            request, response, page=page, links=links, refused=refused, content_hash=content, rendering=rendering
        )

    def _permission(self, response: Response, words: Iterable[str]) -> Permission:
        """Tell what the page's own words and its X-Robots-Tag leave allowed, where they are obeyed."""
        if not self.obey_meta:
            return Permission()
        said = header_words(response.headers.get("x-robots-tag", "").split("\n"), AGENT_TOKEN)
        return permission((*words, *said))

    def _may_pass(self, request: Request) -> bool:
        """Whether what a page links to may be passed over where it is known: beyond the depth limit all is counted."""
        return self.passes and not feeds.is_feed(request) and request.depth < self.judge().limit(request.seed_id)

    def _judged(
        self, request: Request, page: Page, old: Container[str], *, follow: bool
    ) -> tuple[tuple[tuple[Link, int], ...], tuple[tuple[Link, str], ...]]:
        """Judge each address of a page once, by the first link to it.

        What is known to be a medium is not visited; what is `old`, waiting or read already, as near as here, is
        passed over.
        """
        judge, depth = self.judge(), request.depth + 1
        seen = set() if self.visit_media else {medium.url for medium in page.media if medium.confidence in SURE}
        seen.add(request.url)
        links: list[tuple[Link, int]] = []
        refused: list[tuple[Link, str]] = []
        stand = feeds.stands_on(request, judge)
        for link in feeds.marked(page) if self.sitemaps else page.links:
            if link.url in seen:
                continue
            seen.add(link.url)
            if not follow or (self.obey_rel and not NOT_FOLLOWED.isdisjoint(link.rel)):
                refused.append((link, "nofollow" if follow else "meta-robots"))
                continue
            if link.url in old:
                continue
            if link.source == feeds.LISTED and request.source == feeds.LISTED:
                refused.append((link, "nested-sitemap"))  # as the protocol has it; there would be no end
                continue
            if link.source == feeds.LISTED and urls.host(link.url) == urls.host(request.url):
                links.append((link, request.seed_id))
                continue
            trap = self.trap(link.url, request.url)
            if trap is not None:
                refused.append((link, trap))
                continue
            match judge.judge(link.url, stand, seed_id=request.seed_id, depth=depth):
                case Accepted(seed_id=seed_id):
                    links.append((link, seed_id))
                case Rejected(rule=rule):
                    refused.append((link, rule))
        return tuple(links), tuple(refused)


def _is_page(response: Response) -> bool:
    """Whether the body is one that is parsed: HTML, or untyped and looking like it."""
    if response.content_type:
        return response.content_type in HTML
    return response.body.lstrip()[:1] == b"<"


def _reason(status: int) -> Reason:
    if status == TOO_MANY:
        return Reason.RATE
    if 400 <= status < 500:  # noqa: PLR2004  # the class of client errors
        return Reason.CLIENT
    return Reason.SERVER if status >= 500 else Reason.PROTOCOL  # noqa: PLR2004


def _medium(request: Request, response: Response, ladder: str) -> Media | None:
    """Return the medium that a link turned out to be by the type it was served with, if it is one."""
    told = pages.media_kind(request.url, response.content_type or None)
    if told is None:
        return None
    kind, form = told
    return Media(
        url=request.url,
        h=urls.identify(request.url, ladder=ladder),
        kind=kind,
        source=request.source,
        confidence=Confidence.LINK,
        text=request.text,
        mime=response.content_type or None,
        format=form,
        sources=(request.source,),
    )
