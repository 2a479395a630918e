"""Laws of crawling applications: a browser is a fetcher, with the manners of one, and only where it is wanted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from spider.ajax import require
from spider.crawl import Crawler
from spider.errors import BrowserError
from spider.model import Outcome
from spider.store import Database, graphs
from tests.replies import Reply
from tests.server import WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

try:
    require()
except BrowserError as error:
    pytest.skip(f"no browser: {error}", allow_module_level=True)

APP = """<!doctype html><html><head><title>Films</title><script src="/app.js" defer></script></head>
<body><div id="app"></div></body></html>"""
SCRIPT = """
const app = document.getElementById("app");
const ask = path => fetch(path).then(answer => answer.ok ? answer.json() : [], () => []);
const button = (text, act) => {
  const one = document.createElement("button");
  one.textContent = text;
  one.addEventListener("click", act);
  app.append(one);
  return one;
};
ask("/api/films").then(films => {
  films.forEach((film, number) => button(film.name, () => {
    document.querySelectorAll("video, a.more").forEach(old => old.remove());
    const video = document.createElement("video");
    video.setAttribute("src", film.url);
    const link = document.createElement("a");
    link.className = "more";
    link.href = "/film/" + number;
    link.textContent = film.name;
    app.append(video, link);
  }).id = "film" + number);
  button("Secrets", () => ask("/private/list").then(list => list.forEach(one => {
    const video = document.createElement("video");
    video.setAttribute("src", one);
    app.append(video);
  }))).id = "secrets";
  button("Save", () => fetch("/api/save", {method: "POST", body: "name=x"})).id = "save";
});
"""
JSON = "application/json"
FILMS = json.dumps([{"name": "One", "url": "/media/one.mp4"}, {"name": "Two", "url": "/media/two.webm"}])
SITE = {
    "/robots.txt": Reply("User-agent: *\nDisallow: /private/", type="text/plain"),
    "/": APP,
    "/app.js": Reply(SCRIPT, type="text/javascript"),
    "/api/films": Reply(FILMS, type=JSON),
    "/private/list": Reply(json.dumps(["/media/secret.mp4"]), type=JSON),
    "/film/0": "<title>One</title><p>" + "A page that says enough by itself. " * 20 + '<a href="/">all</a>',
    "/film/1": "<title>Two</title><p>" + "A page that says enough by itself. " * 20 + '<a href="/">all</a>',
}


def test_an_application_is_explored(web: Web, crawl: Crawl, rows: Rows, tmp_path: Any) -> None:
    """Its document and script are asked for once, what its states show is recorded, with the state; robots holds."""
    server = web(SITE)
    server.watch(tmp_path / "x.db")
    crawler, _ = crawl(server.url, ajax="auto")
    asked = Counter(server.asked())
    assert asked == {"/robots.txt": 1, "/": 1, "/app.js": 1, "/api/films": 1, "/film/0": 1, "/film/1": 1}
    media = rows("SELECT V.url, S.depth FROM Video V LEFT JOIN State S ON S.id = V.state_id ORDER BY V.url")
    assert media == [(f"{server.url}media/one.mp4", 1), (f"{server.url}media/two.webm", 1)]
    with Database.open(str(tmp_path / "x.db")) as database, database.read() as connection:
        (listed,) = graphs.pages_with_graphs(connection, 10)
        found = graphs.graph_of(connection, listed.page_id)
    assert found is not None
    assert (found.url, found.title, [state.depth for state in found.graph.states]) == (server.url, "Films", [0, 1, 1])
    resources = {
        (one.method, one.url.removeprefix(server.url), one.status, one.refused) for one in found.graph.resources
    }
    assert resources == {
        ("GET", "api/films", 200, None), ("GET", "private/list", None, "robots"), ("POST", "api/save", None, "method"),
    }  # fmt: skip
    assert crawler.ajax_line() == "1 page looks like an Ajax application: 1 plain; 1 explored"
