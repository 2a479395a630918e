"""Signals while a crawl runs: the first lets it finish what is in flight, the second stops it at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

__all__ = ["Caught", "Stoppable", "stopping"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stoppable(Protocol):
    """What can be asked to stop, from within a signal handler too."""

    def stop(self, *, now: bool = False) -> None:
        """Stop soon, or at once."""
        ...


@dataclass(slots=True)
class Caught:
    """The signals that came: the first one's number, and how many."""

    number: int = 0
    count: int = 0

    @property
    def exit_code(self) -> int | None:
        """129, 130 or 143, as a shell would say it; None when no signal came."""
        return 128 + self.number if self.count else None


@contextlib.contextmanager
def stopping(work: Stoppable, note: Callable[[str], None]) -> Iterator[Caught]:
    """Let SIGINT, SIGTERM and SIGHUP stop the work while the block runs; `note` tells the user what happens now.

    A SIGHUP that is ignored, as under nohup, stays so.  After the second one the signals do what they did before, so
    that a third always helps.
    """
    caught = Caught()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    if before[signal.SIGHUP] == signal.SIG_IGN:
        del before[signal.SIGHUP]

    def handle(number: int, _frame: FrameType | None) -> None:
        caught.number = caught.number or number
        caught.count += 1
        if caught.count == 1:
            work.stop()
            note("finishing what is in flight; once more stops at once, and loses nothing either")
        else:
            restore()
            work.stop(now=True)
            note("stopping at once")

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, handle)
    try:
        yield caught
    finally:
        restore()
