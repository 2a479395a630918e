"""Tell who this process is and whether that one still lives; have this one keep to what it needs of the machine.

A process is known by its machine (with its space of process numbers), the machine's boot, its number
and its start time, so that a number used again is not taken for the process that had it before.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import platform
import subprocess
import threading
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from spider.store.workers import WorkerRow

__all__ = ["LEASE", "Identity", "at_work", "bind", "cores", "is_alive", "settle", "stay", "this_process"]

LEASE = 60.0
"""Seconds that a lease lasts unless renewed: many heartbeats, a long stall of the machine."""

MALLOC = ((-8, 1), (-3, 256 * 1024), (-1, 1024 * 1024))
"""glibc's M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD: heaps, and bytes from which memory is given back."""

PROCESSOR = 36  # fields behind a task's name in its stat (proc_pid_stat(5)): where it ran last

SUSPENDED = 300.0  # seconds without a heartbeat after which a process that still exists counts as dead


@dataclass(frozen=True, slots=True)
class Identity:
    """A process among all processes of all machines."""

    machine: str
    boot_id: str
    pid: int
    started: str


def settle() -> None:
    """Let the collector of cycles pass over all that was loaded, and come when there is something to collect.

    A page makes thousands of values and hardly a cycle; by default seven hundred of them are enough to have it look.
    What large pages took is given back to the system: see `_share_one_heap`.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    _share_one_heap()


def _share_one_heap() -> None:
    """Have all threads allocate from one heap that shrinks (mallopt(3)), where the C library is glibc.

    By default each thread gets a heap of its own and keeps in it the most that its largest page ever took; Python lets
    one of them allocate at a time anyway.
    """
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in MALLOC:
            mallopt(parameter, value)


def this_process() -> Identity:
    """Return the identity of the running process."""
    return Identity(_machine(), _boot_id(), os.getpid(), _started(os.getpid()) or "")


def cores() -> list[int]:
    """Return the numbers of the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def stay() -> list[int]:
    """Bind the calling thread, and those it begins, to the processor it is on; return those it was free to use.

    Threads of one interpreter take turns: on several processors each turn is a message between two of them, which
    cost a quarter of a crawl's time.  The system put the process where there was room; who is not bound makes way.
    """
    free = cores()
    if len(free) > 1 and hasattr(os, "sched_setaffinity"):
        fields = (_read(f"/proc/self/task/{threading.get_native_id()}/stat") or "").rpartition(")")[2].split()
        here = int(fields[PROCESSOR]) if len(fields) > PROCESSOR else -1
        bind({here} & {*free} or {free[0]})
    return free


def bind(processors: Collection[int]) -> None:
    """Let the calling thread, and those it begins, use these processors alone, where the system can do that."""
    if processors and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):  # taken from us meanwhile
            os.sched_setaffinity(0, processors)


def is_alive(other: Identity) -> bool | None:
    """Whether a process of this machine lives; None when it is another machine's, and nobody here can know."""
    if other.machine != _machine():
        return None
    return other.boot_id == _boot_id() and _started(other.pid) == other.started


def at_work(row: WorkerRow, now: int) -> bool:
    """Judge a worker at a time (UTC microseconds): by its process on this machine, by its silence on another."""
    silent = (now - row.heartbeat_at) / 1e6
    alive = is_alive(Identity(row.machine, row.boot_id, row.pid, row.started))
    if alive is None:
        return silent <= LEASE
    return alive and silent <= SUSPENDED


def _machine() -> str:
    """Name the machine, and in a container its own space of process numbers."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        text = _read(path)
        if text:
            break
    else:
        text = f"{platform.node()}-{uuid.getnode():x}"
    try:
        return f"{platform.node()}/{text}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"{platform.node()}/{text}"


def _boot_id() -> str:
    return _read("/proc/sys/kernel/random/boot_id") or ""


def _started(pid: int) -> str | None:
    """Return the start time of a process as the system gives it; None where there is no such process, or a dead one."""
    stat = _read(f"/proc/{pid}/stat")
    if stat is not None:
        # The name, in parentheses, may hold anything; the fields after it are numbers.
        fields = stat.rpartition(")")[2].split()
        return None if not fields or fields[0] in {"Z", "X"} else fields[19]
    if Path("/proc/self/stat").exists():
        return None
    return _started_by_ps(pid)


def _started_by_ps(pid: int) -> str | None:
    """Ask ps, where there is no /proc (macOS, BSD)."""
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # numbers only
    return done.stdout.strip() or None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
