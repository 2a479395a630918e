"""A crawl made again: what is due, what it costs, what is new and what is gone."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.model import Fetched, Outcome
from tests.crawl.pages import moved, page, paths
from tests.server import Asked, Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]


class Changing:
    """A site whose pages may be changed between crawls, with ETags where `tagged`; it counts its 304s."""

    def __init__(self, pages: dict[str, str | Reply], *, tagged: bool = True) -> None:
        """Begin with these pages."""
        self.pages, self.tagged = pages, tagged
        self.unchanged: Counter[str] = Counter()

    def __call__(self, asked: Asked) -> Reply | None:
        """Answer."""
        body = self.pages.get(asked.path)
        if body is None or isinstance(body, Reply):
            return body
        tag = f'"{hash(body)}"'
        if self.tagged and asked.headers.get("if-none-match") == tag:
            self.unchanged[asked.path] += 1
            return Reply(status=304)
        return Reply(body, headers=(("ETag", tag),) if self.tagged else ())


def film(name: str) -> str:
    """Write a video."""
    return f"<video src={name}.mp4></video>"


@pytest.mark.parametrize("tagged", [True, False], ids=["etag", "same-bytes"])
def test_an_unchanged_site_is_not_read_again(web: Web, crawl: Crawl, rows: Rows, *, tagged: bool) -> None:
    """Pages that answer 304, or with the same bytes, are not parsed; their media were seen all the same."""
    site = Changing({"/": page("/a", more=film("x")), "/a": page(more=film("y"))}, tagged=tagged)
    server = web(site)
    crawl(server.url)
    first = rows("SELECT first_seen, last_seen FROM Video ORDER BY id")
    _, outcomes = crawl(refresh=0)
    assert paths(server) == {"/": 2, "/a": 2}
    assert site.unchanged == ({"/": 1, "/a": 1} if tagged else {})
    assert all(isinstance(o, Fetched) and o.unchanged and o.page is None for o in outcomes)
    again = rows("SELECT first_seen, last_seen, gone_at FROM Video ORDER BY id")
    assert [(f, g) for f, _, g in again] == [(f, None) for f, _ in first]
    assert all(new > old for (_, old), (_, new, _) in zip(first, again, strict=True))
    assert rows("SELECT count(*) FROM Page WHERE changed_at < fetched_at") == [(2,)]


def test_what_changed_is_new_or_gone(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A medium its page shows no more is gone, and back when shown again; a page that is gone takes its own along."""
    site = Changing({"/": page("/a", more=film("x")), "/a": page(more=film("y"))})
    server = web(site)
    crawl(server.url)
    site.pages["/"] = page("/a", "/b", more=film("z"))
    site.pages["/b"] = page(more="<audio src=s.mp3></audio>")
    del site.pages["/a"]
    crawl(refresh=0)
    gone = "SELECT url, gone_at IS NOT NULL FROM Video ORDER BY url"
    assert [(u.removeprefix(server.url), g) for u, g in rows(gone)] == [("x.mp4", 1), ("y.mp4", 1), ("z.mp4", 0)]
    assert rows("SELECT count(*) FROM Audio WHERE gone_at IS NULL") == [(1,)]
    site.pages["/"] = page("/b", more=film("x"))
    crawl(refresh=0)
    assert [(u.removeprefix(server.url), g) for u, g in rows(gone)] == [("x.mp4", 0), ("y.mp4", 1), ("z.mp4", 1)]


def test_a_linked_medium_lives_by_its_own_link(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A medium known by what its link served is not gone when its page is read again, but when the link is."""
    sound = Reply(b"\0" * 10, type="audio/mpeg")
    site = Changing({"/": page("/get?7", "/old"), "/get?7": sound, "/old": moved("/new"), "/new": sound})
    server = web(site)
    crawl(server.url)
    site.pages["/"] = page("/get?7", "/old", "/more")
    crawl(refresh=0)
    assert rows("SELECT gone_at FROM Audio") == [(None,), (None,)]
    site.pages["/get?7"] = Reply(status=410)
    crawl(refresh=0)
    found: dict[str, int] = dict(rows("SELECT url, gone_at IS NOT NULL FROM Audio"))
    assert found == {f"{server.url}get?7": 1, f"{server.url}new": 0}


def test_never_goes_on_only(web: Web, crawl: Crawl) -> None:
    """A refresh of never asks for nothing twice; a day's asks for nothing a minute later."""
    server = web({"/": page("/a"), "/a": page()})
    crawl(server.url)
    crawl(refresh=math.inf)
    crawl(refresh=86_400.0)
    assert paths(server) == {"/": 1, "/a": 1}


def test_a_night_later_all_is_due(web: Web, crawl: Crawl, rows: Rows, tmp_path: Any) -> None:  # noqa: ANN401
    """What a crawl read that began a day ago is due, though it was read later; what changed is due sooner."""
    server = web(Changing({"/": page("/a"), "/a": page("/b"), "/b": page("/c"), "/c": page()}))
    crawl(server.url)
    hour = 3600 * 10**6
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("UPDATE Run SET began_at = began_at - ?, ended_at = ended_at - ?", (24 * hour, 22 * hour))
        connection.execute(
            "UPDATE Page SET fetched_at = fetched_at - ?, changed_at = changed_at - ?", (23 * hour, 30 * hour)
        )
    crawl(refresh=86_400.0)
    assert paths(server) == {"/": 2, "/a": 2, "/b": 2, "/c": 2}
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute(
            "UPDATE Page SET fetched_at = fetched_at - ?, changed_at = fetched_at - ?", (13 * hour, 14 * hour)
        )
        connection.execute("UPDATE Page SET changed_at = fetched_at WHERE link_id = 4")
    crawl(refresh=86_400.0)
    assert paths(server) == {"/": 3, "/a": 3, "/b": 2, "/c": 3}
    assert rows("SELECT count(*) FROM Run") == [(3,)]


def test_copies_wait_behind_all_else(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A page of the same content as an earlier one is marked, and what it links to comes last; nothing is lost."""
    same = page("next")
    site = {
        "/": page("/one/", "/two/", "/deep"),
        "/one/": same,
        "/two/": same,
        "/deep": page("/deeper"),
        "/deeper": page("/x"),
    }
    server = web(site | {"/one/next": page(more="1"), "/two/next": page(more="2"), "/x": page(more="3")})
    crawl(server.url)
    assert server.asked()[1:] == ["/", "/one/", "/two/", "/deep", "/one/next", "/deeper", "/x", "/two/next"]
    assert rows("SELECT url FROM CrawlerLink JOIN Page ON id = link_id WHERE copy_of IS NOT NULL") == [
        (f"{server.url}two/",)
    ]
    assert rows(
        "SELECT c.copy_of = o.id FROM Page c, CrawlerLink o WHERE c.copy_of IS NOT NULL AND o.url LIKE '%/one/'"
    ) == [(1,)]


def test_dedup_can_be_off(web: Web, crawl: Crawl, rows: Rows) -> None:
    """With dedup off no page is taken for a copy."""
    server = web({"/": page("/a", "/b"), "/a": page(), "/b": page()})
    crawl(server.url, dedup="off")
    assert rows("SELECT count(copy_of) FROM Page") == [(0,)]


NO_FOLLOW = [
    (page(more='<a rel="nofollow" href="/x">x</a>'), (), "nofollow"),
    (page(more='<a rel="UGC" href="/x">x</a>'), (), "nofollow"),
    (page(more='<a rel="noopener sponsored" href="/x">x</a>'), (), "nofollow"),
    (page("/x", more='<meta name="robots" content="nofollow">'), (), "meta-robots"),
    (page("/x", more='<meta name="Multimedia-Spider" content="NONE">'), (), "meta-robots"),
    (page("/x"), (("X-Robots-Tag", "noarchive, nofollow"),), "meta-robots"),
    (page("/x"), (("X-Robots-Tag", "multimedia-spider: nofollow"),), "meta-robots"),
    (page("/x"), (("X-Robots-Tag", "otherbot: nofollow"),), None),
    (page("/x", more='<meta name="otherbot" content="nofollow">'), (), None),
    (page("/x", more='<meta name="robots" content="all">'), (), None),
]


@pytest.mark.parametrize(("body", "headers", "rule"), NO_FOLLOW)
def test_pages_say_what_is_not_followed(
    web: Web, crawl: Crawl, rows: Rows, body: str, headers: tuple[tuple[str, str], ...], rule: str | None
) -> None:
    """rel, meta robots and X-Robots-Tag are obeyed where they speak to us, and named as the rule."""
    server = web({"/": Reply(body, headers=headers), "/x": page()})
    crawl(server.url)
    assert paths(server)["/x"] == (rule is None)
    assert [found for (found,) in rows("SELECT rule FROM Skipped")] == ([rule] if rule else [])


def test_they_can_be_ignored(web: Web, crawl: Crawl) -> None:
    """Each is a setting."""
    body = page(more='<meta name="robots" content="nofollow"><a rel="nofollow" href="/x">x</a>')
    server = web({"/": body, "/x": page()})
    crawl(server.url, nofollow="ignore", meta_robots="ignore")
    assert paths(server) == {"/": 1, "/x": 1}


def test_noindex_keeps_media_out(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A page that is not to be indexed is followed, but its media are not recorded; the last line counts it."""
    body = page("/x", more='<meta name="robots" content="noindex">' + film("v"))
    crawler, _ = crawl(web({"/": body, "/x": page(more=film("w"))}).url)
    assert [url.rpartition("/")[2] for (url,) in rows("SELECT url FROM Video")] == ["w.mp4"]
    assert "1 noindex" in crawler.last_line()
