"""A host in this worker's hands: its links taken out, its robots.txt, its pace.

Pure bookkeeping on values and a steady clock's seconds; who fetches and who records is the crawler.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from spider.fetch import Pace, Ruling
from spider.model import Outcome, Request
from spider.store.frontier import Rank
from spider.store.hosts import Leased

__all__ = ["Done", "Errand", "Kept", "Lane", "Visit"]


@dataclass(frozen=True, slots=True)
class Visit:
    """A job: a link to visit."""

    request: Request


@dataclass(frozen=True, slots=True)
class Errand:
    """A job: one hop on the way to the robots.txt at the address `origin`, asked of the host of `url`.

    `cause` is the link that made it necessary.
    """

    origin: str
    url: str
    cause: Request
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """What of a lane goes with the database."""

    buffer: tuple[Request, ...]
    errands: tuple[Errand, ...]
    asking: frozenset[str]
    links: frozenset[int]
    rank: Rank | None
    unrecorded: int
    dry: bool
    leaving: bool


@dataclass(slots=True)
class Lane:
    """One leased host.

    `links` are those taken out and not yet settled in the database, by number; `known` what is remembered of
    its addresses (`memory`), each with its depth.  `due` is when it may be asked
    again, in the steady clock's seconds; `dry` that no link of the kind
    wanted waits for it; `leaving` that it goes to another worker as soon as nothing is under way;
    `strict` that each link's own links must be known before the next is chosen (depth first).
    """

    host: Leased
    pace: Pace
    due: float
    buffer: deque[Request] = field(default_factory=deque)
    errands: deque[Errand] = field(default_factory=deque)
    rulings: dict[str, tuple[Ruling, float]] = field(default_factory=dict)
    asking: set[str] = field(default_factory=set)
    links: set[int] = field(default_factory=set)
    known: dict[int, int] = field(default_factory=dict)
    rank: Rank | None = None
    in_flight: int = 0
    unrecorded: int = 0
    dry: bool = False
    leaving: bool = False
    strict: bool = False
    failures: int = 0
    pages: int = 0

    def kept(self) -> Kept:
        """Return what a transaction may change, to be restored where it comes to nothing."""
        return Kept(
            tuple(self.buffer),
            tuple(self.errands),
            frozenset(self.asking),
            frozenset(self.links),
            self.rank,
            self.unrecorded,
            self.dry,
            self.leaving,
        )

    def restore(self, kept: Kept) -> None:
        """Be as it was."""
        self.buffer, self.errands = deque(kept.buffer), deque(kept.errands)
        self.asking, self.links, self.rank = set(kept.asking), set(kept.links), kept.rank
        self.unrecorded, self.dry, self.leaving = kept.unrecorded, kept.dry, kept.leaving

    @property
    def idle(self) -> bool:
        """Whether nothing of it is in flight or waits to be recorded."""
        return not self.in_flight and not self.unrecorded

    @property
    def wants(self) -> bool:
        """Whether more links should be taken out for it: of its depth while any is at work, of any when idle."""
        if self.dry or self.leaving:
            return False
        return self.idle and not self.buffer if self.strict else len(self.buffer) < 2  # noqa: PLR2004  # one to go on with while more are fetched

    def takes(self, limit: int) -> bool:
        """Whether links should be taken out for it now that the database is asked anyhow, up to `limit` at once."""
        spare = not (self.strict or self.dry or self.leaving) and len(self.buffer) <= limit // 2
        return spare or self.wants

    @property
    def starves(self) -> bool:
        """Whether it could go on, if only what came were written down."""
        return bool(self.unrecorded) and not (self.in_flight or (self.buffer and not self.leaving))

    def may_start(self, now: float, per_host: int) -> bool:
        """Whether it may be asked now."""
        return self.in_flight < per_host and self.due <= now and not self.leaving

    @property
    def asks_too_much(self) -> bool:
        """Whether its robots.txt wants longer waits than are granted."""
        return self.pace.crawl_delay is not None and self.pace.crawl_delay > self.pace.cap

    def ruling(self, origin: str, now: float) -> Ruling | None:
        """Return what is known of an origin's robots.txt and still holds at `now` (steady seconds)."""
        known = self.rulings.get(origin)
        return known[0] if known is not None and known[1] > now else None

    def started(self) -> None:
        """Take note that a request went out."""
        self.in_flight += 1

    def ended(self, now: float, status: int, latency: float, asked: float | None) -> None:
        """Take note that an answer came (status 0: none), and reckon when the host may be asked again."""
        self.in_flight -= 1
        self.failures = self.failures + 1 if status == 0 else 0
        self.pace = self.pace.after(status, latency)
        self.due = max(self.due, now + self.pace.wait(asked))

    def leased(self, now: int, steady: float) -> Leased:
        """Return the host's row as it should be written down; `now` is the same moment in UTC microseconds."""
        wait = max(0.0, self.due - steady)
        return Leased(
            id=self.host.id,
            name=self.host.name,
            next_at=now + int(wait * 1e6),
            delay=int(self.pace.delay * 1e6),
            latency=int(self.pace.latency * 1e6),
            failures=self.failures,
        )


@dataclass(frozen=True, slots=True)
class Done:
    """What a thread hands back: a job with its outcome, or its errand's answer."""

    lane: Lane
    job: Visit | Errand
    outcome: Outcome | None = None
    ruling: Ruling | None = None
    onward: str | None = None
    status: int = 0
    latency: float = 0.0
    asked: float | None = None
