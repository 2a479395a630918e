"""Explore an application (paper 4, algorithm 1): browser and graph together.

Breadth first by depth; known edges are walked to the nearest event not fired, and the start is loaded anew
only where that is nearer or nothing else leads there.  At each step the state's identity is compared: what
is reached unexpectedly is a state too, and the plan is made anew from it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from spider.ajax.application import Application, Limits, State, Transition
from spider.ajax.dom import Element, Identity, paths, pick, volatile
from spider.ajax.events import Event
from spider.ajax.footprints import Footprints
from spider.ajax.graph import START, Edge, Graph, Plan
from spider.ajax.harvest import Harvest
from spider.ajax.judge import Judge
from spider.ajax.samples import Samples
from spider.ajax.tab import Sight, StuckError, Tab
from spider.errors import FetchError
from spider.model import Reason

__all__ = ["Explorer", "Ways"]

LOAD = -1  # the number that stands for the page's load where an event's would
_MOST_SURPRISES = 5  # loads of the start that show something else again and again
_LATER = 5  # more turns of the clock for the start: what comes within half a minute is found
_ROUNDS = 3  # of waiting for a new state to come to rest


@dataclass(frozen=True, slots=True)
class Ways:
    """How to explore: what makes a state, whether to leave out products of independent events, where pictures go."""

    identity: Identity = Identity.STRUCTURE
    near_duplicates: bool = False
    independence: bool = True
    screenshots: Path | None = None


class Explorer:
    """One exploration of one application."""

    def __init__(
        self,
        url: str,
        open_tab: Callable[[], Awaitable[Tab]],
        discard: Callable[[Tab], Awaitable[None]],
        *,
        limits: Limits | None = None,
        ways: Ways | None = None,
    ) -> None:
        """`open_tab` gives a fresh tab, `discard` takes one that is done with or lost."""
        self.limits, self.ways = limits or Limits(), ways or Ways()
        self.application = Application(url)
        self.graph = Graph(max_depth=self.limits.depth, max_states=self.limits.states)
        self._open, self._discard = open_tab, discard
        self._tab: Tab | None = None
        self._harvest = Harvest(self.application)
        self._judge = Judge(self.ways.identity, collapse=self.ways.near_duplicates)
        self._events: list[list[Event]] = []
        self._ranks: list[list[int | None]] = []
        self._samples: list[Samples] = []
        self._footprints = Footprints()
        self._urls: list[str] = []
        self._pictures: list[str | None] = []
        self._sight: Sight | None = None
        self._current: int | None = None
        self._surprises = 0
        self._first: Sight | None = None
        self._is_sure = False
        self._began = time.monotonic()

    # -- the whole ------------------------------------------------------------------------------------

    async def explore(self) -> Application:
        """Explore until all is done or a limit is met; FetchError where the start does not load."""
        try:
            await self._begin()
            await self._linger()
            while self._within() and (plan := self.graph.plan(self._current, self._is_ready)) is not None:
                if self.ways.independence and self._footprints.leaves_out(plan.state, plan.event):
                    self.graph.done(plan.state, plan.event)
                    self.application.left_out += 1
                    continue
                await self._follow(plan)
        finally:
            if self._tab is not None:
                self._retire(self._tab)
                await self._discard(self._tab)
        return self._finished()

    def _is_ready(self, state: int, event: int) -> bool:
        """Say whether it is known of an event whether it can be left out."""
        origin = self._footprints.origin(state, event) if self.ways.independence else None
        return origin is None or not self.graph.waiting(origin)

    @property
    def _page(self) -> Tab:
        """The tab in use; StuckError where it was lost."""
        if self._tab is None:
            raise StuckError("the page was lost")
        return self._tab

    def _within(self) -> bool:
        """Say whether no limit is met; note the one that is."""
        reached = {
            "time": time.monotonic() - self._began > self.limits.seconds,
            "events": self.application.fired >= self.limits.events,
            "surprises": self._surprises > _MOST_SURPRISES,
        }
        self.application.ended = next((name for name, is_met in reached.items() if is_met), self.application.ended)
        return not any(reached.values())

    def _finished(self) -> Application:
        """Put the graph into the application."""
        done, graph = self.application, self.graph
        done.states = [
            State(number, graph.depths[number], graph.identities[number], self._urls[number], self._pictures[number])
            for number in range(len(graph))
        ]
        for edge in graph.edges:
            event = self._events[edge.source][edge.event] if edge.event != LOAD else None
            done.transitions.append(
                Transition(edge.source, edge.target, event.type if event else "load", event.path if event else "")
            )
        done.seconds = time.monotonic() - self._began
        return done

    def _retire(self, tab: Tab) -> None:
        self.application.loads += tab.loads
        self.application.sent += tab.gate.sent
        self.application.status = tab.gate.status
        self._harvest.named(tab.gate.traffic)

    # -- states ----------------------------------------------------------------------------------------

    async def _begin(self) -> None:
        """Load the start and make it the first state."""
        for attempt in range(2):
            try:
                return await self._start(await self._load())
            except StuckError as error:
                await self._lose()
                if attempt:
                    raise FetchError(Reason.DEADLINE, f"{self.application.url}: {error}") from error
        return None

    async def _start(self, sight: Sight) -> None:
        """Take the start as it is shown for the first state of all."""
        self._first = sight
        self._register(sight, await self._page.events(sight))
        self._footprints.start(START, self._judge.picked(sight))
        self._current = self.graph.start(self._judge.identity(sight), self._samples[START].first)
        await self._shown(sight, START)

    async def _linger(self) -> None:
        """Let time pass in the start, until something is asked for: it is the start's, and makes no state."""
        page, spent = self._page, 0
        try:
            while spent < _LATER and not (page.gate.traffic.asked or page.gate.traffic.streams or page.clock.workers):
                await page.clock.settle()
                spent += 1
            sight = await page.look()
        except StuckError:
            await self._lose()
            return
        self._harvest.sight(sight, START)
        self._take(START, None, "")
        same = self._judge.identity(sight) == self.graph.identities[START]
        self._sight, self._current = (sight, START) if same else (None, None)

    def _is_volatile(self, again: Sight) -> bool:
        """Compare two loads of the start, once, where chance or the time was asked for; mask what differs by itself.

        Then all is known anew, and begins anew; what was asked for meanwhile stays.
        """
        self._is_sure, first = True, self._first
        if first is None or not self._page.gate.varies or not (mask := volatile(first.tree, again.tree)):
            return False
        self._judge = self._judge.masked(mask)
        self.graph = type(self.graph)(max_depth=self.limits.depth, max_states=self.limits.states)
        self._events, self._ranks, self._samples, self._urls, self._pictures = [], [], [], [], []
        self._footprints = Footprints()
        self._harvest.anew()
        return True

    def _register(self, sight: Sight, events: list[Event]) -> None:
        """Remember what a new state needs to be used again: its events, and where their elements stand."""
        ranks = {place: rank for rank, place in enumerate(self._judge.kept(sight))}
        self._events.append(events)
        self._ranks.append([ranks.get(event.place) for event in events])
        samples, most = Samples(events), self.limits.per_state
        if len(samples.first) > most:
            note = f"state {len(self._samples)} has {len(samples.first)} events to fire, {most} of them are"
            self.application.notes.append(note)
            del samples.first[most:]
        self._samples.append(samples)
        self._urls.append(sight.url)
        self._pictures.append(None)

    async def _shown(self, sight: Sight, state: int) -> None:
        """Read what a state shows, and take its picture where that is asked for."""
        self._sight = sight
        self._harvest.sight(sight, state)
        if self.ways.screenshots is not None and self._pictures[state] is None and self._tab is not None:
            picture = await self._tab.picture()
            if picture:
                name = f"state-{state}.png"
                (self.ways.screenshots / name).write_bytes(picture)
                self._pictures[state] = name

    def _place(self, state: int, number: int, sight: Sight) -> int | None:
        """Return where the element of an event stands now, None where it does not."""
        event, rank = self._events[state][number], self._ranks[state][number]
        if rank is not None:
            places = self._judge.kept(sight)
            return places[rank] if rank < len(places) else None
        where = paths(sight.tree)
        return where.index(event.path) if event.path in where else None

    # -- steps -----------------------------------------------------------------------------------------

    async def _load(self) -> Sight:
        """Load the start and record what that asked for."""
        if self._tab is None:
            self._tab = await self._open()
        gate = self._tab.gate
        gate.context, gate.replaying = "load", bool(self.application.loads or self._tab.loads)
        await self._tab.load(self.application.url)
        self._take(START, None, "")
        return await self._tab.look()

    def _take(self, state: int, via: tuple[str, str] | None, text: str) -> tuple[str, ...]:
        """Record what was asked for and where the page wanted to go; return the marks of both, and others."""
        asked, left, marks = self._page.gate.traffic.take()
        return *marks, *self._harvest.asked(asked, state, via), *self._harvest.left(left, state, via, text)

    async def _lose(self) -> None:
        """Give up a tab that cannot be used any more."""
        tab, self._tab, self._current, self._sight = self._tab, None, None, None
        if tab is not None:
            self._retire(tab)
            await self._discard(tab)

    async def _follow(self, plan: Plan) -> None:
        """Do what a plan says, as far as the states are those it counts on."""
        step: Edge | None = None
        try:
            if plan.reload and not await self._restart():
                return
            for step in plan.walk:
                if not await self._walk(step):
                    return
            step = None
            self.graph.done(plan.state, plan.event)
            await self._fire(plan.state, plan.event)
        except (FetchError, StuckError) as error:
            if step is not None:
                self.graph.doubt(step)
            elif plan.reload and self._current is None:
                self._surprises += 1
            self.application.notes.append(f"state {plan.state}, event {plan.event}: {error}")
            await self._lose()

    async def _restart(self) -> bool:
        """Load the start anew; say whether it is what it was."""
        self._current = None
        sight = await self._load()
        if not self._is_sure and self._is_volatile(sight):
            await self._start(sight)
            return False
        identity = self._judge.identity(sight)
        if identity == self.graph.identities[START]:
            self._current, self._sight = START, sight
            return True
        self._surprises += 1
        await self._reach(START, LOAD, sight, identity)
        return False

    async def _walk(self, edge: Edge) -> bool:
        """Walk a known edge; say whether it led where it had."""
        await self._fire(edge.source, edge.event, known=True)
        if self._current == edge.target:
            return True
        self.graph.doubt(edge)
        return False

    async def _fire(self, state: int, number: int, *, known: bool = False) -> None:
        """Fire an event of the current state, and record all that comes of it."""
        tab, before = self._page, self._sight
        if before is None:
            raise StuckError("nothing is shown")
        place, event = self._place(state, number, before), self._events[state][number]
        if place is None:
            return
        tab.gate.context, tab.gate.replaying = f"{state} {number}", known
        element = before.tree[place]
        self._current = None
        done = await self._fired(state, event, element)
        after = await tab.look()
        if not known and self._is_rearmed(state, element, before, after):
            done += await self._fired(state, event, element)
            after = await tab.look()
        if tab.gate.animates and not known and not done and self._judge.identity(after) == self.graph.identities[state]:
            await tab.drawn()
            after = await tab.look()
        reached = await self._arrive(state, number, after)
        if not known:
            now = self._sight or after
            self._footprints.note(state, number, self._judge.picked(before), self._judge.picked(now), done)
            self.graph.want(state, self._samples[state].fired(number, (reached, *done)))
            if len(self.graph) > 1 and not self._is_sure and tab.gate.varies:
                await self._restart()  # is the second state one, or does the start change by itself?

    async def _fired(self, state: int, event: Event, element: Element) -> tuple[str, ...]:
        """Fire an event on an element; return the marks of what it did beside changing the page."""
        self.application.fired += 1
        done: tuple[str, ...] = ()
        try:
            await self._page.fire(element.node, event)
        finally:
            done = self._take(state, (event.type, event.path), element.text)
        return done

    def _is_rearmed(self, state: int, element: Element, before: Sight, after: Sight) -> bool:
        """Say whether an event changed nothing but what its element does the next time: then it is fired twice."""
        was, now = (
            {one for one in sight.handlers if one[0] == element.node and one[1] in element.events}
            for sight in (before, after)
        )
        return now != was and bool(now) and self._judge.identity(after) == self.graph.identities[state]

    async def _arrive(self, state: int, number: int, sight: Sight) -> int | None:
        """Find out where an event led; None where that is one state too many."""
        identity = self._judge.identity(sight)
        if identity == self.graph.identities[state]:
            self._current = state
            await self._shown(sight, state)
            return state
        return await self._reach(state, number, sight, identity)

    async def _reach(self, state: int, number: int, sight: Sight, identity: str) -> int | None:
        """Come to another state, known or new."""
        if self.graph.find(identity) is None:
            sight, identity = await self._rested(sight, identity)
            if identity == self.graph.identities[state]:
                self._current = state
                await self._shown(sight, state)
                return state
        if self.graph.find(identity) is None:
            if self.graph.is_full:
                self.application.ended = "states"
                return None
            self._register(sight, await self._page.events(sight))
            self._twins(state, number, sight)
            reached = self.graph.reach(state, number, identity, self._samples[-1].first)
        else:
            reached = self.graph.reach(state, number, identity)
        self._current = reached
        if reached is not None:
            await self._shown(sight, reached)
        return reached

    async def _rested(self, sight: Sight, identity: str) -> tuple[Sight, str]:
        """Look at a new state again until two looks are alike: what comes late belongs to it."""
        for _ in range(_ROUNDS):
            await (self._page.drawn() if self._page.gate.animates else self._page.clock.settle())
            again = await self._page.look()
            other = self._judge.identity(again)
            sight, before, identity = again, identity, other
            if before == other:
                break
        return sight, identity

    def _twins(self, state: int, number: int, sight: Sight) -> None:
        """Tell which events of a new state are the same, on the same elements, as those of the state before."""
        if self._sight is None or number == LOAD:
            self._footprints.start(len(self._events) - 1, self._judge.picked(sight))
            return
        before, after, new = self._judge.kept(self._sight), self._judge.kept(sight), len(self._events) - 1
        self._footprints.follow(state, pick(self._sight.tree, before), new, pick(sight.tree, after))
        nodes = {
            (self._sight.tree[before[rank]].node, event.type, event.value): one
            for one, (event, rank) in enumerate(zip(self._events[state], self._ranks[state], strict=True))
            if rank is not None and rank < len(before)
        }
        for one, (event, rank) in enumerate(zip(self._events[new], self._ranks[new], strict=True)):
            twin = nodes.get((sight.tree[event.place].node, event.type, event.value))
            if twin is not None and rank is not None:
                self._footprints.twin((new, one), (state, twin), by=(state, number), place=rank)
