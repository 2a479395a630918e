"""The gate between a page and the network: each request is paused, judged, recorded, and only then sent.

It speaks CDP's Fetch domain through a `Session`.  Documents that would take the place of the page are
refused and told as links; images, fonts and media are not loaded; what is not GET is answered here,
unless allowed.  Answers are kept, so that a replay costs the server nothing.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import inspect
import time
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

from spider.ajax.kinds import ASSETS, NOT_LOADED, ON_THE_WAY, SAFE, TOLD
from spider.ajax.shelf import ASSET, Answer, Shelf
from spider.ajax.terms import Permit, Session, Terms, Turns
from spider.ajax.traffic import Asked, Left, Traffic, body_shape
from spider.errors import BrowserError
from spider.model import Purpose, Rejected
from spider.settings import AGENT_TOKEN

__all__ = ["Gate", "Permit", "Session", "Terms", "Turns"]

_NO_BODY = (204, 205, 301, 302, 303, 304, 307, 308)
_CODINGS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_AGES = frozenset({"age", "cache-control", "expires", "pragma", "vary"})
_LASTING = ("cache-control", "max-age=31536000, immutable")
_PIECE = 1 << 18  # bytes read at once
_FRAMES = (b"requestAnimationFrame", b"requestIdleCallback")
_CHANCE = (b"random", b"Date", b"crypto", b"performance", b"setInterval")
_FORBIDDEN = base64.b64encode(b"{}").decode()


class Gate:
    """Judges and records what one page asks for.

    `arriving` until a load has its document, `loading` until it is done; `animates` once a script was seen
    that draws frame by frame, `varies` once one that asks for chance or the time.
    `context` names what is going on (the page's load, an event): answers are kept under it.  With
    `replaying`, what was answered in this context before is answered alike.
    """

    def __init__(self, session: Session, permit: Permit, terms: Terms, shelf: Shelf | None = None) -> None:
        """Begin with nothing asked for; `shelf` has the answers that are kept."""
        self._session = session
        self._permit = permit
        self._terms = terms
        self._shelf = shelf or Shelf()
        self._turns: dict[str, tuple[str, float]] = {}
        self._given: set[str] = set()
        self._paused: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.traffic = Traffic()
        self.frame = ""
        self.page = ""
        self.loading = True
        self.arriving = True
        self.animates = self.varies = False
        self.context = ""
        self.replaying = False
        self.sent = 0
        self.status = 200
        self.last_refusal: str | None = None

    async def open(self) -> None:
        """Begin to stand between the page and the network."""
        session = self._session
        session.on("Fetch.requestPaused", lambda event: self._spawn(self._paused_at(event)))
        self.watch_sockets(session)
        session.on("Page.windowOpen", lambda event: self._leave(event.get("url", ""), "popup"))
        session.on("Page.frameRequestedNavigation", self._wanted)
        session.on("Page.downloadWillBegin", lambda event: self._leave(event.get("url", ""), "download"))
        await session.send("Fetch.enable", patterns=[{"urlPattern": "*", "requestStage": "Request"}])

    def watch_sockets(self, session: Session) -> None:
        """Hear of the WebSockets of a session: the page's, or one of its workers'."""
        session.on("Network.webSocketCreated", self._socket)
        for event in ("webSocketFrameReceived", "eventSourceMessageReceived"):
            session.on(f"Network.{event}", self._heard)
        session.on("Network.webSocketHandshakeResponseReceived", self._connected)
        for event in ("webSocketClosed", "loadingFinished", "loadingFailed"):
            session.on(f"Network.{event}", lambda event: self.traffic.close(event["requestId"]))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Let go of all that is paused."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._end_turns()

    def forget(self) -> None:
        """Know nothing of what the page before this one had under way."""
        self.traffic.under_way.clear()
        self.traffic.streams.clear()
        self.traffic.connecting.clear()
        self._paused.clear()
        self._end_turns()

    async def fail_all(self) -> None:
        """Fail every request that is under way, but for streams."""
        for number, paused in list(self._paused.items()):
            if number not in self.traffic.streams:
                self._end(number)
                with contextlib.suppress(BrowserError):
                    await self._session.send("Fetch.failRequest", requestId=paused, errorReason="TimedOut")

    # -- events --------------------------------------------------------------------------------------

    async def _paused_at(self, event: Mapping[str, Any]) -> None:
        """Decide on one request, or take its answer."""
        try:
            if "responseStatusCode" in event or "responseErrorReason" in event:
                await self._answered(event)
            else:
                await self._asked(event)
        except BrowserError:  # the page is gone, or the request is
            self._end(event.get("networkId", event["requestId"]))

    async def _asked(self, event: Mapping[str, Any]) -> None:
        request, kind, number = event["request"], event["resourceType"], event.get("networkId", event["requestId"])
        url, method = request["url"], request["method"]
        headers = {name.lower(): value for name, value in request["headers"].items()}
        self.last_refusal = None
        if kind == "Document" and event["frameId"] == self.frame and not self.arriving:
            self._leave(url, "navigation", method)
            return await self._fail(event, "Aborted")
        if kind in NOT_LOADED or (kind == "Other" and url.endswith("/favicon.ico")):
            if kind in NOT_LOADED:
                self.traffic.unasked.setdefault(url, kind.lower())
            return await self._fail(event, "BlockedByClient")
        streams = "text/event-stream" in headers.get("accept", "")
        if kind in TOLD and not (kind == "Script" and self.loading):
            shape = body_shape(request.get("postData"), headers.get("content-type", ""))
            told = "eventsource" if streams else {"Ping": "beacon", "Other": "worker"}.get(kind, kind.lower())
            self.traffic.ask(number, Asked(method, url, told, shape))
        kept = self._kept(kind, url, event) if method == "GET" else None
        if kept is not None:
            if kind == "Document":
                await self._headers(event)  # what the page's scripts ask for later may want its cookies
            self.traffic.answer(number, kept.status, dict(kept.headers).get("content-type", ""))
            return await self._fulfil(event, kept)
        self.traffic.under_way.add(number)  # the page's clock waits for the verdict, too
        rule = await self._refused(url, kind)
        self.traffic.under_way.discard(number)
        if rule is not None:
            self.traffic.refuse(number, rule)
            if event["frameId"] == self.frame and kind == "Document":
                self.last_refusal = rule
            return await self._fail(event, "BlockedByClient")
        if method not in SAFE and not self._terms.allow_post:
            self.traffic.refuse(number, "method")
            return await self._fulfil(
                event,
                Answer(403, (("Content-Type", "application/json"), ("Access-Control-Allow-Origin", "*")), _FORBIDDEN),
            )
        return await self._send_on(event, number, streams=streams)

    async def _send_on(self, event: Mapping[str, Any], number: str, *, streams: bool) -> None:
        """Send a request that may be sent, when it is its turn."""
        (self.traffic.begin if streams else self.traffic.under_way.add)(number)
        self._paused[number] = event["requestId"]
        kind, url = event["resourceType"], event["request"]["url"]
        if kind in ASSETS or await self._turn(number, url, event["requestId"]):
            self.sent += 1
            more = await self._headers(event) if kind not in ASSETS else {}
            await self._session.send(
                "Fetch.continueRequest", requestId=event["requestId"], interceptResponse=True, **more
            )

    async def _headers(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request's headers with those that the user wants sent; cookies become the browser's own."""
        url, own = event["request"]["url"], event["request"]["headers"]
        if self._terms.headers is None or not url.startswith("http"):
            return {}
        more = {name.lower(): value for name, value in self._terms.headers(url.partition("#")[0]).items()}
        await self._cookies(url, more.pop("cookie", ""))
        kept = {name: value for name, value in own.items() if name.lower() not in more}
        return {"headers": [{"name": name, "value": value} for name, value in {**kept, **more}.items()]} if more else {}

    async def _cookies(self, url: str, header: str) -> None:
        """Give the browser the cookies of an address, once a page."""
        if header and url not in self._given:
            self._given.add(url)
            pairs = [one.strip().partition("=") for one in header.split(";")]
            cookies = [{"name": name, "value": value, "url": url, "path": "/"} for name, _, value in pairs if name]
            await self._session.send("Network.setCookies", cookies=cookies)

    def _kept(self, kind: str, url: str, event: Mapping[str, Any]) -> Answer | None:
        """Return the answer that is kept for a request, where it is to be answered alike."""
        own = kind == "Document" and event["frameId"] == self.frame
        if not (self.replaying or own or kind in ASSETS):
            return None
        kept = self._shelf.find(ASSET if kind in ASSETS else self.context, url)
        if kept is not None:
            self._learn(kind, kept.body)
            self.traffic.answers[url] = kept
            self.status = kept.status if own else self.status
        return kept

    async def _turn(self, number: str, url: str, paused: str) -> bool:
        """Wait until a host may be asked; False where the request is nobody's any more when that is so."""
        turns = self._terms.turns
        if turns is None or not url.startswith("http"):
            return True
        await turns.begin(url)
        if self._paused.get(number) != paused or number in self._turns:
            turns.end(url, 0, 0.0)
            return False
        self._turns[number] = url, time.monotonic()
        return True

    def _end_turn(self, number: str, status: int = 0) -> None:
        """Let others ask the host that a request had its turn with."""
        url, began = self._turns.pop(number, ("", 0.0))
        if url and self._terms.turns is not None:
            self._terms.turns.end(url, status, time.monotonic() - began)

    def _end_turns(self) -> None:
        for number in list(self._turns):
            self._end_turn(number)

    async def _refused(self, url: str, kind: str) -> str | None:
        """Return the rule that refuses an address, None where it may be asked."""
        if url.startswith(("data:", "blob:", "about:")):
            return None
        purpose = {"Document": Purpose.PAGE}.get(kind, Purpose.ASSET if kind in ASSETS else Purpose.XHR)
        verdict = self._permit(url, purpose)
        if inspect.isawaitable(verdict):
            verdict = await verdict
        return verdict.rule if isinstance(verdict, Rejected) else None

    async def _answered(self, event: Mapping[str, Any]) -> None:
        """Record an answer, keep it where that can be done, and hand it on."""
        number, paused = event.get("networkId", event["requestId"]), event["requestId"]
        headers = tuple((row["name"].lower(), row["value"]) for row in event.get("responseHeaders", ()))
        named, status = dict(headers), event.get("responseStatusCode", 0)
        mime = named.get("content-type", "").partition(";")[0].strip().lower()
        if "responseErrorReason" in event:
            self._end(number)
            await self._session.send("Fetch.failRequest", requestId=paused, errorReason=event["responseErrorReason"])
            return None
        if (told := named.get("proxy-status", "")).startswith(f"{AGENT_TOKEN};"):
            self._end(number)
            return await self._fail(event, ON_THE_WAY.get(told.rpartition("=")[2], "ConnectionFailed"))
        self.traffic.answer(number, status, mime)
        if event["resourceType"] == "Document" and event["frameId"] == self.frame:
            self.status = status
        if mime == "text/event-stream" or mime.startswith("multipart/"):
            self.traffic.streams.add(number)
            self.traffic.connecting.discard(number)
            self.traffic.under_way.discard(number)
            self._end_turn(number, status)  # it has no end: nobody waits for it
            await self._session.send("Fetch.continueRequest", requestId=paused)
            return None
        if named.get("content-length", "0").isdigit() and int(named.get("content-length", "0")) > self._terms.max_size:
            await self._session.send("Fetch.failRequest", requestId=paused, errorReason="BlockedByClient")
            return self._end(number, status)
        if event["request"]["method"] == "GET" and status not in _NO_BODY:
            await self._keep(event, headers)
        else:
            await self._session.send("Fetch.continueRequest", requestId=paused)
        return self._end(number, status)

    async def _keep(self, event: Mapping[str, Any], headers: tuple[tuple[str, str], ...]) -> None:
        """Read the whole of an answer, keep it, hand it on; fail it where it takes too long or grows too large."""
        names = {name for name, _ in headers}
        measured = "content-length" in names and "content-encoding" not in names
        body = await self._within(self._body(event["requestId"]) if measured else self._streamed(event["requestId"]))
        if body is None:
            await self._session.send("Fetch.failRequest", requestId=event["requestId"], errorReason="TimedOut")
            return
        kind = event["resourceType"]
        self._learn(kind, body)
        answer = Answer(event["responseStatusCode"], tuple(row for row in headers if row[0] not in _CODINGS), body)
        self._shelf.keep(ASSET if kind in ASSETS else self.context, event["request"]["url"], answer)
        self.traffic.answers[event["request"]["url"]] = answer
        await self._fulfil(event, answer)

    async def _body(self, paused: str) -> str:
        """Return an answer whose size is known, base64."""
        got = await self._session.send("Fetch.getResponseBody", requestId=paused)
        return str(got["body"]) if got["base64Encoded"] else base64.b64encode(got["body"].encode()).decode()

    async def _streamed(self, paused: str) -> str | None:
        """Return an answer of unknown size, base64; None as soon as it is too large."""
        stream = (await self._session.send("Fetch.takeResponseBodyAsStream", requestId=paused))["stream"]
        body = bytearray()
        try:
            while len(body) <= self._terms.max_size:
                got = await self._session.send("IO.read", handle=stream, size=_PIECE)
                body += base64.b64decode(got["data"]) if got.get("base64Encoded") else got["data"].encode()
                if got["eof"]:
                    return base64.b64encode(body).decode()
            return None
        finally:
            self._spawn(self._closed(stream))

    async def _closed(self, stream: str) -> None:
        with contextlib.suppress(BrowserError):
            await self._session.send("IO.close", handle=stream)

    def _learn(self, kind: str, body: str) -> None:
        """Take note of what a script says of itself."""
        if kind in {"Script", "Document"} and not (self.animates and self.varies):
            text = base64.b64decode(body)
            self.animates = self.animates or any(word in text for word in _FRAMES)
            self.varies = self.varies or any(word in text for word in _CHANCE)

    def _end(self, number: str, status: int = 0) -> None:
        self._paused.pop(number, None)
        self.traffic.under_way.discard(number)
        self._end_turn(number, status)

    async def _within(self, work: Awaitable[str | None]) -> str | None:
        try:
            return await asyncio.wait_for(work, self._terms.deadline)
        except TimeoutError:
            return None

    async def _fail(self, event: Mapping[str, Any], reason: str) -> None:
        await self._session.send("Fetch.failRequest", requestId=event["requestId"], errorReason=reason)

    async def _fulfil(self, event: Mapping[str, Any], answer: Answer) -> None:
        headers = answer.headers
        if self.loading and event["resourceType"] in ASSETS:  # it is on the shelf: the renderer may keep it, compiled
            headers = (*(row for row in headers if row[0] not in _AGES), _LASTING)
        await self._session.send(
            "Fetch.fulfillRequest",
            requestId=event["requestId"],
            responseCode=answer.status,
            responseHeaders=[{"name": name, "value": value} for name, value in headers],
            body=answer.body,
        )

    def _connected(self, event: Mapping[str, Any]) -> None:
        self.traffic.connecting.discard(event["requestId"])

    def _heard(self, _event: Mapping[str, Any]) -> None:
        self.traffic.heard += 1

    def _socket(self, event: Mapping[str, Any]) -> None:
        self.traffic.begin(event["requestId"])
        self.traffic.ask(event["requestId"], Asked("GET", event["url"], "websocket"))

    def _wanted(self, event: Mapping[str, Any]) -> None:
        """Note a navigation that no request may tell of: mailto and its like, one that another took the place of."""
        url, own = event.get("url", ""), event.get("frameId") == self.frame
        is_sent = event.get("reason") == "formSubmissionPost"  # the request tells the method
        if own and not is_sent and not url.startswith(("javascript:", "about:", "data:", "blob:")):
            self._leave(url, "navigation")

    def routed(self, url: str) -> None:
        """Note an address that the page gave itself: a route of the application, and a link like any other."""
        if url.partition("#")[0] != self.page:
            self._leave(url, "route")

    def _leave(self, url: str, how: str, method: str = "GET") -> None:
        if url and url != "about:blank":
            self.traffic.left[Left(url, how, method)] = None
