"""What a crawl does on a real server, one law at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from spider import page as pages
from spider.crawl import Crawler
from spider.model import Failed, Outcome, Skipped
from spider.store import Database, Tally, takedown
from tests.crawl.conftest import times
from tests.crawl.pages import moved, page, paths
from tests.server import Raw, Reply, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]


def test_errors_have_their_class_and_heal_where_they_may(web: Web, crawl: Crawl, rows: Rows) -> None:
    """404 is asked once; 503, a reset and a broken body `retries` times more; each keeps its class."""
    good = iter([Reply("", status=503), Reply("", status=500), page()])
    answers = {
        "/": page("/404", "/503", "/reset", "/heals", "/short"),
        "/503": Reply("", status=503),
        "/reset": Raw(b"", reset=True),
        "/short": Raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\nshort"),
    }
    server = web(lambda asked: next(good) if asked.path == "/heals" else answers.get(asked.path))
    crawler, outcomes = crawl(server.url, retries=2)
    assert crawler.exit_code == 0
    asked = paths(server)
    # A request on a connection that was open already may find it dead, and is sent once more on a new one.
    assert 3 <= asked.pop("/reset") <= 6
    assert asked == {"/": 1, "/404": 1, "/503": 3, "/heals": 3, "/short": 1}
    reasons = {
        row[0].removeprefix(server.url): row[1:]
        for row in rows(
            "SELECT url, reason, message, retry_at, status FROM CrawlerLink LEFT JOIN Page ON id = link_id"
            " WHERE state = 4"
        )
    }
    assert reasons["404"] == (8, "HTTP status 404", None, 404)
    assert reasons["503"] == (7, "HTTP status 503", None, 503)
    assert reasons["short"][0] == 11
    assert reasons["reset"][0] in {2, 10}
    assert sum(isinstance(o, Failed) for o in outcomes) == 1 + 3 + 3 + 2 + 1


def test_robots_closes_what_it_says(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A closed link is never asked for; it stands in E with its reason, and its rule is kept."""
    robots = Reply("User-agent: multimedia-spider\nDisallow: /closed/", type="text/plain")
    server = web({"/robots.txt": robots, "/": page("/closed/a", "/open"), "/open": page()})
    crawler, _ = crawl(server.url)
    assert server.asked() == ["/robots.txt", "/", "/open"]
    assert rows("SELECT url, reason FROM CrawlerLink WHERE state = 4") == [(f"{server.url}closed/a", 12)]
    assert rows("SELECT url, rule, count FROM Skipped") == [(f"{server.url}closed/a", "robots", 1)]
    assert "1 robots" in crawler.last_line()


def test_robots_that_fails_closes_the_host(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A robots.txt that answers 5xx closes its host (RFC 9309, 2.3.1.4); its seed could not be fetched: exit code 3."""
    server = web({"/robots.txt": Reply("", status=500), "/": page()})
    crawler, _ = crawl(server.url)
    assert set(server.asked()) == {"/robots.txt"}
    assert rows("SELECT state, reason, message FROM CrawlerLink") == [(4, 13, "robots.txt: HTTP status 500")]
    assert crawler.exit_code == 3


def test_robots_can_be_ignored(web: Web, crawl: Crawl) -> None:
    """`robots="ignore"` asks for no robots.txt at all."""
    closed = {"/robots.txt": "User-agent: *\nDisallow: /", "/": page()}
    server = web(closed, skip={"robots": "the test ignores it on purpose"})
    crawl(server.url, robots="ignore")
    assert server.asked() == ["/"]


def test_a_link_that_serves_a_medium_is_one(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A link without an extension that answers with a medium's type becomes a medium of the page that showed it."""
    film = Reply(b"\0" * 5000, type="video/mp4")
    server = web({"/": page("/get?id=7", "/moved"), "/get": film, "/moved": moved("/real"), "/real": film})
    crawl(server.url)
    query = (
        "SELECT l.url, v.url, v.text, v.source, v.mime FROM Video v JOIN CrawlerLink l ON l.id = page_id ORDER BY v.id"
    )
    assert rows(query) == [
        (server.url, f"{server.url}get?id=7", "/get?id=7", "a@href", "video/mp4"),
        (server.url, f"{server.url}real", "/moved", "a@href", "video/mp4"),
    ]


def test_media_are_recorded_not_visited(web: Web, crawl: Crawl) -> None:
    """A link known to be a medium by its address is never asked for, unless the plan says so."""
    server = web({"/": page("/a.mp4", "/b.mp3", "/c.swf", "/d.html"), "/d.html": page()})
    crawl(server.url)
    assert paths(server) == {"/": 1, "/d.html": 1}


def test_breadth_first(web: Web, crawl: Crawl) -> None:
    """Links are asked for nearest first, and at one depth in the order of their pages."""
    tree = {"/": page("/a", "/b"), "/a": page("/a/1", "/a/2"), "/b": page("/b/1"), "/a/1": page("/z")}
    server = web(tree | {path: page() for path in ("/a/2", "/b/1", "/z")})
    crawl(server.url)
    assert server.asked()[1:] == ["/", "/a", "/b", "/a/1", "/a/2", "/b/1", "/z"]


def test_depth_first(web: Web, crawl: Crawl) -> None:
    """`order="depth"` goes down the first link first, as paper 3 does."""
    tree = {"/": page("/a", "/b"), "/a": page("/a/1", "/a/2"), "/b": page("/b/1"), "/a/1": page("/z")}
    server = web(tree | {path: page() for path in ("/a/2", "/b/1", "/z")})
    crawl(server.url, order="depth")
    assert server.asked()[1:] == ["/", "/a", "/a/1", "/z", "/a/2", "/b", "/b/1"]


def chain(length: int) -> dict[str, str]:
    """Make pages 0, 1, 2 … each with a link to the next."""
    return {f"/{n or ''}": page(f"/{n + 1}") for n in range(length)} | {f"/{length}": page()}


def test_a_raised_depth_limit_reaches_deeper(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Links past the limit are refused by rule; a greater limit later reads again only where they were cut."""
    server = web(chain(6))
    crawl(server.url, depth=2)
    assert paths(server) == {"/": 1, "/1": 1, "/2": 1}
    assert rows("SELECT url, rule FROM Skipped") == [(f"{server.url}3", "depth")]
    crawl(server.url, depth=4)
    assert paths(server) == {"/": 1, "/1": 1, "/2": 2, "/3": 1, "/4": 1}


def test_a_page_met_nearer_is_not_cut(web: Web, crawl: Crawl) -> None:
    """A page first met at the depth limit and then nearer, by a slower way, shows its links after all."""
    one: dict[str, Any] = {"/b": page("/c"), "/c": page("/d"), "/d": page("/e"), "/e": page("/f"), "/f": page()}
    two: dict[str, Any] = {}
    server = web({"127.0.0.1": one, "127.0.0.2": two})
    one["/"] = page(f"{server.urls[1]}slow", "/b")
    two["/slow"] = Reply(page(f"{server.urls[0]}d"), delay=0.7)
    crawl(server.url, depth=4, scope="any")
    assert paths(server)["/f"] == 1


@pytest.mark.parametrize("number", [1, 3])
def test_max_pages_is_exact(web: Web, crawl: Crawl, number: int) -> None:
    """`max_pages` ends a crawl after just so many pages, with code 4 while links wait; the next goes on."""
    server = web({"/": page(*(f"/{n}" for n in range(8)))} | {f"/{n}": page() for n in range(8)})
    crawler, _ = crawl(server.url, max_pages=number)
    assert (crawler.exit_code, crawler.why) == (4, "max-pages")
    assert sum(paths(server).values()) == number
    crawler, _ = crawl()
    assert crawler.exit_code == 0
    assert paths(server) == {"/": 1} | {f"/{n}": 1 for n in range(8)}


def test_max_time_ends_a_crawl(web: Web, crawl: Crawl) -> None:
    """`max_time` ends a crawl, with code 4 while links wait."""
    server = web({"/": page(*(f"/{n}" for n in range(50)))} | {f"/{n}": Reply(page(), delay=0.1) for n in range(50)})
    crawler, _ = crawl(server.url, max_time=0.5)
    assert sum(paths(server).values()) < 51
    assert (crawler.exit_code, crawler.why) == (4, "max-time")


def test_a_seed_that_does_not_resolve(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A seed without an address fails with its class and code 3; the others are crawled."""
    server = web({"/": page()})
    crawler, _ = crawl("http://nowhere.invalid/", server.url, retries=0)
    assert crawler.exit_code == 3
    assert rows("SELECT url, state, reason FROM CrawlerLink ORDER BY id") == [
        ("http://nowhere.invalid/", 4, 1),
        (server.url, 3, None),
    ]


def test_waiting_hosts_block_nobody(web: Web, crawl: Crawl) -> None:
    """A host that waits for its delay holds no thread: one thread serves eight hosts in the time of one."""
    pages_ = {"/": page("/1", "/2"), "/1": page(), "/2": page()}
    server = web(pages_, hosts=8)
    crawl(*server.urls, threads=1, delay=0.4)
    moments = [request.time for request in server.requests]
    assert len(moments) == 32
    assert max(moments) - min(moments) < 8 * 3 * 0.4 / 2


def test_the_delay_is_kept(web: Web, crawl: Crawl) -> None:
    """Two requests to a host, robots.txt among them, are at least the delay apart; Crawl-delay makes it longer."""
    pages_ = {"/": page("/1", "/2"), "/1": page(), "/2": page()}
    robots = {"/robots.txt": Reply("User-agent: *\nCrawl-delay: 0.3", type="text/plain")}
    server = web({"127.0.0.1": pages_, "127.0.0.2": pages_ | robots})
    crawl(*server.urls, delay=0.15)
    for host, gap in (("127.0.0.1", 0.15), ("127.0.0.2", 0.3)):
        moments = [r.time for r in server.requests if r.host == host]
        assert len(moments) == 4
        first = 1 if gap > 0.15 else 0  # the Crawl-delay is known once robots.txt was read
        assert min(b - a for a, b in zip(moments[first:], moments[first + 1 :], strict=False)) >= gap - 0.005


def test_per_host_opens_more_connections(web: Web, crawl: Crawl) -> None:
    """`per_host` lets that many requests to one host go at once, and no more."""
    server = web(
        {"/": page(*(f"/{n}" for n in range(12)))} | {f"/{n}": Reply(page(), delay=0.1) for n in range(12)}, per_host=3
    )
    crawl(server.url, per_host=3)
    moments = [request.time for request in server.requests if request.path not in {"/robots.txt", "/"}]
    assert min(b - a for a, b in itertools.pairwise(moments)) < 0.1, "no two at once"


def test_include_and_exclude(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A link is visited where some include is found in it and no exclude; the rule that refuses is kept."""
    server = web({"/": page("/yes/1", "/yes/no", "/other"), "/yes/1": page()})
    crawl(server.url, include=["/yes/"], exclude=["no$"])
    assert paths(server) == {"/": 1, "/yes/1": 1}
    assert rows("SELECT url, rule FROM Skipped ORDER BY rule") == [
        (f"{server.url}yes/no", "exclude"),
        (f"{server.url}other", "include"),
    ]


def test_a_seed_has_its_own_options(web: Web, crawl: Crawl) -> None:
    """Depth and scope of a seed's own line stand above the plan's."""
    server = web({"/a/": page("/b", "deep"), "/b": page(), "/a/deep": page("/a/deeper")})
    crawl(f"{server.url}a/", options={"depth": 1, "scope": "host"})
    assert paths(server) == {"/a/": 1, "/b": 1, "/a/deep": 1}


def test_overlapping_seeds_lose_nothing(web: Web, crawl: Crawl) -> None:
    """A page in one seed's tree leads into another's: its link is not lost, and each page is visited once."""
    server = web(
        {"/a/": page("/b/hidden"), "/b/": page("/a/x"), "/a/x": page("/b/deep"), "/b/deep": page(), "/b/hidden": page()}
    )
    crawl(f"{server.url}a/", f"{server.url}b/")
    assert paths(server) == dict.fromkeys(["/a/", "/b/", "/a/x", "/b/hidden", "/b/deep"], 1)


def test_what_is_forgotten_is_not_visited_again(web: Web, crawl: Crawl, tmp_path: Any, rows: Rows) -> None:  # noqa: ANN401
    """A forgotten address is gone from the database and is refused by its rule from then on, as seed and as link."""
    server = web({"/": page("/gone", "/kept"), "/gone": page(more="<audio src=x.mp3>"), "/kept": page("/gone")})
    crawl(server.url)
    with Database.open(str(tmp_path / "x.db")) as database, database.write() as connection:
        tally = Tally()
        assert takedown.forget(connection, f"{server.url}gone", tally, now=1).links == 1
        tally.flush(connection)
    assert rows("SELECT count(*) FROM Audio") == [(0,)]
    _, outcomes = crawl(f"{server.url}kept", f"{server.url}gone", refresh=0)
    assert paths(server) == {"/": 2, "/gone": 1, "/kept": 2}
    assert {o.rule for o in outcomes if isinstance(o, Skipped)} == {"forgotten"}


def test_what_was_cut_is_counted(web: Web, crawl: Crawl) -> None:
    """A page longer than `max_size` is read as far as it goes, and the last line counts it."""
    long = page("/a") + "<p>" + "x" * 5000 + "</p>" + page("/b")
    server = web({"/": long, "/a": page()})
    crawler, _ = crawl(server.url, max_size=2000)
    assert paths(server) == {"/": 1, "/a": 1}
    assert "1 max-size" in crawler.last_line()


def test_an_accident_with_one_page_is_kept_and_the_crawl_goes_on(
    web: Web, crawl: Crawl, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a page does to the reader is that page's error; the others are read."""
    read = pages.read

    def fall(body: bytes, url: str, **more: Any) -> Any:  # noqa: ANN401
        if url.endswith("/bad"):
            message = "an accident"
            raise RuntimeError(message)
        return read(body, url, **more)

    monkeypatch.setattr(pages, "read", fall)
    server = web({"/": page("/bad", "/good"), "/bad": page(), "/good": page()})
    crawl(server.url)
    assert paths(server) == {"/": 1, "/bad": 1, "/good": 1}
    assert [(url, reason) for url, reason in rows("SELECT url, reason FROM CrawlerLink WHERE state = 4")] == [
        (f"{server.url}bad", 15)
    ]
    assert "an accident" in rows("SELECT message FROM CrawlerLink WHERE state = 4")[0][0]


def test_a_failed_seed_given_again_is_tried_again(web: Web, crawl: Crawl) -> None:
    """A seed that failed is asked for again when it is given again, and not when nobody asks."""
    server = web({})
    assert crawl(server.url)[0].exit_code == 3
    assert crawl()[0].exit_code == 3
    assert times(server) == {server.url: 1}
    crawl(server.url)
    assert times(server) == {server.url: 2}


@pytest.mark.parametrize("longer", ["cap", "skip"])
def test_a_delay_beyond_all_measure(web: Web, crawl: Crawl, longer: str) -> None:
    """A Crawl-delay longer than is granted is waited for as long as is granted, or its host skipped; either is said."""
    robots = Reply("User-agent: *\nCrawl-delay: 99999", type="text/plain")
    server = web({"/robots.txt": robots, "/": page("/a"), "/a": page()})
    crawler, _ = crawl(server.url, delay=0.01, longest_delay=0.1, longer_delay=longer)
    assert paths(server) == ({"/": 1, "/a": 1} if longer == "cap" else {})
    assert "1 crawl-delay" in crawler.last_line()
