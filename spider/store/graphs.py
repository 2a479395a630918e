"""Keep the graphs of Ajax applications (paper 4), and give them back for reports.

A page's graph is written with the page, in its transaction; the graph of the page's next reading takes its
place.  Within a graph states have numbers, 0 the start, in the order in which they were met.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import MediaKind
from spider.states import PLANS, Rendering, Resource, State, StateGraph, Transition
from spider.store import dialect, frontier
from spider.store.held import fit
from spider.store.schema import MEDIA, CrawlerLink, Page, table
from spider.store.schema import Resource as ResourceRow
from spider.store.schema import State as StateRow
from spider.store.schema import Transition as TransitionRow
from spider.store.tally import Tally

__all__ = [
    "GraphPage",
    "PageGraph",
    "StateMedium",
    "drop",
    "graph_of",
    "look_again",
    "pages_with_graphs",
    "place_of",
    "replace",
    "write",
]

_LINK = table(CrawlerLink)
_PAGE = table(Page)
_STATE = table(StateRow)
_TRANSITION = table(TransitionRow)
_RESOURCE = table(ResourceRow)
_HTML = ("text/html", "application/xhtml+xml", "")


@dataclass(frozen=True, slots=True)
class StateMedium:
    """A medium that needs a state to be seen: the state's number in the graph, its kind and its address."""

    state: int
    kind: MediaKind
    url: str


@dataclass(frozen=True, slots=True)
class PageGraph:
    """The graph of one page, with the media that its states show and that are there still."""

    page_id: int
    url: str
    title: str
    graph: StateGraph
    media: tuple[StateMedium, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphPage:
    """A page that has a graph, and how large the graph is."""

    page_id: int
    url: str
    title: str
    states: int
    transitions: int
    resources: int


# --- writing --------------------------------------------------------------------------------------


def drop(connection: sa.Connection, page_ids: Sequence[int]) -> None:
    """Delete the graphs of pages; their media stay, and need no state that is known any more."""
    for part in dialect.chunks(page_ids):
        own = sa.select(_STATE.c.id).where(_STATE.c.page_id.in_(part))
        if connection.scalar(own.limit(1)) is None:
            continue
        for model in MEDIA.values():
            needing = sa.update(model).where(model.page_id.in_(part), model.state_id.is_not(None))
            connection.execute(needing.values(state_id=None))
        connection.execute(sa.delete(_RESOURCE).where(_RESOURCE.c.state_id.in_(own)))
        connection.execute(sa.delete(_TRANSITION).where(_TRANSITION.c.from_id.in_(own)))
        connection.execute(sa.delete(_STATE).where(_STATE.c.page_id.in_(part)))


def replace(
    connection: sa.Connection, reread: Collection[int], renderings: Mapping[int, Rendering]
) -> dict[tuple[object, object], int]:  # fmt: skip
    """Let what browsers found take the place of what the pages' last reading did; `reread` are those that had one.

    Returns the row of the state that each medium needs, by its page and the hash of its address.
    """
    drop(connection, sorted({*reread, *renderings}))
    needed: dict[tuple[object, object], int] = {}
    for page_id, rendering in renderings.items():
        rows = write(connection, page_id, rendering.graph or StateGraph())
        needed |= {(page_id, h): rows[state] for h, state in rendering.needs.items() if state in rows}
    return needed


def look_again(connection: sa.Connection, plan: str, tally: Tally) -> None:
    """Let pages that were read by a lesser plan than this (`states.PLANS`) be read anew, changed or not.

    Those that look like applications wait again now; all others are read anew when they are next due.
    """
    lesser = sa.select(_PAGE.c.link_id).where(
        _PAGE.c.ajax < PLANS.index(plan), _PAGE.c.content_type.in_(_HTML), _PAGE.c.content_hash != 0
    )
    seen = list(connection.scalars(lesser.where(_PAGE.c.application.is_not(None))))
    blank = sa.update(_PAGE).where(_PAGE.c.link_id.in_(lesser.scalar_subquery()))
    connection.execute(blank.values(content_hash=0, etag=None, last_modified=None))
    frontier.renew(connection, seen, tally)


def write(connection: sa.Connection, page_id: int, graph: StateGraph) -> dict[int, int]:
    """Write the graph of a page that has none, and return the row of each state's number.

    A transition or resource of a state that the graph does not hold is left out.
    """
    if not graph.states:
        return {}
    states = [
        {
            "page_id": page_id,
            "identity": one.identity,
            "depth": one.depth,
            "url": fit(one.url),
            "screenshot": one.screenshot,
        }
        for one in graph.states
    ]
    insert = sa.insert(_STATE).returning(_STATE.c.id, sort_by_parameter_order=True)
    numbers = dict(zip((one.id for one in graph.states), connection.scalars(insert, states), strict=True))
    edges = _transitions(connection, graph.transitions, numbers)
    asked = [_resource(one, numbers, edges) for one in graph.resources if one.state in numbers]
    if asked:
        connection.execute(sa.insert(_RESOURCE), asked)
    return numbers


def _transitions(
    connection: sa.Connection, transitions: Sequence[Transition], numbers: Mapping[int, int]
) -> dict[tuple[int, str, str], int]:  # fmt: skip
    """Write the edges; return the row of each by where it begins, its event and its element."""
    kept = [one for one in transitions if one.source in numbers and one.target in numbers]
    if not kept:
        return {}
    values = [
        {
            "from_id": numbers[one.source],
            "to_id": numbers[one.target],
            "element": fit(one.element),
            "event": fit(one.event),
        }
        for one in kept
    ]
    insert = sa.insert(_TRANSITION).returning(_TRANSITION.c.id, sort_by_parameter_order=True)
    rows = connection.scalars(insert, values)
    return {(one.source, one.event, one.element): row for one, row in zip(kept, rows, strict=True)}


def _resource(
    one: Resource, numbers: Mapping[int, int], edges: Mapping[tuple[int, str, str], int]
) -> dict[str, object]:  # fmt: skip
    event, element = one.transition or (None, None)
    return {
        "state_id": numbers[one.state],
        "transition_id": edges.get((one.state, *one.transition)) if one.transition else None,
        "event": fit(event),
        "element": fit(element),
        "method": fit(one.method),
        "url": fit(one.url),
        "kind": one.kind,
        "body_shape": fit(one.body_shape),
        "status": one.status,
        "mime": fit(one.mime),
        "refused": one.refused,
    }


# --- reading --------------------------------------------------------------------------------------


def graph_of(connection: sa.Connection, page_id: int) -> PageGraph | None:
    """Return the graph of a page, by the number of its link; None where it has none.

    States, and so the numbers that transitions, resources and media speak of, begin with 0, the start.
    """
    found = connection.execute(
        sa.select(_LINK.c.url, _PAGE.c.title)
        .outerjoin(_PAGE, _PAGE.c.link_id == _LINK.c.id)
        .where(_LINK.c.id == page_id)
    ).first()
    rows = connection.execute(sa.select(_STATE).where(_STATE.c.page_id == page_id).order_by(_STATE.c.id)).all()
    if found is None or not rows:
        return None
    numbers = {row.id: number for number, row in enumerate(rows)}
    states = tuple(State(numbers[row.id], row.depth, row.identity, row.url, row.screenshot) for row in rows)
    graph = StateGraph(states, _edges_of(connection, page_id, numbers), _resources_of(connection, page_id, numbers))
    return PageGraph(page_id, found.url, found.title or "", graph, _media_of(connection, page_id, numbers))


def place_of(connection: sa.Connection, page_id: int, row: int) -> tuple[int | None, tuple[Transition, ...]]:
    """Return the number that people are told of a state, by its row, and a shortest way to it from the start."""
    found = graph_of(connection, page_id)
    met = connection.scalars(sa.select(_STATE.c.id).where(_STATE.c.page_id == page_id).order_by(_STATE.c.id)).all()
    if found is None or row not in met:
        return None, ()
    state = found.graph.states[met.index(row)]
    return found.graph.nearest.index(state), found.graph.way(state.id)


def _edges_of(connection: sa.Connection, page_id: int, numbers: Mapping[int, int]) -> tuple[Transition, ...]:
    query = sa.select(_TRANSITION).join(_STATE, _STATE.c.id == _TRANSITION.c.from_id).where(_STATE.c.page_id == page_id)
    return tuple(
        Transition(numbers[row.from_id], numbers[row.to_id], row.event, row.element)
        for row in connection.execute(query.order_by(_TRANSITION.c.id))
    )


def _resources_of(connection: sa.Connection, page_id: int, numbers: Mapping[int, int]) -> tuple[Resource, ...]:
    query = sa.select(_RESOURCE).join(_STATE, _STATE.c.id == _RESOURCE.c.state_id).where(_STATE.c.page_id == page_id)
    return tuple(
        Resource(
            row.method,
            row.url,
            row.kind,
            numbers[row.state_id],
            None if row.event is None else (row.event, row.element or ""),
            row.body_shape,
            row.status,
            row.mime,
            row.refused,
        )
        for row in connection.execute(query.order_by(_RESOURCE.c.id))
    )


def _media_of(connection: sa.Connection, page_id: int, numbers: Mapping[int, int]) -> tuple[StateMedium, ...]:
    found: list[StateMedium] = []
    for kind, model in MEDIA.items():
        query = sa.select(model.state_id, model.url).where(
            model.page_id == page_id, model.state_id.is_not(None), model.gone_at.is_(None)
        )
        found += [
            StateMedium(numbers[row.state_id], MediaKind(kind), row.url)
            for row in connection.execute(query.order_by(model.id))
            if row.state_id in numbers
        ]
    return tuple(sorted(found, key=lambda one: one.state))


def pages_with_graphs(connection: sa.Connection, limit: int) -> list[GraphPage]:
    """Return the pages that have graphs, those of the most states first, at most `limit` of them."""
    size = sa.func.count().label("size")
    largest = sa.select(_STATE.c.page_id, size).group_by(_STATE.c.page_id).order_by(size.desc(), _STATE.c.page_id)
    top = largest.limit(limit).subquery()
    query = (
        sa.select(
            top.c.page_id, _LINK.c.url, _PAGE.c.title, top.c.size, _number_of(_TRANSITION.c.from_id, top).label("edges")
        )
        .add_columns(_number_of(_RESOURCE.c.state_id, top).label("asked"))
        .join(_LINK, _LINK.c.id == top.c.page_id)
        .outerjoin(_PAGE, _PAGE.c.link_id == top.c.page_id)
        .order_by(top.c.size.desc(), top.c.page_id)
    )
    return [
        GraphPage(row.page_id, row.url, row.title or "", row.size, row.edges, row.asked)
        for row in connection.execute(query)
    ]


def _number_of(state: sa.Column[int], top: sa.Subquery) -> sa.ScalarSelect[int]:
    """Count the rows that hang on the states of a page, by the column that names the state."""
    own = sa.select(sa.func.count()).select_from(state.table.join(_STATE, _STATE.c.id == state))
    return own.where(_STATE.c.page_id == top.c.page_id).correlate(top).scalar_subquery()
