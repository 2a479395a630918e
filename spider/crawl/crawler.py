"""A crawl: a generator of outcomes over one database, from its seeds until nothing is left or something ends it.

It begins as one process.  Where the work is more than one can do it begins others (`team`), leaves the links to
them and only watches: how they stand is read from the database.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from spider.ajax import require
from spider.crawl.clock import Clock, SystemClock
from spider.crawl.need import Need
from spider.crawl.nursery import Nursery
from spider.crawl.opening import prepare
from spider.crawl.orders import Orders
from spider.crawl.plan import Plan
from spider.crawl.process import at_work, bind, stay
from spider.crawl.score import AJAX, BYTES, CUT, EXPLORED, REFUSED, media_of, part
from spider.crawl.seeds import Seed
from spider.crawl.shift import Shift
from spider.crawl.standing import LATEST, Latest, Sight, Snapshot
from spider.crawl.team import Team
from spider.errors import BusyError, StorageError, StorageLostError
from spider.model import LinkState, Outcome
from spider.store import Connection, Database, Tally, ask, graphs, hosts, runs, seeds, workers

__all__ = ["Crawler"]

LIMITS = frozenset({"max-pages", "max-time", "max-bytes", "max-host-pages"})
LOOK = 0.5  # seconds between two looks at what the worker processes have done
NAMED_WAITS = 3  # hosts that are told to wait, by name
NAMED = 100  # hosts that are looked up by name, for those who watch


class Crawler:
    """One run over a database.

    `seeds` are added to its list and crawled with those that are there.  `exit_code` is 0, 3 or 4 of the
    documented codes once `run` has ended.  With `told` False only the outcomes of seeds are sure to be told.
    Worker processes come from the `nursery`, where one was opened in time.
    """

    def __init__(
        self,
        database: Database,
        plan: Plan,
        *,
        seeds: Sequence[Seed] = (),
        clock: Clock | None = None,
        told: bool = True,
        nursery: Nursery | None = None,
    ) -> None:
        """Do nothing yet; a pattern in the plan that is no regular expression is a SettingError."""
        self.plan = plan
        self.exit_code = 0
        self.why: str | None = None
        self._database = database
        self._seeds = seeds
        self._clock = clock or SystemClock()
        self._told = told
        self._nursery = nursery
        self._shift = Shift(database, plan, clock=self._clock)
        self._worker = self._shift.worker
        self._need = Need(plan, self._clock)
        self._team: Team | None = None
        self._began = self._clock.steady()
        self._run_id = 0
        self._refused: Mapping[str, int] = {}
        self._outside = 0
        self._alone = True
        self._seen: Snapshot | None = None
        self._latest = Latest()
        self._did: Counter[str] = Counter()
        self._free: list[int] = []  # the processors that this process may use, while it keeps to one

    # --- the run ----------------------------------------------------------------------------------

    def run(self) -> Iterator[Outcome]:
        """Yield what becomes of each link, once it is written down; a StorageError ends it.

        BusyError, before anything is done, where the plan is exclusive and another run is at work.  DiskError
        where too little is free on the database's disk: at once, or after what was in flight is written down.
        BrowserError where pages are to be explored and there is no browser: at once, or when it does not start.
        """
        self._began = self._clock.steady()
        self._shift.check_disk()
        if self.plan.ajax != "never":
            require(self.plan.browser)
        self._begin()
        self._free = stay() if self.plan.ajax == "never" else []
        try:
            for outcomes in self._rounds():
                self._latest.note(outcomes)
                yield from outcomes
        except GeneratorExit:
            self.why = "stopped"
            raise
        except StorageError:
            self.why = "storage"
            raise
        finally:
            bind(self._free)
            self._end()
        if self._shift.error is not None:
            raise self._shift.error

    def stop(self, *, now: bool = False) -> None:
        """End soon, with what is in flight; or at once, with what is written.  Safe in a signal handler."""
        self._shift.stop(now=now)
        if self._team is not None:
            self._team.stop(now=now)

    def _begin(self) -> None:
        with self._database.write() as connection:
            tally = Tally()
            if self.plan.exclusive:
                self._be_alone(connection)
            self._run_id = runs.begin(connection, now=self._clock.now())
            self._worker.ledger.register(connection, self._run_id, tally)
            prepare(connection, self.plan, self._worker.roster, self._seeds, tally, now=self._clock.now())
            if self.plan.ajax != "never":
                graphs.look_again(connection, self.plan.ajax, tally)
                tally.flush(connection)

    def _be_alone(self, connection: Connection) -> None:
        """Leave where another crawl is at work; one that died, however it died, is not."""
        workers.one_at_a_time(connection)
        for row in workers.rows(connection):
            if at_work(row, self._clock.now()):
                msg = f"run {row.run_id} (process {row.pid}) is at work on {self._database.name}"
                raise BusyError(msg)

    def _rounds(self) -> Iterator[list[Outcome]]:
        """Do the work in this process, and leave it to others where there is more of it than one can do."""
        for outcomes in self._shift.rounds(until=self._until):
            yield outcomes
            self._grow(self._need.processes(self._worker.ledger))
            if self._team is not None:
                yield self._team.outcomes(0)
                if self._team.ready:
                    self._shift.relieve()
        self.why = self._shift.why
        if self._team is not None:
            yield from self._watch(self._team)

    @property
    def _until(self) -> float:
        """When the run's time is over, in the steady clock's seconds."""
        return math.inf if self.plan.max_time is None else self._began + self.plan.max_time

    def _grow(self, size: int) -> None:
        """Have this many worker processes beside this one, where more than one is worth it."""
        if size > 1 and self._team is None:
            bind(self._free)
            orders = Orders(self._database.address, self._run_id, self.plan, tells=self._told)
            self._team = Team(self._database, orders, clock=self._clock, until=self._until, nursery=self._nursery)
        if self._team is not None:
            self._team.grow(size)

    def _watch(self, team: Team) -> Iterator[list[Outcome]]:
        """Leave the work to the team and see what becomes of it."""
        if self.why != "relieved":
            team.dismiss()
        self._leave()
        look = self._clock.steady()
        while team.at_work:
            yield team.outcomes(LOOK / 2)
            if self._clock.steady() >= look:
                self._look()
                look = self._clock.steady() + LOOK
                team.grow(self._need.of_hosts(self._seen.hosts_waiting if self._seen else 0))
        if team.error is not None:
            self.why = "failed"
            raise team.error
        self.why = team.why if self.why == "relieved" else self.why

    def _leave(self) -> None:
        """Give everything back; the connections first, before others may lease the hosts."""
        if self._alone:
            self._alone = False
            self._worker.close()
            self._worker.ledger.leave()

    def _end(self) -> None:
        """Give everything back and close the run; a database that fails now has nothing more to lose."""
        if self._team is not None:
            self._team.close()
        try:
            self._leave()
            self._worker.ledger.patiently(self._close)
        except StorageError:
            if self.why != "storage":
                raise

    def _close(self) -> None:
        with self._database.write() as connection:
            tally = Tally()
            now = self._clock.now()
            workers.recover(connection, lambda row: not at_work(row, now), tally)
            tally.flush(connection)
            self._did = workers.run_done(connection, self._run_id)
            self._refused = ask.skipped_counts(connection)
            self._outside = ask.outlink_count(connection)
            self._worker.ledger.counts = links = ask.link_counts(connection)
            bad = seeds.unfetched(connection, self._worker.roster.seed_ids)
            self.exit_code = self._code(waiting=links[LinkState.W], bad=bool(bad))
            runs.end(connection, self._run_id, now=now, why=self.why or "failed", counts=self._counts())
        self._seen = None

    def _code(self, *, waiting: int, bad: bool) -> int:
        if self.why in LIMITS and waiting:
            return 4
        return 3 if bad else 0

    def _counts(self) -> str:
        links = {state.value: number for state, number in self._worker.ledger.counts.items()}
        done = {"pages": self._did[workers.PAGES], "media": media_of(self._did)}
        return json.dumps({**done, "links": links, "refused": self._all_refused()})

    # --- how it stands ----------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return how the crawl stands; safe from another thread."""
        elapsed = max(1e-6, self._clock.steady() - self._began)
        seen = self._seen
        if seen is None:
            flying = self._worker.hosts_in_flight
            did = self._worker.ledger.did if self._alone else self._did
            waiting = max(0, self._worker.hosts_in_hand - len(flying))
            waits = self._worker.waits if self._alone else ()
            seen = replace(
                self._snapshot(self._worker.ledger.counts, did, flying, waiting), waits=waits, latest=self._latest.found
            )
        return replace(seen, elapsed=elapsed, pages_per_second=seen.pages / elapsed, ended=self.why)

    def _look(self) -> None:
        """See what the worker processes have done; a database that cannot be reached is looked at later."""
        try:
            with self._database.read() as connection:
                links = ask.link_counts(connection)
                did = workers.run_done(connection, self._run_id)
                names = hosts.leased_names(connection, most=NAMED)
                waiting = hosts.waiting(connection, most=max(NAMED, self._need.most))
                soon = hosts.soonest(connection, most=NAMED_WAITS)
                latest = tuple(Sight(*found) for found in ask.latest_media(connection, limit=LATEST))
        except StorageLostError:
            return
        now = self._clock.now()
        waits = tuple((name, max(0.0, (moment - now) / 1e6)) for name, moment in soon)
        self._seen = replace(self._snapshot(links, did, tuple(names), waiting), waits=waits, latest=latest)

    def _snapshot(
        self, links: Mapping[LinkState, int], did: Mapping[str, int], names: tuple[str, ...], waiting: int
    ) -> Snapshot:
        return Snapshot(
            waiting=links[LinkState.W],
            running=links[LinkState.R],
            complete=links[LinkState.C],
            error=links[LinkState.E],
            pages=did.get(workers.PAGES, 0),
            media=media_of(did),
            hosts=names,
            hosts_waiting=waiting,
            refused=self._refused,
            bytes=did.get(BYTES, 0),
            elapsed=0.0,
            pages_per_second=0.0,
            ended=None,
        )

    def _all_refused(self) -> dict[str, int]:
        """Count addresses by the rule that refused them: the database's, and what leaves no row there."""
        found = {**self._refused, **part(self._did, REFUSED), "external": self._outside}
        return {rule: number for rule, number in found.items() if number}

    def last_line(self) -> str:
        """Say how the run ended, and count what the crawl refused or cut, by rule."""
        why = {None: "not run", "done": "done", "stopped": "stopped"}.get(self.why, f"ended by {self.why}")
        refused = _listed(self._all_refused())
        return f"{why}; refused: {refused}; cut short: {_listed(part(self._did, CUT))}"

    def ajax_line(self) -> str | None:
        """Say how many pages look like Ajax applications, by library, and how many were explored; None is none."""
        found, explored = part(self._did, AJAX), self._did[EXPLORED]
        if not found and not explored:
            return None
        looking = sum(found.values())
        what = (
            "1 page looks like an Ajax application"
            if looking == 1
            else f"{looking:,} pages look like Ajax applications"
        )
        hint = (
            " (--ajax auto explores those that say little)" if self.plan.ajax == "never" else f"; {explored:,} explored"
        )
        return f"{what}: {_listed(found)}{hint}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {rule}" for rule, number in sorted(counts.items()) if number) or "nothing"
