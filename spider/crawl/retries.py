"""When a failed link is tried again: by class, a few times, each time later, and never all at once."""

from __future__ import annotations

from spider.crawl.clock import Clock
from spider.model import Reason

__all__ = ["PATIENCE", "retry_at"]

FIRST = 1.0  # seconds before the second try
LONGEST = 3600.0
LATER = 20 * 3600.0  # less than a day, for the next night's crawl
PATIENCE = 300.0
"""Seconds that a crawl with nothing else to do waits for a link that may heal."""


def retry_at(
    reason: Reason, attempt: int, *, retries: int, clock: Clock, waits: bool, asked: float | None = None
) -> int | None:
    """Return when (UTC microseconds) a link that failed at its `attempt`-th try is due again; None for never.

    The wait doubles with each try and is spread by half of itself, so that links that failed together do
    not come back together; `asked` is the server's Retry-After in seconds.  `waits` False waits not at all.
    When the tries are used up, the link is due again after a good part of a day: for a later crawl.
    """
    if not reason.heals or (attempt > retries and not waits):
        return None
    if not waits:
        return clock.now()
    if attempt > retries:
        return clock.now() + int(LATER * 1e6)
    wait = FIRST * 2 ** (attempt - 1) * (0.75 + clock.chance() / 2)
    return clock.now() + int(min(LONGEST, max(wait, asked or 0.0)) * 1e6)
