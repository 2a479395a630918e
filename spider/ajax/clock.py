"""The clocks of a page and its workers: let them run until all is quiet, exactly, in no time.

CDP's virtual time stands still while the network is asked, and else jumps from timer to timer: five seconds
of the page's take milliseconds.  What does not go by it, streams, gets time of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any, Final

from spider.ajax.gate import Gate
from spider.ajax.line import WATCHDOG, Line, StuckError, Work
from spider.ajax.workers import Workers

__all__ = ["BUDGET", "Clock"]

BUDGET = 5_000  # milliseconds of the page's clock after each step
TICK = 20  # milliseconds of the page's clock, and of ours, while streams are heard
CONNECTING = 5.0  # seconds of ours for a socket or a stream to be answered
GRACE = 0.3  # seconds of ours for what comes over a socket or a stream after a step
FIRST = 1.0  # seconds of ours for what comes over a new one
_REST = 0.08  # seconds of ours without a message after one
_TURNS = 6  # of all clocks, at most, where workers or streams go on and on
_POKE = 0.01  # seconds of ours between pokes
_POKES = 10  # before the clocks are started anew
_EXACT: Final[dict[str, Any]] = {"policy": "pauseIfNetworkFetchesPending", "budget": BUDGET}


class Clock:
    """Runs the clocks of one page and its workers."""

    def __init__(self, line: Line, gate: Gate) -> None:
        """Take the page's line; `open` makes it begin."""
        self._line, self._gate = line, gate
        self._expired = asyncio.Event()
        self._known: set[str] = set()
        self.workers = Workers(line.session, _EXACT, gate)

    async def open(self) -> None:
        """Begin to hear of clocks and workers."""
        self._line.session.on("Emulation.virtualTimeBudgetExpired", lambda _: self._expired.set())
        await self.workers.open()

    def start(self) -> Work | None:
        """Start the page's clock without waiting for it; None where something has to come before."""
        if self._gate.traffic.streams or self.workers:
            return None
        self._expired.clear()
        return asyncio.ensure_future(self._line.session.send("Emulation.setVirtualTimePolicy", **_EXACT))

    async def release(self) -> None:
        """Let all clocks run without an end, until they are started."""
        await self.workers.grant()
        await self._line.send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending")

    async def settle(self, started: Work | None = None) -> None:
        """Let the page's clock and its workers' run until all are quiet; what comes over streams gets time of ours.

        `started` is the clock's start where that is on its way.
        """
        if self._gate.traffic.streams:
            if started is not None:
                await self._started(started)
                started = None
            await self._hear()
        for turn in range(_TURNS):
            before = self._pulse()
            await (self._start() if started is None else self._started(started))
            started = None
            if not await self._quiet():
                continue
            after = self._pulse()
            if after == before and not self._gate.traffic.under_way and (turn or not self.workers):
                return
            if after[0] != before[0]:
                await self._hear()
        if self._gate.traffic.under_way:
            await self._gate.fail_all()

    async def _hear(self) -> None:
        """Give time of ours while a stream is open, most to a new one; less once messages came and no more do."""
        traffic, began = self._gate.traffic, time.monotonic()
        seconds = FIRST if traffic.streams - self._known else GRACE
        self._known = set(traffic.streams)
        last = None
        while traffic.streams and time.monotonic() - began < seconds + (CONNECTING if traffic.connecting else 0):
            heard, connecting = traffic.heard, len(traffic.connecting)
            await self._tick()
            if traffic.heard != heard:
                last = time.monotonic()
            elif len(traffic.connecting) < connecting:
                began = time.monotonic()
            elif last is not None and time.monotonic() - last > _REST:
                return

    async def _tick(self) -> None:
        """Let the page's clock go as ours does, for a moment: while it stands, messages of streams are not heard."""
        self._expired.clear()
        await self.workers.grant()
        await self._line.send("Emulation.setVirtualTimePolicy", policy=self._policy()["policy"], budget=TICK)
        await asyncio.sleep(TICK / 1000)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._expired.wait(), GRACE)

    def _pulse(self) -> tuple[int, int, int]:
        """Return what grows while something goes on that the page's own clock knows nothing of: streams, workers."""
        asked = len(self._gate.traffic.asked) if self.workers else 0
        return len(self._gate.traffic.streams), self.workers.arrived, asked

    async def _start(self) -> None:
        """Give all clocks their budget."""
        self._expired.clear()
        await self.workers.grant()
        await self._line.send("Emulation.setVirtualTimePolicy", **self._policy())

    async def _started(self, started: Work) -> None:
        """Wait for a start that is on its way."""
        if await self._line.watched(started, WATCHDOG * 2) is None:
            raise StuckError("no answer to an event")

    def _policy(self) -> dict[str, Any]:
        """Return how the page's clock is to run: it waits for all fetches but for event streams, which never end."""
        endless = any(not self._is_socket(number) for number in self._gate.traffic.streams)
        return {**_EXACT, "policy": "advance"} if endless else _EXACT

    def _is_socket(self, number: str) -> bool:
        """Say whether a stream is a WebSocket, for which the page's clock does not wait."""
        asked = self._gate.traffic.asked.get(number)
        return asked is not None and asked.kind == "websocket"

    async def _quiet(self) -> bool:
        """Wait until every clock's budget is spent; False where something had to be ended for it."""
        while True:
            self._line.check()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._spent(), WATCHDOG)
                return True
            self._line.check()
            if not await self._line.answers():
                await self._line.terminate()
            elif not self._gate.traffic.under_way:
                await self.workers.terminate()
                return False

    async def _spent(self) -> None:
        """Wait for the page's clock and its workers'.

        They share one time.  A thread that waits for a moment that another's advance has made past sleeps on until
        it is poked, or its clock is started anew.
        """
        pokes = 0
        while self.workers and not (self._expired.is_set() and self.workers.rest):
            await asyncio.sleep(_POKE)
            pokes += 1
            if pokes % _POKES == 0 and not self._gate.traffic.under_way:
                await self.workers.grant(again=True)
                if not self._expired.is_set():
                    await self._line.send("Emulation.setVirtualTimePolicy", **self._policy())
            else:
                self.workers.poke()
                await self._line.send("Runtime.evaluate", expression="1")
        await self._expired.wait()
