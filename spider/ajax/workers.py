"""The workers of one page: scripts in threads of their own, whose clocks must be let run with the page's.

A worker's clock stands still with the page's, and the page's does not come to its end while a worker's has
no budget: both are started together.  A page's clock waits until a new worker's script was run, and a
worker is told of before that, so none is missed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from spider.ajax.gate import Gate, Session
from spider.ajax.traffic import Asked
from spider.errors import BrowserError

__all__ = ["Workers"]

_ANSWER = 1.0  # seconds of ours for a worker to answer
Handler = Callable[[dict[str, Any]], None]

_ATTACH: Final[dict[str, Any]] = {
    "autoAttach": True,
    "flatten": False,  # Playwright hands no other session's messages on
    "filter": [{"type": "worker", "exclude": False}, {"exclude": True}],
}


class _Child:
    """The CDP session of a worker, inside that of the page or of another worker; keeps `gate.Session`."""

    def __init__(self, parent: Session, number: str) -> None:
        """Speak to the target that `parent` knows by this number."""
        self._parent, self._number = parent, number
        self._handlers: dict[str, list[Handler]] = {}
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last = 0

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401  # of each method its own
        """Send a command and return its answer; BrowserError where the worker is gone or refuses."""
        self._last += 1
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[self._last] = answer
        message = json.dumps({"id": self._last, "method": method, "params": parameters})
        try:
            await self._parent.send("Target.sendMessageToTarget", sessionId=self._number, message=message)
        except BrowserError:
            self.close()
        return await answer

    def on(self, event: str, handler: Handler) -> None:
        """Call a function at each event of a name."""
        self._handlers.setdefault(event, []).append(handler)

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take what the worker says: an answer or an event."""
        if "id" not in message:
            for handler in self._handlers.get(message.get("method", ""), ()):
                handler(message.get("params", {}))
            return
        answer = self._answers.pop(message["id"], None)
        if answer is not None and not answer.done():
            if "error" in message:
                answer.set_exception(BrowserError(str(message["error"].get("message", "refused"))))
            else:
                answer.set_result(message.get("result", {}))

    def close(self) -> None:
        """Answer all that still waits: there is nobody there."""
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(BrowserError("the worker is gone"))
        self._answers.clear()


class _Worker:
    """One worker, and whether its clock has run its budget."""

    def __init__(self, session: _Child) -> None:
        self.session = session
        self.rests = asyncio.Event()
        self.poke: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.poke.set_result(None)


class Workers:
    """All workers of a page, and those that workers start.

    `arrived` counts them from the page's beginning.
    """

    def __init__(self, session: Session, policy: Mapping[str, Any], gate: Gate) -> None:
        """`policy` is how each clock is to run; `gate` hears of what workers ask for."""
        self._session, self._policy, self._gate = session, policy, gate
        self._live: dict[str, _Worker] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self.arrived = 0

    def __len__(self) -> int:
        """Count those that live."""
        return len(self._live)

    async def open(self) -> None:
        """Begin to wait for workers."""
        await self._open(self._session, waits=True)

    async def _open(self, session: Session, *, waits: bool) -> None:
        session.on("Target.attachedToTarget", lambda event: self._attached(session, event))
        session.on("Target.detachedFromTarget", self._detached)
        session.on("Target.receivedMessageFromTarget", self._heard)
        await session.send("Target.setAutoAttach", **_ATTACH, waitForDebuggerOnStart=waits)

    def _attached(self, parent: Session, event: Mapping[str, Any]) -> None:
        """Take a new worker, which has not begun, and let it begin with a budget."""
        number = event["sessionId"]
        worker = self._live[number] = _Worker(_Child(parent, number))
        self.arrived += 1
        worker.session.on("Emulation.virtualTimeBudgetExpired", lambda _: worker.rests.set())
        self._gate.watch_sockets(worker.session)
        url = event["targetInfo"]["url"]
        if parent is not self._session and url.startswith(("http:", "https:")):  # its script is not asked by the page
            self._gate.traffic.ask(number, Asked("GET", url, "worker"))
        self._spawn(self._begin(worker))

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._taken)
        return task

    def _taken(self, task: asyncio.Task[Any]) -> None:
        """Take the outcome of work that nobody waits for."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _begin(self, worker: _Worker) -> None:
        session = worker.session
        await asyncio.gather(
            session.send("Network.enable"),
            self._open(session, waits=False),
            session.send("Emulation.setVirtualTimePolicy", **self._policy),
            session.send("Runtime.runIfWaitingForDebugger"),
            return_exceptions=True,  # it may be gone already
        )

    def _heard(self, event: Mapping[str, Any]) -> None:
        worker = self._live.get(event["sessionId"])
        if worker is not None:
            worker.session.hear(json.loads(event["message"]))

    def _detached(self, event: Mapping[str, Any]) -> None:
        worker = self._live.pop(event["sessionId"], None)
        if worker is not None:
            worker.session.close()
            worker.rests.set()

    async def grant(self, *, again: bool = False) -> None:
        """Give each worker's clock its budget, or `again` those that have not run it; the page's comes right behind."""
        chosen = [worker for worker in self._live.values() if not (again and worker.rests.is_set())]
        for worker in chosen:
            worker.rests.clear()
        work = [self._spawn(one.session.send("Emulation.setVirtualTimePolicy", **self._policy)) for one in chosen]
        if work:
            await asyncio.wait(work, timeout=_ANSWER)

    @property
    def rest(self) -> bool:
        """Whether each has run its budget."""
        return all(worker.rests.is_set() for worker in self._live.values())

    def poke(self) -> None:
        """Wake those that have not run their budget."""
        for worker in self._live.values():
            if not worker.rests.is_set() and worker.poke.done():
                worker.poke = self._spawn(worker.session.send("Runtime.evaluate", expression="1"))

    async def terminate(self) -> None:
        """End what runs in those that have not run their budget; care no more for one that still does not answer."""
        for number, worker in list(self._live.items()):
            if not worker.rests.is_set():
                ends = self._spawn(worker.session.send("Runtime.terminateExecution"))
                answers = self._spawn(worker.session.send("Runtime.evaluate", expression="1"))
                await asyncio.wait({ends, answers}, timeout=_ANSWER)
                if not answers.done():
                    self._detached({"sessionId": number})

    def forget(self) -> None:
        """Know nothing of the workers of the page before."""
        for number in list(self._live):
            self._detached({"sessionId": number})

    async def close(self) -> None:
        """Let go of all."""
        self.forget()
        await asyncio.gather(*self._tasks, return_exceptions=True)
