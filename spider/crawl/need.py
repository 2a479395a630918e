"""How many processes is this crawl worth?  One, until its hosts and its own busyness say more."""

from __future__ import annotations

import time

from spider.crawl.clock import Clock
from spider.crawl.ledger import Ledger
from spider.crawl.plan import Plan
from spider.crawl.process import cores

__all__ = ["Need", "most"]

BUSY = 0.7  # of a processor: above this, one process is what holds the crawl up
FILES = 256  # that a process may open: with fewer, a second one would take from what the first needs for its hosts
LOOK = 1.0  # seconds over which that is measured: starting a process takes about as long


class Need:
    """Tells it from the plan, the hosts that wait, and how busy this process is.

    A number of workers that was asked for is had as soon as there are hosts for them.  Where none was asked for,
    a process that waits for its hosts has time to spare, and stays alone.
    """

    def __init__(self, plan: Plan, clock: Clock) -> None:
        """Begin to measure."""
        self.most = most(plan)
        self._asked = plan.workers is not None
        self._clock = clock
        self._since = clock.steady()
        self._used = time.process_time()
        self._busy = False

    def processes(self, ledger: Ledger) -> int:
        """Return how many processes there is work for."""
        if self.most == 1 or not (self._asked or self._is_busy()):
            return 1
        return self.of_hosts(max(ledger.hosts_waiting, len(ledger.lanes)))

    def of_hosts(self, hosts: int) -> int:
        """Return how many processes may share this many hosts."""
        return max(1, min(self.most, hosts))

    def _is_busy(self) -> bool:
        now = self._clock.steady()
        if now - self._since >= LOOK:
            used = time.process_time()
            self._busy = (used - self._used) / (now - self._since) > BUSY
            self._since, self._used = now, used
        return self._busy


def most(plan: Plan) -> int:
    """Return how many processes a crawl may be, however much there is to do."""
    return plan.workers or (len(cores()) if _may_open_many() else 1)


def _may_open_many() -> bool:
    """Whether the system lets this process open as many files as several processes' work takes."""
    try:
        import resource  # noqa: PLC0415  # Unix alone has it
    except ImportError:
        return True
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft == resource.RLIM_INFINITY or soft >= FILES
