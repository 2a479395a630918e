"""How a crawl stands, as one value, for whoever watches it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from spider.model import Confidence, Fetched, Media, MediaKind, Outcome

__all__ = ["LATEST", "Latest", "Sight", "Snapshot"]

LATEST = 3
"""Media that are named, those that were found last."""


class Sight(NamedTuple):
    """A medium that was found, and what it is called: its own title, the text of its link, or its page's title."""

    kind: MediaKind
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How a crawl stands.  Links by state are the whole database's; pages, media and bytes are this run's.

    `hosts` are those that are being asked; `hosts_waiting` counts those that wait for their turn, `waits` names
    some of them, the soonest first, with the seconds until then.  `latest` are the media found last, the newest
    first; `bytes` is what was read, `elapsed` in seconds.
    """

    waiting: int
    running: int
    complete: int
    error: int
    pages: int
    media: Mapping[str, int]
    hosts: tuple[str, ...]
    hosts_waiting: int
    refused: Mapping[str, int]
    elapsed: float
    pages_per_second: float
    ended: str | None
    bytes: int = 0
    waits: tuple[tuple[str, float], ...] = ()
    latest: tuple[Sight, ...] = ()


class Latest:
    """The media that were found last; safe to read from another thread."""

    def __init__(self) -> None:
        """Know none yet."""
        self._found: deque[Sight] = deque(maxlen=LATEST)

    def note(self, outcomes: Iterable[Outcome]) -> None:
        """Take note of what outcomes found."""
        for outcome in outcomes:
            if isinstance(outcome, Fetched) and not outcome.unchanged:
                title = outcome.page.title if outcome.page is not None else ""
                media: tuple[Media, ...] = outcome.page.media if outcome.page is not None else ()
                for medium in (*media, *filter(None, [outcome.medium])):
                    if medium.confidence.rank <= Confidence.LINK.rank:
                        self._found.append(Sight(medium.kind, medium.title or medium.text or title, medium.url))

    @property
    def found(self) -> tuple[Sight, ...]:
        """The last ones, the newest first."""
        return tuple(self._found.copy())[::-1]
