"""Sitemaps and feeds as sources of links."""

from __future__ import annotations

import gzip
import math
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.model import Outcome
from tests.crawl.pages import moved, page, paths
from tests.server import Asked, Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*places: str) -> Reply:
    """Write a sitemap."""
    entries = "".join(f"<url><loc>{place}</loc></url>" for place in places)
    return Reply(f'<?xml version="1.0"?><urlset {NAMESPACE}>{entries}</urlset>', type="application/xml")


def dated(*entries: tuple[str, str]) -> Reply:
    """Write a sitemap whose entries say when they changed."""
    listed = "".join(f"<url><loc>{place}</loc><lastmod>{moment}</lastmod></url>" for place, moment in entries)
    return Reply(f"<urlset {NAMESPACE}>{listed}</urlset>", type="application/xml")


def index(*places: str) -> Reply:
    """Write a sitemap index."""
    entries = "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
    return Reply(f"<sitemapindex {NAMESPACE}>{entries}</sitemapindex>", type="text/xml")


def test_a_sitemap_at_the_usual_place_is_found(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Without a word in robots.txt, /sitemap.xml is looked for; its entries are links of depth 1, judged like any."""
    site: dict[str, Any] = {"/a/": page(), "/a/hidden": page("/a/more"), "/a/more": page()}
    server = web(site)
    site["/sitemap.xml"] = urlset(f"{server.url}a/hidden", f"{server.url}b/outside", "http://elsewhere.test/")
    crawl(f"{server.url}a/", sitemaps=True)
    assert paths(server) == dict.fromkeys(["/a/", "/sitemap.xml", "/a/hidden", "/a/more"], 1)
    found = rows("SELECT url, depth, source FROM CrawlerLink WHERE url LIKE '%hidden'")
    assert found == [(f"{server.url}a/hidden", 1, "loc@text")]
    assert rows("SELECT url, rule FROM Skipped") == [(f"{server.url}b/outside", "tree")]


def test_a_sitemap_is_no_page_whether_it_changed_or_not(web: Web, crawl: Crawl) -> None:
    """A crawl counts as many pages of a site that did not change as of one that is new: its sitemap is none."""
    server = web({"/": page("/a"), "/a": page(), "/sitemap.xml": urlset("/a")})
    first, _ = crawl(server.url, sitemaps=True)
    again, _ = crawl(sitemaps=True, refresh=0)
    assert (first.snapshot().pages, again.snapshot().pages) == (2, 2)
    assert paths(server) == {"/": 2, "/a": 2, "/sitemap.xml": 2}


def test_robots_names_sitemaps(web: Web, crawl: Crawl) -> None:
    """Those that robots.txt names are read in place of the usual one: an index, gzip and odd types too."""
    site: dict[str, Any] = {"/": page(), "/x": page(), "/y": page(), "/z": page()}
    server = web(site)
    base = server.url
    site["/robots.txt"] = Reply(f"Sitemap: {base}maps/index\nSitemap: {base}maps/own.xml", type="text/plain")
    site["/maps/index"] = index(f"{base}maps/one.xml.gz", f"{base}maps/two.php")
    packed = gzip.compress(urlset(f"{base}x").bytes().partition(b"\r\n\r\n")[2])
    site["/maps/one.xml.gz"] = Reply(packed, type="application/gzip")
    site["/maps/two.php"] = Reply(urlset(f"{base}y").body, type="text/html")
    site["/maps/own.xml"] = urlset(f"{base}z")
    crawl(base, sitemaps=True)
    assert paths(server) == dict.fromkeys(site.keys() - {"/robots.txt"}, 1)


@pytest.mark.parametrize(
    "answer",
    [
        Reply("", status=404),
        Reply("", status=403),
        Reply(page("/trap", more="<video src=v.mp4>")),
        moved("/trap"),
        moved("http://elsewhere.test/"),
    ],
    ids=["404", "403", "a-page", "a-redirect", "a-redirect-outside"],
)
def test_a_guess_that_comes_to_nothing_leaves_no_trace(web: Web, crawl: Crawl, rows: Rows, answer: Reply) -> None:
    """Where there is no sitemap at the usual place, nothing is kept: no link, no error, no medium."""
    server = web({"/": page(), "/sitemap.xml": answer, "/trap": page()})
    crawler, _ = crawl(server.url, sitemaps=True)
    assert crawler.exit_code == 0
    assert paths(server) == {"/": 1, "/sitemap.xml": 1}
    assert rows("SELECT url, state FROM CrawlerLink") == [(server.url, 3)]
    assert rows("SELECT landed_url FROM SeedLink") == [(None,)]
    assert rows("SELECT count(*) FROM Video") == rows("SELECT count(*) FROM Skipped") == [(0,)]


def test_a_closed_sitemap_is_not_asked_for(web: Web, crawl: Crawl) -> None:
    """robots.txt stands above the guess, and above what it names itself."""
    server = web({"/robots.txt": Reply("User-agent: *\nDisallow: /*.xml", type="text/plain"), "/": page()})
    crawl(server.url, sitemaps=True)
    assert paths(server) == {"/": 1}


def test_they_can_be_left(web: Web, crawl: Crawl) -> None:
    """Without sitemaps nothing is looked for, and feeds are not read."""
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    rss = Reply("<rss><channel><item><link>/hidden</link></item></channel></rss>", type="application/rss+xml")
    server = web({"/": page(more=feed), "/feed": rss, "/hidden": page()})
    crawl(server.url, sitemaps=False)
    assert paths(server) == {"/": 1, "/feed": 1}


def test_feeds_of_pages_are_read(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A feed that a page names is read: its items are links, its enclosures media."""
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    item = '<item><title>One</title><link>/one</link><enclosure url="/one.mp3" type="audio/mpeg" length="9"/></item>'
    rss = Reply(f"<rss><channel><title>t</title>{item}</channel></rss>", type="text/xml")
    server = web({"/": page(more=feed), "/feed": rss, "/one": page()})
    crawl(server.url, sitemaps=True)
    assert paths(server) == dict.fromkeys(["/", "/sitemap.xml", "/feed", "/one"], 1)
    assert rows("SELECT url, text FROM Audio") == [(f"{server.url}one.mp3", "One")]


def test_kin_is_judged_from_the_seed(web: Web, crawl: Crawl) -> None:
    """With the scope kin, a sitemap's entries are judged from the seed, for it stands on no page."""
    site: dict[str, Any] = {"/a/index": page(), "/a/in": page(), "/out": page()}
    server = web(site)
    site["/sitemap.xml"] = urlset(f"{server.url}a/in", f"{server.url}out")
    crawl(f"{server.url}a/index", scope="kin", sitemaps=True)
    assert paths(server) == dict.fromkeys(["/a/index", "/sitemap.xml", "/a/in"], 1)


def ago(tmp_path: Path, hours: float) -> None:
    """Let all that was done be that many hours ago."""
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("UPDATE Page SET fetched_at = fetched_at - ?, changed_at = 1", (int(hours * 3600e6),))
        connection.execute("UPDATE Run SET began_at = began_at - ?", (int(hours * 3600e6),))


LASTMODS = [
    # hours since the change (None: the text instead), how it is written, whether the page is due
    (1.0, "%Y-%m-%dT%H:%M:%SZ", True),
    (1.0, "%Y-%m-%dT%H:%M:%S.25+00:00", True),
    (1.0, "%Y-%m-%dT%H:%M", True),
    (50.0, "%Y-%m-%dT%H:%M:%SZ", False),
    (50.0, "%Y-%m-%d", False),
    (-24.0 * 400, "%Y-%m-%dT%H:%M:%SZ", False),  # the future
    (None, "yesterday", False),
    (None, "0000-00-00", False),
    (None, "9999-99-99T99:99:99Z", False),
    (None, "9999-12-31T23:59:59-23:59", False),
    (None, "0001-01-01T00:00:00+14:00", False),
    (None, "1" * 500, False),
    (None, "", False),
]


@pytest.mark.parametrize(("hours", "form", "due"), LASTMODS)
def test_a_sitemap_tells_what_changed(
    web: Web, crawl: Crawl, tmp_path: Path, hours: float | None, form: str, *, due: bool
) -> None:
    """A page that changed since it was fetched, by its sitemap's word, is due before its time; by no other word."""
    site: dict[str, Any] = {"/": page("/x"), "/x": page("/x/y"), "/x/y": page()}
    server = web(site)
    site["/sitemap.xml"] = urlset(f"{server.url}x/y")
    crawl(server.url, sitemaps=True)
    ago(tmp_path, 40)
    moment = datetime.now(UTC) - timedelta(hours=hours or 0)
    site["/sitemap.xml"] = dated((f"{server.url}x/y", form if hours is None else moment.strftime(form)))
    crawl(server.url, sitemaps=True, refresh=30 * 86_400.0)
    assert paths(server)["/x/y"] == (2 if due else 1)
    assert paths(server)["/x"] == 1


def test_a_sitemap_made_anew_each_time_doubles_nothing(web: Web, crawl: Crawl, tmp_path: Path) -> None:
    """Pages that this very crawl has read are not due again, though a sitemap says that they change all the time."""
    site: dict[str, Any] = {f"/{n}": page() for n in range(5)} | {"/": page(*(f"/{n}" for n in range(5)))}

    def answer(asked: Asked) -> Reply | str | None:
        if asked.path != "/sitemap.xml":
            return site.get(asked.path)
        now = datetime.now(UTC).isoformat()
        return replace(dated(*((f"http://{asked.headers['host']}/{n}", now) for n in range(5))), delay=0.5)

    server = web(answer, per_host=2)
    crawl(server.url, sitemaps=True, per_host=2, refresh=86_400.0)
    assert paths(server) == dict.fromkeys(["/sitemap.xml", *site], 1)
    ago(tmp_path, 1)
    crawl(server.url, sitemaps=True, refresh=math.inf)
    assert paths(server) == dict.fromkeys(["/sitemap.xml", *site], 1)
    ago(tmp_path, 24)
    crawl(server.url, sitemaps=True, refresh=30 * 86_400.0)
    assert paths(server) == dict.fromkeys(["/sitemap.xml", *(f"/{n}" for n in range(5))], 2) | {"/": 1}


def test_an_index_tells_which_sitemap_changed(web: Web, crawl: Crawl, tmp_path: Path) -> None:
    """With a month between visits, sitemaps are asked each night; a page that changed waits with its validators."""
    site: dict[str, Any] = {"/": page(), "/x": Reply(page(), headers=(("ETag", '"1"'),))}
    server = web(site)
    site["/sitemap.xml"] = index(f"{server.url}maps.xml")
    site["/maps.xml"] = dated((f"{server.url}x", "2020-01-01"))
    crawl(server.url, sitemaps=True)
    ago(tmp_path, 24)
    site["/maps.xml"] = dated((f"{server.url}x", datetime.now(UTC).isoformat()))
    crawl(server.url, sitemaps=True, refresh=30 * 86_400.0)
    assert paths(server) == {"/": 1, "/sitemap.xml": 2, "/maps.xml": 2, "/x": 2}
    assert next(r for r in reversed(server.requests) if r.path == "/x").headers["if-none-match"] == '"1"'


def test_a_video_sitemap_tells_of_its_pages(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A video entry is a video of the page that it names, whether that page shows it or not, at each crawl."""
    site: dict[str, Any] = {"/": page(), "/watch": page(more="<p>wait for the script</p>")}
    server = web(site)
    video = f"<video:video><video:title>Film</video:title><video:content_loc>{server.url}f.mp4</video:content_loc>"
    site["/sitemap.xml"] = Reply(
        f'<urlset {NAMESPACE} xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><url>'
        f"<loc>{server.url}watch</loc>{video}</video:video></url></urlset>",
        type="text/xml",
    )
    query = "SELECT l.url, v.url, v.title, v.gone_at FROM Video v JOIN CrawlerLink l ON l.id = v.page_id"
    for _ in range(2):
        crawl(server.url, sitemaps=True, refresh=0)
        assert rows(query) == [(f"{server.url}watch", f"{server.url}f.mp4", "Film", None)]
        site["/watch"] = page(more="<p>wait for the other script</p>")
