"""Laws of candidates: what a search engine says is data, and a check is as polite as a crawl."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from spider.crawl.candidates import Check, Courtesy, check, search
from spider.errors import FetchError
from spider.fetch import Client, ClientSettings, Pace
from spider.model import MediaKind, Reason
from tests.server import Asked, Raw, Reply, WebServer

Web = Callable[..., WebServer]
Polite = Callable[..., Courtesy]


class Time:
    """A clock that waits for nobody: sleeping moves it, and it remembers for how long it was slept."""

    def __init__(self) -> None:
        """Begin at an odd moment."""
        self.now = 1000.5
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds

    def steady(self) -> float:
        """Return the moment."""
        return self.now


@pytest.fixture
def polite() -> Iterator[Polite]:
    """Give a function that makes a courtesy without waiting; its keywords are the courtesy's own, and `delay`."""
    clients: list[Client] = []

    def make(delay: float = 0.0, **more: Any) -> Courtesy:  # noqa: ANN401  # handed on
        for client in clients:
            client.close()  # a second one is another visitor, who must not overlap
        clients.append(Client(ClientSettings(timeout=5)))
        clock = Time()
        return Courtesy(clients[-1], Pace(delay), **{"steady": clock.steady, "sleep": clock.sleep, **more})

    yield make
    for client in clients:
        client.close()


# --- searching ---------------------------------------------------------------


class Engine:
    """A SearXNG instance's JSON API, as far as it goes: pages of results by `pageno`, and what else it may say."""

    def __init__(self, *pages: Sequence[object], answer: Reply | None = None) -> None:
        """Answer with these pages of results, or always with one answer."""
        self.pages, self.answer = pages, answer

    def __call__(self, asked: Asked) -> Reply | None:
        """Answer a search; its robots.txt closes searches, as SearXNG's own does."""
        if asked.path == "/robots.txt":
            return Reply("User-agent: *\nDisallow: /*?*q=*\n", type="text/plain")
        parts = urlsplit(asked.path)
        if parts.path != "/sx/search":
            return None
        if self.answer is not None:
            return self.answer
        given = parse_qs(parts.query)
        if given.get("format") != ["json"]:
            return Reply("<html>")
        number = int(given.get("pageno", ["1"])[0])
        results = self.pages[number - 1] if number <= len(self.pages) else []
        body = {"query": given["q"][0], "number_of_results": 0, "results": results, "unresponsive_engines": []}
        return Reply(json.dumps(body), type="application/json")


API = {"robots": "the API is there for programs; its robots.txt speaks to crawlers"}


@pytest.mark.parametrize("path", ["sx/", "sx/search", "sx/search?language=de", "sx/?x=1"])
def test_a_search_is_asked_as_the_api_wants_it(path: str, web: Web, polite: Polite) -> None:
    """Words, format and page number go to the instance's own search, wherever it stands."""
    engine = web(Engine([{"url": "https://films.example/", "title": "Films", "content": "of old"}]), skip=API)
    (found,) = search(polite(), f"{engine.url}{path}", "café & films", count=1)
    assert (found.url, found.title, found.text) == ("https://films.example/", "Films", "of old")
    (asked,) = engine.asked()
    assert urlsplit(asked).path == "/sx/search"
    assert parse_qs(urlsplit(asked).query) == {"q": ["café & films"], "format": ["json"], "pageno": ["1"]}


def test_pages_are_asked_until_one_is_empty(web: Web, polite: Polite) -> None:
    """Results come in their order, each address once by its key; an empty page is the last."""
    one = [{"url": "HTTP://A.example:80/x"}, {"url": "http://b.example/"}]
    two = [{"url": "http://a.example/x#part"}, {"url": "http://c.example/"}]
    engine = web(Engine(one, two), skip=API)
    found = [candidate.url for candidate in search(polite(), f"{engine.url}sx/", "w", count=9)]
    assert found == ["http://a.example/x", "http://b.example/", "http://c.example/"]
    assert len(engine.asked()) == 3
    assert len(list(search(polite(), f"{engine.url}sx/", "w"))) == 2


def test_results_are_hostile_data(web: Web, polite: Polite) -> None:
    """What names no address of the web is passed over; titles are cleaned and cut."""
    results: list[object] = [
        {"url": "javascript:alert(1)"},
        {"url": "http://me:pw@login.example/"},
        {"url": "http://[::1/"},
        {"url": None},
        {"url": ["http://x.example/"]},
        {},
        None,
        7,
        "http://y.example/",
        {"url": "http://good.example/", "title": "a\0\ud800\n b" + "x" * 5000, "content": 7},
    ]
    engine = web(Engine(results), skip=API)
    (found,) = search(polite(), f"{engine.url}sx/", "w")
    assert found.url == "http://good.example/"
    assert found.title.startswith("a\ufffd\ufffd bx")
    assert (len(found.title), found.text) == (300, "")


@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        (Reply("no", status=403), Reason.CLIENT, "settings.yml"),
        (Reply("no", status=404), Reason.CLIENT, "HTTP status 404"),
        (Reply("slowly", status=429), Reason.CLIENT, "HTTP status 429"),
        (Reply("oh", status=500), Reason.SERVER, "HTTP status 500"),
        (Reply("<html>an HTML page"), Reason.CONTENT, "no JSON"),
        (Reply("[" * 100_000, type="application/json"), Reason.CONTENT, "no JSON"),
        (Reply("[]", type="application/json"), Reason.CONTENT, "no list of results"),
        (Reply('{"results": {}}', type="application/json"), Reason.CONTENT, "no list of results"),
        (Reply(b"\xff\xfe\x00", type="application/json"), Reason.CONTENT, "no JSON"),
        (Reply(status=302, headers=(("Location", "/sx/search?again"),)), Reason.REDIRECT, "redirects"),
    ],
)
def test_an_engine_that_gives_none_is_told(
    answer: Reply, reason: Reason, said: str, web: Web, polite: Polite
) -> None:  # fmt: skip
    """Whatever comes in place of results is a FetchError with its class and a word on it."""
    engine = web(Engine(answer=answer), skip=API)
    with pytest.raises(FetchError) as caught:
        list(search(polite(), f"{engine.url}sx/", "w"))
    assert (caught.value.reason, said in caught.value.message) == (reason, True)


# --- checking ----------------------------------------------------------------

SITE: dict[str, Any] = {
    "/robots.txt": "User-agent: *\nDisallow: /films/closed\n",
    "/films/": "<title>Old films</title><a href=a>a</a> <a href=b>b</a> <a href=closed>c</a> <a href=/up>u</a>"
    " <a href=x.mp4>x</a> <a href=http://other.example/>o</a> <a rel=nofollow href=n>n</a> <audio src=y.ogg></audio>",
    "/films/a": "<video src=v.mp4></video><object data=g.swf type=application/x-shockwave-flash></object>",
    "/films/b": Reply(status=404),
}


def test_a_good_candidate(web: Web, polite: Polite) -> None:
    """A check shows what answers, what robots.txt says, and the media of its page and of some of its tree."""
    site = web(SITE)
    found = check(polite(), f"{site.url}films/")
    assert (found.resolves, found.status, found.html, found.allowed, found.title) == (
        True,
        200,
        True,
        True,
        "Old films",
    )
    assert found.good
    seen = {looked.url.removeprefix(site.url): (dict(looked.media), looked.problem) for looked in found.sample}
    assert seen == {
        "films/": ({"video": 1, "audio": 1}, None),
        "films/a": ({"video": 1, "flash": 1}, None),
        "films/b": ({}, "HTTP status 404, text/html"),
        "films/closed": ({}, "robots: robots.txt closes it"),
    }
    assert found.media == {MediaKind.VIDEO: 2, MediaKind.AUDIO: 1, MediaKind.FLASH: 1}
    assert site.asked() == ["/robots.txt", "/films/", "/films/a", "/films/b"]


def bad(answer: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # whatever the server takes
    """Return a site whose one page gives an answer."""
    return {"/": answer, **more}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (bad(Reply(status=404)), {"status": 404, "allowed": True, "html": True}),
        (bad(Reply(b"%PDF", type="application/pdf")), {"status": 200, "allowed": True, "html": False}),
        (bad("<p>nothing to see"), {"status": 200, "allowed": True, "html": True, "problem": None}),
        (bad("x", **{"/robots.txt": "User-agent: *\nDisallow: /\n"}), {"status": None, "allowed": False}),
        (bad("x", **{"/robots.txt": Reply(status=503)}), {"status": None, "allowed": False}),
        (bad(Raw(b"")), {"status": None, "allowed": None}),
        (bad(Reply(status=302, headers=(("Location", "/?1"),))), {"status": None, "allowed": None}),
    ],
    ids=["404", "pdf", "no-media", "closed", "robots-503", "no-answer", "endless"],
)
def test_a_bad_candidate(content: dict[str, Any], expected: dict[str, object], web: Web, polite: Polite) -> None:
    """What speaks against a candidate is told, and it is not good; nothing is raised."""
    found = check(polite(), web(content).url)
    assert not found.good
    assert {name: getattr(found, name) for name in expected} == expected
    assert (found.problem is None) == (expected.get("problem", "") is None)


def test_a_name_that_does_not_resolve(polite: Polite) -> None:
    """A host that there is not is told apart from one that does not answer."""
    found = check(polite(), "http://nowhere.invalid/")
    assert (found.resolves, found.status, found.good) == (False, None, False)
    assert found.problem is not None
    assert found.problem.startswith("dns: ")


def test_redirects_lead_to_what_is_checked(web: Web, polite: Polite) -> None:
    """A candidate that moved is checked where it landed, robots.txt and tree of that place."""
    new = {"/n/": "<a href=p>p</a><a href=/other>o</a>", "/n/p": "<video src=v.mp4></video>"}
    there = web({"127.0.0.2": new})
    here = web({"/": Reply(status=301, headers=(("Location", f"{there.url}n/"),))})
    found = check(polite(), here.url)
    assert (found.url, found.landed, found.good) == (here.url, f"{there.url}n/", True)
    assert there.asked() == ["/robots.txt", "/n/", "/n/p"]


def test_the_sample_is_small_and_spread(web: Web, polite: Polite) -> None:
    """As many pages as asked for are looked at, from the whole page and not its top alone, each once."""
    links = "".join(f"<a href=p{number}>x</a>" * 2 for number in range(100))
    site = web(lambda asked: Reply(links if asked.path == "/" else "x") if asked.path != "/robots.txt" else None)
    check(polite(), site.url, count=4)
    assert site.asked() == ["/robots.txt", "/", "/p0", "/p25", "/p50", "/p75"]
    assert len(check(polite(), site.url, count=0).sample) == 1


def test_a_check_keeps_the_delay(web: Web, polite: Polite) -> None:
    """Between two requests to a host lies its delay, robots.txt included; a Crawl-delay makes it longer."""
    clock = Time()
    site = web({**SITE, "/robots.txt": "User-agent: *\nCrawl-delay: 7\n"})
    check(polite(2.0, steady=clock.steady, sleep=clock.sleep), f"{site.url}films/", count=1)
    assert clock.slept == [pytest.approx(7.0)] * 2
    clock.slept.clear()
    check(polite(0.0, steady=clock.steady, sleep=clock.sleep), f"{site.url}films/", count=1)
    assert clock.slept == []


def test_who_asks_for_too_much_is_left_alone(web: Web, polite: Polite) -> None:
    """A site whose Crawl-delay is longer than is granted is not looked at, where such are to be skipped."""
    site = web({**SITE, "/robots.txt": "User-agent: *\nCrawl-delay: 99999\n"})
    found = check(polite(skip=True), f"{site.url}films/")
    assert (found.good, found.allowed) == (False, False)
    assert found.problem == "robots: robots.txt asks for 99,999 s between two requests: too long"
    assert site.asked() == ["/robots.txt"]
    assert check(polite(skip=False), f"{site.url}films/").good


def test_on_a_real_clock_gaps_are_the_delay(web: Web, polite: Polite) -> None:
    """On the machine's own clock the server sees no two requests nearer than the delay."""
    site = web({**SITE, "/robots.txt": ""})
    check(polite(0.15, steady=time.monotonic, sleep=time.sleep), f"{site.url}films/", count=2)
    times = [asked.time for asked in site.requests]
    assert len(times) == 4
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= 0.145


def test_others_may_ask_for_patience(web: Web, polite: Polite) -> None:
    """A host that is being crawled is left alone, and one that wants a pause gets it before the first request."""
    clock = Time()
    site = web(SITE)

    def taken(_: str) -> float:
        raise FetchError(Reason.RATE, "a crawl is asking this host now")

    assert check(polite(1.0, ready=taken), site.url).problem == "rate: a crawl is asking this host now"
    assert site.asked() == []
    polite_one = polite(1.0, steady=clock.steady, sleep=clock.sleep, ready=lambda _: 40.0)
    check(polite_one, f"{site.url}films/", count=0)
    assert clock.slept[0] == pytest.approx(40.0)


def test_what_is_good_needs_all_of_it() -> None:
    """A check without a sample is not good, whatever else it says."""
    assert not Check("http://x.example/", "http://x.example/", allowed=True, status=200, html=True).good
