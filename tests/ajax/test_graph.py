"""Laws of the graph: depth is the shortest distance, limits are exact, every plan can be walked."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider.ajax.graph import START, Edge, Graph, Plan

Machine = list[dict[int, int]]
"""A fake browser's application: for each state, where each of its events leads."""


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Draw an application of up to eight states with up to four events each."""
    count = draw(st.integers(1, 8))
    targets = st.integers(0, count - 1)
    return [dict(enumerate(draw(st.lists(targets, max_size=4)))) for _ in range(count)]


def distances(machine: Machine) -> dict[int, int]:
    """Return the shortest distance of every state that can be reached, found the plain way."""
    found, queue = {0: 0}, deque([0])
    while queue:
        state = queue.popleft()
        for target in machine[state].values():
            if target not in found:
                found[target] = found[state] + 1
                queue.append(target)
    return found


class FakeBrowser:
    """Walks a machine; what it is told to do must be possible where it stands."""

    def __init__(self, machine: Machine, graph: Graph) -> None:
        """Stand at the start."""
        self.machine, self.graph = machine, graph
        self.at, self.loads, self.steps = 0, 0, 0

    def follow(self, plan: Plan) -> None:
        """Do what a plan says; fail where a step is not where the browser stands."""
        if plan.reload:
            self.at, self.loads = 0, self.loads + 1
        for edge in plan.walk:
            assert self.graph.identities[edge.source] == str(self.at)
            self.at = self.machine[self.at][edge.event]
            assert self.graph.identities[edge.target] == str(self.at)
            self.steps += 1
        assert self.graph.identities[plan.state] == str(self.at)


def explore(machine: Machine, **limits: int) -> tuple[Graph, FakeBrowser]:
    """Explore a machine as the explorer does a page."""
    graph = Graph(**limits)
    browser = FakeBrowser(machine, graph)
    current: int | None = graph.start("0", machine[0])
    while (plan := graph.plan(current)) is not None:
        browser.follow(plan)
        graph.done(plan.state, plan.event)
        before = browser.at
        browser.at = machine[before][plan.event]
        if browser.at == before:
            current = plan.state
            continue
        current = graph.reach(plan.state, plan.event, str(browser.at), machine[browser.at])
    return graph, browser


@given(machines())
@settings(max_examples=200, deadline=None)
def test_whole_machine_is_found(machine: Machine) -> None:
    """Without limits every state that can be reached becomes one vertex, at its shortest distance."""
    graph, _ = explore(machine, max_depth=100)
    found = {int(identity): graph.depths[number] for number, identity in enumerate(graph.identities)}
    assert found == distances(machine)
    expected = {(s, e, t) for s in found for e, t in machine[s].items() if s != t}
    assert {
        (int(graph.identities[x.source]), x.event, int(graph.identities[x.target])) for x in graph.edges
    } == expected


@given(machines(), st.integers(0, 4))
@settings(max_examples=200, deadline=None)
def test_depth_limit_holds(machine: Machine, limit: int) -> None:
    """With a limit exactly the states within it are found, however they were met first."""
    graph, _ = explore(machine, max_depth=limit)
    found = {int(identity): graph.depths[number] for number, identity in enumerate(graph.identities)}
    assert found == {state: depth for state, depth in distances(machine).items() if depth <= limit}


@given(machines())
@settings(max_examples=100, deadline=None)
def test_every_path_replays(machine: Machine) -> None:
    """The path to each state, done on a fresh browser, leads there and is as long as the state is deep."""
    graph, _ = explore(machine, max_depth=100)
    for number, identity in enumerate(graph.identities):
        path = graph.path(number)
        assert path is not None
        at = 0
        for edge in path:
            at = machine[at][edge.event]
        assert (str(at), len(path)) == (identity, graph.depths[number])


@given(machines(), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_state_limit_is_exact(machine: Machine, limit: int) -> None:
    """There are as many states as the limit allows, no fewer where there are more to find."""
    graph, _ = explore(machine, max_depth=100, max_states=limit)
    assert len(graph) == min(limit, len(distances(machine)))


def test_a_state_that_comes_nearer_is_opened_again() -> None:
    """Events of a state met first at the limit are fired once a shorter way to it is found."""
    graph = Graph(max_depth=2)
    graph.start("start", [0, 1])
    graph.reach(START, 0, "a", [0])
    far = graph.reach(1, 0, "b", [0])
    assert far is not None
    assert not graph.is_open(far)
    graph.reach(START, 1, "b")
    assert graph.depths[far] == 1
    assert graph.is_open(far)


def test_nearness_spreads() -> None:
    """A shorter way to one state brings nearer all that lies behind it."""
    graph = Graph(max_depth=10)
    graph.start("0", [0, 1])
    for number in range(4):
        graph.reach(number, 0, str(number + 1), [0])
    graph.reach(START, 1, "3")
    assert graph.depths == [0, 1, 2, 1, 2]


def test_edges_from_two_states_are_both_kept() -> None:
    """One link in two states makes two edges to its target."""
    graph = Graph()
    graph.start("0", [0])
    graph.reach(0, 0, "1", [0, 1])
    graph.reach(0, 1, "2")
    graph.reach(1, 1, "2")
    assert graph.edges == (Edge(0, 0, 1), Edge(0, 1, 2), Edge(1, 1, 2))


def test_doubted_edges_are_not_walked() -> None:
    """What a doubted edge alone leads to is given up; the edge stays in the graph."""
    graph = Graph()
    graph.start("0")
    graph.reach(0, 0, "1", [0])
    assert graph.plan(0) == Plan(reload=False, walk=(Edge(0, 0, 1),), state=1, event=0)
    graph.doubt(Edge(0, 0, 1))
    assert graph.plan(0) is None
    assert len(graph.edges) == 1


def test_walking_is_preferred_to_loading() -> None:
    """A load is planned only where the browser is nowhere or walking is longer."""
    graph = Graph()
    graph.start("0", [0, 1])
    graph.reach(0, 0, "1")
    graph.done(0, 0)
    graph.reach(1, 0, "0")
    assert graph.plan(1) == Plan(reload=False, walk=(Edge(1, 0, 0),), state=0, event=1)
    assert graph.plan(None) == Plan(reload=True, walk=(), state=0, event=1)


def test_one_start() -> None:
    """A graph has one start."""
    graph = Graph()
    graph.start("0")
    with pytest.raises(ValueError, match="start"):
        graph.start("1")


DETOURS = [
    pytest.param([{0: 1, 1: 2}, {0: 1}, {0: 0}], [0], 1, (False, 1), id="what is here comes before a load"),
    pytest.param([{0: 1, 1: 0}, {0: 2}, {0: 2}], [0, 0], 2, (True, 0), id="but not two steps deeper"),
]


@pytest.mark.parametrize(("machine", "fired", "at", "expected"), DETOURS)
def test_loads_are_put_off(machine: Machine, fired: list[int], at: int, expected: tuple[bool, int]) -> None:
    """Before the start is loaded anew, what can be done one step deeper is; nothing that is not ready."""
    graph, state = Graph(), 0
    graph.start("0", machine[0])
    for event in fired:
        graph.done(state, event)
        state = graph.reach(state, event, str(machine[state][event]), machine[machine[state][event]]) or 0
    assert state == at
    plan = graph.plan(at)
    assert plan is not None
    assert (plan.reload, plan.state) == expected
    unready = graph.plan(at, lambda _state, _event: False)
    assert unready is not None
    assert unready.reload
