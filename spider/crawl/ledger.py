"""What a worker writes: one transaction that records outcomes, says it lives, and takes new work in hand.

The only file of the crawl that writes to the database while it runs.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from spider import url as urls
from spider.crawl import feeds, memory, robots
from spider.crawl.clock import Clock
from spider.crawl.lane import Errand, Lane
from spider.crawl.limits import Limits
from spider.crawl.plan import Plan
from spider.crawl.process import LEASE, at_work, this_process
from spider.crawl.roster import Roster
from spider.crawl.score import counted
from spider.errors import StorageLostError
from spider.fetch import Pace, Ruling
from spider.model import LinkState, Outcome, Request
from spider.store import Connection, Database, Tally, ask, catalog, dialect, frontier, hosts, origins, workers

__all__ = ["BEAT", "Entry", "Ledger"]

BEAT = 0.5  # seconds between two heartbeats
RECOVER = 10.0  # seconds between two looks for dead workers
POLL = 0.1  # seconds between two looks for free hosts
AWAY = 600.0  # seconds that a database's server may be gone before the crawl gives up
RETRY = 0.25  # seconds between two tries to reach it
LANES = 16  # hosts in hand for each thread: while most wait for their delay, each thread finds one that is due
AT_ONCE = 256  # links taken out of a host that needs no waiting
MICRO = 1_000_000


@dataclass(slots=True)
class Entry:
    """What one transaction is to write, and after it what it gave.

    `outcomes` and `rulings` go in (with the lane each belongs to, and the link that asked), and `errands`
    that need a host which is not in hand; `more` False takes no new work.  `did` is what else is to be counted,
    `begun` how many visits are under way beside the outcomes, `free` how many more could begin.  `recorded` are
    the outcomes whose links were still ours, `homeless` the errands whose host another worker holds.
    """

    outcomes: Sequence[tuple[Lane, Outcome]] = ()
    rulings: Sequence[tuple[Lane, Request, Ruling]] = ()
    errands: Sequence[Errand] = ()
    more: bool = True
    did: Counter[str] = field(default_factory=Counter)
    begun: int = 0
    free: int = 0
    recorded: list[Outcome] = field(default_factory=list)
    homeless: list[Errand] = field(default_factory=list)


class Ledger:
    """The worker's side of the database.

    `lanes` are the hosts in hand, by name; `did` is what this worker has done; `granted` how many pages it may
    read in all, and `read` how many its run has read, where there is a limit; `hosts_waiting` and `crowd` how
    many hosts and workers there are, for as many as may matter.
    """

    def __init__(
        self, database: Database, plan: Plan, roster: Roster, *, clock: Clock, part: Callable[[str], None]
    ) -> None:
        """Hold nothing yet; `register` comes first.

        `part` closes the connections to a host name; it is called before another worker may lease it.
        """
        self.lanes: dict[str, Lane] = {}
        self.lease_until = 0
        self.next_beat = self.next_lease = 0.0
        self.counts: dict[LinkState, int] = dict.fromkeys(LinkState, 0)
        self.did: Counter[str] = Counter()
        self.granted = self.read = self.hosts_waiting = 0
        self.crowd = 1
        self.hurry: Callable[[], bool] = lambda: False
        self._database = database
        self._plan = plan
        self._roster = roster
        self._clock = clock
        self._part = part
        self._id = self._run_id = 0
        self._ahead = 0
        self._next_recover = 0.0
        self._away_since: float | None = None
        self._share = 1
        self.limits = Limits(plan)
        self._deepest = plan.order == "depth"
        self._began = clock.now()
        self._most = max(64, plan.threads * LANES)

    # --- life -------------------------------------------------------------------------------------

    def now(self) -> int:
        """Return UTC in microseconds by the clock that all workers share: the database server's, where it is one."""
        return self._clock.now() + self._ahead

    def register(self, connection: Connection, run_id: int, tally: Tally) -> None:
        """Write this worker down, and end those that died."""
        self._set_clock(connection)
        now = self.now()
        workers.recover(connection, self._is_dead, tally)
        me = this_process()
        row = workers.WorkerRow(0, run_id, me.machine, me.boot_id, me.pid, me.started, now, now)
        self._run_id, self._id = run_id, workers.register(connection, row)
        self.limits.begin(run_id)
        self.lease_until = now + int(LEASE * MICRO)

    def join(self, run_id: int) -> None:
        """Become one more worker of a run that has begun."""
        self.patiently(lambda: self._join(run_id))

    def _join(self, run_id: int) -> None:
        with self._database.write() as connection:
            tally = Tally()
            self.register(connection, run_id, tally)
            self._roster.load(connection)
            tally.flush(connection)

    def leave(self) -> None:
        """Give everything back: links in hand to W, hosts to whoever wants them."""
        self.patiently(self._leave)
        self.lanes.clear()

    def _leave(self) -> None:
        with self._database.write() as connection:
            tally = Tally()
            self._set_pace(connection, self.lanes.values())
            workers.unregister(connection, self._id, tally)
            tally.flush(connection)
            self.counts = ask.link_counts(connection)

    def _is_dead(self, row: workers.WorkerRow) -> bool:
        return not at_work(row, self.now())

    def _set_clock(self, connection: Connection) -> None:
        there = dialect.server_time(connection)
        self._ahead = 0 if there is None else there - self._clock.now()

    # --- the transaction --------------------------------------------------------------------------

    def must_write(self) -> bool:
        """Whether something is due that only the database knows: a heartbeat, links for a lane, hosts."""
        now = self._clock.steady()
        return now >= self.next_beat or any(lane.wants for lane in self.lanes.values()) or self.may_lease(now)

    def may_lease(self, now: float) -> bool:
        """Whether it is time to look for more hosts."""
        return len(self.lanes) < min(self._share, self._most) and now >= self.next_lease

    def write(self, entry: Entry) -> None:
        """Write an entry down and take new work in hand, all or nothing.

        Where the database's server is gone for a while, wait for it.
        """
        self.patiently(lambda: self._write(entry))

    def patiently(self, work: Callable[[], None]) -> None:
        """Do what needs the database, and again while its server is away: a minute or ten, no longer."""
        while True:
            kept = None if self._database.is_sqlite else [(lane, lane.kept()) for lane in self.lanes.values()]
            try:
                work()
            except StorageLostError as error:
                self.lost(error)
                self.lanes = {lane.host.name: lane for lane, _ in kept or ()}
                for lane, memory in kept or ():
                    lane.restore(memory)
                time.sleep(RETRY)
            else:
                self._away_since = None
                return

    def lost(self, error: StorageLostError) -> None:
        """Take note that the database cannot be reached; raise the error where that lasts too long."""
        now = self._clock.steady()
        self._away_since = now if self._away_since is None else self._away_since
        if self.hurry() or now - self._away_since > AWAY:
            raise error

    def _write(self, entry: Entry) -> None:
        did, steady = self.did, self._clock.steady()
        entry.recorded, entry.homeless = [], []
        with self._database.write() as connection:
            tally = Tally()
            if self._away_since is not None:
                did = self._reconcile(connection, tally, entry)
            now = self.now()
            if steady >= self.next_beat:
                self._beat(connection, tally, now)
            self._record(connection, tally, entry, now)
            more = counted(entry.recorded) + entry.did
            if more:
                did = did + more
                workers.note(connection, self._id, did)
            self.limits.look(connection)
            tally.flush(connection)
            if entry.more:
                self._take_more(connection, tally, entry, now)
                if self._plan.max_pages is not None:
                    self._ask_leave(connection, entry, did[workers.PAGES])
            if steady >= self.next_beat:
                self.counts = ask.link_counts(connection)
        self.did = did
        memory.learn(self.lanes, tally.met)
        if steady >= self.next_beat:
            self.next_beat = steady + BEAT

    def _take_more(self, connection: Connection, tally: Tally, entry: Entry, now: int) -> None:
        if entry.outcomes or self.may_lease(self._clock.steady()):
            self._lease(connection, now)
        self._house(connection, entry, now)
        self._check_out(connection, tally)
        self._let_go(connection, tally)
        tally.flush(connection)

    def _reconcile(self, connection: Connection, tally: Tally, entry: Entry) -> Counter[str]:
        """Agree with the database again, after a transaction whose end was not heard of; return what we did."""
        links = {outcome.request.link_id for _, outcome in entry.outcomes}.union(
            *(lane.links for lane in self.lanes.values())
        )
        held = {lane.host.id for lane in self.lanes.values()}
        mine = workers.forsake(connection, self._id, tally, links=links, held=held)
        for name, lane in list(self.lanes.items()):
            if lane.host.id not in mine and not lane.in_flight:
                del self.lanes[name]
        self.next_beat = 0.0
        return workers.noted(connection, self._id)

    def _beat(self, connection: Connection, tally: Tally, now: int) -> None:
        if not workers.beat(connection, self._id, now=now):
            # The others gave this worker up (it was stopped for long): what it held is theirs.
            self.lanes.clear()
            self.register(connection, self._run_id, tally)
        if self.lease_until - now < LEASE * MICRO * 2 / 3:
            self._set_clock(connection)
            self.lease_until = now + int(LEASE * MICRO)
            workers.renew(connection, self._id, until=self.lease_until)
        if self._clock.steady() >= self._next_recover:
            workers.recover(connection, lambda row: row.id != self._id and self._is_dead(row), tally)
            self._next_recover = self._clock.steady() + RECOVER
        frontier.retry_due(connection, now, tally)
        most = self._most * max(2, self.crowd + 1)
        waiting, self.crowd = hosts.shares(connection, since=now - int(LEASE * MICRO), most=most)
        self.hosts_waiting = waiting
        self._share = max(1, math.ceil(waiting / max(1, self.crowd)))
        for number, lane in enumerate(self.lanes.values()):
            lane.dry = lane.dry and bool(lane.buffer)  # others may have found links of it
            lane.leaving = self.crowd > 1 and number >= self._share

    def _ask_leave(self, connection: Connection, entry: Entry, read: int) -> None:
        """Ask for as many pages as can be read soon: the run may read so many and no more."""
        ready = sum(len(lane.buffer) for lane in self.lanes.values())
        wanted = read + entry.begun + min(ready, entry.free)
        most = self._plan.max_pages or 0
        granted = workers.grant(connection, self._id, self._run_id, wanted=wanted, most=most)
        self.granted, self.read = granted.mine, granted.read

    def _record(self, connection: Connection, tally: Tally, entry: Entry, now: int) -> None:
        outcomes = [outcome for _, outcome in entry.outcomes]
        if outcomes:
            entry.recorded = catalog.record(
                connection,
                self._id,
                outcomes,
                tally,
                now=now,
                limits=self._roster.limits,
                dedup=self._plan.dedup != "off",
                keep_edges=self._plan.edges,
                hasten=None if math.isinf(self._plan.refresh) else self._began,
            )
        rulings = [robots.as_row(lane.host.id, ruling, now=now) for lane, _, ruling in entry.rulings]
        origins.save_origins(connection, rulings)
        if rulings and self._plan.sitemaps:
            frontier.add(connection, self._sitemaps(entry), tally)
        self.limits.recorded(connection, entry.recorded, self.lanes.values())
        for lane, outcome in entry.outcomes:
            lane.links.discard(outcome.request.link_id)
            lane.unrecorded -= 1
            lane.dry = False
        touched = [*(lane for lane, _ in entry.outcomes), *(lane for lane, _, _ in entry.rulings)]
        self._set_pace(connection, {lane.host.id: lane for lane in touched}.values())

    def _sitemaps(self, entry: Entry) -> Iterator[frontier.NewLink]:
        """Yield the links to sitemaps that the rulings of an entry make."""
        for _, cause, ruling in entry.rulings:
            limit = self._roster.limits.get(cause.seed_id, 0)
            yield from feeds.planted(ruling, cause, limit=limit, ladder=self._database.ladder)

    def _set_pace(self, connection: Connection, lanes: Iterable[Lane]) -> None:
        now, steady = self.now(), self._clock.steady()
        hosts.set_pace(connection, [lane.leased(now, steady) for lane in lanes])

    def _lease(self, connection: Connection, now: int) -> None:
        limit = min(self._share, self._most) - len(self.lanes)
        until = now + int(LEASE * MICRO)
        which = self.limits.left
        leased = hosts.lease(connection, self._id, now=now, until=until, limit=limit, which=which)
        self._open(connection, leased, now)
        if self._roster.load(connection):
            for lane in self.lanes.values():
                lane.known = {}  # what was settled for another list of seeds may be news now
        self.next_lease = self._clock.steady() + POLL

    def _house(self, connection: Connection, entry: Entry, now: int) -> None:
        """Find each errand its host: in hand, or leased for it; one in other hands is asked for again later.

        Where another worker has asked the same robots.txt already, its answer serves.
        """
        until = now + int(LEASE * MICRO)
        for errand in entry.errands:
            name = urls.host(errand.url)
            if name not in self.lanes:
                host = hosts.lease_host(connection, self._id, name, now=now, until=until)
                if host is None and not self._answered(connection, errand, now):
                    entry.homeless.append(errand)
                    continue
                self._open(connection, [host] if host is not None else [], now)
            if name in self.lanes:
                self.lanes[name].errands.append(errand)

    def _answered(self, connection: Connection, errand: Errand, now: int) -> bool:
        """Settle an errand by what another worker's question brought, if that is written down."""
        home = self.lanes.get(urls.host(errand.origin))
        if home is None:
            return True  # its own host is not in hand any more; who takes it next will ask
        row = origins.origin_row(connection, errand.url)
        if row is None:
            return False
        steady = self._clock.steady()
        robots.hold(home, robots.as_ruling(row, errand.origin), steady=steady, age=(now - row.robots_at) / MICRO)
        home.asking.discard(errand.origin)
        return True

    def _open(self, connection: Connection, leased: Sequence[hosts.Leased], now: int) -> None:
        steady = self._clock.steady()
        waits = self._plan.delay > 0
        by_id = {}
        for host in leased:
            pace = Pace(self._plan.delay, latency=host.latency / MICRO, cap=self._plan.longest_delay)
            due = steady + max(0.0, (host.next_at - now) / MICRO) if waits else steady
            by_id[host.id] = self.lanes[host.name] = Lane(host, pace, due, failures=host.failures, strict=self._deepest)
        self.limits.opened(connection, by_id.values())
        for row in origins.origin_rows(connection, list(by_id)):
            robots.known(by_id[row.host_id], row, now=now, steady=steady)

    def _check_out(self, connection: Connection, tally: Tally) -> None:
        limit = 1 if self._deepest else AT_ONCE if self._plan.delay <= 0 else max(2, self._plan.per_host)
        wanting = [lane for lane in self.lanes.values() if lane.takes(limit)]
        rich = hosts.rich(connection, self._id) if wanting else frozenset()
        for lane in wanting:
            if lane.host.id not in rich:
                lane.dry = True
                continue
            # While links of one depth are at work, only more of that depth: what they show may be nearer
            # than what waits deeper.
            rank = lane.rank if lane.buffer or lane.in_flight else None
            taken = frontier.check_out(
                connection,
                self._id,
                lane.host.id,
                tally,
                limit=limit,
                rank=rank,
                deepest=self._deepest,
            )
            lane.buffer.extend(taken)
            lane.links.update(request.link_id for request in taken)
            lane.dry = not taken
            if taken:
                lane.rank = taken[0].late, taken[0].depth

    def _let_go(self, connection: Connection, tally: Tally) -> None:
        """Let go of hosts that have nothing left to do, and of those above this worker's fair share.

        So a worker that comes later finds work too.
        """
        for lane in list(self.lanes.values()):
            if lane.in_flight or lane.asking:
                continue
            if lane.leaving or self.limits.is_full(lane):
                frontier.release(connection, self._id, tally, [request.link_id for request in lane.buffer])
                self._drop(connection, lane)
            elif not (lane.buffer or lane.errands):
                self._drop(connection, lane)

    def _drop(self, connection: Connection, lane: Lane) -> None:
        self._part(lane.host.name)
        self._set_pace(connection, [lane])
        hosts.let_go(connection, self._id, [lane.host.id])
        del self.lanes[lane.host.name]
