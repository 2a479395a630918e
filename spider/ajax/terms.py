"""What the gate before a page needs of others: a session, a verdict on each request, and the terms of asking."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from spider.model import Purpose, Verdict

__all__ = ["Permit", "Session", "Terms", "Turns"]

Permit = Callable[[str, Purpose], Verdict | Awaitable[Verdict]]
"""Says whether an address may be asked for a purpose, at once or when that is known."""


class Session(Protocol):
    """A CDP session of one page; `send` raises BrowserError where the browser does not do it."""

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401  # of each method its own
        """Send a command and return its answer."""
        ...

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        """Call a function at each event of a name."""
        ...


class Turns(Protocol):
    """Says when a host may be asked: `begin` waits for it, and each `begin` that returned has its `end`."""

    async def begin(self, url: str) -> None:
        """Wait until the host of an address may be asked."""
        ...

    def end(self, url: str, status: int, seconds: float) -> None:
        """Let the next one ask; `status` 0 is no answer, `seconds` what the answer's head took."""
        ...


@dataclass(frozen=True, slots=True)
class Terms:
    """What may be sent, and how much may come back.

    `allow_post`: methods that may change something are sent too; `max_size`: bytes of one answer,
    decoded; `deadline`: seconds for the whole of it; `turns`: when documents and what scripts ask for may
    be asked, at once where there is none; `headers`: what is sent with these beside the browser's own.
    """

    allow_post: bool = False
    max_size: int = 10_000_000
    deadline: float = 60.0
    turns: Turns | None = None
    headers: Callable[[str], Mapping[str, str]] | None = None
