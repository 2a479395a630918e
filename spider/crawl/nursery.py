"""Where worker processes come from: copies of a process that has loaded the program and done nothing with it yet.

To load the program takes half a second of a processor, for each process that is begun anew; a copy is there at once.
The process that copies are made of is itself made early, by a fork, while the program has one thread and no database
open: neither locks that threads hold nor SQLite's knowledge of its own locks survive a fork.  It waits for words, and
ends with the process that made it.

Only Linux has it: elsewhere, and where there is no room for it, every process is begun anew.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn, Self

from spider.crawl.member import work
from spider.crawl.need import most
from spider.crawl.plan import Plan
from spider.store import load_driver

__all__ = ["Nursery", "Nursling", "nursing"]

LONGEST = 64  # bytes of a word
UNKNOWN = 255  # the code of a process whose end nobody saw


class Nursery:
    """The line to the process that copies are made of; close it when no copy is at work any more."""

    def __init__(self, words: socket.socket, pid: int) -> None:
        """Keep the line; `open` is the way in."""
        self._words = words
        self._pid = pid
        self._ended: dict[int, int] = {}

    @classmethod
    def open(cls) -> Self | None:
        """Make the process; None where it cannot be made, or not safely.  Call it before anything else is opened."""
        if sys.platform != "linux":
            return None
        with contextlib.suppress(OSError):
            if len(list(Path("/proc/self/task").iterdir())) > 1:
                return None
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs, contextlib.ExitStack() as unless:
                unless.callback(ours.close)
                pid = os.fork()
                if pid == 0:
                    ours.close()
                    _tend(theirs)
                unless.pop_all()
            return cls(ours, pid)
        return None

    def begin(self, line: Connection) -> Nursling | None:
        """Begin a worker process that has this line; None where nobody makes any more.

        OSError where the system has no room for one.
        """
        try:
            socket.send_fds(self._words, [b"begin"], [line.fileno()])
        except OSError:
            return None
        match self._heard("begun", "full"):
            case ("begun", pid):
                return Nursling(self, pid)
            case ("full", number):
                raise OSError(number, os.strerror(number))
        return None

    def kill(self, pid: int) -> None:
        """End a process at once, unless it has ended."""
        if pid not in self._ended:
            with contextlib.suppress(OSError):
                self._words.send(b"kill %d" % pid)

    def wait(self, pid: int) -> int:
        """Wait for a process to end; return its exit code, that of a signal below zero."""
        while pid not in self._ended and self._heard("ended") is not None:
            pass
        return self._ended.pop(pid, UNKNOWN)

    def close(self) -> None:
        """Let the process go."""
        self._words.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _heard(self, *wanted: str) -> tuple[str, int] | None:
        """Return the next word of one of these kinds, with its number; None where nobody speaks any more."""
        while True:
            try:
                kind, *numbers = self._words.recv(LONGEST).decode().split()
            except (OSError, ValueError):  # closed: nothing comes that could be taken apart
                return None
            if kind == "ended":
                self._ended[int(numbers[0])] = int(numbers[1])
            if kind in wanted:
                return kind, int(numbers[0])


@dataclass(frozen=True, slots=True)
class Nursling:
    """A process that was begun as a copy, as `subprocess.Popen` shows one."""

    nursery: Nursery
    pid: int

    def wait(self) -> int:
        """Wait for its end; return its exit code."""
        return self.nursery.wait(self.pid)

    def kill(self) -> None:
        """End it at once."""
        self.nursery.kill(self.pid)


@contextlib.contextmanager
def nursing(plan: Plan, address: str) -> Iterator[Nursery | None]:
    """Give a crawl its nursery, where it may come to be several processes; before the database there is opened."""
    found = None
    if most(plan) > 1:
        load_driver(address)
        found = Nursery.open()
    try:
        yield found
    finally:
        if found is not None:
            found.close()


# --- the process itself -----------------------------------------------------------------------------------------


def _tend(words: socket.socket) -> NoReturn:
    """Make copies and tell of their ends, until the line closes."""
    try:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):  # it ends with the one that made it
            signal.signal(number, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        while True:
            ready, _, _ = select.select([words.fileno(), woken], [], [])
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, LONGEST)
                _tell_ends(words)
            if words.fileno() in ready and not _obeyed(words, (woken, wake)):
                break
    finally:
        os._exit(0)


def _tell_ends(words: socket.socket) -> None:
    """Tell of every copy that has ended."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            words.send(b"ended %d %d" % (found[0], os.waitstatus_to_exitcode(found[1])))


def _obeyed(words: socket.socket, own: tuple[int, int]) -> bool:
    """Do what the next word says; False where none comes any more."""
    said, lines, _, _ = socket.recv_fds(words, LONGEST, 1)
    match said.split():
        case [b"begin"]:
            try:
                pid = os.fork()
            except OSError as error:
                words.send(b"full %d" % (error.errno or 0))
            else:
                if pid == 0:
                    words.close()
                    _be_a_worker(lines[0], own)
                words.send(b"begun %d" % pid)
            os.close(lines[0])
        case [b"kill", pid]:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and that is told of
                os.kill(int(pid), signal.SIGKILL)
        case _:
            return False
    return True


def _be_a_worker(line: int, own: tuple[int, int]) -> NoReturn:
    """Be a worker process, and nothing of what this process was before."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for number in own:
            os.close(number)
        work(line)
        code = 0
    except BaseException:  # noqa: BLE001  # nobody is above who could say it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
