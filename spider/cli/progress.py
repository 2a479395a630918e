"""What a crawl looks like while it runs: a live picture on a terminal, a plain line now and then elsewhere.

All of it goes to the standard error stream; the standard output is for answers.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol, Self

from spider.cli.ending import say
from spider.model import Failed, Fetched, Outcome, Skipped
from spider.report import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from spider.crawl import Snapshot

__all__ = ["Progress", "outcome_line", "progress", "summary"]

EVERY = 5.0
"""Seconds between two plain lines."""

HOSTS = 3
"""Hosts that are named; the others are counted."""


class Watched(Protocol):
    """A crawl that can say how it stands, at any time and from any thread."""

    def snapshot(self) -> Snapshot:
        """Return how it stands."""
        ...


class Progress:
    """Progress that says nothing; its two kinds below say more.  Be in its block while the crawl runs."""

    def __init__(self, crawl: Watched, *, verbose: bool = False) -> None:
        """Watch a crawl; `verbose` shows each outcome too."""
        self.crawl = crawl
        self.verbose = verbose

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End."""

    def outcome(self, outcome: Outcome) -> None:
        """Take note of an outcome."""

    def note(self, text: str) -> None:
        """Say what a signal does; safe inside its handler, where a buffered stream is not."""
        with contextlib.suppress(OSError):
            os.write(2, f"spider: {text}\n".encode())


class Plain(Progress):
    """A line every few seconds."""

    def __init__(self, crawl: Watched, *, verbose: bool = False) -> None:
        """Watch a crawl."""
        super().__init__(crawl, verbose=verbose)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="spider-progress", daemon=True)

    def __enter__(self) -> Self:
        """Begin to tell."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop telling."""
        self._ended.set()
        self._thread.join()

    def outcome(self, outcome: Outcome) -> None:
        """Show it, when asked to."""
        if self.verbose:
            say(outcome_line(outcome))

    def _tell(self) -> None:
        while not self._ended.wait(EVERY):
            say(plain_line(self.crawl.snapshot()))


class Live(Progress):
    """A picture of a few lines that stays in its place."""

    def __init__(self, crawl: Watched, *, verbose: bool = False) -> None:
        """Watch a crawl."""
        super().__init__(crawl, verbose=verbose)
        from rich.console import Console  # noqa: PLC0415  # only a terminal needs it, and it takes its time
        from rich.live import Live as Picture  # noqa: PLC0415

        self._note = ""
        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._picture = Picture(
            console=console, get_renderable=self._drawn, refresh_per_second=5, transient=True, redirect_stderr=False
        )

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._picture.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the picture away."""
        self._picture.stop()

    def outcome(self, outcome: Outcome) -> None:
        """Show it above the picture, when asked to."""
        if self.verbose:
            self._picture.console.print(outcome_line(outcome), soft_wrap=True)

    def note(self, text: str) -> None:
        """Show it in the picture from now on."""
        self._note = text

    def _drawn(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415

        now = self.crawl.snapshot()
        text = Text(no_wrap=True, overflow="ellipsis")
        for part, style in picture(now, self._note):
            text.append(part, style)
        return text


def progress(crawl: Watched, *, quiet: bool, verbose: bool) -> Progress:
    """Choose how to show a crawl: a picture where it can be drawn, silence when asked for."""
    if quiet:
        return Progress(crawl)
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        return Live(crawl, verbose=verbose)
    return Plain(crawl, verbose=verbose)


def picture(now: Snapshot, note: str) -> Iterator[tuple[str, str]]:
    """Yield the picture's runs of text with their styles."""
    states = (
        ("W", now.waiting, "yellow"),
        ("R", now.running, "cyan"),
        ("C", now.complete, "green"),
        ("E", now.error, "red"),
    )
    for name, number, style in states:
        yield f"{name} ", f"bold {style}"
        yield f"{number:<8,}", ""
    yield f"{now.pages_per_second:6.1f} pages/s   {clock(now.elapsed)}\n", ""
    yield f"{media(now.media)}\n", ""
    yield f"{hosts(now)}", "dim"
    if note:
        yield f"\n{note}", "bold"


def plain_line(now: Snapshot) -> str:
    """Return how a crawl stands on one line."""
    states = f"W {now.waiting}  R {now.running}  C {now.complete}  E {now.error}"
    return f"{clock(now.elapsed)}  {states}  {now.pages_per_second:.1f} pages/s  {media(now.media)}  {hosts(now)}"


def summary(now: Snapshot) -> str:
    """Return what a crawl has done, on one line."""
    states = f"W {now.waiting}  R {now.running}  C {now.complete}  E {now.error}"
    return f"{now.pages:,} pages in {clock(now.elapsed)}: {media(now.media)}.  Links: {states}"


def media(found: Mapping[str, int]) -> str:
    """Return the media found, by kind."""
    return "  ".join(f"{kind} {found.get(kind, 0):,}" for kind in ("video", "audio", "flash"))


def hosts(now: Snapshot) -> str:
    """Return the hosts that are being asked, and how many more wait their turn."""
    waiting = f"{now.hosts_waiting} host{'s' * (now.hosts_waiting != 1)} waiting"
    if not now.hosts:
        return waiting
    more = f" and {len(now.hosts) - HOSTS} more" if len(now.hosts) > HOSTS else ""
    return f"asking {', '.join(visible(name) for name in now.hosts[:HOSTS])}{more}; {waiting}"


def clock(seconds: float) -> str:
    """Return a time as people read it: 7 s, 3 m 07 s, 2 h 05 m."""
    whole = int(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"  # noqa: PLR2004
    minutes, rest = divmod(whole, 60)
    return f"{minutes} m {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} m"  # noqa: PLR2004


def outcome_line(outcome: Outcome) -> str:
    """Return what became of one link, on one line."""
    url = visible(outcome.request.url)
    match outcome:
        case Fetched(response=response):
            return f"C {response.status} {url}"
        case Failed(reason=reason, message=message):
            return f"E {reason} {url} ({visible(message)})"
        case Skipped(rule=rule):
            return f"- {rule} {url}"
