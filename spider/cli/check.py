"""``spider check``: whether the media are still there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import click

from spider import settings
from spider.cli.asking import seed_option
from spider.cli.bars import Part, bar_parts, clock, drawable, drawn
from spider.cli.ending import complain, say
from spider.cli.network import NETWORK
from spider.cli.options import Globals, SettingType, setting_options
from spider.cli.signals import stopping
from spider.crawl import Checker, Choice, Plan, Standing
from spider.model import Confidence, Health, MediaKind
from spider.report import many, visible
from spider.settings import Kind, Setting
from spider.store import Database
from spider.store.checks import CheckRow

__all__ = ["command", "picture", "summary"]

LIMIT = 4
HOSTS = 3
EVERY = 10.0  # seconds between two plain lines
_USED = (*NETWORK, "delay", "longest-delay", "longer-delay", "robots", "threads", "max-time")
_STYLES = {Health.ALIVE: "green", Health.MOVED: "yellow", Health.DEAD: "red", Health.CLOSED: "magenta"}

OLDER = Setting("older-than", Kind.SECONDS, None, "Check again what was checked longer ago (12h, 7d).", minimum=0)

_EXAMPLES = """\b
Examples:
  spider check --media video
  spider check --older-than 30d --max-time 1h
  spider report --dead
"""


@click.command("check", epilog=_EXAMPLES)
@click.option(
    "--media",
    type=click.Choice(["video", "audio", "flash", "all"]),
    default="all",
    show_default=True,
    help="Only this kind of media.",
)
@seed_option("Only what was found from this seed.")
@click.option("--older-than", metavar="AGE", type=SettingType(OLDER), default="7d", show_default=True, help=OLDER.help)
@setting_options(without=[setting.name for setting in settings.SETTINGS if setting.name not in _USED])
@click.pass_obj
def command(
    given: Globals, /, *, media: str, seed: str | None, older_than: float, **values: Any  # noqa: ANN401  # the settings
) -> int:  # fmt: skip
    """Ask whether the media found are still there.

    Asks for the head of each medium's address, and where that is refused or
    names no medium for its first kilobyte: what is there, how large, of which
    type by its signature, or where it has moved. Hosts are asked all at once, each
    at its pace, one request at a time, as robots.txt allows, and none that a
    crawl is asking now.

    A medium is alive, moved (for good), dead (or a page stands in its place),
    closed (a login, robots.txt), or unsure: no answer told; it is asked again next
    time. What is not alive is written one a line; "spider report --dead" shows it
    with its pages. A check that was stopped goes on where it was. The exit code
    is 4 if media are left to check.
    """
    kinds = tuple(MediaKind) if media == "all" else (MediaKind(media),)
    choice = Choice(kinds, seed, older_than, Confidence.LINK)
    with Database.open(given.db, create=False) as database:
        check = Checker(database, Plan(**values), choice)
        return _follow(check, quiet=given.quiet, verbose=bool(given.verbose))


def _follow(check: Checker, *, quiet: bool, verbose: bool) -> int:
    """Run a check to its end, draw how it stands, write what is not alive; return the exit code."""
    with ExitStack() as shown:
        write = shown.enter_context(drawn(lambda: picture(check.snapshot()), quiet=quiet))
        if not quiet and not drawable(quiet=quiet):
            shown.enter_context(_told(check))
        caught = shown.enter_context(stopping(check, complain))
        for row in check.run():
            if not quiet and (verbose or row.health is not Health.ALIVE):
                write(line(row))
    now = check.snapshot()
    if not quiet:
        say(summary(now, check.left))
    if caught.exit_code is not None:
        return caught.exit_code
    return LIMIT if check.left else 0


class _told:  # noqa: N801  # used as a function, in a with statement
    """A plain line now and then, where no picture can be drawn."""

    def __init__(self, check: Checker) -> None:
        self._check = check
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="spider-progress", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _tell(self) -> None:
        while not self._ended.wait(EVERY):
            say("".join(text for text, _ in picture(self._check.snapshot())).replace("\n", "; "))


def picture(now: Standing) -> Iterator[Part]:
    """Yield the picture's runs of text: a bar, what was found, which hosts are asked."""
    yield from bar_parts("checking", now.done, now.total, now.elapsed)
    yield "\n", ""
    for health in Health:
        yield f"{health} ", _STYLES.get(health, "dim")
        yield f"{now.found.get(health, 0):,}  ", ""
    yield "\n", ""
    more = f" and {len(now.hosts) - HOSTS} more" if len(now.hosts) > HOSTS else ""
    asking = f"asking {', '.join(visible(name) for name in now.hosts[:HOSTS])}{more}; " if now.hosts else ""
    yield f"{asking}{many(now.waiting, 'host')} waiting", "dim"


def line(row: CheckRow) -> str:
    """Return what was found of one medium, on one line."""
    told = str(row.status) if row.status else str(row.reason or "-")
    moved = f" -> {visible(row.moved_to)}" if row.moved_to else ""
    return f"{row.health:<6}  {told:<8}  {visible(row.url)}{moved}"


def summary(now: Standing, left: int) -> str:
    """Return what a check has done, and what to do next."""
    if not now.total:
        return (
            "nothing to check: all was checked not long ago, or nothing was found yet; --older-than 0 checks all again"
        )
    counted = ", ".join(f"{now.found[health]:,} {health}" for health in Health if now.found.get(health))
    lines = [f"{many(now.done, 'medium', 'media')} in {clock(now.elapsed)}: {counted or 'none told'}"]
    if left:
        lines.append(f"{left:,} left: the next spider check goes on with them")
    elif now.found.get(Health.DEAD):
        lines.append("spider report --dead shows the pages of the dead")
    return "\n".join(lines)
