"""Redirects: each hop a link of its own, seeds that land elsewhere, and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spider.crawl import Crawler
from spider.model import Fetched, Outcome, Skipped
from tests.crawl.pages import moved, page, paths
from tests.server import Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]


def test_redirects_are_links_of_their_own(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A redirect completes its link; its target stands at the same depth, one hop further, under the same page."""
    server = web({"/": page("/a"), "/a": moved("/b"), "/b": moved("/c"), "/c": page()})
    crawl(server.url)
    found = rows("SELECT url, state, depth, hops, text, source FROM CrawlerLink ORDER BY id")
    base = server.url
    assert found == [
        (base, 3, 0, 0, None, "seed@url"),
        (f"{base}a", 3, 1, 0, "/a", "a@href"),
        (f"{base}b", 3, 1, 1, "/a", "a@href"),
        (f"{base}c", 3, 1, 2, "/a", "a@href"),
    ]
    to = rows("SELECT redirect_to FROM Page JOIN CrawlerLink ON id = link_id ORDER BY id")
    assert to == [(None,), (f"{base}b",), (f"{base}c",), (None,)]


def test_a_seed_takes_its_scope_along(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A seed that redirects to another host is crawled there: its tree begins where it lands."""
    there = {"/sub/": page("in", "/out"), "/sub/in": page("/sub/deep/er"), "/sub/deep/er": page()}
    first = {"/": moved("http://127.0.0.2:{port}/sub/")}
    server = web({"127.0.0.1": first, "127.0.0.2": there})
    first["/"] = moved(f"{server.urls[1]}sub/")
    crawler, _ = crawl(server.url)
    assert crawler.exit_code == 0
    assert [p.removeprefix(server.urls[1]) for p in server.pages()[1:]] == ["sub/", "sub/in", "sub/deep/er"]
    assert rows("SELECT landed_url FROM SeedLink") == [(f"{server.urls[1]}sub/",)]
    assert rows("SELECT url, rule FROM Skipped") == [(f"{server.urls[1]}out", "tree")]


def test_a_redirect_to_robots_txt_elsewhere_is_followed(web: Web, crawl: Crawl) -> None:
    """robots.txt may redirect to another host (RFC 9309, section 2.3.1.2); what it says there holds here."""
    first: dict[str, Any] = {"/": page("/open", "/closed"), "/open": page()}
    second = {"/robots.txt": Reply("User-agent: *\nDisallow: /closed", type="text/plain")}
    server = web({"127.0.0.1": first, "127.0.0.2": second})
    first["/robots.txt"] = moved(f"{server.urls[1]}robots.txt", 301)
    _, outcomes = crawl(server.url)
    assert server.asked("127.0.0.2") == ["/robots.txt"]
    assert server.asked("127.0.0.1") == ["/robots.txt", "/", "/open"]
    assert [o.rule for o in outcomes if isinstance(o, Skipped)] == ["robots"]


def test_loops_of_redirects_end(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A loop ends because its links are known; an endless chain ends as an error of class redirect."""

    def answer(asked: Any) -> Any:  # noqa: ANN401
        name, _, number = asked.path.partition("?n=")
        match name:
            case "/":
                return page("/loop", "/chain?n=0")
            case "/loop":
                return moved("/pool")
            case "/pool":
                return moved("/loop")
            case "/chain":
                return moved(f"/chain?n={int(number) + 1}")
        return None

    server = web(answer)
    crawler, _ = crawl(server.url)
    assert crawler.exit_code == 0
    assert paths(server)["/loop"] == paths(server)["/pool"] == 1
    assert max(paths(server).values()) == 1
    assert len(paths(server)) == 3 + 11
    assert rows("SELECT url, reason FROM CrawlerLink WHERE state = 4") == [(f"{server.url}chain?n=10", 9)]


def test_a_redirect_to_another_spelling_of_itself_is_fetched(web: Web, crawl: Crawl) -> None:
    """A target with the link's own key could never wait beside it: the link goes on under the new spelling."""
    server = web({"/": page("/p"), "/p": moved("/p?utm_source=x"), "/p?utm_source=x": page(more="<video src=v.mp4>")})
    _, outcomes = crawl(server.url)
    assert paths(server) == {"/": 1, "/p": 1, "/p?utm_source=x": 1}
    last = outcomes[-1]
    assert isinstance(last, Fetched)
    assert last.page is not None
    assert [m.url for m in last.page.media] == [f"{server.url}v.mp4"]


def test_a_page_that_redirects_to_itself_ends(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A link that leads to itself, or round and round between its own spellings, is an error and no endless crawl."""
    server = web({"/": page("/p", "/q"), "/p": moved("/p"), "/q": moved("/q?gclid=1"), "/q?gclid=1": moved("/q")})
    crawl(server.url)
    assert paths(server)["/p"] == 1
    assert paths(server)["/q"] + paths(server)["/q?gclid=1"] == 11
    assert rows("SELECT reason FROM CrawlerLink WHERE state = 4") == [(9,), (9,)]
