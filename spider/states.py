"""The nouns of paper 4 that cross floors: an application's states, what leads from one to another, what they ask for.

They are numbers and texts alone, as a browser found them and as the database keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["PLANS", "Rendering", "Resource", "State", "StateGraph", "Transition"]


PLANS = ("never", "auto", "always")
"""Which pages are explored in a browser, the more the later."""


@dataclass(frozen=True, slots=True)
class State:
    """A vertex of the graph; `depth` in events from the start, `screenshot` the name of its picture."""

    id: int
    depth: int
    identity: str
    url: str
    screenshot: str | None = None


@dataclass(frozen=True, slots=True)
class Transition:
    """An edge of the graph: `event`, fired on `element` (a path) in one state, led to another."""

    source: int
    target: int
    event: str
    element: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A back-end resource (Deep Web resource), with the first state and event that asked for it.

    `transition` is the event as (type, element), None for the page's load; `refused` the rule that kept it
    from being sent.
    """

    method: str
    url: str
    kind: str
    state: int
    transition: tuple[str, str] | None = None
    body_shape: str | None = None
    status: int | None = None
    mime: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class StateGraph:
    """The graph of one page: states in the order in which they were met, the start first, each `id` its place."""

    states: tuple[State, ...] = ()
    transitions: tuple[Transition, ...] = ()
    resources: tuple[Resource, ...] = ()

    @property
    def nearest(self) -> tuple[State, ...]:
        """The states by their distance from the start: their places here are the numbers that people are told."""
        return tuple(sorted(self.states, key=lambda state: (state.depth, state.id)))

    def way(self, target: int) -> tuple[Transition, ...]:
        """Return a shortest way from the start to a state, empty where there is none."""
        ways: dict[int, tuple[Transition, ...]] = {0: ()}
        edge = [0]
        while edge and target not in ways:
            found = [one for one in self.transitions if one.source in edge and one.target not in ways]
            for one in found:
                ways.setdefault(one.target, (*ways[one.source], one))
            edge = [one.target for one in found]
        return ways.get(target, ())


@dataclass(frozen=True, slots=True)
class Rendering:
    """What is known of a page as an application.

    `looks` names the libraries that its scripts seem to be, or says how else it looks like one.  Where a browser
    has explored it, `graph` is what it found and `needs` gives the first state of each medium that the document
    alone does not show, by the hash of its address.  `plan` is the place in `PLANS` of the plan it was read by.
    """

    looks: tuple[str, ...] = ()
    graph: StateGraph | None = None
    needs: Mapping[int, int] = field(default_factory=dict)
    plan: int = 0
