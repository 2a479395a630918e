"""A crawl that asks nobody: what it would fetch next, in which order and when, and what it would refuse.

All is done as a crawl does it, in a transaction that is taken back at its end.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from spider import url as urls
from spider.crawl import robots
from spider.crawl.clock import Clock, SystemClock
from spider.crawl.lane import Lane
from spider.crawl.opening import prepare
from spider.crawl.permit import Gate
from spider.crawl.plan import Plan
from spider.crawl.roster import Roster
from spider.crawl.seeds import Seed
from spider.fetch import Pace, robots_url
from spider.model import LinkState, Purpose, Rejected, Request
from spider.store import Connection, Database, Tally, ask, frontier, origins
from spider.store.handout import hosts_in_turn, in_turn
from spider.store.hosts import Leased

__all__ = ["Rehearsal", "Step", "rehearse"]

MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Step:
    """What would become of one link.

    `wait` is in how many seconds it would be asked for, as far as can be told, where every answer comes at once;
    `rule` what refuses it, None where nothing does; `again` whether it was read before; `robots_first` whether
    its host's robots.txt would be asked for before, which may yet close it.
    """

    url: str
    depth: int
    seed: str
    wait: float
    rule: str | None = None
    again: bool = False
    robots_first: bool = False


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The first steps of a crawl, and how many links would wait at its beginning."""

    steps: Sequence[Step]
    waiting: int


@dataclass(slots=True)
class _Turn:
    """A host with the links that wait for it, as far as they were looked up."""

    lane: Lane
    links: deque[Request] = field(default_factory=deque)
    looked: int = 0


def rehearse(
    database: Database, plan: Plan, *, seeds: Sequence[Seed] = (), most: int = 50, clock: Clock | None = None
) -> Rehearsal:
    """Return the first `most` steps that a crawl would take now; the database stays as it is."""
    clock = clock or SystemClock()
    with database.write() as connection:
        trial = connection.begin_nested()
        try:
            return _Rehearsing(connection, plan, clock.now()).run(seeds, most)
        finally:
            trial.rollback()


class _Rehearsing:
    """One rehearsal, within its transaction; the steady clock stands at 0 at its beginning."""

    def __init__(self, connection: Connection, plan: Plan, now: int) -> None:
        self._connection = connection
        self._plan = plan
        self._now = now
        self._roster = Roster(plan)
        self._turns: dict[str, _Turn] = {}
        self._gate = Gate(
            lambda: self._roster.judge,
            obey_robots=plan.robots == "obey",
            ruling_of=lambda url: self._lane(url).ruling(robots_url(url), 0.0),
            too_slow=(lambda url: self._lane(url).asks_too_much) if plan.longer_delay == "skip" else None,
        )
        self._asked: set[str] = set()

    def run(self, given: Sequence[Seed], most: int) -> Rehearsal:
        """Prepare as a crawl does and go through the hosts by their time."""
        tally = Tally()
        prepare(self._connection, self._plan, self._roster, given, tally, now=self._now)
        frontier.retry_due(self._connection, self._now, tally)
        tally.flush(self._connection)
        self._turns = {host.name: self._turn(host) for host in hosts_in_turn(self._connection, limit=most)}
        for row in origins.origin_rows(self._connection, [turn.lane.host.id for turn in self._turns.values()]):
            host = next(turn.lane for turn in self._turns.values() if turn.lane.host.id == row.host_id)
            robots.known(host, row, now=self._now, steady=0.0)
        waiting = ask.link_counts(self._connection)[LinkState.W]
        return Rehearsal(self._steps(most), waiting)

    def _turn(self, host: Leased) -> _Turn:
        pace = Pace(self._plan.delay, latency=host.latency / MICRO, cap=self._plan.longest_delay)
        due = max(0.0, (host.next_at - self._now) / MICRO) if self._plan.delay > 0 else 0.0
        return _Turn(Lane(host, pace, due))

    def _lane(self, url: str) -> Lane:
        return self._turns[urls.host(url)].lane

    def _steps(self, most: int) -> list[Step]:
        roots = self._roster.judge
        order = [(turn.lane.due, number, turn) for number, turn in enumerate(self._turns.values())]
        heapq.heapify(order)
        steps: list[Step] = []
        while order and len(steps) < most:
            moment, number, turn = heapq.heappop(order)
            request = self._next(turn, most)
            if request is None:
                continue
            verdict = self._gate.permit(request.url, Purpose.PAGE)
            rule = verdict.rule if isinstance(verdict, Rejected) else None
            first = rule == "robots-unknown" and robots_url(request.url) not in self._asked
            if first:
                self._asked.add(robots_url(request.url))
            if rule == "robots-unknown":
                rule = None
            wait = moment + (turn.lane.pace.delay if first else 0.0)
            seed = roots.root(request.seed_id) or ""
            again = request.known is not None
            steps.append(Step(request.url, request.depth, seed, wait, rule, again, first))
            heapq.heappush(order, (wait + turn.lane.pace.delay if rule is None else moment, number, turn))
        return sorted(steps, key=lambda step: step.wait)

    def _next(self, turn: _Turn, most: int) -> Request | None:
        """Take the next link of a host, in the order in which they are handed out."""
        if not turn.links:
            deepest = self._plan.order == "depth"
            found = in_turn(self._connection, turn.lane.host.id, deepest=deepest, limit=most, offset=turn.looked)
            turn.links.extend(found)
            turn.looked += len(found)
        return turn.links.popleft() if turn.links else None
