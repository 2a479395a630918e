"""When may a host be asked again?  Pure arithmetic on seconds; the clock and the waiting are elsewhere.

A host's delay is the longest of what the user set, what its robots.txt asks, what its own slowness
suggests, and what it earned by saying "too many".  A setting of 0 switches all waiting off.
"""

from __future__ import annotations

import email.utils
from dataclasses import dataclass, replace
from datetime import UTC

__all__ = ["MAX_BACKOFF", "MAX_CRAWL_DELAY", "MAX_RETRY_AFTER", "Pace", "retry_after"]

MAX_CRAWL_DELAY = 30.0  # seconds; a longer Crawl-delay is obeyed up to here
MAX_BACKOFF = 300.0
MAX_RETRY_AFTER = 3600.0
MAX_LATENCY = 30.0
SLOW_DOWN = frozenset({429, 503})
SMOOTHING = 0.25  # weight of the newest answer in the latency


@dataclass(frozen=True, slots=True)
class Pace:
    """The delay of one host, and what it is made of; all in seconds.

    `setting` is the user's; `crawl_delay` robots.txt's; `latency` the smoothed time to an answer;
    `backoff` what 429 and 503 added, which good answers halve again; `factor` times the latency is
    waited (0: not at all).
    """

    setting: float
    crawl_delay: float | None = None
    latency: float = 0.0
    backoff: float = 0.0
    factor: float = 1.0
    cap: float = MAX_CRAWL_DELAY

    @property
    def delay(self) -> float:
        """Seconds from the end of one request to the start of the next."""
        if self.setting <= 0:
            return 0.0
        asked = min(self.crawl_delay or 0.0, self.cap)
        return max(self.setting, asked, self.factor * min(self.latency, MAX_LATENCY), self.backoff)

    def after(self, status: int, latency: float) -> Pace:
        """Return the pace after an answer: slower on 429 and 503, else gently back."""
        smooth = latency if self.latency <= 0 else self.latency + SMOOTHING * (latency - self.latency)
        if status in SLOW_DOWN:
            backoff = min(MAX_BACKOFF, max(1.0, 2 * self.delay))
        else:
            backoff = self.backoff / 2 if self.backoff / 2 > self.setting else 0.0
        return replace(self, latency=max(0.0, smooth), backoff=backoff)

    def wait(self, asked: float | None = None) -> float:
        """Return the seconds to wait now: the delay, or what the server asked in Retry-After, up to a cap."""
        if self.setting <= 0:
            return 0.0
        return max(self.delay, min(asked or 0.0, MAX_RETRY_AFTER))


def retry_after(value: str | None, now: float) -> float | None:
    """Read a Retry-After header as seconds from `now` (Unix seconds); None where it says nothing usable.

    RFC 9110, section 10.2.3: whole seconds or a date; a date in the past is 0.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        moment = email.utils.parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, moment.timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
