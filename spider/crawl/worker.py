"""One worker: has its threads visit the links of the hosts in hand, and its ledger write what came.

All that it must not forget is in the database, so that a worker may die at any point and leave only
links in R behind.  Any number of workers may share a database.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter

from spider import url as urls
from spider.crawl import robots
from spider.crawl.applications import Applications
from spider.crawl.clock import Clock
from spider.crawl.crew import Crew
from spider.crawl.lane import Done, Errand, Lane, Visit
from spider.crawl.ledger import BEAT, Entry, Ledger
from spider.crawl.permit import Gate
from spider.crawl.plan import Plan
from spider.crawl.retries import PATIENCE, retry_at
from spider.crawl.roster import Roster
from spider.crawl.score import CUT
from spider.crawl.traps import Traps
from spider.crawl.visit import Visitor, no_trap
from spider.errors import BrowserError, StorageLostError
from spider.fetch import Client, Ruling, robots_url
from spider.model import Failed, Fetched, Outcome, Purpose, Reason, Rejected, Request, Skipped
from spider.store import Database, frontier, hosts
from spider.store.catalog import GONE
from spider.store.workers import PAGES

__all__ = ["Worker"]

LATE = 0.2  # seconds that an outcome may wait to be recorded with others
FULL = 200  # outcomes that are recorded at once
HUNGRY = 4  # of so many hosts at work one that waits for what came to be written is too many, while threads are free
IN_TURN = 8  # pages of a host that needs no waiting that one thread asks for, one behind the other
QUICK = 0.1  # seconds to an answer: a server that takes longer is asked anew each time whether it may be asked
POLL = 0.1  # seconds between two looks at a database where nothing is to be done now
MICRO = 1_000_000


class Worker:
    """The engine of a crawl within one process."""

    def __init__(self, database: Database, plan: Plan, *, clock: Clock) -> None:
        """Hold nothing yet; its ledger's `register` comes first."""
        self.roster = roster = Roster(plan)
        client = Client(plan.client(lambda: roster.homes))
        self.ledger = Ledger(database, plan, roster, clock=clock, part=client.leave)
        self._did: Counter[str] = Counter()
        self._database = database
        self._plan = plan
        self._clock = clock
        self._client = client
        self._traps = Traps(lambda: time.gmtime(clock.now() // MICRO).tm_year, copies=plan.dedup != "off")
        self._gate = Gate(
            lambda: roster.judge,
            obey_robots=plan.robots == "obey",
            ruling_of=self._ruling_of,
            closed=self._traps.closed if plan.traps else None,
            too_slow=self._is_too_slow if plan.longer_delay == "skip" else None,
        )
        self._crew: Crew[tuple[Lane, Visit | Errand], Done] = Crew(plan.threads, self._perform, goes_on=self._goes_on)
        self._in_turn = IN_TURN if plan.asks_in_turn else 1
        self._ends = False
        self._applications = Applications(
            plan, client, self._gate, lambda: roster.judge, clock=clock, away=self._crew.away
        )
        self._visitor = Visitor(
            client,
            lambda: roster.judge,
            visit_media=plan.visit_media,
            obey_meta=plan.meta_robots == "obey",
            obey_rel=plan.nofollow == "obey",
            sitemaps=plan.sitemaps,
            alike=plan.dedup == "near",
            passes=not plan.edges,
            ladder=database.ladder,
            trap=self._traps.refuses if plan.traps else no_trap,
            explore=self._applications.read,
        )
        self._visits = 0
        self._settled = 0  # of these, whose outcomes wait to be recorded
        self._starved = False
        self._next_ask = 0.0
        self._outcomes: list[tuple[Lane, Outcome]] = []
        self._rulings: list[tuple[Lane, Request, Ruling]] = []
        self._errands: list[Errand] = []
        self._oldest: float | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._crew.busy

    @property
    def pages(self) -> int:
        """How many pages this worker has read."""
        return self.ledger.did[PAGES]

    @property
    def error(self) -> BrowserError | None:
        """What keeps this worker from its work: there is no browser to be had."""
        return self._applications.error

    @property
    def hosts_in_flight(self) -> tuple[str, ...]:
        """The hosts that are being asked now; safe from another thread."""
        return tuple(lane.host.name for lane in list(self.ledger.lanes.values()) if lane.in_flight)

    @property
    def hosts_in_hand(self) -> int:
        """How many hosts this worker holds."""
        return len(self.ledger.lanes)

    @property
    def waits(self) -> tuple[tuple[str, float], ...]:
        """Hosts in hand that wait for their turn, the soonest first, and the seconds until then."""
        now = self._clock.steady()
        lanes = [lane for lane in list(self.ledger.lanes.values()) if not lane.in_flight and lane.due > now]
        return tuple((lane.host.name, lane.due - now) for lane in sorted(lanes, key=lambda lane: lane.due)[:3])

    # --- rounds -----------------------------------------------------------------------------------

    def step(self) -> list[Outcome]:
        """Do one round: begin what may begin, wait a moment for answers, write down; return what was written."""
        self._dispatch()
        self._collect(self._patience())
        self._dispatch()  # what may go on does so before what came is written, and several are written at once
        return self._write() if self._must_write() else []

    def drain(self, at_once: Callable[[], bool]) -> Iterator[list[Outcome]]:
        """Begin nothing more, let what is in flight end unless it must be `at_once`, and write it down."""
        self._ends = True
        while self._crew.busy and not at_once():
            self._collect(LATE)
            if self._is_late() or self._clock.steady() >= self.ledger.next_beat:
                yield self._write(more=False)
        if self._outcomes or self._rulings:
            yield self._write(more=False)

    def hurry(self) -> None:
        """Break off what takes long: pages that are being explored in a browser wait again."""
        self._applications.hurry()

    def close(self) -> None:
        """Let the threads, the browser and the connections go."""
        self._crew.close()
        self._applications.close()
        self._client.close()

    def rest(self) -> float | None:
        """Return None when there is nothing left to do, else how many seconds to wait before looking again."""
        if self.ledger.lanes or self._crew.busy or self._outcomes or self._rulings or self._errands:
            return 0.0
        try:
            return self._rest(self.ledger.now())
        except StorageLostError as error:
            self.ledger.lost(error)
            return POLL

    def _rest(self, now: int) -> float | None:
        with self._database.read() as connection:
            which = self.ledger.limits.left
            moment = hosts.next_due(connection, now, which=which)
            if moment is None:
                if hosts.anything_waits(connection, which=which) or hosts.running(connection):
                    return POLL  # in other workers' hands, and may come to ours
                moment = frontier.next_retry(connection)
                if moment is None or moment - now > PATIENCE * MICRO:
                    return None
        return min(POLL, max(0.0, (moment - now) / MICRO))

    def _patience(self) -> float:
        """Return how long to wait for an answer before something else is due."""
        now = self._clock.steady()
        moments = [self.ledger.next_beat]
        if self._oldest is not None:
            moments.append(self._oldest + LATE if self._crew.busy else now)
        if self._errands:
            moments.append(now + POLL)
        if self._starved:
            moments.append(self._next_ask)
        elif self._crew.free:
            moments += [lane.due for lane in self.ledger.lanes.values() if self._may_start_later(lane)]
        return min(BEAT, max(0.0, min(moments) - now))

    def _may_start_later(self, lane: Lane) -> bool:
        """Whether only time keeps a lane from its next request."""
        ready = bool(lane.errands or (lane.buffer and not lane.asking))
        return ready and lane.in_flight < self._plan.per_host and not lane.leaving

    # --- beginning --------------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Begin what may begin, the host first that has waited longest."""
        if not self._crew.free:
            return
        if self.ledger.now() >= self.ledger.lease_until:
            return  # the machine slept: the leases may be others' now, and the next heartbeat will tell
        now = self._clock.steady()
        ready = [lane for lane in self.ledger.lanes.values() if lane.may_start(now, self._plan.per_host)]
        for lane in sorted(ready, key=attrgetter("due")):
            if not self._crew.free:
                return
            while lane.may_start(now, self._plan.per_host) and self._begin(lane):
                pass

    def _begin(self, lane: Lane) -> bool:
        """Begin the lane's next job, or settle a link without asking; False when it has none that may begin."""
        if not self._crew.free:
            return False
        if lane.errands:
            return self._submit(lane, lane.errands.popleft())
        if not lane.buffer:
            return False
        request = lane.buffer[0]
        verdict = self._gate.permit(request.url, Purpose.PAGE)
        if isinstance(verdict, Rejected):
            return self._refuse(lane, request, verdict.rule)
        if not self._is_granted(lane):
            return False
        visits = [Visit(lane.buffer.popleft())]
        while len(visits) < self._in_turn and lane.buffer:
            if isinstance(self._gate.permit(lane.buffer[0].url, Purpose.PAGE), Rejected):
                break
            visits.append(Visit(lane.buffer.popleft()))
        self._visits += len(visits)
        return self._submit(lane, *visits)

    def _is_granted(self, lane: Lane) -> bool:
        """Whether the limits of the run leave room for one more page of a host."""
        if self.ledger.limits.spent:
            return False
        if self.ledger.limits.is_full(lane):
            lane.leaving = True
            return False
        if self._plan.max_pages is not None and self.pages + self._visits >= self.ledger.granted:
            self._starved = True
            return False
        return True

    def _submit(self, lane: Lane, *jobs: Visit | Errand) -> bool:
        lane.in_flight += len(jobs)
        self._crew.submit(*((lane, job) for job in jobs))
        return True

    def _refuse(self, lane: Lane, request: Request, rule: str) -> bool:
        """Settle a link that the gate refuses: ask for robots.txt first, or give the link its outcome."""
        if rule == "robots-unknown":
            origin = robots_url(request.url)
            if origin in lane.asking:
                return False
            lane.asking.add(origin)
            lane.errands.append(Errand(origin, origin, request))
            return True
        lane.buffer.popleft()
        self._settle(lane, self._unreachable(lane, request) if rule == "robots-unreachable" else Skipped(request, rule))
        return True

    def _unreachable(self, lane: Lane, request: Request) -> Failed:
        """Tell why a link must wait for its robots.txt: by the failure itself where no server answered."""
        ruling = lane.rulings[robots_url(request.url)][0]
        if ruling.failure is not None:
            reason, message = Reason(ruling.failure.reason), ruling.failure.message
            failed = Failed(request, reason, message if reason is Reason.REFUSED else f"robots.txt: {message}")
            return self._healing(failed, ruling.failure.retry_after)
        what = f"HTTP status {ruling.status}" if ruling.status else "no answer"
        return self._healing(Failed(request, Reason.ROBOTS_UNREACHABLE, f"robots.txt: {what}"), None)

    def _ruling_of(self, url: str) -> Ruling | None:
        lane = self.ledger.lanes.get(urls.host(url))
        return None if lane is None else lane.ruling(robots_url(url), self._clock.steady())

    def _is_too_slow(self, url: str) -> bool:
        lane = self.ledger.lanes.get(urls.host(url))
        return lane is not None and lane.asks_too_much

    # --- in the threads ---------------------------------------------------------------------------

    def _perform(self, work: tuple[Lane, Visit | Errand]) -> Done:
        """Do a job; this runs in the crew's threads and must not raise."""
        lane, job = work
        match job:
            case Errand():
                return robots.run_errand(self._client, lane, job)
            case Visit(request=request):
                return self._visitor.visit(lane, job, request)

    def _goes_on(self, done: Done) -> bool:
        """Whether the thread may ask the same host for the next of its pages at once: a quick server, and content."""
        sound = 200 <= done.status < 400 or done.status in GONE  # noqa: PLR2004  # success, or another place
        return sound and done.latency < QUICK and not self._ends and self.ledger.now() < self.ledger.lease_until

    # --- what came --------------------------------------------------------------------------------

    def _collect(self, patience: float) -> None:
        """Take what the threads bring, and back what they did not begin."""
        for done in self._crew.collect(patience):
            self._take(done)
        while self._crew.left:
            lane, job = self._crew.left.pop()
            lane.in_flight -= 1
            if isinstance(job, Visit):
                self._visits -= 1
                lane.buffer.appendleft(job.request)

    def _take(self, done: Done) -> None:
        """Take note of what a thread brings."""
        lane = done.lane
        lane.ended(self._clock.steady(), done.status, done.latency, done.asked)
        if isinstance(done.job, Errand):
            self._answer(done.job, done)
            return
        self._settled += 1
        outcome = done.outcome
        if isinstance(outcome, Failed):
            outcome = self._healing(outcome, done.asked)
        if outcome is not None:
            self._settle(lane, outcome)

    def _answer(self, errand: Errand, done: Done) -> None:
        """Let an answer on robots.txt hold, or follow it to the next hop."""
        if done.onward is not None:
            self._errands.append(replace(errand, url=done.onward, hops=errand.hops + 1))
        home = self.ledger.lanes.get(urls.host(errand.origin))
        if done.ruling is None or home is None:
            return
        robots.hold(home, done.ruling, steady=self._clock.steady(), patient=self._plan.delay > 0)
        home.asking.discard(errand.origin)
        if home.asks_too_much and self._plan.longer_delay == "cap":
            self._did[f"{CUT}crawl-delay"] += 1
        self._rulings.append((home, errand.cause, done.ruling))

    def _healing(self, failed: Failed, asked: float | None) -> Failed:
        """Give a failure that may pass the time of its next try."""
        moment = retry_at(
            failed.reason,
            failed.request.attempt,
            retries=self._plan.retries,
            clock=self._clock,
            waits=self._plan.delay > 0,
            asked=asked,
        )
        return Failed(failed.request, failed.reason, failed.message, failed.status, moment)

    def _settle(self, lane: Lane, outcome: Outcome) -> None:
        self.ledger.limits.took(outcome)
        lane.unrecorded += 1
        self._outcomes.append((lane, outcome))
        if self._oldest is None:
            self._oldest = self._clock.steady()

    # --- writing ----------------------------------------------------------------------------------

    def _must_write(self) -> bool:
        if self._starved and self._clock.steady() >= self._next_ask:
            return True
        return self._is_late() or self.ledger.must_write()

    def _is_late(self) -> bool:
        """Whether what came should wait no longer: it is old or much, or nothing else is to be waited for."""
        if not (self._outcomes or self._rulings or self._errands):
            return False
        if not self._crew.busy or len(self._outcomes) >= FULL or self._errands:
            return True
        if self._oldest is not None and self._clock.steady() - self._oldest >= LATE:
            return True
        starving = {lane.host.id for lane, _ in self._outcomes if lane.starves} if self._crew.free else ()
        return len(starving) * HUNGRY > self._crew.busy

    def _write(self, *, more: bool = True) -> list[Outcome]:
        entry = Entry(
            outcomes=self._outcomes,
            rulings=self._rulings,
            errands=self._errands,
            more=more,
            did=self._did,
            begun=self._visits - self._settled,
            free=self._crew.free,
        )
        self._outcomes, self._rulings, self._errands, self._oldest = [], [], [], None
        self._visits, self._settled, self._did, self._starved = entry.begun, 0, Counter(), False
        self._next_ask = self._clock.steady() + POLL
        self.ledger.write(entry)
        self._errands = entry.homeless
        if self._plan.traps:
            for outcome in entry.recorded:
                if isinstance(outcome, Fetched) and not outcome.void:
                    self._traps.learn(outcome)
        return entry.recorded
