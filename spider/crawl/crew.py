"""The threads of a worker: they take jobs, do them, and hand back what came of them.

They are daemons: a process that must end at once does not wait for a server to answer.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

__all__ = ["Crew"]

MOST_AWAY = 64  # threads that only wait, beside those at work

Job = TypeVar("Job")
Result = TypeVar("Result")


class Crew(Generic[Job, Result]):
    """At most `size` threads at work, begun as they are needed.  `perform` must not raise.

    A thread that is given several jobs does them in turn, as long as `goes_on` says after each that it may; those it
    did not begin are in `left`.
    """

    def __init__(
        self, size: int, perform: Callable[[Job], Result], *, goes_on: Callable[[Result], bool] = lambda _: True
    ) -> None:
        """Begin no thread yet."""
        self.size = size
        self.busy = 0
        self.left: list[Job] = []
        self._away = 0
        self._lock = threading.Lock()
        self._perform = perform
        self._goes_on = goes_on
        self._jobs: queue.SimpleQueue[Sequence[Job]] = queue.SimpleQueue()
        # A bell and what it tells of: a Queue's conditions cost more than many a page, and a SimpleQueue that waits
        # while a signal comes, and whose time is up behind the handler, waits for ever.
        self._bell = threading.Lock()
        self._bell.acquire()
        self._results: deque[tuple[Result, Sequence[Job] | None]] = deque()
        self._threads: list[threading.Thread] = []

    @property
    def free(self) -> int:
        """How many jobs could begin now."""
        return self.size - self.busy + min(self._away, MOST_AWAY)

    @contextmanager
    def away(self) -> Iterator[None]:
        """Leave one's place to another thread, while one waits for what is none of the crew's work."""
        with self._lock:
            self._away += 1
        try:
            yield
        finally:
            with self._lock:
                self._away -= 1

    def submit(self, *jobs: Job) -> None:
        """Give a job, or several to do in turn, to a free thread; call it only while `free`."""
        self.busy += 1
        if self.busy > len(self._threads):
            thread = threading.Thread(target=self._work, name=f"fetch-{len(self._threads) + 1}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._jobs.put(jobs)

    def collect(self, patience: float) -> list[Result]:
        """Return the results that are there; wait up to `patience` seconds for the first."""
        if self._results or patience <= 0:
            self._bell.acquire(blocking=False)
        else:
            self._bell.acquire(timeout=patience)
        found: list[Result] = []
        while self._results:
            result, left = self._results.popleft()
            found.append(result)
            if left is not None:
                self.busy -= 1
                self.left += left
        return found

    def close(self) -> None:
        """Let the threads go when they have done what they are at."""
        for _ in self._threads:
            self._jobs.put(())

    def _work(self) -> None:
        while jobs := self._jobs.get():
            for place, job in enumerate(jobs, start=1):
                result = self._perform(job)
                over = place == len(jobs) or not self._goes_on(result)
                self._hand(result, jobs[place:] if over else None)
                if over:
                    break

    def _hand(self, result: Result, left: Sequence[Job] | None) -> None:
        """Hand a result over, and ring; `left` are the jobs not begun, where it is a thread's last."""
        self._results.append((result, left))
        if self._bell.locked():
            with suppress(RuntimeError):  # another was quicker
                self._bell.release()
