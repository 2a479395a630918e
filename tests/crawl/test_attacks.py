"""Sites that mean harm to whoever crawls them: each crawl ends by itself, soon, with the real pages found."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import resource
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.model import Outcome
from tests.crawl.pages import moved, page, paths
from tests.replies import Answer, Content
from tests.server import Asked, Raw, Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

REAL = {"/": page("/real"), "/real": page(more="<video src=v.mp4></video>")}
OPEN = b"User-agent: *\nDisallow: /closed\n"


def robots(body: bytes, **more: Any) -> Reply:  # noqa: ANN401  # a reply's own
    """Answer with a robots.txt."""
    return Reply(body, **{"type": "text/plain", **more})


def drip(sock: Any, stop: threading.Event) -> None:  # noqa: ANN401  # a socket
    """Send a robots.txt a byte at a time, without end."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not stop.wait(0.05):
        sock.sendall(b"#")


ROBOTS: dict[str, tuple[Answer, bool]] = {
    # what robots.txt is, and whether the site may be visited
    "huge": (robots(OPEN + b"# filler\n" * 2_000_000), True),
    "one-line-without-end": (robots(OPEN + b"Disallow: /" + b"x" * 3_000_000), True),
    "stars": (robots(OPEN + b"Disallow: /" + b"a*" * 20_000 + b"b$\n"), True),
    "a-mark-of-byte-order": (robots(b"\xef\xbb\xbf" + OPEN), True),
    "utf-16": (robots(OPEN.decode().encode("utf-16")), True),
    "latin-1": (robots(b"User-agent: *\nDisallow: /caf\xe9\n"), True),
    "wrong-charset": (robots(OPEN, type="text/plain; charset=no-such-thing"), True),
    "nul": (robots(b"\0" * 5000 + OPEN), True),
    "a-page": (Reply(page("/trap")), True),
    "gzip-of-zeros": (robots(gzip.compress(b"\0" * 30_000_000), headers=(("Content-Encoding", "gzip"),)), True),
    "no-content": (Reply(status=204, type=None), True),
    "teapot": (robots(b"", status=418), True),
    "a-loop": (moved("/robots.txt"), True),
    "a-drip": (Raw(drip), False),
    "half": (Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nUser-agent"), False),
    "a-delay-without-measure": (robots(b"User-agent: *\nCrawl-delay: inf\n"), True),
    "a-delay-that-is-no-number": (robots(b"User-agent: *\nCrawl-delay: nan\n"), True),
    "a-delay-of-great-power": (robots(b"User-agent: *\nCrawl-delay: 1e308\n"), True),
    "a-delay-below-nothing": (robots(b"User-agent: *\nCrawl-delay: -1e9\n"), True),
    "a-delay-of-digits": (robots(b"User-agent: *\nCrawl-delay: " + b"9" * 5000), True),
    "a-million-sitemaps": (robots(b"Sitemap: /a\n" * 40_000), True),
}


def by_host(contents: Iterable[Content]) -> dict[str, Content]:
    """Give each of several sites a host of its own."""
    return {f"127.0.0.{number}": content for number, content in enumerate(contents, start=1)}


def asked(server: WebServer) -> dict[str, Counter[str]]:
    """Count what was asked of each host, robots.txt apart."""
    found = {host: Counter[str]() for host in server.contents}
    for request in server.requests:
        if request.path != "/robots.txt":
            found[request.host][request.path] += 1
    return found


def test_robots_that_are_meant_to_hurt(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Whatever a robots.txt is, the crawl ends: with the site's pages where it may be visited, else without."""
    server = web(
        by_host(REAL | {"/robots.txt": answer} for answer, _ in ROBOTS.values()),
        skip={"robots": "the test server reads hostile files in its own way"},
    )
    crawler, _ = crawl(*server.urls, sitemaps=True, deadline=3.0, retries=0, longest_delay=0.05, delay=0.001)
    assert (crawler.why, crawler.exit_code) == ("done", 3)
    for (kind, (_, is_open)), shown in zip(ROBOTS.items(), asked(server).values(), strict=True):
        assert ("/real" in shown) == is_open, kind
        assert shown.total() <= 4, kind
    assert rows("SELECT count(*) FROM Video") == [(sum(is_open for _, is_open in ROBOTS.values()),)]
    assert rows("SELECT count(*) FROM CrawlerLink WHERE reason = 15") == [(0,)]


NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def listed(kind: str, places: list[str]) -> str:
    """Write a sitemap (urlset, url) or an index (sitemapindex, sitemap)."""
    entry = "url" if kind == "urlset" else "sitemap"
    return f"<{kind} {NAMESPACE}>{''.join(f'<{entry}><loc>{place}</loc></{entry}>' for place in places)}</{kind}>"


def endless(write: Callable[[Iterator[str]], Answer]) -> Content:
    """Make a site whose sitemaps are written anew each time, from addresses that were never there."""
    fresh = (f"/sitemap/{number}.xml" for number in itertools.count())

    def answer(asked: Asked) -> Answer | None:
        base = f"http://{asked.headers['host']}"
        if asked.path.startswith("/sitemap"):
            return write(base + path for path in fresh)
        return REAL.get(asked.path)

    return answer


def some(number: int, places: Iterator[str]) -> list[str]:
    """Return so many of the addresses to come."""
    return list(itertools.islice(places, number))


BOMB = gzip.compress(b"<urlset>" + b" " * 200_000_000, 1)
MAPS: dict[str, Content] = {
    "chain": endless(lambda places: Reply(listed("sitemapindex", some(1, places)), type="text/xml")),
    "tree": endless(lambda places: Reply(listed("sitemapindex", some(40, places)), type="text/xml")),
    "cycle": REAL | {"/sitemap.xml": Reply(listed("sitemapindex", ["/sitemap.xml", "/2.xml"]), type="text/xml")},
    "bomb": REAL | {"/sitemap.xml": Reply(BOMB, type="application/gzip")},
    "bomb-in-transit": REAL | {"/sitemap.xml": Reply(BOMB, type="text/xml", headers=(("Content-Encoding", "gzip"),))},
    "many": REAL | {"/sitemap.xml": Reply(listed("urlset", ["/elsewhere/x"] * 60_000), type="text/xml")},
    "redirects": endless(lambda places: moved(some(1, places)[0])),
    "media": REAL | {"/sitemap.xml": Reply(b"\0" * 1000, type="video/mp4")},
    "deep": REAL | {"/sitemap.xml": Reply("<urlset>" + "<url>" * 100_000, type="text/xml")},
}


def test_sitemaps_that_are_meant_to_hurt(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Sitemaps without end, and such as grow in memory, end; the pages are found, and memory stays what it was."""
    server = web(by_host(MAPS.values()))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    crawler, _ = crawl(
        *server.urls, sitemaps=True, depth=10_000, exclude=["/elsewhere/"], max_host_pages=500, max_time=90
    )
    assert crawler.why == "done"
    for kind, shown in zip(MAPS, asked(server).values(), strict=True):
        assert {"/", "/real"} <= set(shown), kind
        assert shown.total() < 60, kind
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 900_000
    assert ("nested-sitemap",) in rows("SELECT DISTINCT rule FROM Skipped")


def token(number: int) -> str:
    """Return what looks like the number of a session."""
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest()


FORMS = ("/{1}?sid={0}", "/{1};jsessionid={0}", "/{0}/{1}", "/(S({0}))/{1}", "/s/{0}/x/{1}")


def shop(form: str) -> Content:
    """Make a shop of five pages whose links carry a new session's number each time they are shown."""
    number = itertools.count()

    def answer(asked: Asked) -> str | None:
        name = asked.path.partition("?")[0].partition(";")[0].rpartition("/")[2]
        if name not in {"", "a", "b", "c", "d"}:
            return None
        session = token(next(number))
        links = "".join(f"<a href='{form.format(session, other)}'>{other}</a>" for other in "abcd")
        return f"{links}<p>{name * 700}<video src=/{name or 'v'}.mp4></video>"

    return answer


@pytest.mark.parametrize("dedup", ["exact", "near"])
def test_sessions_in_addresses(web: Web, crawl: Crawl, rows: Rows, dedup: str) -> None:
    """Pages that are the same but for the session's number in their links end, wherever the number stands."""
    server = web(by_host(map(shop, FORMS)))
    crawler, _ = crawl(*server.urls, depth=10_000, dedup=dedup, max_host_pages=500, max_time=60)
    assert (crawler.why, crawler.exit_code) == ("done", 0)
    for form, shown in zip(FORMS, asked(server).values(), strict=True):
        assert shown.total() < 300, form
    assert len(rows("SELECT DISTINCT url FROM Video")) == 5 * len(FORMS)


def test_what_has_a_token_for_a_name_is_no_session(web: Web, crawl: Crawl) -> None:
    """Albums named by tokens, alike but for the photos they lead to, are all read, and so are the photos."""
    albums = [f"/album/{token(number)}" for number in range(60)]
    site = {"/": page(*albums)} | {
        album: "".join(f"<a href=/photo/{token(1000 * number + n)}>photo</a>" for n in range(4)) + "<p>photos" * 80
        for number, album in enumerate(albums)
    }
    server = web(lambda asked: "<p>a photo" if asked.path.startswith("/photo/") else site.get(asked.path))
    crawl(server.url)
    assert paths(server).total() == 1 + 60 + 240


CALENDARS = {
    "days": ("/day/{0}-{1:02}-{2:02}", 1),
    "months": ("/cal?year={0}&month={1}", 30),
    "weeks": ("/week/{0}-W{3:02}", 7),
    "american": ("/events?d={1:02}/{2:02}/{0}", 1),
    "european": ("/events?d={2:02}.{1:02}.{0}", 1),
    "compact": ("/e/{0}{1:02}{2:02}", 1),
}


def calendar(form: str, step: int) -> Content:
    """Make a site with a calendar whose pages lead to those before and after, for ever."""

    def name(day: date) -> str:
        week = day.isocalendar()
        return form.format(week.year if "{3" in form else day.year, day.month, day.day, week.week)

    first = date(2026, 12, 1)
    known = {name(first): first}

    def answer(asked: Asked) -> str | None:
        if asked.path == "/":
            return page("/real", name(first))
        day = known.get(asked.path)
        if day is None:
            return REAL.get(asked.path)
        there = [day + timedelta(days=n * step) for n in (-1, 1)]
        known.update({name(other): other for other in there})
        return page("/", *map(name, there), more=f"<h1>{day:%A %d %B %Y}</h1>")

    return answer


def test_calendars_of_every_kind(web: Web, crawl: Crawl) -> None:
    """A calendar that goes on both ways for ever ends, whatever its dates look like."""
    server = web(by_host(calendar(form, step) for form, step in CALENDARS.values()))
    crawler, _ = crawl(*server.urls, depth=10_000, max_host_pages=500, max_time=60)
    assert crawler.why == "done"
    for kind, shown in zip(CALENDARS, asked(server).values(), strict=True):
        assert shown.total() < 120, kind
        assert "/real" in shown, kind


TAGS = [b'"\xff\xfe"', b'"' + b"x" * 30_000 + b'"', b"\x01\x02", '"ü€"'.encode(), b'"a", "b"', b"*"]


def test_validators_that_are_meant_to_hurt(web: Web, crawl: Crawl) -> None:
    """An ETag that cannot be sent back, or that says anything, keeps no page from being read again."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\nLast-Modified: never \xff\r\nETag: "
    server = web(by_host({"/": Raw(head + tag + b"\r\n\r\nx")} for tag in TAGS))
    for number in (1, 2, 3):
        crawler, _ = crawl(*server.urls, refresh=0)
        assert crawler.exit_code == 0
        assert all(shown == {"/": number} for shown in asked(server).values())
