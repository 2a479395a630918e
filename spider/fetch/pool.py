"""The connections that are open, by host name: never more at once than one host may bear.

One pool serves all threads.  A host's seats bound the requests under way; idle connections count too,
so a connection to another port or scheme of a host is closed before a new one is opened, and a request
never opens a second one beside an idle first.  This file knows nothing of what is asked.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from urllib3.util.wait import wait_for_read

from spider.errors import FetchError
from spider.fetch.guard import Guard, Origin
from spider.fetch.proxies import Proxies
from spider.fetch.sockets import Allowance, PlainLine, SecureLine, line_to, secure_context
from spider.fetch.tunnel import tunnel_to
from spider.model import Reason

__all__ = ["Pool"]

MAX_IDLE = 256  # hosts with idle connections; each costs a file descriptor here and one there
IDLE_SECONDS = 60.0

AnyLine = PlainLine | SecureLine


@dataclass(slots=True)
class _Host:
    """One host name: seats for requests under way, idle connections with their origins, newest last."""

    seats: threading.Semaphore
    idle: list[tuple[Origin, AnyLine]] = field(default_factory=list)
    taken: int = 0
    used: float = 0.0


class Pool:
    """Open connections, kept for re-use; every method may be called from any thread."""

    def __init__(self, *, per_host: int, ca_file: str | None, proxies: Proxies | None = None) -> None:
        """Allow `per_host` connections to a host name; check certificates against `ca_file`; go by way of `proxies`."""
        self._proxies = proxies or Proxies()
        self._per_host = per_host
        self._ca_file = ca_file
        self._context: ssl.SSLContext | None = None
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def seat(self, host: str, allowance: Allowance) -> Iterator[None]:
        """Hold one of the host's seats; FetchError (timeout) where none gets free in time."""
        with self._lock:
            entry = self._hosts.get(host) or self._hosts.setdefault(host, _Host(threading.Semaphore(self._per_host)))
            entry.taken += 1
        seated = entry.seats.acquire(timeout=allowance.left)
        try:
            if not seated:
                raise FetchError(Reason.TIMEOUT, f"all connections to {host} stayed busy")
            yield
        finally:
            if seated:
                entry.seats.release()
            with self._lock:
                entry.taken -= 1
                entry.used = time.monotonic()
                self._hosts.move_to_end(host)
                stale = self._sweep()
            _close(stale)

    def take(self, origin: Origin) -> tuple[AnyLine, bool]:
        """Return a connection to `origin`, for whoever holds a seat, and whether it has been used before."""
        with self._lock:
            entry = self._hosts[origin[1]]
            found = next((line for place, line in reversed(entry.idle) if place == origin), None)
            unfit = [line for place, line in entry.idle if place != origin]
            entry.idle = [(place, line) for place, line in entry.idle if place == origin and line is not found]
        _close(unfit)
        if found is None:
            return self._new(origin), False
        if wait_for_read(found.sock, timeout=0):  # the server has closed it, or says what nobody asked
            found.close()
            return self._new(origin), False
        return found, True

    def give(self, origin: Origin, line: AnyLine) -> None:
        """Take back a connection whose response was read to its end."""
        if line.sock is None:
            return
        with self._lock:
            self._hosts[origin[1]].idle.append((origin, line))

    def fresh(self, origin: Origin) -> AnyLine:
        """Return a connection of its own, not opened yet; whoever holds no seat must bound it otherwise."""
        return self._new(origin)

    def tunnel(self, origin: Origin, allowance: Allowance, guard: Guard) -> socket.socket:
        """Open a bare connection to an origin, through a proxy where there is one; FetchError where none comes."""
        return tunnel_to(origin, self._proxies.way(origin), self._secure, (allowance, guard))

    def spare(self) -> None:
        """Close what is idle of every host: somebody needs its file descriptor."""
        with self._lock:
            lines = [line for entry in self._hosts.values() for _, line in entry.idle]
            for entry in self._hosts.values():
                entry.idle = []
        _close(lines)

    def leave(self, host: str) -> None:
        """Close the idle connections to a host name: someone else will speak to it."""
        with self._lock:
            entry = self._hosts.get(host)
            lines = [line for _, line in entry.idle] if entry else []
            if entry:
                entry.idle = []
        _close(lines)

    def close(self) -> None:
        """Close every idle connection; the pool can be used again."""
        self.spare()

    def _new(self, origin: Origin) -> AnyLine:
        return line_to(origin, self._proxies.way(origin), self._secure)

    def _secure(self) -> ssl.SSLContext:
        with self._lock:
            if self._context is None:  # reading the certificates takes a while: once, and only where needed
                self._context = secure_context(self._ca_file)
            return self._context

    def _sweep(self) -> list[AnyLine]:
        """Forget the hosts that were not used for long, or are too many; return their connections."""
        lines: list[AnyLine] = []
        horizon = time.monotonic() - IDLE_SECONDS
        for host in list(islice(self._hosts, 4 + max(0, len(self._hosts) - MAX_IDLE))):  # the longest unused
            entry = self._hosts[host]
            if entry.taken == 0 and (entry.used < horizon or len(self._hosts) > MAX_IDLE):
                lines += [line for _, line in entry.idle]
                del self._hosts[host]
        return lines


def _close(lines: list[AnyLine]) -> None:
    for line in lines:
        line.close()
