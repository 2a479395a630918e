"""Bars for work whose end is known: drawn on a terminal from how it stands, a few times a second, and then gone.

Nothing is drawn where nobody sees it: not on a terminal, when all is to be quiet, with NO_COLOR or a dumb one.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator

import click

from spider.report.text import visible

__all__ = ["Part", "bar", "bar_parts", "clock", "drawable", "drawn", "left"]

Part = tuple[str, str]
"""A run of text and its style, in rich's words."""

WIDTH = 30
MINUTE, HOUR = 60, 3600


def drawable(*, quiet: bool) -> bool:
    """Tell whether pictures may be drawn on the standard error stream."""
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return not quiet and sys.stderr.isatty() and not dumb and not os.environ.get("NO_COLOR")


@contextlib.contextmanager
def drawn(parts: Callable[[], Iterable[Part]], *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Draw what `parts` returns, again and again while the block runs, where it may be drawn.

    Gives what writes a line of the answer to the standard output: above the picture, where both share a terminal.
    """
    if not drawable(quiet=quiet):
        yield _answer
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal needs it, and it takes its time
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    def text() -> Text:
        return Text.assemble(*parts(), no_wrap=True, overflow="ellipsis")

    def above(line: str) -> None:
        console.print(Text(line), soft_wrap=True)

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    with Live(
        console=console,
        get_renderable=text,
        refresh_per_second=5,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield above if sys.stdout.isatty() else _answer


def _answer(line: str) -> None:
    click.echo(line)
    sys.stdout.flush()


@contextlib.contextmanager
def bar(label: str, done: Callable[[], int], total: int | None, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Draw a bar while the block runs: how much is done of all there is, and how long the rest may take.

    `total` None draws what moves without saying how far it is.  Gives what `drawn` gives.
    """
    began, shown = time.monotonic(), visible(label)
    with drawn(lambda: bar_parts(shown, done(), total, time.monotonic() - began), quiet=quiet) as write:
        yield write


def bar_parts(label: str, done: int, total: int | None, elapsed: float) -> Iterator[Part]:
    """Yield a bar's runs of text."""
    yield f"{label}  ", "bold"
    if not total:
        place = int(elapsed * WIDTH / 2) % WIDTH
        yield "".join("━" if (column - place) % WIDTH < WIDTH // 5 else "─" for column in range(WIDTH)), "cyan"
        yield (f"  {done:,}" if done else "") + f"  {clock(elapsed)}", ""
        return
    full = min(WIDTH, WIDTH * done // total)
    yield "━" * full, "cyan"
    yield "─" * (WIDTH - full), "dim"
    yield f"  {done:,} of {total:,}  {min(100, 100 * done // total)} %", ""
    rest = left(done, total, elapsed)
    yield ("" if rest is None else f"  {clock(rest)} left"), "dim"


def left(done: int, total: int, elapsed: float) -> float | None:
    """Return the seconds that the rest takes at the pace so far; None where there is no telling yet."""
    return None if not done or done >= total else elapsed * (total - done) / done


def clock(seconds: float) -> str:
    """Return a time as people read it: 7 s, 3 m 07 s, 2 h 05 m."""
    whole = int(seconds)
    if whole < MINUTE:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"  # noqa: PLR2004  # a digit more where it counts
    minutes, rest = divmod(whole, MINUTE)
    return f"{minutes} m {rest:02} s" if whole < HOUR else f"{minutes // 60} h {minutes % 60:02} m"
