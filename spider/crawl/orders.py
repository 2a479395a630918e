"""What a crawl and its worker processes say to each other: orders when one begins and ends, and what became of links.

Nothing of the crawl's own is said here, for that is in the database: a worker that hears nothing more goes on,
but for the end of the process that began it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from spider.crawl.plan import Plan
from spider.model import Failed, Fetched, Outcome, Skipped

__all__ = ["READY", "STOP", "STOP_NOW", "Connection", "Ended", "Orders", "told"]

READY = "ready"
STOP = "stop"
STOP_NOW = "stop now"


@dataclass(frozen=True, slots=True)
class Orders:
    """How a worker process begins: the database, its run and plan.

    It works `lasts` seconds at the most, None without end, on one core where `core` names it.  It tells every
    outcome where it `tells` all, else only those of seeds.
    """

    address: str
    run_id: int
    plan: Plan
    lasts: float | None = None
    tells: bool = False
    core: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a worker process ended: why, or what broke it off, with its trace where nobody expected it."""

    why: str | None
    error: str = ""
    code: int = 0
    trace: str = ""


def told(outcomes: Iterable[Outcome], *, every: bool) -> Iterator[Outcome]:
    """Yield what is told of outcomes: without the bodies, which nobody looks at any more."""
    for outcome in outcomes:
        if not every and outcome.request.source.tag != "seed":
            continue
        match outcome:
            case Fetched(page=page, response=response):
                lean = None if page is None else replace(page, others=(), scripts=(), inline_scripts=())
                bare = replace(response, body=b"", headers={})
                yield replace(outcome, page=lean, links=(), refused=(), response=bare, rendering=None)
            case Failed() | Skipped():
                yield outcome
