"""A crawl: a generator of outcomes over one database, from its seeds until nothing is left or something ends it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spider.crawl import feeds
from spider.crawl.clock import Clock, SystemClock
from spider.crawl.ledger import BEAT
from spider.crawl.plan import Plan
from spider.crawl.process import at_work
from spider.crawl.roster import Roster
from spider.crawl.seeds import Seed
from spider.crawl.worker import Worker
from spider.errors import BusyError, DiskError, StorageError
from spider.fetch import Client
from spider.model import LinkState, Outcome
from spider.store import Connection, Database, Tally, ask, backup, frontier, runs, seeds, workers

__all__ = ["Crawler", "Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a crawl stands.  Links by state are the whole database's; pages and media are this run's."""

    waiting: int
    running: int
    complete: int
    error: int
    pages: int
    media: Mapping[str, int]
    hosts: tuple[str, ...]
    hosts_waiting: int
    refused: Mapping[str, int]
    elapsed: float
    pages_per_second: float
    ended: str | None


class Crawler:
    """One run over a database.

    `seeds` are added to its list and crawled with those that are there.  `exit_code` is 0, 3 or 4 of the
    documented codes once `run` has ended.
    """

    def __init__(
        self, database: Database, plan: Plan, *, seeds: Sequence[Seed] = (), clock: Clock | None = None
    ) -> None:
        """Do nothing yet; a pattern in the plan that is no regular expression is a SettingError."""
        self.plan = plan
        self.exit_code = 0
        self.why: str | None = None
        self._database = database
        self._seeds = seeds
        self._clock = clock or SystemClock()
        self._roster = Roster(plan)
        client = Client(plan.client(lambda: self._roster.homes))
        self._worker = Worker(database, plan, self._roster, clock=self._clock, client=client)
        self._began = self._clock.steady()
        self._stopping = self._at_once = False
        self._run_id = 0
        self._refused: Mapping[str, int] = {}
        self._outside = 0
        self._next_look = 0.0

    # --- the run ----------------------------------------------------------------------------------

    def run(self) -> Iterator[Outcome]:
        """Yield what becomes of each link, once it is written down; a StorageError ends it.

        BusyError, before anything is done, where the plan is exclusive and another run is at work.  DiskError
        where too little is free on the database's disk: at once, or after what was in flight is written down.
        """
        self._began = self._clock.steady()
        if self._is_full():
            raise self._full()
        self._begin()
        try:
            for outcomes in self._rounds():
                yield from outcomes
        except GeneratorExit:
            self.why = "stopped"
            raise
        except StorageError:
            self.why = "storage"
            raise
        finally:
            self._end()
        if self.why == "min-free":
            raise self._full()

    def stop(self, *, now: bool = False) -> None:
        """End soon, with what is in flight; or at once, with what is written.  Safe in a signal handler."""
        self._stopping = True
        self._at_once = self._at_once or now

    def _begin(self) -> None:
        with self._database.write() as connection:
            tally = Tally()
            if self.plan.exclusive:
                self._be_alone(connection)
            self._run_id = runs.begin(connection, now=self._clock.now())
            self._worker.ledger.register(connection, self._run_id, tally)
            given = [
                seeds.add_seed(connection, seed.url, now=self._clock.now(), options=dict(seed.options), tally=tally)
                for seed in self._seeds
            ]
            self._roster.load(connection)
            self._refresh(connection, tally)
            seeds.withdraw_idle(connection, tally)
            seeds.plant_all(connection, self._roster.limits, tally, given=set(given))
            tally.flush(connection)

    def _be_alone(self, connection: Connection) -> None:
        """Leave where another crawl is at work; one that died, however it died, is not."""
        workers.one_at_a_time(connection)
        for row in workers.rows(connection):
            if at_work(row, self._clock.now()):
                msg = f"run {row.run_id} (process {row.pid}) is at work on {self._database.name}"
                raise BusyError(msg)

    def _refresh(self, connection: Connection, tally: Tally) -> None:
        """Let pages that were read longer ago than the plan's age wait again.

        A crawl takes its time and a timer is never exact: what a crawl that began an age ago read, up to
        its end, is as old as its beginning, and a twentieth of the age does not matter.
        """
        if math.isinf(self.plan.refresh):
            return
        now = self._clock.now()
        age = int(self.plan.refresh * 0.95 * 1e6)
        before = max(now - age, runs.ended(connection, began_by=now - age) or 0)
        frontier.refresh(
            connection,
            tally,
            before=before,
            sooner=max(before, now - age // 2),
            listing=max(before, now - min(age, feeds.AGE)),
            listings=feeds.NAMES,
        )

    def _rounds(self) -> Iterator[list[Outcome]]:
        while (why := self._reached()) is None:
            yield self._worker.step()
            rest = self._worker.rest() if self._worker.idle else 0.0
            if rest is None:
                why = "done"
                break
            if rest:
                time.sleep(rest)
        self.why = why
        yield from self._worker.drain(lambda: self._at_once)

    def _reached(self) -> str | None:
        """Name what ends the run now: a signal or a limit; None when nothing does."""
        plan = self.plan
        if self._stopping:
            return "stopped"
        if plan.max_pages is not None and self._worker.pages >= plan.max_pages:
            return "max-pages"
        if plan.max_time is not None and self._clock.steady() - self._began >= plan.max_time:
            return "max-time"
        return "min-free" if self._is_full() else None

    def _is_full(self) -> bool:
        """Whether the database's disk has less room than the plan's floor; looked at as often as the heart beats."""
        path, now = self._database.path, self._clock.steady()
        if path is None or not self.plan.min_free or now < self._next_look:
            return False
        self._next_look = now + BEAT
        free = backup.free_bytes(path)
        return free is not None and free < self.plan.min_free

    def _full(self) -> DiskError:
        floor = f"less than {self.plan.min_free / 1e6:,.0f} MB is free on the disk of {self._database.name}"
        return DiskError(f"{floor} (--min-free); what waits is visited by the next crawl")

    def _end(self) -> None:
        """Give everything back and close the run; a database that fails now has nothing more to lose."""
        self._worker.close()  # before others may lease the hosts
        try:
            self._worker.ledger.leave()
            with self._database.write() as connection:
                self._refused = ask.skipped_counts(connection)
                self._outside = ask.outlink_count(connection)
                bad = seeds.unfetched(connection, self._roster.seed_ids)
                waiting = self._worker.ledger.counts[LinkState.W]
                self.exit_code = self._code(waiting=waiting, bad=bool(bad))
                runs.end(
                    connection, self._run_id, now=self._clock.now(), why=self.why or "failed", counts=self._counts()
                )
        except StorageError:
            if self.why != "storage":
                raise

    def _code(self, *, waiting: int, bad: bool) -> int:
        if self.why in {"max-pages", "max-time"} and waiting:
            return 4
        return 3 if bad else 0

    def _counts(self) -> str:
        media = {kind.value: number for kind, number in self._worker.media.items()}
        links = {state.value: number for state, number in self._worker.ledger.counts.items()}
        return json.dumps({"pages": self._worker.pages, "media": media, "links": links, "refused": self._all_refused()})

    # --- how it stands ----------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return how the crawl stands; safe from another thread."""
        worker, counts = self._worker, self._worker.ledger.counts
        elapsed = max(1e-6, self._clock.steady() - self._began)
        flying = worker.hosts_in_flight
        return Snapshot(
            waiting=counts[LinkState.W],
            running=counts[LinkState.R],
            complete=counts[LinkState.C],
            error=counts[LinkState.E],
            pages=worker.pages,
            media={kind.value: number for kind, number in list(worker.media.items())},
            hosts=flying,
            hosts_waiting=max(0, worker.hosts_in_hand - len(flying)),
            refused=self._refused,
            elapsed=elapsed,
            pages_per_second=worker.pages / elapsed,
            ended=self.why,
        )

    def _all_refused(self) -> dict[str, int]:
        """Count addresses by the rule that refused them: the database's, and what leaves no row there."""
        found = {**self._refused, **self._worker.refused, "external": self._outside}
        return {rule: number for rule, number in found.items() if number}

    def last_line(self) -> str:
        """Say how the run ended, and count what the crawl refused or cut, by rule."""
        why = {None: "not run", "done": "done", "stopped": "stopped"}.get(self.why, f"ended by {self.why}")
        refused = _listed(self._all_refused())
        return f"{why}; refused: {refused}; cut short: {_listed(self._worker.cut)}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {rule}" for rule, number in sorted(counts.items()) if number) or "nothing"
