"""One page under control: load it, fire an event in it, wait until it is quiet, look at it.

Waiting is exact: after each step the page's own clock is let run 5 seconds (CDP virtual time, which
stands still while the network is asked), and that takes milliseconds.  A watchdog ends scripts that never
end.  It speaks CDP through a `Session`, and knows nothing of graphs.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, Final

from spider.ajax.commute import ADDRESS
from spider.ajax.dom import Tree
from spider.ajax.events import Event, Listener, Sources, events, listened
from spider.ajax.gate import Gate, Session
from spider.ajax.inpage import FIRE, TABLES
from spider.ajax.snapshot import Snapshot
from spider.ajax.wording import VALUES
from spider.ajax.workers import Workers
from spider.errors import BrowserError, FetchError
from spider.model import Reason

__all__ = ["BUDGET", "Sight", "StuckError", "Tab"]

BUDGET = 5_000  # milliseconds of the page's clock after each step
WATCHDOG = 3.0  # seconds of ours for scripts that do not end
GRACE = 0.3  # seconds of ours for what comes over a socket or a stream
_LOAD = 20.0  # seconds of ours for a page to load
_MOST_DIALOGS = 20
_TURNS = 6  # of all clocks, at most, where workers or streams go on and on
_DOMAINS = ("Page", "Network", "DOM", "Runtime", "DOMStorage", "Inspector")
_EXACT: Final[dict[str, Any]] = {"policy": "pauseIfNetworkFetchesPending", "budget": BUDGET}

Work = asyncio.Future[dict[str, Any]]
_SCROLLS = 3  # times to scroll where it seems to do nothing: the browser does not look at each what came into view
_POKE = 0.01  # seconds of ours between pokes
_POKES = 10  # before the clocks are started anew
_DRAWING = 0.5  # seconds of ours for two pictures of the page to be drawn
_DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


class StuckError(Exception):
    """The page cannot be used any more: it crashed, or does not come to rest; another tab must take its place."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the page shows at one moment."""

    tree: Tree
    snapshot: Snapshot
    url: str
    height: float


class Tab:
    """One page, always on its application: what would leave it is caught by the gate."""

    def __init__(self, session: Session, gate: Gate) -> None:
        """Take a fresh page's session."""
        self._session = session
        self.gate = gate
        self._workers = Workers(session, _EXACT, gate.watch_sockets)
        self._world: int | None = None
        self._document = ""
        self._expired, self._loaded, self._gone = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._url = ""
        self.loads = 0

    async def open(self) -> None:
        """Prepare the page; to be called once."""
        session = self._session
        session.on("Emulation.virtualTimeBudgetExpired", lambda _: self._expired.set())
        session.on("Page.loadEventFired", lambda _: self._loaded.set())
        session.on("Page.frameStoppedLoading", self._stopped)
        session.on("Inspector.targetCrashed", lambda _: self._gone.set())
        session.on("Page.frameNavigated", self._navigated)
        session.on("Page.navigatedWithinDocument", self._moved)
        for name in ("domStorageItemAdded", "domStorageItemRemoved", "domStorageItemUpdated"):
            session.on(f"DOMStorage.{name}", lambda event: self.gate.traffic.marks.add(f"storage {event.get('key')}"))
        frames, *_ = await asyncio.gather(
            session.send("Page.getFrameTree"),
            *(session.send(f"{domain}.enable") for domain in _DOMAINS),
            session.send("Emulation.setFocusEmulationEnabled", enabled=True),
        )
        self.gate.frame = frames["frameTree"]["frame"]["id"]
        await asyncio.gather(self.gate.open(), self._workers.open())

    async def close(self) -> None:
        """Let go of all that waits for the page; it is closed by whoever opened it."""
        await asyncio.gather(self.gate.close(), self._workers.close())

    def dialog(self) -> bool:
        """Count one dialog; say whether it is one too many, so that the script that opens them must end."""
        self.gate.traffic.dialogs += 1
        return self.gate.traffic.dialogs > _MOST_DIALOGS

    def _navigated(self, event: dict[str, Any]) -> None:
        if "parentId" in event["frame"]:
            return
        if self.gate.arriving:
            self.gate.arriving = False  # what wants to take the page's place from now on is a link
        else:
            self._gone.set()  # something the gate never sees, such as about:blank, took the page's place

    def _stopped(self, event: dict[str, Any]) -> None:
        """Take the end of loading for its success: a page that wanted to leave at once never says that it is loaded."""
        if event["frameId"] == self.gate.frame and not self.gate.arriving:
            self._loaded.set()

    def _moved(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.gate.frame:
            self.gate.traffic.marks.add(ADDRESS)
            self.gate.routed(event["url"])
            self._url = event["url"]

    # -- steps ---------------------------------------------------------------------------------------

    async def load(self, url: str) -> None:
        """Load an address and wait until it is quiet.

        StuckError where the page never is; FetchError where none comes.
        """
        self.gate.forget()
        self._workers.forget()
        self.gate.loading = self.gate.arriving = True
        self._world, self._document = None, ""
        self._loaded.clear()
        self._gone.clear()
        self.loads += 1
        try:
            # With its clock stopped the page would never load, and a budget would be spent on the blank page before it.
            await self._send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending")
            got = await self._watched(self._session.send("Page.navigate", url=url), _LOAD)
            if got is None:
                raise StuckError("no answer to a load")
            if got.get("errorText") and got["errorText"] != "net::ERR_HTTP_RESPONSE_CODE_FAILURE":
                raise self._failure(url, got["errorText"])
            self._url = self.gate.page = url
            await self._until_loaded()
            await self.settle()
            if self.gate.animates:
                await self.drawn()
        finally:
            self.gate.loading = self.gate.arriving = False

    def _failure(self, url: str, text: str) -> FetchError:
        """Return the error of a page that did not come."""
        rule = self.gate.last_refusal
        if rule is not None:
            return FetchError(
                Reason.ROBOTS if rule.startswith("robots") else Reason.REFUSED, f"{url} is refused ({rule})"
            )
        words = {"NAME": Reason.DNS, "CERT": Reason.TLS, "SSL": Reason.TLS, "TIMED_OUT": Reason.TIMEOUT}
        reason = next((reason for word, reason in words.items() if word in text), Reason.CONNECT)
        return FetchError(reason, f"{url} does not load: {text.removeprefix('net::')}")

    async def _until_loaded(self) -> None:
        """Wait for the load event; end scripts that keep it from coming, then fail what it waits for."""
        end = time.monotonic() + _LOAD
        while not self._loaded.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._loaded.wait(), WATCHDOG)
                return
            if not await self._answers():
                await self._terminate()
            elif time.monotonic() > end - _LOAD / 2:
                await self.gate.fail_all()
                await self._send("Page.stopLoading")
            if time.monotonic() > end:
                raise StuckError("the page does not load")

    async def settle(self, started: Work | None = None) -> None:
        """Let the page's clock and its workers' run until all are quiet; what comes over streams gets time of ours.

        `started` is the clock's start where that is on its way.
        """
        if self.gate.traffic.streams:
            await asyncio.sleep(GRACE)
        for turn in range(_TURNS):
            before = self._pulse()
            await (self._start() if started is None else self._started(started))
            started = None
            if not await self._quiet():
                continue
            after = self._pulse()
            if after == before and not self.gate.traffic.under_way and (turn or not self._workers):
                return
            if after[0] != before[0]:
                await asyncio.sleep(GRACE)
        if self.gate.traffic.under_way:
            await self.gate.fail_all()

    def _pulse(self) -> tuple[int, int, int]:
        """Return what grows while something goes on that the page's own clock knows nothing of: streams, workers."""
        asked = len(self.gate.traffic.asked) if self._workers else 0
        return len(self.gate.traffic.streams), self._workers.arrived, asked

    async def _start(self) -> None:
        """Give all clocks their budget."""
        self._expired.clear()
        await self._workers.grant()
        await self._send("Emulation.setVirtualTimePolicy", **self._policy())

    async def _started(self, started: Work) -> None:
        """Wait for a start that is on its way."""
        if await self._watched(started, WATCHDOG * 2) is None:
            raise StuckError("no answer to an event")

    def _policy(self) -> dict[str, Any]:
        """Return how the page's clock is to run: it waits for all fetches but for event streams, which never end."""
        endless = any(not self._is_socket(number) for number in self.gate.traffic.streams)
        return {**_EXACT, "policy": "advance"} if endless else _EXACT

    def _is_socket(self, number: str) -> bool:
        """Say whether a stream is a WebSocket, for which the page's clock does not wait."""
        asked = self.gate.traffic.asked.get(number)
        return asked is not None and asked.kind == "websocket"

    async def _quiet(self) -> bool:
        """Wait until every clock's budget is spent; False where something had to be ended for it."""
        while True:
            self._check()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._spent(), WATCHDOG)
                return True
            self._check()
            if not await self._answers():
                await self._terminate()
            elif not self.gate.traffic.under_way:
                await self._workers.terminate()
                return False

    async def _spent(self) -> None:
        """Wait for the page's clock and its workers'.

        They share one time.  A thread that waits for a moment that another's advance has made past sleeps on until
        it is poked, or its clock is started anew.
        """
        pokes = 0
        while self._workers and not (self._expired.is_set() and self._workers.rest):
            await asyncio.sleep(_POKE)
            pokes += 1
            if pokes % _POKES == 0 and not self.gate.traffic.under_way:
                await self._workers.grant(again=True)
                if not self._expired.is_set():
                    await self._send("Emulation.setVirtualTimePolicy", **self._policy())
            else:
                self._workers.poke()
                await self._send("Runtime.evaluate", expression="1")
        await self._expired.wait()

    async def fire(self, node: int, event: Event) -> None:
        """Fire an event on a node and wait until the page is quiet; StuckError where the page is lost."""
        self._check()
        target = await self._resolve(node)
        for attempt in range(_SCROLLS if event.type == "scroll" else 1):
            if attempt:
                await self._call(target, replace(event, value="up"))
            await self.settle(await self._call(target, event))
            if self.gate.traffic.asked:
                break

    async def _call(self, target: str, event: Event) -> Work | None:
        """Run the function that fires an event; end it where it does not end by itself.

        Returns the clock's start, which is on its way already where nothing has to come between.
        """
        call = asyncio.ensure_future(
            self._session.send(
                "Runtime.callFunctionOn",
                objectId=target,
                functionDeclaration=FIRE,
                arguments=[{"value": event.type}, {"value": event.value}, {"value": VALUES}],
            )
        )
        started = None
        if event.type != "scroll" and not self.gate.traffic.streams and not self._workers:
            self._expired.clear()
            started = asyncio.ensure_future(self._session.send("Emulation.setVirtualTimePolicy", **_EXACT))
            started.add_done_callback(_taken)
        if await self._watched(call, WATCHDOG) is None:
            await self._terminate()
        self._check()
        if event.type == "scroll":
            await self._frames()
        return started

    async def drawn(self) -> None:
        """Let what the page does frame by frame come to its end, as far as it goes by its clock."""
        await self._frames()
        await self.settle()

    async def _frames(self) -> None:
        """Let the page be drawn twice: only then is it known what came into view."""
        await self._workers.grant()
        await self._send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending")
        await self._watched(self._session.send("Runtime.evaluate", expression=_DRAWN, awaitPromise=True), _DRAWING)

    async def _resolve(self, node: int) -> str:
        """Return a handle of a node in our own world, or in its frame's where it is another's."""
        world = await self._own_world()
        try:
            got = await self._session.send("DOM.resolveNode", backendNodeId=node, executionContextId=world)
        except BrowserError:
            got = await self._send("DOM.resolveNode", backendNodeId=node)
        return str(got["object"]["objectId"])

    async def _own_world(self) -> int:
        if self._world is None:
            made = await self._send("Page.createIsolatedWorld", frameId=self.gate.frame, worldName="spider")
            self._world = int(made["executionContextId"])
        return self._world

    # -- looking ---------------------------------------------------------------------------------------

    async def look(self) -> Sight:
        """Return what the page shows."""
        handle = await self._handle()
        raw, listeners = await asyncio.gather(
            self._send("DOMSnapshot.captureSnapshot", computedStyles=[]), self._listeners(handle)
        )
        snapshot = Snapshot(raw)
        height = float(raw["documents"][0].get("contentHeight", 0))
        return Sight(snapshot.tree(listened(listeners)), snapshot, self._url or snapshot.url, height)

    async def events(self, sight: Sight) -> list[Event]:
        """Return the events that can be fired now."""
        document, window, got = await asyncio.gather(
            self._send("Runtime.evaluate", expression="document", objectGroup="handlers"),
            self._send("Runtime.evaluate", expression="window", objectGroup="handlers"),
            self._send("Runtime.evaluate", expression=TABLES, returnByValue=True),
        )
        inside, outside = await asyncio.gather(
            *(self._listeners(one["result"]["objectId"]) for one in (document, window))
        )
        await self._send("Runtime.releaseObjectGroup", objectGroup="handlers")
        listeners = [*inside, *(replace(one, node=-1) for one in outside)]
        tables = got["result"].get("value") or {"rows": [], "known": []}
        known = frozenset((int(number), str(kind)) for number, kind in tables["known"])
        return events(sight.tree, Sources(listeners, tables["rows"], known, sight.height))

    async def _handle(self) -> str:
        """Return a handle of the document, made once a load."""
        if not self._document:
            got = await self._send("Runtime.evaluate", expression="document")
            self._document = str(got["result"]["objectId"])
        return self._document

    async def _listeners(self, handle: str) -> list[Listener]:
        """Return the listeners on an object, and where it is the document on all that it holds."""
        got = await self._send("DOMDebugger.getEventListeners", objectId=handle, depth=-1, pierce=True)
        return [_listener(row) for row in got["listeners"]]

    async def picture(self) -> bytes:
        """Return a picture of what the page shows, PNG."""
        import base64  # noqa: PLC0415  # for pictures alone

        got = await self._watched(self._session.send("Page.captureScreenshot", format="png"), WATCHDOG)
        return base64.b64decode(got["data"]) if got else b""

    # -- care ------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._gone.is_set():
            raise StuckError("the page is gone")

    async def _send(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401  # of each method its own
        """Send a command that a living page answers at once."""
        try:
            got = await self._watched(self._session.send(method, **parameters), WATCHDOG * 2)
        except BrowserError as error:
            raise StuckError(str(error)) from error
        if got is None:
            raise StuckError(f"no answer to {method}")
        return got

    async def _watched(self, work: Awaitable[dict[str, Any]], seconds: float) -> dict[str, Any] | None:
        """Wait for an answer; None where none comes in time, StuckError where the page goes away meanwhile."""
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(self._gone.wait())
        try:
            await asyncio.wait({task, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if gone.done() and not self.gate.loading:
                raise StuckError("the page is gone")
            task.add_done_callback(_taken)
            return None
        finally:
            gone.cancel()

    async def _answers(self) -> bool:
        """Say whether the page's scripts let anything through."""
        work = self._session.send("Runtime.evaluate", expression="1", timeout=500)
        return await self._watched(work, 1.0) is not None

    async def _terminate(self) -> None:
        """End the script that is running."""
        with contextlib.suppress(BrowserError):
            await self._watched(self._session.send("Runtime.terminateExecution"), 1.0)


def _taken(task: asyncio.Future[dict[str, Any]]) -> None:
    """Take the outcome of work that nobody waits for any more."""
    if not task.cancelled():
        task.exception()


def _listener(row: dict[str, Any]) -> Listener:
    """Turn CDP's row into a value."""
    position = f"{row['scriptId']}:{row['lineNumber']}:{row['columnNumber']}"
    return Listener(row.get("backendNodeId", 0), row["type"], position, row.get("handler", {}).get("description", ""))
