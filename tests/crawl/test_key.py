"""Which addresses are one: the key's steps, chosen when a database is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.store import Database, Tally, ask, takedown, trace
from tests.crawl.pages import moved, page, paths
from tests.server import WebServer

Web = Callable[..., WebServer]

PAGES = {
    "/": page(
        "/a/", "/a", "/a/index.html", "/b?utm_source=x", "/b", "/c?y=1&x=2", "/c?x=2&y=1", "/d%7E", "/d~", "/old/"
    ),
    "/a/": page(more="<video src=/v/ src=/v></video>"),
    "/old/": moved("/old"),
    **{path: page() for path in ("/a", "/a/index.html", "/b", "/c", "/d~", "/d%7E", "/old")},
}

LADDERS = {
    None: {"/": 1, "/a/": 1, "/a": 1, "/a/index.html": 1, "/b": 1, "/c": 1, "/d%7E": 1, "/old/": 1, "/old": 1},
    "": {"/": 1, "/a/": 1, "/a": 1, "/a/index.html": 1, "/b": 2, "/c": 2, "/d%7E": 1, "/d~": 1, "/old/": 1, "/old": 1},
    "escapes,index,slash": {"/": 1, "/a/": 1, "/b": 2, "/c": 2, "/d%7E": 1, "/old/": 1, "/old": 1},
}


@pytest.mark.parametrize("ladder", LADDERS, ids=str)
def test_the_steps_decide_what_is_visited_once(web: Web, tmp_path: Path, ladder: str | None) -> None:
    """Addresses of one key are one link, and what is fetched is the address as it was found first."""
    server = web(PAGES)
    with Database.open(str(tmp_path / "x.db"), ladder=ladder) as database:
        plan = Plan(delay=0.0, sitemaps=False, allow_private=True, key=ladder)
        crawler = Crawler(database, plan, seeds=[Seed(server.url)])
        list(crawler.run())
    asked = {path.partition("?")[0]: 0 for path in paths(server)}
    for path, count in paths(server).items():
        asked[path.partition("?")[0]] += count
    assert asked == LADDERS[ladder]


def test_all_that_is_asked_by_address_knows_the_steps(web: Web, tmp_path: Path) -> None:
    """Seeds are found, questions answered and targets forgotten by the key that the database was made with."""
    server = web({"/": page("/a/"), "/a/": page(more="<video src=x.mp4></video>")})
    with Database.open(str(tmp_path / "x.db"), ladder="slash") as database:
        plan = Plan(delay=0.0, sitemaps=False, allow_private=True)
        list(Crawler(database, plan, seeds=[Seed(server.url)]).run())
        tally = Tally()
        with database.write() as connection:
            assert ask.find_seed(connection, server.url) == ask.find_seed(connection, f"{server.url}/")
            assert [step.url for step in trace.why(connection, f"{server.url}a").path] == [
                server.url,
                f"{server.url}a/",
            ]
            gone = takedown.forget(connection, f"{server.url}a", tally, now=1)
            assert (gone.links, gone.media) == (1, 1)
            tally.flush(connection)
        list(Crawler(database, plan).run())
        with database.read() as connection:
            why = trace.why(connection, f"{server.url}a/")
        assert why.forgotten
        assert not why.path
