"""The worker processes of a crawl: begun, told to stop, begun again where they die.

They share nothing but the database.  Each has one line to this process, by which it learns of its end; so none
is left behind, however this process ends.  They are copies of a process that waits for that, where there is one
(`nursery`), else begun anew.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import wait
from multiprocessing.reduction import send_handle
from pathlib import Path

import spider
from spider.crawl.clock import Clock
from spider.crawl.marks import TWICE, Blame, Marks, Verdict
from spider.crawl.nursery import Nursery, Nursling
from spider.crawl.orders import READY, STOP, STOP_NOW, Connection, Ended, Orders
from spider.crawl.process import at_work, cores
from spider.errors import BrowserError, DiskError, SpiderError, StorageError
from spider.model import Outcome, Reason
from spider.store import Database, Tally, frontier, workers

__all__ = ["RESTARTS", "Team"]

RESTARTS = 3
"""How often a worker process that died is begun again, for each that there is, where no page is to blame."""

FELLED = 100  # pages that may be to blame: with more, it is the machine

GRACE = 20.0  # seconds that a process told to stop at once may take to write what it has
ENDINGS = ("stopped", "min-free", "browser", "max-pages", "max-time", "max-bytes", "max-host-pages", "done")
"""Why a crawl ended, where its workers ended for several reasons: the first of these."""
KINDS = {kind.exit_code: kind for kind in (StorageError, DiskError, BrowserError)}


@dataclass(slots=True)
class _Member:
    """A worker process, the line to it, and what it has said."""

    slot: int
    process: subprocess.Popen[bytes] | Nursling
    line: Connection
    marks: Marks
    ready: bool = False
    told: str | None = None
    ended: Ended | None = None


class Team:
    """At most as many processes as `grow` says."""

    def __init__(
        self, database: Database, orders: Orders, *, clock: Clock, until: float, nursery: Nursery | None = None
    ) -> None:
        """Begin none yet; all end at `until`, in the steady clock's seconds."""
        self._nursery = nursery
        self.error: Exception | None = None
        self._database = database
        self._orders = orders
        self._clock = clock
        self._until = until
        self._members: list[_Member] = []
        self._endings: set[str] = set()
        self._blame = Blame()
        self._slots = self._deaths = self._felled = 0
        self._full = False
        self._order: str | None = None
        self._deadline: float | None = None

    @property
    def size(self) -> int:
        """How many processes were asked for."""
        return self._slots

    @property
    def ready(self) -> bool:
        """Whether every process that was begun is at work, or has ended already; not while none was begun."""
        return self._slots > 0 and all(member.ready for member in self._members)

    @property
    def at_work(self) -> bool:
        """Whether any process is there."""
        return bool(self._members)

    @property
    def why(self) -> str | None:
        """Why the processes ended; None while all are at work, or where an error ended them."""
        return next((why for why in ENDINGS if why in self._endings), None)

    def grow(self, size: int) -> None:
        """Have this many processes, if there are fewer; where the system has no room for one, those that there are."""
        while self._slots < size and self._order is None and not self._full:
            try:
                self._begin(self._slots)
            except OSError:
                self._full = True
            else:
                self._slots += 1

    def stop(self, *, now: bool = False) -> None:
        """Let all end soon, or at once; safe in a signal handler."""
        self._order = STOP_NOW if now or self._order == STOP_NOW else STOP

    def outcomes(self, patience: float) -> list[Outcome]:
        """Pass orders on and return what the processes told; wait up to `patience` seconds for the first word."""
        for member in self._members:
            self._pass_on(member)
        lines = {member.line: member for member in self._members}
        found: list[Outcome] = []
        for line in wait(list(lines), timeout=patience):
            member = lines[line]  # type: ignore[index]  # of these alone
            found += self._heard(member)
        self._end_the_late()
        return found

    def dismiss(self) -> None:
        """Let all end soon; those that are still beginning have nothing in hand, and nobody waits for them."""
        self.stop()
        for member in self._members:
            if not member.ready:
                member.process.kill()

    def close(self) -> None:
        """End all at once and wait for them."""
        self.stop(now=True)
        while self._members:
            self.outcomes(0.1)

    # --- one process ------------------------------------------------------------------------------

    def _begin(self, slot: int) -> None:
        marks = Marks.open()
        ours, theirs = Pipe()
        places = cores()
        alone = len(places) > 1 and self._orders.plan.ajax == "never"  # a browser has processes of its own
        core = places[(slot + self._orders.run_id) % len(places)] if alone else None
        with contextlib.ExitStack() as unless, theirs:
            unless.callback(ours.close)
            unless.callback(marks.close)
            process = (self._nursery and self._nursery.begin(theirs)) or _anew(theirs)
            unless.pop_all()
        member = _Member(slot, process, ours, marks)
        self._members.append(member)
        left = None if self._until == float("inf") else max(0.0, self._until - self._clock.steady())
        with contextlib.suppress(OSError):  # it is gone already, which is seen when it is listened to
            ours.send(replace(self._orders, lasts=left, core=core))
            send_handle(ours, marks.file, process.pid)

    def _pass_on(self, member: _Member) -> None:
        if self._order in {None, member.told}:
            return
        member.told = self._order
        with contextlib.suppress(OSError):
            member.line.send(self._order)
        if self._order == STOP_NOW and self._deadline is None:
            self._deadline = time.monotonic() + GRACE

    def _heard(self, member: _Member) -> list[Outcome]:
        """Return what outcomes a process tells, and take note of all else that it says."""
        found: list[Outcome] = []
        try:
            while member.line.poll():
                match member.line.recv():
                    case Ended() as ended:
                        member.ended = ended
                    case list() as outcomes:
                        found += outcomes
                    case said if said == READY:
                        member.ready = True
        except (EOFError, OSError):
            self._gone(member)
        return found

    def _gone(self, member: _Member) -> None:
        """Take note of a process that has closed its line, and begin another where it died."""
        member.line.close()
        code = member.process.wait()
        self._members.remove(member)
        left = member.marks.left()
        member.marks.close()
        if member.ended is None:
            self._died(member, code, Verdict() if self._order else self._blame.judge(left))
            return
        if member.ended.error:
            self.error = self.error or _error(member.ended)
            self.stop(now=True)
        if member.ended.why is not None:
            self._endings.add(member.ended.why)

    def _died(self, member: _Member, code: int, verdict: Verdict) -> None:
        self._deaths += 1
        self._free(code, verdict)
        self._felled += len(verdict.guilty)
        if verdict.guilty and self._felled <= FELLED:
            self._deaths = max(0, self._deaths - TWICE)
        if self._order is not None:
            self._endings.add("stopped")
        elif self._deaths > RESTARTS * self._slots:
            self.error = self.error or RuntimeError(f"worker processes died {self._deaths} times, the last with {code}")
            self.stop(now=True)
        else:
            self._begin(member.slot)

    def _free(self, code: int, verdict: Verdict) -> None:
        """Let what the dead held go to others now; else they find it within seconds by themselves."""
        now = self._clock.now()
        why = f"a worker process died ({_name(code)}) while it had this page in hand"
        failures = [
            frontier.Failure(link, Reason.INTERNAL, f"{why}, more than once\n{verdict.trace}".strip())
            for link in verdict.guilty
        ]
        failures += [
            frontier.Failure(link, Reason.INTERNAL, why, now + int(seconds * 1e6))
            for link, seconds in verdict.again.items()
        ]
        with contextlib.suppress(StorageError), self._database.write() as connection:
            tally = Tally()
            for row in workers.rows(connection):
                if not at_work(row, now):
                    frontier.fail(connection, row.id, failures, tally)
            workers.recover(connection, lambda row: not at_work(row, now), tally)
            tally.flush(connection)

    def _end_the_late(self) -> None:
        """Kill what should have ended long ago: all that it has not written is visited again."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            for member in self._members:
                member.process.kill()


def _anew(line: Connection) -> subprocess.Popen[bytes]:
    """Begin a process that has this line and loads the program itself."""
    return subprocess.Popen(  # noqa: S603  # this very program
        [sys.executable, "-P", "-m", "spider.crawl", str(line.fileno())],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[line.fileno()],
    )


def _environment() -> dict[str, str]:
    """Return our environment, with the place this very program was loaded from before all others."""
    place = str(Path(spider.__file__).parent.parent)
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (place, os.environ.get("PYTHONPATH", ""))))}


def _name(code: int) -> str:
    """Name what ended a process: an exit code, or below zero a signal."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"


def _error(ended: Ended) -> Exception:
    """Return what broke a process off as an error of this one, with the same exit code."""
    if ended.code in KINDS:
        return KINDS[ended.code](ended.error)
    if not ended.trace:
        return SpiderError(ended.error)
    error = RuntimeError(ended.error)
    error.add_note(ended.trace)
    return error
