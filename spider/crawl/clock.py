"""The two clocks of a crawl, as one argument: the time of day for what is written down, a steady one for waits."""

from __future__ import annotations

import random
import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """Time and chance, handed in so that tests can hold them."""

    def now(self) -> int:
        """Return UTC in microseconds since 1970."""
        ...

    def steady(self) -> float:
        """Return seconds that never jump."""
        ...

    def chance(self) -> float:
        """Return a number from 0 up to 1."""
        ...


class SystemClock:
    """The machine's own."""

    def now(self) -> int:
        """Return UTC in microseconds since 1970."""
        return time.time_ns() // 1000

    def steady(self) -> float:
        """Return seconds that never jump."""
        return time.monotonic()

    def chance(self) -> float:
        """Return a number from 0 up to 1."""
        return random.random()  # noqa: S311  # spreads retries, keeps no secret
