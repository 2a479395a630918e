"""What a crawl looks like while it runs: a live picture on a terminal, a plain line now and then elsewhere.

All of it goes to the standard error stream; the standard output is for answers.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from spider.cli.bars import clock, drawable
from spider.cli.ending import say
from spider.cli.output import STYLES
from spider.model import Failed, Fetched, MediaKind, Outcome, Skipped
from spider.report import many, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from spider.crawl import Snapshot

__all__ = ["Past", "Progress", "Trend", "advice", "outcome_line", "picture", "progress", "summary"]

EVERY = 5.0
"""Seconds between two plain lines."""

HOSTS = 3
"""Hosts that are named; the others are counted."""

SPAN = 30.0
"""Seconds over which the speed of the moment is reckoned."""

TITLE = 100
UNITS = ("B", "kB", "MB", "GB", "TB")
KINDS = {kind: STYLES[f"kind.{kind}"] for kind in MediaKind}


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
        self._past = Past()
        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._picture = Picture(
            console=console, get_renderable=self._drawn, refresh_per_second=4, transient=True, redirect_stderr=False
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
        trend = self._past.trend(now)
        text = Text(no_wrap=True, overflow="ellipsis")
        for part, style in picture(now, self._note, trend=trend, memory=memory()):
            text.append(part, style)
        return text


def progress(crawl: Watched, *, quiet: bool, verbose: bool) -> Progress:
    """Choose how to show a crawl: a picture where it can be drawn, silence when asked for."""
    if quiet:
        return Progress(crawl)
    if drawable(quiet=quiet):
        return Live(crawl, verbose=verbose)
    return Plain(crawl, verbose=verbose)


class Trend(NamedTuple):
    """How a crawl goes now: pages a second of late, and the seconds until nothing waits, where it shrinks."""

    speed: float
    left: float | None


class Past:
    """How a crawl stood a while ago, so that its speed now is told apart from its mean."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._seen: deque[tuple[float, int, int]] = deque()

    def trend(self, now: Snapshot) -> Trend:
        """Return how it goes, reckoned over the last half minute at the most."""
        links = now.waiting + now.running
        self._seen.append((now.elapsed, now.pages, links))
        while len(self._seen) > 1 and self._seen[0][0] < now.elapsed - SPAN:
            self._seen.popleft()
        then, pages, before = self._seen[0]
        passed = now.elapsed - then
        if passed < 1:
            return Trend(now.pages_per_second, None)
        shrinks = before - links
        left = links * passed / shrinks if shrinks > 0 and passed > SPAN / 3 else None
        return Trend((now.pages - pages) / passed, left)


def picture(
    now: Snapshot, note: str = "", *, trend: Trend | None = None, memory: int | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the picture's runs of text with their styles."""
    states = (
        ("W", now.waiting, "yellow"),
        ("R", now.running, "cyan"),
        ("C", now.complete, "green"),
        ("E", now.error, "red"),
    )
    for name, number, style in states:
        yield f"{name} ", f"bold {style}"
        yield f"{number:<9,}", ""
    yield f"{clock(now.elapsed)}", "bold"
    rest = None if trend is None else trend.left
    yield (f", about {clock(rest)} left" if rest is not None else "") + "\n", ""
    speed = now.pages_per_second if trend is None else trend.speed
    yield f"{many(now.pages, 'page')}, {speed:.1f}/s now, {now.pages_per_second:.1f}/s mean, {size(now.bytes)}", ""
    yield (f", memory {size(memory)}" if memory else "") + "\n", "dim"
    yield f"{media(now.media)}\n", ""
    for sight in now.latest:
        yield f"  {sight.kind:<6}", KINDS[sight.kind]
        yield f"{visible(sight.title[:TITLE]) or visible(sight.url[:TITLE])}\n", ""
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
    return f"{many(now.pages, 'page')} in {clock(now.elapsed)}: {media(now.media)}.  Links: {states}"


def advice(now: Snapshot, program: str = "spider") -> str:
    """Return what to do next, on one line: look at what was found, go on, or see what went wrong.

    `program` is how the program is called for this database.
    """
    told = []
    if any(now.media.values()):
        told.append(f"{program} report shows the media")
    if now.waiting:
        told.append(f"{program} crawl goes on with the {now.waiting:,} that wait")
    if now.error:
        told.append(f"{program} errors tells why {now.error:,} failed")
    if not told:
        told.append(f"{program} status counts what was visited, {program} skipped what was refused")
    return f"next: {'; '.join(told)}"


def media(found: Mapping[str, int]) -> str:
    """Return the media found, by kind."""
    return "  ".join(f"{kind} {found.get(kind, 0):,}" for kind in ("video", "audio", "flash"))


def hosts(now: Snapshot) -> str:
    """Return the hosts that are being asked, how many more wait their turn, and which of them for how long."""
    waiting = f"{many(now.hosts_waiting, 'host')} waiting"
    named = ", ".join(f"{visible(name)} {clock(seconds)}" for name, seconds in now.waits)
    waiting += f" ({named})" if named else ""
    if not now.hosts:
        return waiting
    more = f" and {len(now.hosts) - HOSTS} more" if len(now.hosts) > HOSTS else ""
    return f"asking {', '.join(visible(name) for name in now.hosts[:HOSTS])}{more}; {waiting}"


def size(number: int) -> str:
    """Return a number of bytes as people say it."""
    amount, unit = float(number), 0
    while amount >= 1000 and unit < len(UNITS) - 1:  # noqa: PLR2004  # the step from one unit to the next
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {UNITS[unit]}" if amount >= 100 or not unit else f"{amount:.1f} {UNITS[unit]}"  # noqa: PLR2004


def memory() -> int | None:
    """Return the bytes of memory that this process and its children hold; None where the system does not tell."""
    try:
        own = os.getpid()
        children = Path(f"/proc/{own}/task/{own}/children").read_text(encoding="ascii").split()
        held = [Path(f"/proc/{number}/statm").read_text(encoding="ascii").split()[1] for number in (own, *children)]
        return sum(map(int, held)) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


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
