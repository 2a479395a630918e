"""Sitemaps and feeds: documents that list a site's pages, visited like pages.

robots.txt names sitemaps, an index names more of them, pages name feeds; each becomes a link whose source
says what it is, so that its visitor reads it whatever its type, and takes its entries for a seed's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from spider import url as urls
from spider.crawl.scope import Judge
from spider.fetch import Access, Ruling
from spider.model import Link, Page, Relation, Request, Response, Source
from spider.settings import AGENT_TOKEN
from spider.store.frontier import NewLink

__all__ = [
    "AGE",
    "LISTED",
    "MAX_SIZE",
    "NAMES",
    "PROBE",
    "came_to_nothing",
    "is_feed",
    "marked",
    "planted",
    "reads",
    "stands_on",
]

NAMED = Source("robots", "sitemap")
PROBE = Source("probe", "sitemap")
LISTED = Source("sitemap", "loc")
FEED = Source("feed", "link")
SOURCES = frozenset({NAMED, PROBE, LISTED, FEED})
NAMES = tuple(sorted(map(str, SOURCES)))
AGE = int(0.95 * 86_400e6)  # microseconds: they tell what changed elsewhere, and are asked each night
MAX_SIZE = 50_000_000  # bytes; what the sitemap protocol allows a file


def is_feed(request: Request) -> bool:
    """Tell whether a link is to a sitemap or a feed."""
    return request.source in SOURCES


def reads(status: int, media_type: str) -> bool:
    """Read a feed's body whatever its type, for servers get it wrong; but no medium's."""
    return 200 <= status < 300 and not media_type.startswith(("video/", "audio/", "image/"))  # noqa: PLR2004


def came_to_nothing(request: Request, response: Response) -> bool:
    """Tell whether a sitemap was looked for at the usual place and is not there.

    Many servers answer with a page, or lead to one, where a file is missing; that is no sitemap.
    """
    if request.source != PROBE:
        return False
    if response.location is not None:
        return not response.location.partition("?")[0].endswith((".xml", ".gz"))
    return 400 <= response.status < 500 or response.content_type == "text/html"  # noqa: PLR2004


def stands_on(request: Request, judge: Judge) -> str:
    """Return the page that a link is judged against: for entries of a sitemap or feed, the seed itself."""
    return (judge.root(request.seed_id) or request.url) if is_feed(request) else request.url


def marked(page: Page) -> Iterator[Link]:
    """Yield a page's links; those to further sitemaps, and to feeds, say so by their source."""
    feeds = frozenset(page.feeds)
    for link in page.links:
        if "sitemap" in link.rel:
            yield replace(link, source=LISTED)
        elif link.url in feeds:
            yield replace(link, source=FEED)
        else:
            yield link


def planted(ruling: Ruling, cause: Request, *, limit: int, ladder: str) -> Iterable[NewLink]:
    """Return the links to the sitemaps that a robots.txt names, or to the usual place where it names none.

    They stand where the link stands that made us ask for it.
    """
    if ruling.access is Access.DISALLOW:
        return
    usual = ruling.url.removesuffix("robots.txt") + "sitemap.xml"
    named = [url for url in ruling.robots.sitemaps if url.startswith(("http://", "https://"))]
    for url in named or [usual]:
        if not ruling.allows(AGENT_TOKEN, url):
            continue
        yield NewLink(
            url=url,
            h=urls.identify(url, ladder=ladder),
            host=urls.host(url),
            depth=cause.depth,
            seed_id=cause.seed_id,
            limit=limit,
            source=str(NAMED if named else PROBE),
            relation=Relation(urls.relation(cause.url, url)),
        )
