"""What the page for a browser draws: media over time as columns, applications as graphs.

Values in, numbers and shown texts out; every text of a page is made visible and cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from spider.model import MediaKind
from spider.report.text import cut, visible

if TYPE_CHECKING:
    from spider.store.graphs import PageGraph

__all__ = ["Column", "Part", "graph_data", "timeline"]

STATES = 150
"""States of one graph that are drawn, the nearest to the start; more would be no picture."""

COLUMNS = 60
FEWEST = 21  # columns; the days before the first are empty ones
TEXT = 200

SPANS = ((1, "day"), (7, "week"), (30, "month"), (365, "year"))
"""The days that a column may stand for, and what that is called."""


class Part(NamedTuple):
    """A part of a column: its kind, how many, and where it begins and how high it is in hundredths of the highest."""

    kind: str
    number: int
    top: float
    height: float


class Column(NamedTuple):
    """One column: the first day that it stands for, how many in all, its parts from the ground up."""

    label: str
    number: int
    parts: tuple[Part, ...]


def timeline(days: Mapping[tuple[str, str], int]) -> tuple[str, list[Column]]:
    """Return media first seen, by (day, kind), as columns without gaps, and what one column stands for.

    The shortest span is taken that needs no more than sixty columns; a single day is no timeline.
    """
    dates = sorted({date.fromisoformat(day) for day, _ in days})
    if len(dates) < 2:  # noqa: PLR2004  # one day is no time
        return "", []
    length = (dates[-1] - dates[0]).days + 1
    span, word = next(((span, word) for span, word in SPANS if length <= span * COLUMNS), SPANS[-1])
    number = max(FEWEST, (length - 1) // span + 1)
    first = dates[-1] - timedelta(days=number * span - 1)  # the last column ends with the last day
    counted: dict[int, Counter[str]] = {}
    for (day, kind), seen in days.items():
        counted.setdefault((date.fromisoformat(day) - first).days // span, Counter())[kind] += seen
    highest = max(kinds.total() for kinds in counted.values())
    columns = []
    for place in range(number):
        kinds = counted.get(place, Counter())
        label = (first + timedelta(days=place * span)).isoformat()
        columns.append(Column(label, kinds.total(), tuple(_parts(kinds, highest))))
    return word, columns


def _parts(kinds: Counter[str], highest: int) -> Iterable[Part]:
    """Yield the parts of one column, one upon another."""
    below = 0
    for kind in MediaKind:
        number = kinds[kind.value]
        if number:
            below += number
            yield Part(kind.value, number, 100 - 100 * below / highest, 100 * number / highest)


def graph_data(found: PageGraph) -> dict[str, Any]:
    """Return an application's graph as the page's script draws it: its nearest states and what lies between them."""
    states = found.graph.nearest[:STATES]
    place = {state.id: number for number, state in enumerate(states)}
    kept = [one for one in found.graph.transitions if one.source in place and one.target in place]
    edges = {(one.source, one.event, one.element): number for number, one in enumerate(kept)}
    kinds = tuple(MediaKind)
    return {
        "page": found.url,
        "title": _shown(found.title),
        "left": len(found.graph.states) - len(states),
        "states": [[state.depth, state.url] for state in states],
        "edges": [[place[one.source], place[one.target], _shown(one.event), _shown(one.element)] for one in kept],
        "resources": [
            [
                place[one.state],
                edges.get((one.state, *one.transition), -1) if one.transition else -1,
                _shown(one.method),
                one.url,
                one.status or 0,
                _shown(one.mime),
                _shown(one.body_shape),
                _shown(one.refused),
            ]
            for one in found.graph.resources
            if one.state in place
        ],
        "media": [[place[one.state], kinds.index(one.kind), one.url] for one in found.media if one.state in place],
    }


def _shown(text: str | None) -> str:
    return visible(cut(text or "", TEXT))
