"""Answers of servers that are kept for a while, so that what a page asks for twice costs its server one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ASSET", "LOAD", "Answer", "Shelf"]

ASSET = ""
"""The context of scripts and styles: they are the same whatever the page is at."""
LOAD = "load"
"""The context of a page's load."""
MOST = 64_000_000  # characters of all bodies that are kept


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, kept: status, headers (lower-case names), body (decoded, base64)."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str


class Shelf:
    """The answers of one exploration, by what the page was at and the address.

    Scripts and styles may lie on a shelf that several explorations share.  Once it is full, nothing more is
    kept, and what is asked for again is asked of its server.
    """

    def __init__(self, assets: Shelf | None = None, *, most: int = MOST) -> None:
        """Begin with nothing; `assets` is the shelf of scripts and styles, this one itself unless it is given."""
        self._assets = assets
        self._most = most
        self._size = 0
        self._kept: dict[tuple[str, str], Answer] = {}

    def find(self, context: str, url: str) -> Answer | None:
        """Return what was answered in a context, None where nothing was kept."""
        if context == ASSET and self._assets is not None:
            return self._assets.find(context, url)
        return self._kept.get((context, url))

    def keep(self, context: str, url: str, answer: Answer) -> None:
        """Keep an answer, where there is room."""
        if context == ASSET and self._assets is not None:
            self._assets.keep(context, url, answer)
        elif self._size + len(answer.body) <= self._most:
            self._size += len(answer.body)
            self._kept[context, url] = answer

    def take(self, given: Sequence[tuple[str, str, Answer]]) -> None:
        """Keep several answers: context, address, answer."""
        for context, url, answer in given:
            self.keep(context, url, answer)
