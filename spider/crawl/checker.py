"""A check of media: a generator of what was found of each, politely, over all hosts at once, resumable at any point.

Every request is a host's turn: one at a time, at its pace, reserved in the database, so that neither a crawl
nor another check asks it meanwhile.  What was found is written down before it is told; what is killed has
lost nothing but the requests in flight.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from spider import url as urls
from spider.crawl.clock import Clock, SystemClock
from spider.crawl.crew import Crew
from spider.crawl.health import Errand, refused
from spider.crawl.permit import Gate
from spider.crawl.plan import Plan
from spider.crawl.robots import as_row, as_ruling
from spider.crawl.roster import Roster
from spider.crawl.turns import Done, Job, Line, RobotsErrand, turn
from spider.fetch import Access, Client, Pace, Ruling, robots_url
from spider.model import Confidence, Health, MediaKind, Purpose, Reason, Rejected
from spider.settings import AGENT_TOKEN
from spider.store import Database, checks, hosts, origins
from spider.store.checks import CheckRow

__all__ = ["Checker", "Choice", "Standing"]

ROBOTS_AGE = 24 * 3600 * 1_000_000  # microseconds; section 2.4
AT_ONCE = 50  # media of a host whose addresses are read together
BUSY = 5.0  # seconds until a host that a crawl holds is looked at again
PATIENCE = 300.0  # seconds that a host is waited for when nothing else is left to do
BEAT = 0.5  # seconds at most without a look at the clock
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Choice:
    """Which media to check: kinds, one seed's or all; those checked longer ago than `older_than` seconds, or never."""

    kinds: tuple[MediaKind, ...] = tuple(MediaKind)
    seed: str | None = None
    older_than: float = 0.0
    confidence: Confidence = Confidence.LINK


@dataclass(frozen=True, slots=True)
class Standing:
    """How a check stands: media in all, those done, what was found of them, hosts at work, seconds since it began."""

    total: int
    done: int
    found: dict[Health, int]
    hosts: tuple[str, ...]
    waiting: int
    elapsed: float


class Checker:
    """One check over a database.  `left` counts what could not be asked, once `run` has ended."""

    def __init__(self, database: Database, plan: Plan, choice: Choice, *, clock: Clock | None = None) -> None:
        """Do nothing yet."""
        self.left = 0
        self.found: Counter[Health] = Counter()
        self._database = database
        self._plan = plan
        self._choice = choice
        self._clock = clock or SystemClock()
        self._roster = Roster(plan)
        self._client = Client(plan.client(lambda: self._roster.homes))
        self._crew: Crew[tuple[Line, Job], Done] = Crew(plan.threads, self._perform)
        self._gate = Gate(
            lambda: self._roster.judge,
            obey_robots=plan.robots == "obey",
            ruling_of=lambda url: self._rulings.get(robots_url(url)),
            too_slow=self._is_too_slow if plan.longer_delay == "skip" else None,
        )
        self._lines: dict[str, Line] = {}
        self._heap: list[tuple[float, str]] = []
        self._rulings: dict[str, Ruling] = {}
        self._waiting: dict[str, list[Errand]] = {}  # for an origin's robots.txt
        self._results: list[CheckRow] = []
        self._rests: dict[str, float] = {}
        self._fresh: list[Ruling] = []
        self._total = self._done = 0
        self._began_at, self._began = self._clock.now(), self._clock.steady()
        self._stopping = self._at_once = False

    # --- the run ----------------------------------------------------------------------------------

    def run(self) -> Iterator[CheckRow]:
        """Yield what was found of each medium, once it is written down; a StorageError ends it."""
        self._began_at, self._began = self._clock.now(), self._clock.steady()
        try:
            self._gather()
            while not self._is_over():
                self._begin_due()
                for done in self._crew.collect(self._patience()):
                    self._take(done)
                yield from self._write()
            while self._crew.busy and not self._at_once:
                for done in self._crew.collect(BEAT):
                    self._take(done)
            yield from self._write()
        finally:
            self.left = self._total - self._done
            self._crew.close()
            self._client.close()

    def stop(self, *, now: bool = False) -> None:
        """End soon, with what is in flight; or at once.  Safe in a signal handler."""
        self._stopping = True
        self._at_once = self._at_once or now

    def snapshot(self) -> Standing:
        """Return how it stands; safe from another thread."""
        lines = list(self._lines.values())
        flying = tuple(line.name for line in lines if line.flying)
        waiting = sum(line.has_work and not line.flying for line in lines)
        elapsed = self._clock.steady() - self._began
        return Standing(self._total, self._done, dict(self.found), flying, waiting, elapsed)

    def _gather(self) -> None:
        """Read which media are due: of each host the rows alone, eight bytes a medium."""
        before = self._began_at - int(self._choice.older_than * MICRO)
        with self._database.read() as connection:
            self._roster.load(connection)
            for kind in self._choice.kinds:
                found = checks.due(
                    connection,
                    kind,
                    before=before,
                    now=self._began_at,
                    seed=self._choice.seed,
                    confidence=self._choice.confidence,
                )
                for place in found:
                    line = self._line(urls.host(place.url))
                    line.rows.setdefault(kind, array("q")).append(place.id)
                    self._total += 1
        for line in self._lines.values():
            for rows in line.rows.values():
                rows.reverse()  # so that the first found are taken off the end
            self._queue(line)

    def _is_over(self) -> bool:
        limit = self._plan.max_time
        if self._stopping or (limit is not None and self._clock.steady() - self._began >= limit):
            return True
        return not self._crew.busy and not any(self._may_go_on(line) for line in self._lines.values())

    def _may_go_on(self, line: Line) -> bool:
        """Whether a host is worth waiting for: not one that a crawl holds, or that wants a long rest."""
        return line.has_work and not line.held and line.due - self._clock.steady() < PATIENCE

    def _patience(self) -> float:
        """Return how long to wait for an answer: until a host is due, no longer than a look at the clock takes."""
        if not self._crew.free or not self._heap:
            return BEAT
        return min(BEAT, max(0.0, self._heap[0][0] - self._clock.steady()))

    # --- turns ------------------------------------------------------------------------------------

    def _line(self, name: str) -> Line:
        line = self._lines.get(name)
        if line is None:
            pace = Pace(self._plan.delay, cap=self._plan.longest_delay)
            line = self._lines[name] = Line(name, pace)
        return line

    def _queue(self, line: Line) -> None:
        """Let a host come up when it is due, if anything is to be asked of it."""
        if line.has_work and not line.flying and not line.queued:
            line.queued = True
            heapq.heappush(self._heap, (line.due, line.name))

    def _begin_due(self) -> None:
        """Give the hosts whose turn has come to the threads, as many as are free."""
        now, chosen = self._clock.steady(), dict[str, tuple[Line, Job]]()
        while self._heap and self._heap[0][0] <= now and len(chosen) < self._crew.free:
            line = self._lines[heapq.heappop(self._heap)[1]]
            line.queued = False
            job = self._next(line)
            if job is not None:
                chosen[line.name] = line, job
        for name, moment in self._reserved(chosen).items():
            line, job = chosen.pop(name)
            line.jobs.appendleft(job)
            line.held = moment is None
            line.due = now + (BUSY if moment is None else max(0.0, (moment - self._clock.now()) / MICRO))
            self._queue(line)
        for line, job in chosen.values():
            line.held, line.flying = False, True
            self._crew.submit((line, job))

    def _reserved(self, chosen: dict[str, tuple[Line, Job]]) -> dict[str, int | None]:
        """Reserve hosts; return those that are another's now, or not due yet."""
        if not chosen:
            return {}
        now = self._clock.now()
        until = now + int((self._plan.deadline + self._plan.timeout) * MICRO)
        with self._database.write() as connection:
            return checks.take_turn(connection, chosen, now=now, until=until)

    def _next(self, line: Line) -> Job | None:
        """Return the next job of a host that the gate lets pass; what it refuses is done with on the way."""
        while (job := self._first(line)) is not None:
            if isinstance(job, RobotsErrand):
                return job
            match self._gate.permit(job.url, Purpose.CHECK):
                case Rejected(rule="robots-unknown"):
                    self._await_robots(job)
                case Rejected(rule=rule):
                    self._results.append(refused(job, self._reason(rule, job.url), now=self._clock.now()))
                case _:
                    return job
        return None

    def _reason(self, rule: str, url: str) -> Reason:
        """Return the class of a refusal; a robots.txt that the guard refuses is the guard's refusal of its origin."""
        if rule == "robots":
            return Reason.ROBOTS
        ruling = self._rulings.get(robots_url(url))
        guarded = ruling is not None and ruling.failure is not None and ruling.failure.reason == Reason.REFUSED
        return Reason.ROBOTS_UNREACHABLE if rule == "robots-unreachable" and not guarded else Reason.REFUSED

    def _first(self, line: Line) -> Job | None:
        """Take the next job of a host out, from what is read already or from its rows."""
        while not line.jobs:
            kind = next((kind for kind, rows in line.rows.items() if rows), None)
            if kind is None:
                return None
            self._read(line, kind)
        return line.jobs.popleft()

    def _read(self, line: Line, kind: MediaKind) -> None:
        """Read the addresses of some media; those that another check has done meanwhile are done here too."""
        rows = line.rows[kind]
        part = rows[-AT_ONCE:]
        del rows[-AT_ONCE:]
        with self._database.read() as connection:
            found = checks.places(connection, kind, list(part), began=self._began_at)
        self._done += len(part) - len(found)
        line.jobs.extend(Errand(medium, medium.url) for medium in found)

    def _await_robots(self, errand: Errand) -> None:
        """Let a medium wait for its origin's robots.txt, which is asked for once; a kept one that holds will do."""
        origin = robots_url(errand.url)
        kept = self._kept(origin)
        if kept is not None:
            self._rule(origin, kept)
            self._line(urls.host(errand.url)).jobs.appendleft(errand)
            return
        first = origin not in self._waiting
        self._waiting.setdefault(origin, []).append(errand)
        if first:
            line = self._line(urls.host(origin))
            line.jobs.appendleft(RobotsErrand(origin, origin))
            self._queue(line)

    def _kept(self, origin: str) -> Ruling | None:
        with self._database.read() as connection:
            row = origins.origin_row(connection, origin)
        if row is None or row.robots_at + ROBOTS_AGE < self._clock.now():
            return None
        ruling = as_ruling(row, origin)
        return None if ruling.access is Access.DISALLOW else ruling

    def _rule(self, origin: str, ruling: Ruling) -> None:
        """Let a ruling hold, and a host's Crawl-delay with it."""
        self._rulings[origin] = ruling
        asked = ruling.robots.crawl_delay(AGENT_TOKEN)
        line = self._line(urls.host(origin))
        if asked is not None:
            line.pace = replace(line.pace, crawl_delay=max(asked, line.pace.crawl_delay or 0.0))

    def _is_too_slow(self, url: str) -> bool:
        pace = self._line(urls.host(url)).pace
        return pace.crawl_delay is not None and pace.crawl_delay > pace.cap

    # --- answers ----------------------------------------------------------------------------------

    def _perform(self, work: tuple[Line, Job]) -> Done:
        """Take a turn, in a thread."""
        return turn(self._client, *work, now=self._clock.now())

    def _take(self, done: Done) -> None:
        """Take an answer in: the host's pace, what follows for the medium."""
        line = done.line
        line.flying = False
        line.pace = line.pace.after(done.status, done.latency)
        if done.ruling is not None:
            self._settle(done.ruling.url, done.ruling)
        line.due = self._clock.steady() + line.pace.wait(done.asked)
        match done.next:
            case CheckRow() as row:
                self._results.append(row)
            case None:
                pass
            case job:
                other = self._line(urls.host(job.url))
                other.jobs.appendleft(job)
                self._queue(other)
        self._rests[line.name] = line.due
        self._queue(line)

    def _settle(self, origin: str, ruling: Ruling) -> None:
        """Let what waited for a robots.txt go on; none that came closes all that waited."""
        self._rule(origin, ruling)
        self._fresh.append(ruling)
        waited = self._waiting.pop(origin, [])
        line = self._line(urls.host(origin))
        line.jobs.extendleft(reversed(waited))

    # --- writing ----------------------------------------------------------------------------------

    def _write(self) -> list[CheckRow]:
        """Write down what was found, how long hosts rest and what robots.txt said; return what was found."""
        rows, self._results = self._results, []
        rests, self._rests = self._rests, {}
        fresh, self._fresh = self._fresh, []
        if rows or rests or fresh:
            now, steady = self._clock.now(), self._clock.steady()
            moments = {name: now + int(max(0.0, due - steady) * MICRO) for name, due in rests.items()}
            with self._database.write() as connection:
                checks.record(connection, rows)
                checks.end_turns(connection, moments)
                known = hosts.host_ids(connection, {urls.host(ruling.url) for ruling in fresh})
                rulings = [as_row(known[urls.host(ruling.url)], ruling, now=now) for ruling in fresh]
                origins.save_origins(connection, rulings)
        self._done += len(rows)
        self.found.update(row.health for row in rows)
        return rows
