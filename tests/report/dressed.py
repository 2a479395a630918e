"""What a database gets besides its media: an application with its graph, and checks of the media."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from spider.model import Health, MediaKind, Reason
from spider.states import Resource, State, StateGraph, Transition
from spider.store import Database, checks, graphs
from spider.store.checks import CheckRow
from spider.store.schema import MEDIA, table

__all__ = ["APPLICATION", "dress"]

CHECKED = 1_796_150_000_000_000
ROOT = "http://site1.example/"

APPLICATION = StateGraph(
    states=(
        State(0, 0, "a", ROOT),
        State(1, 1, "b", f"{ROOT}#films"),
        State(2, 1, "c", f"{ROOT}#sounds"),
        State(3, 1, "d", f"{ROOT}#about"),
        State(4, 2, "e", f"{ROOT}#films/1"),
        State(5, 2, "f", f"{ROOT}#films/2"),
        State(6, 2, "g", f"{ROOT}#sounds/1"),
        State(7, 3, "h", f"{ROOT}#films/2/cast"),
    ),
    transitions=(
        Transition(0, 1, "click", "nav > a:nth-of-type(1)"),
        Transition(0, 2, "click", "nav > a:nth-of-type(2)"),
        Transition(0, 3, "click", "nav > a:nth-of-type(3)"),
        Transition(1, 4, "click", "ul.reels > li:nth-of-type(1)"),
        Transition(1, 5, "click", "ul.reels > li:nth-of-type(2)"),
        Transition(1, 5, "mouseover", "ul.reels > li:nth-of-type(2) > img"),
        Transition(2, 6, "click", "button.more"),
        Transition(5, 7, "click", "#cast"),
        Transition(7, 1, "click", "header > a"),
        Transition(4, 0, "click", "header > a"),
        Transition(6, 6, "input", "input[name=volume]"),
    ),
    resources=(
        Resource("GET", f"{ROOT}api/index.json", "fetch", 0, None, None, 200, "application/json"),
        Resource(
            "GET", f"{ROOT}api/reels?page=1", "xhr", 0, ("click", "nav > a:nth-of-type(1)"), None, 200,
            "application/json",
        ),
        Resource("GET", f"{ROOT}api/sounds", "xhr", 0, ("click", "nav > a:nth-of-type(2)"), None, 404, "text/html"),
        Resource("POST", f"{ROOT}api/cast", "fetch", 5, ("click", "#cast"), "film, year", None, None, "method"),
    ),
)  # fmt: skip
"""An application with a way back, a loop, two events for one way, and a request that was not sent."""

HEALTHS = (Health.ALIVE, Health.ALIVE, Health.DEAD, Health.MOVED, Health.CLOSED, Health.UNSURE)


def dress(path: Path, *, graph: StateGraph = APPLICATION, texts: tuple[str, ...] = ()) -> Path:
    """Give the first page a graph and every fourth medium a check; `texts` are said by the graph's elements."""
    if texts:
        edges = tuple(Transition(0, 1, text[:40], text) for text in texts)
        asked = tuple(Resource(text, text, "xhr", 0, (text[:40], text), text, 200, text, text) for text in texts)
        graph = StateGraph(graph.states, graph.transitions + edges, graph.resources + asked)
    with Database.open(str(path)) as database, database.write() as connection:
        rows = graphs.write(connection, 1, graph)
        for kind in MediaKind:
            held = table(MEDIA[kind])
            own = sa.update(held).where(held.c.page_id == 1)
            connection.execute(own.values(state_id=rows[4 if kind is MediaKind.VIDEO else 6]))
            query = sa.select(held.c.url_hash, held.c.url).order_by(held.c.id)
            found = [tuple(row) for row in connection.execute(query)][::4]
            checks.record(connection, [_check(h, url, number) for number, (h, url) in enumerate(found)])
    return path


def _check(url_hash: int, url: str, number: int) -> CheckRow:
    health = HEALTHS[number % len(HEALTHS)]
    there = health in {Health.ALIVE, Health.MOVED}
    status = {Health.DEAD: 404, Health.CLOSED: 403, Health.UNSURE: 0}.get(health, 200)
    reason = {Health.DEAD: Reason.CLIENT, Health.CLOSED: Reason.CLIENT, Health.UNSURE: Reason.TIMEOUT}.get(health)
    size = 1_000_000 + number * 1000 if there else None
    moved = f"http://archive.example/{number}" if health is Health.MOVED else None
    return CheckRow(url_hash, url, health, status, reason, "video/mp4" if there else None, size, moved, CHECKED)
