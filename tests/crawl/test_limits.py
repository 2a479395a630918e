"""What a run may read: bytes, and pages of each host; all its workers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from subprocess import CompletedProcess
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.model import Outcome
from tests.crawl.pages import page, paths
from tests.server import WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]
Spider = Callable[..., CompletedProcess[str]]

SITE = {"/": page(*(f"/{n}" for n in range(8)))} | {f"/{n}": page(more="x" * 1000) for n in range(8)}


def hosts(server: WebServer) -> Counter[str]:
    """Count the pages asked for by host."""
    return Counter(request.host for request in server.requests if request.path != "/robots.txt")


@pytest.mark.parametrize("number", [1, 3])
def test_pages_of_a_host_are_limited(web: Web, crawl: Crawl, rows: Rows, number: int) -> None:
    """Of each host just so many pages are read, code 4 says that links wait, and the next crawl goes on with them."""
    server = web({"127.0.0.1": SITE, "127.0.0.2": SITE, "127.0.0.3": {"/": page()}})
    crawler, _ = crawl(*server.urls, max_host_pages=number)
    assert (crawler.exit_code, crawler.why) == (4, "max-host-pages")
    assert hosts(server) == {"127.0.0.1": number, "127.0.0.2": number, "127.0.0.3": 1}
    assert rows("SELECT count(*) FROM CrawlerLink WHERE state = 1")[0][0] > 0
    crawler, _ = crawl()
    assert (crawler.exit_code, crawler.why) == (0, "done")
    assert hosts(server) == {"127.0.0.1": 9, "127.0.0.2": 9, "127.0.0.3": 1}
    assert set(paths(server).values()) <= {2, 3}
    assert rows("SELECT count(*) FROM Quota") == [(0,)]


def test_a_limit_that_is_not_reached_says_nothing(web: Web, crawl: Crawl) -> None:
    """A host with just as many pages as may be read is read, and the crawl is done."""
    server = web(SITE)
    crawler, _ = crawl(server.url, max_host_pages=9, max_bytes=1_000_000)
    assert (crawler.exit_code, crawler.why) == (0, "done")
    assert sum(paths(server).values()) == 9


def test_what_is_no_page_does_not_count(web: Web, crawl: Crawl) -> None:
    """Links that fail or are refused take nothing of a host's share."""
    site = {"/": page("/no", "/never", "/closed/x", "/1", "/2"), "/1": page(), "/2": page()}
    server = web(site | {"/robots.txt": "User-agent: *\nDisallow: /closed/"})
    crawler, _ = crawl(server.url, max_host_pages=3)
    assert (crawler.exit_code, crawler.why) == (0, "done")
    assert paths(server) == dict.fromkeys(["/", "/no", "/never", "/1", "/2"], 1)


def test_bytes_are_limited(web: Web, crawl: Crawl) -> None:
    """A run ends soon after it has read so much, with code 4 while links wait; the next one goes on."""
    server = web(SITE)
    crawler, _ = crawl(server.url, max_bytes=2500)
    assert (crawler.exit_code, crawler.why) == (4, "max-bytes")
    assert 4 <= sum(paths(server).values()) <= 9
    crawler, _ = crawl()
    assert (crawler.exit_code, crawler.why) == (0, "done")
    assert paths(server) == dict.fromkeys(SITE, 1)


def test_the_limits_hold_for_all_workers_together(web: Web, spider: Spider) -> None:
    """Several worker processes read no more of a host than one would, and say which limit ended the crawl."""
    server = web(SITE, hosts=6)
    done = spider(
        *("crawl", "--delay", "0", "--no-sitemaps", "--workers", "2", "--max-host-pages", "4", *server.urls), timeout=90
    )
    assert done.returncode == 4, done.stderr
    assert "ended by max-host-pages" in done.stderr
    assert hosts(server) == {f"127.0.0.{n}": 4 for n in range(1, 7)}
    done = spider("crawl", "--delay", "0", "--no-sitemaps", "--max-bytes", "1k")
    assert done.returncode == 4, done.stderr
    assert "ended by max-bytes" in done.stderr
