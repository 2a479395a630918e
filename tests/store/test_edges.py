"""Laws of edges: with --edges every link of every page is kept, and exported for programs that read graphs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from spider.store import Database, edges
from tests.server import Reply, WebServer

Web = Callable[..., WebServer]
PAGES = {
    "/": "<a href=a.html>A</a><a href=b.html>B</a>",
    "/a.html": "<a href=/>Home</a><a href=b.html>To <b>B</b></a><a href=b.html>again</a><a href=http://e.example/>out</a>",
    "/b.html": "<a href=a.html>A once more</a><a href=moved.html>Moved</a>",
    "/moved.html": Reply(status=301, headers=(("Location", "/c.html"),)),
    "/c.html": "<title>C</title>",
}
EDGES = {("/", "/a.html"), ("/", "/b.html"), ("/a.html", "/"), ("/a.html", "/b.html"), ("/b.html", "/a.html"),
         ("/b.html", "/moved.html")}  # fmt: skip


@pytest.fixture
def crawled(web: Web, here: Callable[..., object], tmp_path: Path) -> tuple[Path, str]:
    """Crawl a site whose pages link to one another, with and without edges."""
    server = web(PAGES)
    here("--db", "plain.db", "crawl", server.url, "--delay", "0")
    here("--db", "edges.db", "crawl", server.url, "--delay", "0", "--edges")
    return tmp_path, server.url


def test_every_link_of_every_page_is_kept(crawled: tuple[Path, str]) -> None:
    """Each once for a page and a target, with its text and class there; what leaves the forest has no end in it."""
    folder, url = crawled
    with Database.open(str(folder / "edges.db")) as database, database.read() as connection:
        rows = list(edges.edge_rows(connection))
        assert edges.any_kept(connection)
        assert list(edges.edge_rows(connection, seed=url)) == rows
    base = url.rstrip("/")
    assert {(row.page.removeprefix(base), row.link.removeprefix(base)) for row in rows} == EDGES
    assert len(rows) == len(EDGES)
    (home,) = [row for row in rows if row.page.endswith("a.html") and row.link == url]
    assert (home.text, home.source, home.relation, home.depth) == ("Home", "a@href", "horizontal", 0)
    with Database.open(str(folder / "plain.db")) as database, database.read() as connection:
        assert not edges.any_kept(connection)


def test_a_page_read_again_has_its_new_links(web: Web, here: Callable[..., object], tmp_path: Path) -> None:
    """What a page no longer links to is no edge any more."""
    pages = dict(PAGES)
    server = web(lambda asked: pages.get(asked.path))
    here("crawl", server.url, "--delay", "0", "--edges")
    pages["/a.html"] = "<a href=c.html>C</a>"
    here("crawl", "--delay", "0", "--edges", "--refresh", "0")
    with Database.open(str(tmp_path / "spider.db")) as database, database.read() as connection:
        found = {(row.page, row.link) for row in edges.edge_rows(connection) if row.page.endswith("a.html")}
    assert found == {(f"{server.url}a.html", f"{server.url}c.html")}


def test_programs_read_the_graph(crawled: tuple[Path, str], here: Callable[..., object]) -> None:
    """A reader of graphs takes the GraphML for what it is, cycles and all; the forest without edges is a tree."""
    folder, url = crawled

    def graph(database: str, *options: str) -> nx.DiGraph:
        done = here("--db", database, "export", "links", "--format", "graphml", *options, "-o", "graph.xml")
        assert getattr(done, "returncode", None) == 0
        return nx.read_graphml(io.BytesIO((folder / "graph.xml").read_bytes()))

    whole = graph("edges.db", "--edges")
    named = {(whole.nodes[a]["url"], whole.nodes[b]["url"]) for a, b in whole.edges}
    assert named == {(url.rstrip("/") + a, url.rstrip("/") + b) for a, b in EDGES}
    assert not nx.is_directed_acyclic_graph(whole)
    assert nx.is_tree(graph("edges.db"))
    assert {data["depth"] for _, data in whole.nodes(data=True)} == {0, 1, 2}


@pytest.mark.usefixtures("crawled")
def test_records_of_edges(here: Callable[..., object]) -> None:
    """JSON lines and CSV have a row an edge; where none was kept a line says how to keep them."""
    done = here("--db", "edges.db", "export", "links", "--edges")
    rows = [json.loads(line) for line in str(getattr(done, "stdout", "")).splitlines()]
    assert len(rows) == len(EDGES)
    dot = here("--db", "edges.db", "export", "links", "--edges", "--format", "dot")
    assert str(getattr(dot, "stdout", "")).count(" -> ") == len(EDGES)
    none = here("--db", "plain.db", "export", "links", "--edges")
    assert "spider crawl --edges" in str(getattr(none, "stderr", ""))
