"""What the tests' web server holds against its visitors: the checks, and the list of who broke which.

overlap: two connections to one host open at once; robots: a request that the host's robots.txt closes;
lease: a request while nobody holds the host's lease in the database.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from protego import Protego

from tests.replies import Answer, Asked, Connection, Content, Raw, Reply, respond

__all__ = ["CHECKS", "Manners", "Violation"]

AGENT = "multimedia-spider"
CHECKS = ("overlap", "robots", "lease")
GRACE = 0.1  # seconds in which the end of an old connection may still be on its way to us


@dataclass(frozen=True, slots=True)
class Violation:
    """What a visitor did that it must not: the name of the check, and the words for it."""

    check: str
    text: str


class Manners:
    """The checks.  `skip` names those that are off, each with the reason why; `excuses` are (host, path)."""

    def __init__(self, contents: Mapping[str, Content], per_host: int, skip: Mapping[str, str]) -> None:
        """Begin with nothing to complain of; ValueError for a check that there is not, or no reason."""
        for check, reason in skip.items():
            if check not in CHECKS or not reason.strip():
                message = f"skip wants one of {CHECKS} and a reason, not {check!r}: {reason!r}"
                raise ValueError(message)
        self.violations: list[Violation] = []
        self.excuses: set[tuple[str, str]] = set()
        self.database: Path | None = None
        self._contents, self._per_host, self._skip = contents, per_host, frozenset(skip)
        self._rules: dict[str, Protego] = {}
        self._local = threading.local()

    def connected(self, connection: Connection, others: list[Connection]) -> None:
        """Judge a new connection by those to its host that were open when it came."""
        end = connection.opened + GRACE
        while len(still := [other for other in others if not other.ended()]) >= self._per_host:
            if time.monotonic() > end:
                ids = ", ".join(str(other.id) for other in still)
                self._violate("overlap", f"connection {connection.id} to {connection.host} opened while {ids} was open")
                return
            time.sleep(0.005)

    def asked(self, asked: Asked) -> None:
        """Judge a request."""
        if (asked.host, asked.path) not in self.excuses:
            self._check_robots(asked)
            self._check_lease(asked)

    def done(self) -> None:
        """Close what this thread holds open."""
        known: tuple[Path, sqlite3.Connection] | None = getattr(self._local, "known", None)
        if known is not None:
            known[1].close()

    def _violate(self, check: str, text: str) -> None:
        if check not in self._skip:
            self.violations.append(Violation(check, text))

    def _check_robots(self, asked: Asked) -> None:
        if asked.path == "/robots.txt" or "robots" in self._skip:
            return
        if not self._robots(asked).can_fetch(f"http://{asked.host}{asked.path}", AGENT):
            self._violate("robots", f"{asked.path} of {asked.host} was asked for, though robots.txt closes it")

    def told(self, host: str, reply: Reply) -> None:
        """Remember the robots.txt that a host has just answered with: a function may change its mind."""
        if callable(self._contents[host]):
            self._rules[host] = _rules(reply)

    def _robots(self, asked: Asked) -> Protego:
        """Return the rules of the host's robots.txt."""
        known = self._rules.get(asked.host)
        if known is None:
            content = self._contents[asked.host]
            question = Asked(asked.time, asked.wall, asked.host, "GET", "/robots.txt", {}, 0)
            answer = Reply() if callable(content) else respond(content, question)
            known = self._rules[asked.host] = _rules(answer)
        return known

    def _check_lease(self, asked: Asked) -> None:
        if self.database is None or "lease" in self._skip:
            return
        try:
            row = self._look_up(self.database, asked.host)
        except sqlite3.Error as error:
            self._violate("lease", f"{asked.path} of {asked.host}: {self.database} cannot be asked: {error}")
            return
        if row is None or row[0] is None or (row[1] or 0) <= asked.wall * 1_000_000:
            self._violate("lease", f"{asked.path} of {asked.host} was asked for without a lease: {row}")

    def _look_up(self, database: Path, host: str) -> tuple[int | None, int | None] | None:
        """Read the host's lease, through one read-only connection per thread."""
        known: tuple[Path, sqlite3.Connection] | None = getattr(self._local, "known", None)
        if known is None or known[0] != database:
            self.done()
            connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
            known = self._local.known = database, connection
        question = "SELECT lease_worker, lease_until FROM Host WHERE name = ?"
        row: tuple[int | None, int | None] | None = known[1].execute(question, (host,)).fetchone()
        return row


def _rules(answer: Answer) -> Protego:
    """Read an answer for robots.txt: 5xx closes all, other failures nothing (RFC 9309, section 2.3.1)."""
    if isinstance(answer, Raw):
        return Protego.parse("")
    text = answer.body if isinstance(answer, Reply) else answer
    body = text if isinstance(text, str) else text.decode("utf-8-sig", "replace")
    status = answer.status if isinstance(answer, Reply) else 200
    closed = "User-agent: *\nDisallow: /"
    return Protego.parse(body if status == 200 else closed if status >= 500 else "")
