"""The threads of a worker: they take jobs, do them, and hand back what came of them.

They are daemons: a process that must end at once does not wait for a server to answer.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["Crew"]

MOST_AWAY = 64  # threads that only wait, beside those at work

Job = TypeVar("Job")
Result = TypeVar("Result")


class Crew(Generic[Job, Result]):
    """At most `size` threads at work, begun as they are needed.  `perform` must not raise."""

    def __init__(self, size: int, perform: Callable[[Job], Result]) -> None:
        """Begin no thread yet."""
        self.size = size
        self.busy = 0
        self._away = 0
        self._lock = threading.Lock()
        self._perform = perform
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        # No SimpleQueue: where a signal comes while it waits and its time is up behind the handler, it waits for ever.
        self._results: queue.Queue[Result] = queue.Queue()
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

    def submit(self, job: Job) -> None:
        """Give a job to a free thread; call it only while `free`."""
        self.busy += 1
        if self.busy > len(self._threads):
            thread = threading.Thread(target=self._work, name=f"fetch-{len(self._threads) + 1}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._jobs.put(job)

    def collect(self, patience: float) -> list[Result]:
        """Return the results that are there; wait up to `patience` seconds for the first."""
        found: list[Result] = []
        try:
            found.append(self._results.get(timeout=patience) if patience > 0 else self._results.get_nowait())
            while True:
                found.append(self._results.get_nowait())
        except queue.Empty:
            pass
        self.busy -= len(found)
        return found

    def close(self) -> None:
        """Let the threads go when they have done what they are at."""
        for _ in self._threads:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._results.put(self._perform(job))
