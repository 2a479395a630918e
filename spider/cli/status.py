"""``spider status``: how the links stand, and how many pages hold media."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from spider.cli.ending import complain
from spider.cli.options import Globals
from spider.cli.output import columns_of, show
from spider.model import LinkState, MediaKind
from spider.report import FORMATS, Line, Record, bar_line, grid_lines, write_records
from spider.store import Database, ask

if TYPE_CHECKING:
    from spider.store.ask import Status

__all__ = ["command"]

BAR = 40
COLUMNS = (*LinkState, *MediaKind, "seed")


@click.command("status")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to show it."
)
@click.pass_obj
def command(given: Globals, form: str) -> None:
    """Count links by state, and pages with media.

    Links wait (W), run (R), are complete (C) or failed (E).  Behind them stand
    the pages with video, audio and Flash; one row a seed, then all together. On
    a terminal a bar below each shows how far it is: read █, running ▓, waiting ░,
    failed ×.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection:
        found = ask.status(connection)
    stream = sys.stdout
    if form == "table":
        columns = columns_of(stream)
        rows = [*((seed.links, seed.pages, seed.url) for seed in found.seeds), (found.links, found.pages, "all")]
        below = [] if columns is None else [_bar(links, min(BAR, columns)) for links, _, _ in rows]
        show(grid_lines(COLUMNS, [_row(*row) for row in rows], columns, below=below), stream)
    else:
        write_records(_records(found), stream, form=form, columns=COLUMNS, raw=False)
    if not found.seeds and not given.quiet:
        complain(f"{database.name} has no seed yet; spider crawl URL begins")


def _bar(links: Mapping[LinkState, int], columns: int) -> Line:
    """Return how far a seed is: what is read, what runs, what waits and what failed, in proportion."""
    return bar_line([(state.value, links[state]) for state in _IN_BAR], columns)


_IN_BAR = (LinkState.C, LinkState.R, LinkState.W, LinkState.E)


def _row(links: Mapping[LinkState, int], pages: Mapping[MediaKind, int], name: str) -> Sequence[str]:
    """Return one row of the table."""
    return [*(f"{links[state]:,}" for state in LinkState), *(f"{pages[kind]:,}" for kind in MediaKind), name]


def _records(found: Status) -> list[Record]:
    """Return a record for each seed, and a last one, without a seed, for all."""
    rows = [(seed.links, seed.pages, seed.url) for seed in found.seeds]
    return [
        {
            **{str(state): links[state] for state in LinkState},
            **{str(kind): pages[kind] for kind in MediaKind},
            "seed": url,
        }
        for links, pages, url in [*rows, (found.links, found.pages, None)]
    ]
