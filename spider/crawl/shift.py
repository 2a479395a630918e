"""A worker's time at work: its rounds, until nothing is left, a limit is reached or somebody says stop.

The same for a crawl of one process and for each of many.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from spider.crawl.clock import Clock
from spider.crawl.ledger import BEAT
from spider.crawl.plan import Plan
from spider.crawl.worker import Worker
from spider.errors import DiskError, SpiderError
from spider.model import Outcome
from spider.store import Database, backup, hosts

__all__ = ["Shift"]

UNHURRIED = frozenset({"done", "relieved", "max-pages", "max-host-pages"})
"""Ends that leave the time to explore to its end what is being explored."""


class Shift:
    """The rounds of one worker.

    `why` says what ended them: done, stopped, relieved, max-pages, max-time, max-bytes, max-host-pages, min-free,
    browser.
    """

    def __init__(self, database: Database, plan: Plan, *, clock: Clock) -> None:
        """Do nothing yet."""
        self.worker = Worker(database, plan, clock=clock)
        self.worker.ledger.hurry = self._must_hurry
        self.why: str | None = None
        self._database = database
        self._plan = plan
        self._clock = clock
        self._until = math.inf
        self._ending: str | None = None
        self._at_once = False
        self._next_look = 0.0

    def stop(self, *, now: bool = False) -> None:
        """End soon, with what is in flight; or at once, with what is written.  Safe in a signal handler."""
        self._ending = "stopped"
        self._at_once = self._at_once or now

    def relieve(self) -> None:
        """End soon: other workers go on."""
        self._ending = self._ending or "relieved"

    def rounds(self, *, until: float = math.inf) -> Iterator[list[Outcome]]:
        """Yield the outcomes of each round, once they are written down; to a moment in the steady clock's seconds."""
        self._until = until
        while (why := self._reached()) is None:
            yield self.worker.step()
            rest = self.worker.rest() if self.worker.idle else 0.0
            if rest is None:
                why = "max-host-pages" if self._leaves_some() else "done"
                break
            if rest:
                time.sleep(rest)
        self.why = why
        if why not in UNHURRIED:
            self.worker.hurry()
        yield from self.worker.drain(self._must_hurry)

    def check_disk(self) -> None:
        """Raise a DiskError where too little is free for anything to begin."""
        if self._is_full():
            raise self.full()

    @property
    def error(self) -> SpiderError | None:
        """Return the error that the shift's end is; None where it is none."""
        return {"min-free": self.full(), "browser": self.worker.error}.get(self.why or "")

    def full(self) -> DiskError:
        """Return the error that says that the disk is full."""
        floor = f"less than {self._plan.min_free / 1e6:,.0f} MB is free on the disk of {self._database.name}"
        return DiskError(f"{floor} (--min-free); what waits is visited by the next crawl")

    def _must_hurry(self) -> bool:
        return self._at_once

    def _reached(self) -> str | None:
        """Name what ends the shift now; None when nothing does."""
        if self._ending is not None:
            return self._ending
        if self.worker.error is not None:
            return "browser"
        if self._plan.max_pages is not None and self.worker.ledger.read >= self._plan.max_pages:
            return "max-pages"
        if self.worker.ledger.limits.spent:
            return "max-bytes"
        if self._clock.steady() >= self._until:
            return "max-time"
        return "min-free" if self._is_full() else None

    def _leaves_some(self) -> bool:
        """Whether links are left of hosts that were read as far as they may be."""
        if self._plan.max_host_pages is None:
            return False
        with self._database.read() as connection:
            return hosts.anything_waits(connection)

    def _is_full(self) -> bool:
        """Whether the database's disk has less room than the plan's floor; looked at as often as the heart beats."""
        now = self._clock.steady()
        if now < self._next_look or not self._plan.min_free:
            return False
        self._next_look = now + BEAT
        path = self._database.path
        free = None if path is None else backup.free_bytes(path)
        return free is not None and free < self._plan.min_free
