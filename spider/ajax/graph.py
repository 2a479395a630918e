"""The state-transition graph of an application (paper 4), and the plan of the next walk through it.

Vertices are states, numbered from 0, the start; edges are (state, event) → state.  This room knows
neither a browser nor a page: an event is a number within its state, and what it does is told from outside.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["START", "Edge", "Graph", "Plan"]

START = 0
RELOAD = 4  # what loading the start anew costs, in events: measured, an event takes 20 ms and a load 80


@dataclass(frozen=True, slots=True)
class Edge:
    """One transition: firing `event` of state `source` led to state `target`."""

    source: int
    event: int
    target: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How to come to the next event: load the start anew or not, walk these edges, then fire `event` in `state`."""

    reload: bool
    walk: tuple[Edge, ...]
    state: int
    event: int


class Graph:
    """States by identity, edges between them, and the events not fired yet.

    The depth of a state is its shortest distance from the start, in edges.  Events of states at or
    beyond `max_depth` are kept but not fired; they are when the state turns out to be nearer.
    """

    def __init__(self, *, max_depth: int = 5, max_states: int | None = None) -> None:
        """Hold nothing yet."""
        self.max_depth = max_depth
        self.max_states = max_states
        self.identities: list[str] = []
        self.depths: list[int] = []
        self._numbers: dict[str, int] = {}
        self._edges: dict[Edge, None] = {}
        self._after: list[list[Edge]] = []
        self._waiting: list[dict[int, None]] = []
        self._doubted: set[Edge] = set()

    def __len__(self) -> int:
        """Count the states."""
        return len(self.identities)

    @property
    def is_full(self) -> bool:
        """Whether one more state would exceed the limit."""
        return self.max_states is not None and len(self) >= self.max_states

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All edges, in the order in which they were met."""
        return tuple(self._edges)

    def find(self, identity: str) -> int | None:
        """Return the number of the state with this identity, None where it was never met."""
        return self._numbers.get(identity)

    def start(self, identity: str, events: Iterable[int] = ()) -> int:
        """Add the start; ValueError where there is one."""
        if self.identities:
            msg = "the graph has its start"
            raise ValueError(msg)
        return self._add(identity, START, events)

    def reach(self, source: int, event: int, identity: str, events: Iterable[int] = ()) -> int | None:
        """Record that an event led to a state, and return its number.

        A new state brings its `events` to fire.  None where it would be one more than allowed.  An
        edge is kept whether its target is new or not, and brings its target nearer where it is shorter.
        """
        number = self._numbers.get(identity)
        depth = self.depths[source] + 1
        if number is None:
            if self.is_full:
                return None
            number = self._add(identity, depth, events)
        edge = Edge(source, event, number)
        self._doubted.discard(edge)
        if edge not in self._edges:
            self._edges[edge] = None
            self._after[source].append(edge)
        self._bring_nearer(number, depth)
        return number

    def _add(self, identity: str, depth: int, events: Iterable[int]) -> int:
        number = len(self.identities)
        self._numbers[identity] = number
        self.identities.append(identity)
        self.depths.append(depth)
        self._after.append([])
        self._waiting.append(dict.fromkeys(events))
        return number

    def _bring_nearer(self, state: int, depth: int) -> None:
        """Lower depths from here on, as far as they shrink."""
        queue = deque([(state, depth)])
        while queue:
            number, near = queue.popleft()
            if near < self.depths[number]:
                self.depths[number] = near
            elif number != state:
                continue
            queue.extend(
                (edge.target, self.depths[number] + 1)
                for edge in self._after[number]
                if self.depths[number] + 1 < self.depths[edge.target]
            )

    # -- events ------------------------------------------------------------------------------------

    def done(self, state: int, event: int) -> None:
        """Strike an event off the list of those to fire."""
        self._waiting[state].pop(event, None)

    def want(self, state: int, events: Iterable[int]) -> None:
        """Put events on the list of those to fire."""
        self._waiting[state].update(dict.fromkeys(events))

    def waiting(self, state: int) -> tuple[int, ...]:
        """Return the events of a state that are not fired yet, in order."""
        return tuple(self._waiting[state])

    def is_open(self, state: int) -> bool:
        """Say whether a state has events that may be fired now."""
        return bool(self._waiting[state]) and self.depths[state] < self.max_depth

    def doubt(self, edge: Edge) -> None:
        """Stop walking an edge that did not lead where it had; it stays in the graph."""
        self._doubted.add(edge)

    def abandon(self, state: int) -> int:
        """Give up the events of a state that nothing leads to any more; return how many."""
        count = len(self._waiting[state])
        self._waiting[state].clear()
        return count

    # -- plans ---------------------------------------------------------------------------------------

    def walks(self, source: int) -> Iterator[tuple[int, tuple[Edge, ...]]]:
        """Yield every state that sure edges lead to from `source`, nearest first, each with a shortest walk."""
        before: dict[int, Edge | None] = {source: None}
        queue = deque([source])
        while queue:
            state = queue.popleft()
            yield state, _unwind(before, state)
            for edge in self._after[state]:
                if edge.target not in before and edge not in self._doubted:
                    before[edge.target] = edge
                    queue.append(edge.target)

    def path(self, state: int) -> tuple[Edge, ...] | None:
        """Return a shortest walk of sure edges from the start, None where there is none."""
        return next((walk for target, walk in self.walks(START) if target == state), None)

    def plan(self, current: int | None, ready: Callable[[int, int], bool] = lambda _state, _event: True) -> Plan | None:
        """Return the cheapest way to the next event to fire; None when all that can be reached is done.

        Breadth first: states of the least depth that has open ones are aimed at, the nearest by walking from
        `current`, or by loading the start anew where that is nearer.  Before the start is loaded anew, what is
        nearer and one step deeper comes first, as far as it is `ready` to be fired now.  `current` None: the browser
        is nowhere.
        """
        goals = [state for state in range(len(self)) if self.is_open(state)]
        while goals:
            least = min(self.depths[state] for state in goals)
            level = {state: self.waiting(state)[0] for state in goals if self.depths[state] == least}
            found = self._nearest(current, level)
            if found is not None:
                return self._meanwhile(current, found, [at for at in goals if self.depths[at] == least + 1], ready)
            for state in level:
                self.abandon(state)
            goals = [state for state in goals if state not in level]
        return None

    def _nearest(self, current: int | None, level: Mapping[int, int]) -> Plan | None:
        """Return the cheapest plan that ends with one of these events, one for each state."""
        best: tuple[int, Plan] | None = None
        sources = [(START, True, RELOAD)] if current is None else [(current, False, 0), (START, True, RELOAD)]
        for source, reload, toll in sources:
            for state, walk in self.walks(source):
                if state in level and (best is None or len(walk) + toll < best[0]):
                    best = (len(walk) + toll, Plan(reload, walk, state, level[state]))
                    break
        return best[1] if best else None

    def _meanwhile(
        self, current: int | None, plan: Plan, deeper: Iterable[int], ready: Callable[[int, int], bool]
    ) -> Plan:
        """Return what can be done on this side of a load, or the plan where nothing can, or it needs none."""
        if not plan.reload or current is None:
            return plan
        level = {
            state: event
            for state in deeper
            if (event := next((one for one in self._waiting[state] if ready(state, one)), None)) is not None
        }
        found = self._nearest(current, level)
        return plan if found is None or found.reload else found


def _unwind(before: dict[int, Edge | None], state: int) -> tuple[Edge, ...]:
    """Return the edges that led to a state, first one first."""
    walk: list[Edge] = []
    edge = before[state]
    while edge is not None:
        walk.append(edge)
        edge = before[edge.source]
    return tuple(reversed(walk))
