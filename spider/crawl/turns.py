"""What a check asks of one host: its queue, and one turn of it, a single request whose answer says what follows.

A turn runs in a thread; it touches neither the queue nor the database.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field, replace

from spider.crawl.health import FIRST, Errand, after_answer, after_failure, refused
from spider.errors import FetchError
from spider.fetch import MAX_BODY, Client, Pace, Ruling, every_type, retry_after
from spider.model import MediaKind, Reason, Request
from spider.store.checks import CheckRow

__all__ = ["Done", "Job", "Line", "RobotsErrand", "turn"]

ROBOTS_HOPS = 5  # RFC 9309, section 2.3.1.2
FOUND = 302  # stands for a redirect whose own status is not kept
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class RobotsErrand:
    """An errand to the robots.txt of `origin`, `hops` redirects behind it."""

    origin: str
    url: str
    hops: int = 0


Job = Errand | RobotsErrand


@dataclass(slots=True)
class Line:
    """One host: its pace, when it may be asked again (steady seconds), what is to be asked, and whether it is now.

    `held` says that a crawl has it in its hands.
    """

    name: str
    pace: Pace
    due: float = 0.0
    jobs: deque[Job] = field(default_factory=deque)
    rows: dict[MediaKind, array[int]] = field(default_factory=dict)
    flying: bool = False
    held: bool = False
    queued: bool = False

    @property
    def has_work(self) -> bool:
        """Whether anything is to be asked; safe from another thread."""
        return bool(self.jobs) or any(list(self.rows.values()))


@dataclass(frozen=True, slots=True)
class Done:
    """What a thread hands back: a job of a host with its answer's consequences."""

    line: Line
    next: Job | CheckRow | None
    ruling: Ruling | None = None
    status: int = 0
    latency: float = 0.0
    asked: float | None = None


def turn(client: Client, line: Line, job: Job, *, now: int) -> Done:
    """Ask; whatever happens is an answer.  `now` is in UTC microseconds."""
    try:
        return _robots(client, line, job, now) if isinstance(job, RobotsErrand) else _medium(client, line, job, now)
    except Exception as error:  # noqa: BLE001  # one medium's accident must not end the check
        failed = FetchError(Reason.INTERNAL, f"{type(error).__name__}: {error}")
        if isinstance(job, RobotsErrand):
            return Done(line, None, ruling=Ruling(job.origin, None, failure=failed))
        return Done(line, refused(job, Reason.INTERNAL, now=now))
    finally:
        client.leave(line.name)  # whoever has the next turn opens a connection of its own


def _medium(client: Client, line: Line, errand: Errand, now: int) -> Done:
    try:
        response = client.get(errand.request, reads=every_type, max_size=FIRST)
    except FetchError as error:
        following = after_failure(errand, error, now=now)
        return Done(line, following, status=error.status or 0, asked=error.retry_after)
    asked = retry_after(response.headers.get("retry-after"), now / MICRO)
    following = after_answer(errand, response, now=now)
    return Done(line, following, status=response.status, latency=response.latency, asked=asked)


def _robots(client: Client, line: Line, job: RobotsErrand, now: int) -> Done:
    try:
        response = client.get(Request(job.url, hops=job.hops), reads=every_type, max_size=MAX_BODY + 1)
    except FetchError as error:
        ended = error.reason in {Reason.REDIRECT, Reason.REFUSED} and (job.hops or error.status)
        ruling = Ruling(job.origin, FOUND if ended else None, failure=error)
        return Done(line, None, ruling=ruling, asked=error.retry_after)
    done = Done(line, None, status=response.status, latency=response.latency)
    place = response.location
    if place is not None and job.hops < ROBOTS_HOPS and place.startswith(("http://", "https://")):
        return replace(done, next=replace(job, url=place, hops=job.hops + 1))
    asked = retry_after(response.headers.get("retry-after"), now / MICRO)
    return replace(done, ruling=Ruling(job.origin, response.status, response.body), asked=asked)
