"""Measure exploring (paper 4's table): static reading, the Crawljax way, ours, on a site of one page and eleven more.

    python benchmarks/ajax.py [--waits 200,500] [SITE …]

The Crawljax way fires the same events and tells states by the same identity; before each event it loads the
start anew and replays the shortest path, and after each load and event it waits a fixed time (its default: 200 ms).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from spider.ajax import Application, Browser, Explorer, Limits, Ways
from spider.ajax.clock import Clock
from spider.ajax.events import Event
from spider.ajax.graph import Graph, Plan
from spider.ajax.inpage import FIRE
from spider.ajax.tab import Sight, Tab
from spider.ajax.wording import VALUES
from spider.page import read
from tests.ajax.conftest import SITES, accept, content
from tests.server import WebServer

NAMES = (
    "gallery", "inline", "listeners", "shadow", "jquery3", "react-hash", "react-history", "vue", "angularjs",
    "htmx-alpine", "wizard", "tabs",
)  # fmt: skip
LIMITS = Limits(seconds=900)


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    way: str
    site: str
    states: int
    links: int
    resources: int
    loads: int
    seconds: float
    found: frozenset[str] = frozenset()


class WaitingTab(Tab):
    """A tab whose clock is the real one."""

    async def load(self, url: str) -> None:
        """Load, wait for the load event, then wait."""
        self.gate.forget()
        self.gate.loading = self.gate.arriving = True
        self._world, self._document, self._handles = None, "", {}
        self.gate.replaying = False
        self._loaded.clear()
        self.loads += 1
        self._url = self.gate.page = url
        await self._session.send("Page.navigate", url=url)
        await self._loaded.wait()
        await self.clock.settle()
        self.gate.loading = self.gate.arriving = False

    async def _call(self, target: str, event: Event) -> None:
        """Fire an event and leave the clock alone."""
        arguments = [{"value": event.type}, {"value": event.value}, {"value": VALUES}]
        await self._session.send(
            "Runtime.callFunctionOn", objectId=target, functionDeclaration=FIRE, arguments=arguments
        )


class WaitingClock(Clock):
    """Waits as Crawljax does: a fixed time, on the real clock, and never less."""

    wait = 0.2

    async def settle(self, started: object = None) -> None:
        """Wait."""
        del started
        await asyncio.sleep(self.wait)

    async def release(self) -> None:
        """Leave the clock alone."""


class ReloadingGraph(Graph):
    """A graph whose every plan begins with loading the start."""

    def plan(self, current: int | None, ready: Callable[[int, int], bool] = lambda _state, _event: True) -> Plan | None:
        """Plan as if the browser were nowhere."""
        del current, ready
        return super().plan(None)


class CrawljaxWay(Explorer):
    """Reload and replay before each event; take states as they are after the wait."""

    async def _rested(self, sight: Sight, identity: str) -> tuple[Sight, str]:
        return sight, identity


def explored(browser: Browser, server: WebServer, name: str, wait: float | None) -> Application:
    """Explore one site our way, or with a wait Crawljax's."""

    async def tab() -> Tab:
        opened = await browser.tab(accept)
        if wait is not None:
            opened.__class__ = WaitingTab
            opened.clock.__class__ = WaitingClock
            opened.clock.wait = wait  # type: ignore[attr-defined]  # of the class it now has
        return opened

    url = f"{server.url}{name}.html"
    if wait is None:
        explorer = Explorer(url, tab, browser.discard, limits=LIMITS)
    else:
        explorer = CrawljaxWay(url, tab, browser.discard, limits=LIMITS, ways=Ways(independence=False))
        explorer.graph = ReloadingGraph(max_depth=LIMITS.depth, max_states=LIMITS.states)
    return browser.run(explorer.explore())


def static(name: str) -> Row:
    """Read one site's page without a browser."""
    began = time.perf_counter()
    page = read((SITES / f"{name}.html").read_bytes(), f"http://localhost/{name}.html", content_type="text/html")
    return Row("static", name, 1, len(page.links), 0, 1, time.perf_counter() - began)


def measured(names: list[str], waits: list[int]) -> Iterator[Row]:
    """Yield the rows of all ways on all sites."""
    skip = {"overlap": "a browser opens connections as it likes"}
    with WebServer(content, per_host=64, skip=skip) as server, Browser() as browser:
        for name in names:
            yield static(name)
            for way, wait in (("ours", None), *((f"crawljax {ms}", ms / 1000) for ms in waits)):
                found = explored(browser, server, name, wait)
                known = frozenset(found.links) | {f"{method} {url}" for method, url in found.resources}
                counts = len(found.states), len(found.links), len(found.resources), found.loads
                yield Row(way, name, *counts, found.seconds, known)


def main() -> int:
    """Print a line a measurement, then the sums and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sites", nargs="*", default=list(NAMES))
    parser.add_argument("--waits", default="200,500")
    given = parser.parse_args()
    rows: list[Row] = []
    print(f"{'site':15} {'way':13} {'states':>6} {'links':>6} {'resources':>9} {'loads':>6} {'seconds':>8}")
    for row in measured(given.sites, [int(ms) for ms in given.waits.split(",") if ms]):
        rows.append(row)
        print(
            f"{row.site:15} {row.way:13} {row.states:6} {row.links:6} {row.resources:9} {row.loads:6} "
            f"{row.seconds:8.3f}",
            flush=True,
        )
    ours = {row.site: row for row in rows if row.way == "ours"}
    total = sum(row.seconds for row in ours.values())
    for way in dict.fromkeys(row.way for row in rows):
        those = [row for row in rows if row.way == way]
        seconds = sum(row.seconds for row in those)
        missed = sum(len(row.found - ours[row.site].found) for row in those)
        print(
            f"{'all':15} {way:13} {sum(row.states for row in those):6} {sum(row.links for row in those):6} "
            f"{sum(row.resources for row in those):9} {sum(row.loads for row in those):6} {seconds:8.3f}"
            f"  {seconds / total:.1f} times ours; found there and not by us: {missed}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
