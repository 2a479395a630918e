"""What a worker process has in hand at this moment, told in memory that outlives it, and who is to blame when it dies.

A page may take a process down with it: a fault in a parser's machine code, or so much memory that the system kills
it.  Nobody in that process can say which page it was.  So each thread marks the link that it visits in memory that
the process above shares; beside the marks stands the trace that Python writes when the process breaks down.
"""

from __future__ import annotations

import contextlib
import faulthandler
import mmap
import os
import re
import struct
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["TWICE", "Blame", "Left", "Marks", "Verdict", "in_hand", "share"]

SLOT = struct.Struct("=QQ")  # a thread's own number, and the link's
SLOTS = 256
SIZE = SLOT.size * SLOTS
TRACE = 200_000  # bytes of it that are read, of all threads together
BROKE = re.compile(r"Current thread 0x([0-9a-f]+)[^\n]*\n(?:  [^\n]*\n){0,12}")

TWICE = 2
"""Deaths that a link may be near."""

MOST = 4  # deaths that one link may be near without being the only one that was near two
APART = 2.0  # seconds between two links that are tried again, so that they are not in hand together
SOON = 1.0


@dataclass(frozen=True, slots=True)
class Left:
    """What a dead process had in hand, or the one link whose thread broke down, and the trace that it left."""

    links: tuple[int, ...]
    broke: int | None = None
    trace: str = ""


class Marks:
    """Memory that two processes share: made by the one, given to the other as an open file."""

    def __init__(self, file: int) -> None:
        """Map a file that `open` made; it is this object's from here on."""
        self.file = file
        self._memory = mmap.mmap(file, SIZE)
        self._lock = threading.Lock()
        self._slots: dict[int, int] = {}

    @classmethod
    def open(cls) -> Marks:
        """Make the memory, with a place behind it where a trace is written.  OSError where there is no room."""
        if hasattr(os, "memfd_create"):
            file = os.memfd_create("spider", os.MFD_CLOEXEC)
        else:
            with tempfile.TemporaryFile() as unnamed:
                file = os.dup(unnamed.fileno())
        os.ftruncate(file, SIZE)
        os.lseek(file, SIZE, os.SEEK_SET)
        return cls(file)

    def put(self, link_id: int) -> None:
        """Mark the link that this thread has in hand; 0 is none."""
        thread = threading.get_ident()
        slot = self._slots.get(thread)
        if slot is None:
            with self._lock:
                slot = self._slots[thread] = len(self._slots)
        if slot < SLOTS:
            SLOT.pack_into(self._memory, slot * SLOT.size, thread, link_id)

    def left(self) -> Left:
        """Return what is marked."""
        marked = {thread: link for thread, link in SLOT.iter_unpack(self._memory[:]) if link}
        trace = os.pread(self.file, TRACE, SIZE).decode(errors="replace")
        broke = BROKE.search(trace)
        if broke is None:
            return Left(tuple(marked.values()))
        return Left(tuple(marked.values()), marked.get(int(broke[1], 16)), broke[0].strip())

    def close(self) -> None:
        """Let the memory go."""
        self._memory.close()
        os.close(self.file)


# --- in the worker process ----------------------------------------------------------------------------------------

_SHARED: list[Marks] = []


def share(file: int) -> None:
    """Mark in this memory from here on, all threads of this process; its trace goes there too."""
    _SHARED[:] = [Marks(file)]
    faulthandler.enable(file)


@contextlib.contextmanager
def in_hand(link_id: int) -> Iterator[None]:
    """Have a link in hand, where anybody looks."""
    if not _SHARED:
        yield
        return
    marks = _SHARED[0]
    marks.put(link_id)
    try:
        yield
    finally:
        marks.put(0)


# --- in the process above -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verdict:
    """Links that have failed, and links that are tried again, each after so many seconds; the trace, if any."""

    guilty: tuple[int, ...] = ()
    again: Mapping[int, float] = field(default_factory=dict)
    trace: str = ""


@dataclass(slots=True)
class Blame:
    """Which links were in hand when processes died.

    The second death decides.  Until then who is under suspicion is tried again apart from the others, so that a page
    that only happened to be in hand is not there by chance a second time.
    """

    deaths: Counter[int] = field(default_factory=Counter)

    def judge(self, left: Left) -> Verdict:
        """Judge by what one more dead process had in hand."""
        near = (left.broke,) if left.broke is not None else left.links
        known = tuple(link for link in near if self.deaths[link])
        suspects = known or near
        self.deaths.update(suspects)
        enough = TWICE if len(known) == 1 else MOST
        guilty = tuple(link for link in suspects if self.deaths[link] >= enough)
        rest: Sequence[int] = [link for link in suspects if link not in guilty]
        again = {link: SOON + APART * turn * self.deaths[link] for turn, link in enumerate(rest)}
        return Verdict(guilty, again, left.trace)
