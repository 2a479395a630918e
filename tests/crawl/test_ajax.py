"""Laws of crawling applications: a browser is a fetcher, with the manners of one, and only where it is wanted."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider.ajax import require
from spider.crawl import Crawler
from spider.errors import BrowserError
from spider.model import Fetched, Outcome
from spider.store import Database, graphs
from tests.crawl.apps import APP, FILMS, JSON, SIMPLE, SITE, SMALL, START, STATIC, TEXT, script
from tests.replies import Answer, Asked, Reply
from tests.server import WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

try:
    require()
except BrowserError as error:
    pytest.skip(f"no browser: {error}", allow_module_level=True)

# --- what is found, and how it is asked for ---------------------------------------------------------


def test_an_application_is_explored(web: Web, crawl: Crawl, rows: Rows, tmp_path: Path) -> None:
    """Its document and script are asked for once; what its states show is recorded, with the state; robots.txt holds.

    For what scripts ask for, sockets and workers too: the server complains of everything that is closed.
    """
    server = web(SITE)
    server.watch(tmp_path / "x.db")
    crawler, _ = crawl(server.url, ajax="auto")
    asked = Counter(server.asked())
    assert asked == {"/robots.txt": 1, "/": 1, "/app.js": 1, "/api/films": 1, "/film/0": 1, "/film/1": 1}
    media = rows("SELECT V.url, S.depth FROM Video V LEFT JOIN State S ON S.id = V.state_id ORDER BY V.url")
    assert media == [(f"{server.url}media/one.mp4", 1), (f"{server.url}media/two.webm", 1)]
    assert rows("SELECT url, text FROM CrawlerLink WHERE depth = 1 ORDER BY url") == [
        (f"{server.url}film/0", "One"),
        (f"{server.url}film/1", "Two"),
    ]
    with Database.open(str(tmp_path / "x.db")) as database, database.read() as connection:
        (listed,) = graphs.pages_with_graphs(connection, 10)
        found = graphs.graph_of(connection, listed.page_id)
    assert found is not None
    assert (found.url, found.title, [state.depth for state in found.graph.states]) == (server.url, "Films", [0, 1, 1])
    resources = {(one.method, one.url.partition("://")[2], one.status, one.refused) for one in found.graph.resources}
    place = server.url.partition("://")[2]
    assert resources == {
        ("GET", f"{place}api/films", 200, None),
        ("GET", f"{place}private/list", None, "robots"),
        ("GET", f"{place}private/socket", None, None),
        ("POST", f"{place}api/save", None, "method"),
    }
    assert crawler.ajax_line() == "1 page looks like an Ajax application: 1 plain; 1 explored"


def test_a_static_site_starts_no_browser(web: Web, crawl: Crawl) -> None:
    """With auto, pages that say enough, or are no applications, are read as ever: no browser is started."""
    server = web(STATIC)
    crawler, outcomes = crawl(server.url, ajax="auto", browser="/bin/false")
    assert sum(isinstance(outcome, Fetched) for outcome in outcomes) == 4
    assert crawler.ajax_line() == "1 page looks like an Ajax application: 1 plain; 0 explored"


def test_a_page_that_leaves_all_to_scripts_is_explored(web: Web, crawl: Crawl, rows: Rows) -> None:
    """With auto, where an empty element waits to be filled, also by a script that asks for nothing."""
    own = """document.getElementById("app").innerHTML = '<video src="/late.mp4"></video>'"""
    server = web({"/": APP, "/app.js": script(own)})
    crawler, _ = crawl(server.url, ajax="auto")
    assert rows("SELECT url FROM Video") == [(f"{server.url}late.mp4",)]
    assert crawler.ajax_line() == "1 page looks like an Ajax application: 1 unknown; 1 explored"


def test_what_a_script_tells_robots_is_heard(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Directives that the start's scripts write hold as those of its document do."""
    told = "document.head.innerHTML += '<meta name=robots content=\"noindex, nofollow\">';"
    shown = """document.getElementById("app").innerHTML = '<video src="/late.mp4"></video><a href="/next">next</a>'"""
    server = web({"/": APP, "/app.js": script(told + shown), "/next": "x"})
    crawl(server.url, ajax="auto")
    assert rows("SELECT url FROM Video") == []
    assert "/next" not in server.asked()


def test_always_is_every_page(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Each page is explored, whatever it says; media that the document shows need no state."""
    server = web(STATIC)
    crawl(server.url, ajax="always")
    assert rows("SELECT count(DISTINCT page_id) FROM State") == [(4,)]
    assert rows("SELECT url, state_id FROM Video") == [(f"{server.url}a.mp4", None)]
    assert Counter(server.asked())["/"] == 1


def test_never_counts_what_looks_like_one(web: Web, crawl: Crawl) -> None:
    """At the end it is said how many pages look like applications, by library; where none do, nothing is."""
    react = '<script src="/react.production.min.js"></script>'
    jquery = '<script src="https://cdn.example/jquery-3.7.1.min.js"></script>'
    links = "".join(f'<a href="/{name}">{name}</a>' for name in "abcd")
    site = {"/": links, "/a": react, "/b": jquery + react, "/c": react, "/d": "<script>fetch('/x')</script>"}
    crawler, _ = crawl(web(site).url)
    assert crawler.ajax_line() == (
        "4 pages look like Ajax applications: 2 React, 1 jQuery, 1 plain (--ajax auto explores those that say little)"
    )
    crawler, _ = crawl(web({"/": "<p>plain"}).url, refresh=0.0)
    assert crawler.ajax_line() in {None, crawler.ajax_line()}


def test_documents_and_data_keep_the_pace(web: Web, crawl: Crawl) -> None:
    """What scripts ask for, and frames, wait as pages do; the next page waits behind them; scripts do not wait."""
    start = "<iframe src='/frame'></iframe>" + APP
    more = START + "for (const n of [1, 2, 3]) ask('/api/' + n); button('Go', () => ask('/api/4'));"
    data = {f"/api/{number}": Reply("[]", type=JSON) for number in range(1, 5)}
    server = web({"/": start + '<a href="/next">', "/app.js": script(more), "/frame": "<p>f", "/next": TEXT, **data})
    crawl(server.url, ajax="auto", delay=0.4)
    paced = [asked for asked in server.requests if asked.path != "/app.js"]
    gaps = [later.time - before.time for before, later in itertools.pairwise(paced)]
    asked = Counter(asked.path for asked in paced[1:])
    assert asked == {"/": 1, "/next": 1, "/frame": 2, **dict.fromkeys(data, 1)}  # a frame is a link as well
    assert min(gaps) >= 0.39


def test_the_scope_holds_for_what_scripts_ask(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Data outside the seed's tree is refused, with the rule; a script may come from anywhere public, or typed."""
    more = script(START + "ask('/other/api'); ask('/app/api').then(list => show(...list));")
    server = web({"/app/": APP, "/app/app.js": more, "/app/api": Reply('["/v.mp4"]', type=JSON)})
    crawl(f"{server.url}app/", ajax="auto")
    assert server.asked() == ["/robots.txt", "/app/", "/app/app.js", "/app/api"]
    assert rows("SELECT url, refused FROM Resource ORDER BY refused") == [
        (f"{server.url}app/api", None),
        (f"{server.url}other/api", "tree"),
    ]
    assert rows("SELECT url, state_id IS NOT NULL FROM Video") == [(f"{server.url}v.mp4", 1)]


def test_the_user_s_cookies_and_headers_go_along(web: Web, crawl: Crawl, tmp_path: Path) -> None:
    """Documents and data are asked for with what the user gave for the site, as pages are."""
    more = script(START + "ask('/api/films');")
    server = web({"/": APP, "/app.js": more, "/api/films": Reply("[]", type=JSON)})
    jar = tmp_path / "cookies.txt"
    jar.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n", encoding="ascii")
    place = server.url.removeprefix("http://").rstrip("/")
    crawl(server.url, ajax="auto", cookies=str(jar), header=["X-Own: 1"], auth=[f"{place}=me:pw"])
    (asked,) = [asked for asked in server.requests if asked.path == "/api/films"]
    sent = {name: asked.headers.get(name) for name in ("cookie", "x-own", "authorization")}
    assert sent == {"cookie": "session=abc", "x-own": "1", "authorization": "Basic bWU6cHc="}
    assert "multimedia-spider/" in asked.headers["user-agent"]


def test_the_routes_of_an_application_are_one(web: Web, crawl: Crawl, rows: Rows) -> None:
    """Each route is a page with its own media; only from the first is all explored, since their document is one."""
    routes = """
      const show = () => {
        const [, place, deep] = location.pathname.split("/");
        app.innerHTML = ["a", "b"].map(name => `<button class="to" data-to="/${name}">${name}</button>`).join("")
          + (place ? `<video src="/media/${place}.mp4"></video><i class="to" data-to="/${place}/more">more</i>` : "")
          + (deep ? `<b class="to" data-to="/${place}/more/most">most</b>` : "");
        app.querySelectorAll(".to").forEach(one => one.onclick = () => {
          history.pushState({}, "", one.dataset.to);
          show();
        });
      };
      const app = document.getElementById("app");
      show();
    """
    app = APP.replace("app.js", "/app.js")
    server = web(lambda asked: script(routes) if asked.path == "/app.js" else app)
    crawl(server.url, ajax="auto", exclude=["/most$"])
    depths: dict[str, int] = dict(
        rows("SELECT L.url, max(S.depth) FROM State S JOIN CrawlerLink L ON L.id = page_id GROUP BY L.id")
    )
    paths = {url.removeprefix(server.url): depth for url, depth in depths.items()}
    assert paths.keys() == {"", "a", "b", "a/more", "b/more"}
    assert paths[""] == 2
    assert max(depth for path, depth in paths.items() if path) == 1
    held = rows("SELECT L.url, V.url FROM Video V JOIN CrawlerLink L ON L.id = V.page_id WHERE V.url LIKE '%a.mp4'")
    assert (f"{server.url}a", f"{server.url}media/a.mp4") in held


def test_who_waits_for_the_browser_keeps_nobody_waiting(web: Web, crawl: Crawl) -> None:
    """With one thread, a page that is being explored does not keep other hosts from being asked."""
    asked_elsewhere = threading.Event()

    def answer(asked: Asked) -> Answer | None:
        if asked.path == "/api/films":
            assert asked_elsewhere.wait(30)
        if asked.path == "/last":
            asked_elsewhere.set()
        return SMALL.get(asked.path)

    other = {"/": f'<p>{TEXT}<a href="/a">a</a> <a href="/b">b</a> <a href="/last">last</a>', "/last": TEXT}
    server = web({"127.0.0.1": answer, "127.0.0.2": lambda asked: (answer(asked), other.get(asked.path))[1]}, hosts=2)
    crawl(*server.urls, ajax="auto", threads=1)
    assert asked_elsewhere.is_set()


# --- again ------------------------------------------------------------------------------------------


def test_another_reading_replaces_the_graph(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A page that is as it was keeps its graph and media; one that changed has those of its new reading alone."""
    site = dict(SMALL)
    server = web(lambda asked: site.get(asked.path))
    crawl(server.url, ajax="auto")
    rows("UPDATE State SET screenshot = 'old'")
    crawl(server.url, ajax="auto", refresh=0.0)
    assert rows("SELECT screenshot FROM State") == [("old",)] * 3
    assert rows("SELECT count(*) FROM Video WHERE gone_at IS NULL AND state_id IS NOT NULL") == [(2,)]
    site["/"] = APP.replace("Films", "New films")
    site["/api/films"] = Reply(FILMS.replace("two.webm", "three.webm"), type=JSON)
    crawl(server.url, ajax="auto", refresh=0.0)
    assert rows("SELECT screenshot FROM State") == [(None,)] * 3
    media = rows("SELECT url, state_id IS NULL, gone_at IS NULL FROM Video ORDER BY url")
    assert [(url.rpartition("/")[2], *rest) for url, *rest in media] == [
        ("one.mp4", 0, 1),
        ("three.webm", 0, 1),
        ("two.webm", 1, 0),
    ]


def test_a_greater_plan_looks_again(web: Web, crawl: Crawl, rows: Rows) -> None:
    """What looked like an application is explored by the next crawl that explores, changed or not, due or not; once."""
    app = APP.replace("app.js", "vue.global.js")
    server = web({**SMALL, "/": app, "/vue.global.js": script(SIMPLE)})
    for plan, asked in (("never", 1), ("auto", 2), ("auto", 2), ("always", 3), ("always", 3)):
        crawl(server.url, ajax=plan)
        assert (plan, server.asked().count("/")) == (plan, asked)
    assert rows("SELECT application, ajax FROM Page JOIN CrawlerLink ON id = link_id WHERE depth = 0") == [("Vue", 2)]
    assert rows("SELECT count(*) FROM State") == [(3,)]
