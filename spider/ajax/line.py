"""A line to a page that may die, or be busy for ever: no command waits without end, and a lost page is told as one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import Any

from spider.ajax.gate import Gate, Session
from spider.errors import BrowserError

__all__ = ["WATCHDOG", "Line", "StuckError", "Work", "taken"]

WATCHDOG = 3.0  # seconds of ours for scripts that do not end
Work = asyncio.Future[dict[str, Any]]


class StuckError(Exception):
    """The page cannot be used any more: it crashed, or does not come to rest; another tab must take its place."""


class Line:
    """A session under watch; `gone` is set once the page is lost."""

    def __init__(self, session: Session, gate: Gate) -> None:
        """Take a page's session; while its gate is loading, a page that goes is only replaced."""
        self.session = session
        self.gate = gate
        self.gone = asyncio.Event()

    def check(self) -> None:
        """Raise StuckError where the page is gone."""
        if self.gone.is_set():
            raise StuckError("the page is gone")

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401  # of each method its own
        """Send a command that a living page answers at once."""
        try:
            got = await self.watched(self.session.send(method, **parameters), WATCHDOG * 2)
        except BrowserError as error:
            raise StuckError(str(error)) from error
        if got is None:
            raise StuckError(f"no answer to {method}")
        return got

    async def watched(self, work: Awaitable[dict[str, Any]], seconds: float) -> dict[str, Any] | None:
        """Wait for an answer; None where none comes in time, StuckError where the page goes away meanwhile."""
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait({task, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if gone.done() and not self.gate.loading:
                raise StuckError("the page is gone")
            task.add_done_callback(taken)
            return None
        finally:
            gone.cancel()

    async def answers(self) -> bool:
        """Say whether the page's scripts let anything through."""
        work = self.session.send("Runtime.evaluate", expression="1", timeout=500)
        return await self.watched(work, 1.0) is not None

    async def terminate(self) -> None:
        """End the script that is running."""
        with contextlib.suppress(BrowserError):
            await self.watched(self.session.send("Runtime.terminateExecution"), 1.0)


def taken(task: asyncio.Future[dict[str, Any]]) -> None:
    """Take the outcome of work that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
