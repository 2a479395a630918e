"""Pages that are nearly copies of others, in a crawl with `dedup="near"`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.model import Outcome
from tests.crawl.pages import page, paths
from tests.server import Asked, Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]
Site = Callable[..., tuple[Path, dict[str, Any]]]

WORDS = [a + b for a in ("river", "stone", "light", "sand", "pier") for b in ("ing", "ed", "er", "ly", "ness", "ward")]
COPIES = "SELECT c.url, o.url FROM Page JOIN CrawlerLink c ON c.id = link_id JOIN CrawlerLink o ON o.id = copy_of"


def prose(seed: int, count: int = 400) -> str:
    """Write words without meaning."""
    dice = random.Random(seed)
    return " ".join(dice.choice(WORDS) for _ in range(count))


def test_near_copies_are_copies(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A page that differs from an earlier one in its clock is its copy; its links come last, and none is lost."""
    site = {
        "/": page("/one/", "/two/", "/deep"),
        "/one/": page("/shared", more=f"<p>{prose(1)}<p>12:03:44"),
        "/two/": page("/shared", "own", more=f"<p>{prose(1)}<p>12:03:45, visitor 17"),
        "/deep": page("/deeper", more=prose(2)),
        "/deeper": page("/x", more=prose(3)),
        "/shared": page(more=prose(4)),
        "/two/own": page(more=prose(5)),
        "/x": page(more=prose(6)),
    }
    server = web(site)
    crawl(server.url, dedup="near")
    assert server.asked()[1:] == ["/", "/one/", "/two/", "/deep", "/shared", "/deeper", "/x", "/two/own"]
    assert rows(COPIES) == [(f"{server.url}two/", f"{server.url}one/")]


def test_exact_knows_no_near_copies(web: Web, crawl: Crawl, rows: Rows) -> None:
    """By default only equal content is a copy, and no fingerprint is reckoned."""
    server = web({"/": page("/a", "/b"), "/a": page(more=prose(1) + " 1"), "/b": page(more=prose(1) + " 2")})
    crawl(server.url)
    assert rows(COPIES) == []
    assert rows("SELECT count(simhash) FROM Page") == rows("SELECT count(*) FROM Likeness") == [(0,)]


def test_pages_of_other_media_are_no_copies(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Pages of one frame and one text that hold different media are not merged."""
    films = {f"/{n}": page(more=f"{prose(1)}<video src=/{n}.mp4></video>") for n in range(30)}
    server = web({"/": page(*films)} | films)
    crawl(server.url, dedup="near")
    assert rows(COPIES) == []
    assert rows("SELECT count(*) FROM Video") == [(30,)]


def test_a_page_that_changed_is_judged_anew(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A copy that says something else at the next crawl is none any more; one that became near is one."""
    site = {"/": page("/a", "/b", "/c"), "/a": page(more=prose(1) + " 1"), "/b": page(more=prose(1) + " 2")}
    server = web(site | {"/c": page(more=prose(2))})
    crawl(server.url, dedup="near")
    assert rows(COPIES) == [(f"{server.url}b", f"{server.url}a")]
    server.contents["127.0.0.1"] = site | {"/b": page(more=prose(3)), "/c": page(more=prose(1) + " 3")}
    crawl(dedup="near", refresh=0)
    assert rows(COPIES) == [(f"{server.url}c", f"{server.url}a")]
    assert rows("SELECT count(*) FROM Likeness") == [(4 * rows("SELECT count(DISTINCT link_id) FROM Likeness")[0][0],)]


def test_no_page_is_lost(web: Web, crawl: Crawl, rows: Rows, site: Site) -> None:
    """A generated site of 400 pages, alike in their frame, is crawled to its truth: every page once, every medium."""
    root, truth = site(pages=400)
    server = web(root)
    crawl(f"{server.url}index.html", dedup="near", depth=50)
    assert paths(server) == dict.fromkeys(truth["pages"], 1)
    assert rows(COPIES) == []
    for kind in ("video", "audio", "flash"):
        held = {(page, medium) for page, media in truth[kind].items() for medium in media}
        query = f"SELECT count(*) FROM (SELECT DISTINCT page_id, url FROM {kind})"  # noqa: S608  # three names
        assert rows(query) == [(len(held),)]


class Echo:
    """A site that answers every address with its front page's text, a clock and links to more of the kind."""

    def __init__(self) -> None:
        """Begin to count."""
        self.number = itertools.count()

    def __call__(self, asked: Asked) -> str | Reply | None:
        """Answer; the clock never shows the same twice."""
        path = asked.path.partition("?")[0]
        if path.startswith("/item"):
            more = "".join(f"<a href=/item/{n + next(self.number)}>x</a>" for n in range(1000, 1003))
            return page("/", "/about", more=f"<p>Sorry, that is gone. {prose(9)} {next(self.number)}{more}")
        if path.startswith("/list"):
            number = int(path.rpartition("/")[2])
            photos = [f"/photo/{number * 10 + n}" for n in range(10)]
            following = [f"/list/{number + 1}"] if number < 39 else []
            return page(*photos, *following, more=prose(8))
        if path.startswith("/photo"):
            return page("/", more=f"<video src={path}.mp4></video>")
        fixed = {"/": page("/item/1", "/list/0", "/about", more=prose(7)), "/about": page("/", more=prose(6))}
        return fixed.get(path)


@pytest.mark.parametrize("dedup", ["near", "exact"])
def test_pages_that_are_gone_and_say_so_with_a_clock(web: Web, crawl: Crawl, rows: Rows, dedup: str) -> None:
    """Soft 404s that lead to more of their kind without end are a trap that near copies tell; lists of new pages not.

    Forty pages of one list, alike but for the pages they lead to, are all read, and so is what they lead to.
    """
    server = web(Echo())
    crawler, _ = crawl(server.url, dedup=dedup, depth=1000, max_pages=700, max_time=60)
    asked = paths(server)
    items = sum(number for path, number in asked.items() if path.startswith("/item"))
    if dedup == "exact":
        assert crawler.why == "max-pages"
        return
    assert crawler.why == "done"
    assert items < 60
    assert rows("SELECT count(*) FROM Video") == [(400,)]
    assert {rule for (rule,) in rows("SELECT DISTINCT rule FROM Skipped")} == {"copies"}
