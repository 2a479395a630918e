"""What a run may read, of each host and in bytes: all its workers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from spider.crawl.lane import Lane
from spider.crawl.plan import Plan
from spider.crawl.score import BYTES, counted
from spider.model import Outcome
from spider.store import Connection, workers
from spider.store.hosts import Which
from spider.store.quota import add, left, read

__all__ = ["Limits"]


class Limits:
    """The limits of a plan and what was read of them, as the database knows it.

    `left` is the condition that a host may be asked for more, None where there is no limit.
    """

    def __init__(self, plan: Plan) -> None:
        """Belong to no run yet."""
        self.left: Which | None = None
        self._pages, self._bytes = plan.max_host_pages, plan.max_bytes
        self._run_id = self._read = self._taken = 0

    def begin(self, run_id: int) -> None:
        """Belong to a run."""
        self._run_id = run_id
        self.left = None if self._pages is None else left(run_id, self._pages)

    def opened(self, connection: Connection, lanes: Collection[Lane]) -> None:
        """Take note of what the run has read of hosts that come in hand."""
        if self._pages is not None and lanes:
            known = read(connection, self._run_id, [lane.host.id for lane in lanes])
            for lane in lanes:
                lane.pages = known.get(lane.host.id, 0)

    def recorded(self, connection: Connection, outcomes: Sequence[Outcome], lanes: Collection[Lane]) -> None:
        """Count what was read and written down."""
        if self._pages is None or not outcomes:
            return
        pages = Counter(dict.fromkeys((outcome.request.host_id for outcome in outcomes), 0))
        for outcome in outcomes:
            pages[outcome.request.host_id] += counted([outcome])[workers.PAGES]
        add(connection, self._run_id, pages)
        for lane in lanes:
            lane.pages += pages[lane.host.id]

    def took(self, outcome: Outcome) -> None:
        """Take note of what came and is not written down yet."""
        if self._bytes is not None:
            self._taken += counted([outcome])[BYTES]

    def look(self, connection: Connection) -> None:
        """See how much all workers have read."""
        if self._bytes is not None:
            self._read, self._taken = workers.run_done(connection, self._run_id)[BYTES], 0

    def is_full(self, lane: Lane) -> bool:
        """Whether no more may be asked of a host, with what is under way."""
        return self._pages is not None and lane.pages + lane.unrecorded + lane.in_flight >= self._pages

    @property
    def spent(self) -> bool:
        """Whether the run has read all the bytes that it may."""
        return self._bytes is not None and self._read + self._taken >= self._bytes
