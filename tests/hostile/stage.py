"""Where a scenario is played: a hostile host, an honest one and a third, and a spider in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conftest import environment
from tests.hostile.answers import page
from tests.server import Asked, Raw, Reply, WebServer

__all__ = ["BASE", "DEADLINE", "EVIL", "GOOD", "OTHER", "Result", "Scenario", "Spider", "play", "port_of"]

EVIL, GOOD, OTHER = "127.0.0.2", "127.0.0.3", "127.0.0.4"
DEADLINE = 1.0
GROWTH = 50.0  # megabytes
BASE: Mapping[str, Any] = {
    "timeout": 0.6,
    "deadline": DEADLINE,
    "retries": 0,
    "delay": 0.0,
    "sitemaps": False,
    "allow_private": True,
    "scope": "host",
    "min_free": 0,
    "threads": 4,
}
ERRAND_OF = {"robots": "the hostile host's robots.txt leads elsewhere on purpose"}

EMPTY = page()

Answer = Reply | Raw | str | bytes
Content = Answer | Callable[[Asked], Answer | None]


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a scenario: the driver's facts, and the server that was asked."""

    facts: Mapping[str, Any]
    server: WebServer

    @property
    def outcomes(self) -> dict[str, dict[str, Any]]:
        """The last outcome of each address, by host and path (127.0.0.2/evil)."""
        return {
            row["url"].partition("://")[2].replace(f":{self.server.port}", ""): row for row in self.facts["outcomes"]
        }

    @property
    def evil(self) -> dict[str, Any]:
        """What became of the hostile address."""
        return self.outcomes[f"{EVIL}/evil"]

    @property
    def seconds(self) -> float:
        """How long the hostile address took, from its (last) request to the record of its outcome."""
        asked = [request.time for request in self.server.requests if (request.host, request.path) == (EVIL, "/evil")]
        return float(self.evil["at"] - asked[-1]) if asked else 0.0

    def spent(self, *, labour: bool) -> float:
        """Return the seconds that count: those of the processor for what is hard work, which others' may interrupt."""
        return min(self.seconds, float(self.facts["labour"])) if labour else self.seconds

    def headers(self, host: str, path: str) -> list[Mapping[str, str]]:
        """Return the headers of the requests for a path of a host."""
        return [asked.headers for asked in self.server.requests if (asked.host, asked.path) == (host, path)]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way to be hurt.

    `answer` is what the hostile host says at /evil; `expect` what must become of it: "C", a class of failure, or
    "rule NAME" for what is not asked at all; `others` what hosts say at further paths ("127.0.0.2/robots.txt").
    `growth` is the most memory in MB that it may cost.
    """

    row: int
    name: str
    answer: Content = EMPTY
    expect: str = "C"
    plan: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[str, Content] = field(default_factory=dict)
    names: Mapping[str, list[str]] = field(default_factory=dict)
    link: str = "/evil"
    growth: float = GROWTH
    check: Callable[[Result], None] | None = None
    after: bool = True

    @property
    def id(self) -> str:
        """The row and the name, as tests are called by."""
        return f"row {self.row}, {self.name}"


class Spider:
    """A driver at work."""

    def __init__(self, folder: Path, **variables: str) -> None:
        """Start it; it makes its template in `folder`."""
        self.folder = folder
        self._number = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.driver", str(folder / "template.db")],
            env=environment() | variables,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def crawl(self, seeds: list[str], plan: Mapping[str, Any], names: Mapping[str, list[str]]) -> dict[str, Any]:
        """Have it crawl into a fresh database, and return what it tells."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        database = self.folder / f"{self._number}.db"
        job = {"db": str(database), "seeds": seeds, "plan": dict(plan), "names": dict(names)}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the spider died"
        for file in self.folder.glob(f"{self._number}.db*"):
            file.unlink()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        if self._process.stdout is not None:
            self._process.stdout.close()


def play(scenario: Scenario, spider: Spider) -> Result:
    """Play a scenario and return what came of it."""

    def link(asked: Asked) -> str:
        return str(_filled(scenario.link, {"other": f"{OTHER}:{port_of(asked)}", "port": port_of(asked)}))

    def evil(asked: Asked) -> Answer | None:
        return _answer(EVIL, asked, {f"{EVIL}/": page(link(asked), "/after"), f"{EVIL}/after": page()})

    def good(asked: Asked) -> Answer | None:
        pages = {
            f"{GOOD}/": page("/one", "/two"),
            f"{GOOD}/one": page(more='<video src="film.mp4">'),
            f"{GOOD}/two": page(),
        }
        return _answer(GOOD, asked, pages)

    def _answer(host: str, asked: Asked, pages: Mapping[str, Content]) -> Answer | None:
        found = {**pages, f"{EVIL}/evil": scenario.answer, **scenario.others}.get(f"{host}{asked.path}")
        return found(asked) if callable(found) else found

    contents = {EVIL: evil, GOOD: good, OTHER: lambda asked: _answer(OTHER, asked, {})}
    with WebServer(contents, skip=ERRAND_OF) as server:
        seeds = [server.urls[0], server.urls[1]]
        fill = {"evil": f"{EVIL}:{server.port}", "good": f"{GOOD}:{server.port}", "other": f"{OTHER}:{server.port}"}
        plan = {key: _filled(value, fill) for key, value in {**BASE, **scenario.plan}.items()}
        facts = spider.crawl(seeds, plan, scenario.names)
        return Result(facts, server)


def port_of(asked: Asked) -> str:
    """Return the port that was asked."""
    return asked.headers["host"].rpartition(":")[2]


def _filled(value: object, fill: Mapping[str, str]) -> object:
    """Put addresses with their ports where a plan names them, as {evil}."""
    if isinstance(value, str):
        for name, place in fill.items():
            value = value.replace(f"{{{name}}}", place)
        return value
    return [_filled(item, fill) for item in value] if isinstance(value, (list, tuple)) else value


assert os.name == "posix"  # proc and many loopback addresses are Linux's
