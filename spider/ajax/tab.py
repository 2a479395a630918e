"""One page under control: load it, fire an event in it, wait until it is quiet, look at it.

Waiting is exact: after each step the page's own clock is let run 5 seconds (CDP virtual time, which
stands still while the network is asked), and that takes milliseconds.  A watchdog ends scripts that never
end.  It speaks CDP through a `Session`, and knows nothing of graphs.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from typing import Any

from spider.ajax.clock import BUDGET, Clock
from spider.ajax.commute import ADDRESS
from spider.ajax.dom import Tree
from spider.ajax.events import Event, Listener, Sources, events, listened
from spider.ajax.gate import Gate, Session
from spider.ajax.inpage import FIRE, TABLES
from spider.ajax.line import WATCHDOG, Line, StuckError, Work, taken
from spider.ajax.snapshot import Snapshot
from spider.ajax.wording import VALUES
from spider.errors import BrowserError, FetchError
from spider.model import Reason

__all__ = ["BUDGET", "Sight", "StuckError", "Tab"]

_LOAD = 20.0  # seconds of ours for a page to load
_MOST_DIALOGS = 20
_DOMAINS = ("Page", "Network", "DOM", "Runtime", "DOMStorage", "Inspector")

_SCROLLS = 3  # times to scroll where it seems to do nothing: the browser does not look at each what came into view
_DRAWING = 0.5  # seconds of ours for two pictures of the page to be drawn
_DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"


@dataclass(frozen=True, slots=True)
class Sight:
    """What the page shows at one moment; `handlers` are what listens: node, type, the handler's place."""

    tree: Tree
    snapshot: Snapshot
    url: str
    height: float
    handlers: frozenset[tuple[int, str, str]] = frozenset()


class Tab:
    """One page, always on its application: what would leave it is caught by the gate."""

    def __init__(self, session: Session, gate: Gate) -> None:
        """Take a fresh page's session."""
        self._session = session
        self.gate = gate
        self._line = Line(session, gate)
        self.clock = Clock(self._line, gate)
        self._world: int | None = None
        self._document = ""
        self._handles: dict[int, str] = {}
        self._loaded = asyncio.Event()
        self._url = ""
        self.loads = 0

    async def open(self) -> None:
        """Prepare the page; to be called once."""
        session = self._session
        session.on("Page.loadEventFired", lambda _: self._loaded.set())
        session.on("Page.frameStoppedLoading", self._stopped)
        session.on("Inspector.targetCrashed", lambda _: self._line.gone.set())
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
        await asyncio.gather(self.gate.open(), self.clock.open())

    async def close(self) -> None:
        """Let go of all that waits for the page; it is closed by whoever opened it."""
        await asyncio.gather(self.gate.close(), self.clock.workers.close())

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
            self._line.gone.set()  # something the gate never sees, such as about:blank, took the page's place

    def _stopped(self, event: dict[str, Any]) -> None:
        """Take the end of loading for its success: a page that wanted to leave at once never says that it is loaded."""
        if event["frameId"] == self.gate.frame and not self.gate.arriving:
            self._loaded.set()

    def _moved(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.gate.frame:
            self.gate.traffic.marks.add(ADDRESS)
            self.gate.routed(event["url"])
            if "#/" in event["url"] or "#!" in event["url"]:
                self.gate.traffic.unasked.setdefault(event["url"], "route")
            self._url = event["url"]

    # -- steps ---------------------------------------------------------------------------------------

    async def load(self, url: str) -> None:
        """Load an address and wait until it is quiet.

        StuckError where the page never is; FetchError where none comes.
        """
        self.gate.forget()
        self.clock.workers.forget()
        self.gate.loading = self.gate.arriving = True
        self._world, self._document, self._handles = None, "", {}
        self._loaded.clear()
        self._line.gone.clear()
        self.loads += 1
        try:
            # With its clock stopped the page would never load, and a budget would be spent on the blank page before it.
            await self.clock.release()
            got = await self._line.watched(self._session.send("Page.navigate", url=url), _LOAD)
            if got is None:
                raise StuckError("no answer to a load")
            if got.get("errorText") and got["errorText"] != "net::ERR_HTTP_RESPONSE_CODE_FAILURE":
                raise self._failure(url, got["errorText"])
            self._url = self.gate.page = url
            await self._until_loaded()
            await self.clock.settle()
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
            if not await self._line.answers():
                await self._line.terminate()
            elif time.monotonic() > end - _LOAD / 2:
                await self.gate.fail_all()
                await self._line.send("Page.stopLoading")
            if time.monotonic() > end:
                raise StuckError("the page does not load")

    async def fire(self, node: int, event: Event) -> None:
        """Fire an event on a node and wait until the page is quiet; StuckError where the page is lost."""
        self._line.check()
        target = await self._resolve(node)
        for attempt in range(_SCROLLS if event.type == "scroll" else 1):
            if attempt:
                await self._call(target, replace(event, value="up"))
            await self.clock.settle(await self._call(target, event))
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
        started = self.clock.start() if event.type != "scroll" else None
        if started is not None:
            started.add_done_callback(taken)
        if await self._line.watched(call, WATCHDOG) is None:
            await self._line.terminate()
        self._line.check()
        if event.type == "scroll":
            await self._frames()
        return started

    async def drawn(self) -> None:
        """Let what the page does frame by frame come to its end, as far as it goes by its clock."""
        await self._frames()
        await self.clock.settle()

    async def _frames(self) -> None:
        """Let the page be drawn twice: only then is it known what came into view."""
        await self.clock.release()
        await self._line.watched(self._session.send("Runtime.evaluate", expression=_DRAWN, awaitPromise=True), _DRAWING)

    async def _resolve(self, node: int) -> str:
        """Return a handle of a node in our own world, or in its frame's where it is another's; made once a load."""
        if node in self._handles:
            return self._handles[node]
        world = await self._own_world()
        got: dict[str, Any] = {}
        with contextlib.suppress(BrowserError):
            got = await self._session.send("DOM.resolveNode", backendNodeId=node, executionContextId=world)
        if "objectId" not in got.get("object", {}):
            got = await self._line.send("DOM.resolveNode", backendNodeId=node)
        if "objectId" not in got["object"]:
            raise BrowserError("the element is out of reach")
        handle = self._handles[node] = str(got["object"]["objectId"])
        return handle

    async def _own_world(self) -> int:
        if self._world is None:
            made = await self._line.send("Page.createIsolatedWorld", frameId=self.gate.frame, worldName="spider")
            self._world = int(made["executionContextId"])
        return self._world

    # -- looking ---------------------------------------------------------------------------------------

    async def look(self) -> Sight:
        """Return what the page shows."""
        handle = await self._handle()
        raw, listeners = await asyncio.gather(
            self._line.send("DOMSnapshot.captureSnapshot", computedStyles=[]), self._listeners(handle)
        )
        snapshot = Snapshot(raw)
        height = float(raw["documents"][0].get("contentHeight", 0))
        handlers = frozenset((one.node, one.type, one.position) for one in listeners)
        return Sight(snapshot.tree(listened(listeners)), snapshot, self._url or snapshot.url, height, handlers)

    async def events(self, sight: Sight) -> list[Event]:
        """Return the events that can be fired now."""
        document, window, got = await asyncio.gather(
            self._line.send("Runtime.evaluate", expression="document", objectGroup="handlers"),
            self._line.send("Runtime.evaluate", expression="window", objectGroup="handlers"),
            self._line.send("Runtime.evaluate", expression=TABLES, returnByValue=True),
        )
        inside, outside = await asyncio.gather(
            *(self._listeners(one["result"]["objectId"]) for one in (document, window))
        )
        release = asyncio.ensure_future(self._session.send("Runtime.releaseObjectGroup", objectGroup="handlers"))
        release.add_done_callback(taken)  # nobody has to wait for that
        listeners = [*inside, *(replace(one, node=-1) for one in outside)]
        tables = got["result"].get("value") or {"rows": [], "known": []}
        self.gate.traffic.strings.update(dict.fromkeys(map(str, tables.get("strings", ()))))
        known = frozenset((int(number), str(kind)) for number, kind in tables["known"])
        return events(sight.tree, Sources(listeners, tables["rows"], known, sight.height))

    async def _handle(self) -> str:
        """Return a handle of the document, made once a load."""
        if not self._document:
            got = await self._line.send("Runtime.evaluate", expression="document")
            self._document = str(got["result"]["objectId"])
        return self._document

    async def _listeners(self, handle: str) -> list[Listener]:
        """Return the listeners on an object, and where it is the document on all that it holds."""
        got = await self._line.send("DOMDebugger.getEventListeners", objectId=handle, depth=-1, pierce=True)
        return [_listener(row) for row in got["listeners"]]

    async def picture(self) -> bytes:
        """Return a picture of what the page shows, PNG."""
        import base64  # noqa: PLC0415  # for pictures alone

        got = await self._line.watched(self._session.send("Page.captureScreenshot", format="png"), WATCHDOG)
        return base64.b64decode(got["data"]) if got else b""


def _listener(row: dict[str, Any]) -> Listener:
    """Turn CDP's row into a value."""
    position = f"{row['scriptId']}:{row['lineNumber']}:{row['columnNumber']}"
    return Listener(row.get("backendNodeId", 0), row["type"], position, row.get("handler", {}).get("description", ""))
