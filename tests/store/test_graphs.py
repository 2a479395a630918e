"""Laws of keeping graphs: what is written is read, one graph a page, nothing that names what is not there."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from spider.model import Confidence, MediaKind, Request
from spider.states import Rendering, Resource, State, StateGraph, Transition
from spider.store import Database, care, catalog, frontier, graphs, held, schema
from spider.store.schema import table
from tests.store.things import LINK, NOW, a_medium, fetched, one_link, rows, take, writing

GRAPH = StateGraph(
    (
        State(0, 0, "aa", "http://a.test/"),
        State(1, 1, "bb", "http://a.test/#one", "state-1.png"),
        State(2, 2, "cc", "http://a.test/#two"),
    ),
    (Transition(0, 1, "click", "/html/body/a[1]"), Transition(1, 2, "click", "/html/body/a[2]")),
    (
        Resource("GET", "http://a.test/api", "xhr", 0, None, None, 200, "application/json"),
        Resource("POST", "http://a.test/save", "fetch", 1, ("click", "/html/body/a[2]"), "name", refused="method"),
        Resource("GET", "http://a.test/more", "fetch", 2, ("scroll", ""), None, 404),
    ),
)


def again(database: Database, worker_id: int) -> Request:
    """Renew the one complete link and take it out."""
    with writing(database) as (connection, tally):
        frontier.renew(connection, list(connection.scalars(sa.select(LINK.c.id))), tally)
        (request,) = take(connection, worker_id, tally)
    return request


def test_what_is_written_is_read(database: Database) -> None:
    """A graph comes back as it was, its resources with the events that asked."""
    _, request = one_link(database)
    with writing(database) as (connection, _):
        numbers = graphs.write(connection, request.link_id, GRAPH)
    with database.read() as connection:
        found = graphs.graph_of(connection, request.link_id)
        listed = graphs.pages_with_graphs(connection, 10)
        assert graphs.graph_of(connection, request.link_id + 1) is None
    assert found is not None
    assert found.graph == GRAPH
    assert sorted(numbers) == [0, 1, 2]
    assert [(page.page_id, page.states, page.transitions, page.resources) for page in listed] == [
        (request.link_id, 3, 2, 3)
    ]


def test_a_state_has_its_number_and_a_way_there(database: Database) -> None:
    """States are numbered by their distance from the start; the way is a shortest one; what is not there has none."""
    _, request = one_link(database)
    far = StateGraph(
        (*GRAPH.states, State(3, 1, "dd", "http://a.test/#three"), State(4, 9, "ee", "")),
        (*GRAPH.transitions, Transition(0, 3, "click", "/html/body/a[3]"), Transition(3, 2, "scroll", "")),
    )
    with writing(database) as (connection, _):
        numbers = graphs.write(connection, request.link_id, far)
    with database.read() as connection:
        places = {met: graphs.place_of(connection, request.link_id, row) for met, row in numbers.items()}
        assert graphs.place_of(connection, request.link_id, 10_000) == (None, ())
        assert graphs.place_of(connection, request.link_id + 1, numbers[0]) == (None, ())
    assert {met: number for met, (number, _) in places.items()} == {0: 0, 1: 1, 3: 2, 2: 3, 4: 4}
    assert [places[met][1] for met in (0, 2, 4)] == [(), GRAPH.transitions, ()]


def test_a_page_has_one_graph(database: Database) -> None:
    """Once dropped, nothing of a graph is left, its media need no state, and the next one takes its place."""
    _, request = one_link(database)
    video = table(schema.Video)
    with writing(database) as (connection, _):
        numbers = graphs.write(connection, request.link_id, GRAPH)
        medium = {
            "page_id": request.link_id,
            "url_hash": 1,
            "url": "http://a.test/v.mp4",
            "source": "video@src",
            "confidence": Confidence.ELEMENT,
            "state_id": numbers[2],
            "first_seen": NOW,
            "last_seen": NOW,
        }
        connection.execute(video.insert(), [medium])
    with database.read() as connection:
        found = graphs.graph_of(connection, request.link_id)
    assert found is not None
    assert found.media == (graphs.StateMedium(2, MediaKind.VIDEO, "http://a.test/v.mp4"),)
    small = StateGraph(GRAPH.states[:1])
    with writing(database) as (connection, _):
        graphs.drop(connection, [request.link_id])
        graphs.write(connection, request.link_id, small)
    with database.read() as connection:
        again = graphs.graph_of(connection, request.link_id)
        assert list(care.faults_at(connection)) == []
    assert again is not None
    assert (again.graph, again.media) == (small, ())
    assert rows(database, table(schema.Transition), "id") == rows(database, table(schema.Resource), "id") == []


def test_a_graph_names_only_its_own_states(database: Database) -> None:
    """Edges and resources of states beyond a limit are left out, so that no row speaks of one that is not there."""
    _, request = one_link(database)
    with writing(database) as (connection, _):
        graphs.write(connection, request.link_id, StateGraph(GRAPH.states[:2], GRAPH.transitions, GRAPH.resources))
    with database.read() as connection:
        found = graphs.graph_of(connection, request.link_id)
    assert found is not None
    assert found.graph == StateGraph(GRAPH.states[:2], GRAPH.transitions[:1], GRAPH.resources[:2])


def test_texts_of_pages_fit(database: Database) -> None:
    """NUL and lone surrogates in what a page says are no reason to fail, on either engine."""
    _, request = one_link(database)
    odd = StateGraph(
        (State(0, 0, "aa", "http://a.test/\ud800"),),
        (Transition(0, 0, "click", "/html\0"),),
        (Resource("GET", "http://a.test/\0", "xhr", 0, None, "a\udfff"),),
    )
    with writing(database) as (connection, _):
        graphs.write(connection, request.link_id, odd)
    with database.read() as connection:
        found = graphs.graph_of(connection, request.link_id)
    assert found is not None
    assert found.graph.transitions == (Transition(0, 0, "click", "/html\ufffd"),)


def test_a_page_keeps_what_its_last_reading_found(database: Database) -> None:
    """Graph and media come with the page; one of a link of its own keeps its state; another reading replaces all."""
    worker_id, request = one_link(database)
    film = a_medium("http://m.test/v.mp4", text="a film")
    plain = a_medium("http://m.test/plain.mp4")
    outcome = fetched(request, film, plain)
    rendered = replace(outcome, rendering=Rendering(("react",), GRAPH, {film.h: 2}))
    video = table(schema.Video)
    with writing(database) as (connection, tally):
        catalog.record(connection, worker_id, [rendered], tally, now=NOW, limits={request.seed_id: 5})
    with database.read() as connection:
        found = graphs.graph_of(connection, request.link_id)
    assert found is not None
    assert (found.graph, found.media) == (GRAPH, (graphs.StateMedium(2, MediaKind.VIDEO, film.url),))
    states = {one[0]: one[1] for one in rows(database, table(schema.State), "identity", "id")}
    assert rows(database, video, "url", "state_id") == [(plain.url, None), (film.url, states["cc"])]
    with writing(database) as (connection, _):
        held.write(connection, "video", [held.row(film, request.link_id, NOW + 1)], {})
    assert rows(database, video, "url", "state_id") == [(plain.url, None), (film.url, states["cc"])]
    request = again(database, worker_id)
    with writing(database) as (connection, tally):
        unchanged = replace(fetched(request), page=None, unchanged=True)
        catalog.record(connection, worker_id, [unchanged], tally, now=NOW + 2, limits={request.seed_id: 5})
    assert rows(database, video, "url", "state_id") == [(plain.url, None), (film.url, states["cc"])]
    request = again(database, worker_id)
    small = StateGraph(GRAPH.states[:1])
    with writing(database) as (connection, tally):
        now_plain = replace(fetched(request, film, plain), rendering=Rendering((), small), content_hash=7)
        catalog.record(connection, worker_id, [now_plain], tally, now=NOW + 3, limits={request.seed_id: 5})
    with database.read() as connection:
        found = graphs.graph_of(connection, request.link_id)
        assert list(care.faults_at(connection)) == []
    assert found is not None
    assert (found.graph, found.media) == (small, ())
