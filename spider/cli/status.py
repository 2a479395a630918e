"""``spider status``: how the links stand, and how many pages hold media."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from spider.cli.ending import complain
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.model import LinkState, MediaKind
from spider.report import Line, Record, Span, bar_line, grid_lines
from spider.report.text import cut
from spider.store import Database, ask

if TYPE_CHECKING:
    from spider.store.ask import Status

__all__ = ["command"]

BAR = 40
LEGEND = "W waiting  R running  C read  E failed; video, audio, flash: pages that have some"
COLUMNS = (*LinkState, *MediaKind, "seed")


@click.command("status")
@listing_options
@click.pass_obj
def command(given: Globals, form: str, output: str | None, raw: bool) -> None:  # noqa: FBT001  # click gives values
    """Count links by state, and pages with media.

    Links wait (W), run (R), are complete (C) or failed (E).  Behind them stand
    the pages with video, audio and Flash; one row a seed, then all together; the
    table leaves that out where there is one seed. On a terminal a bar below each
    shows how far it is: read █, running ▓, waiting ░, failed ×.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection:
        found = ask.status(connection)
    answer(_records(found), How(form, output, raw), columns=COLUMNS, lines=_lines)
    if not found.seeds and not given.quiet:
        complain(f"{database.name} has no seed yet; spider crawl URL begins")


def _lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield a row for each record, on a terminal with its bar below."""
    kept = list(records)
    if len(kept) == 2 and all(kept[0][name] == kept[1][name] for name in COLUMNS[:-1]):  # noqa: PLR2004  # a seed, and all
        del kept[1]
    rows = [[*(f"{record[name]:,}" for name in COLUMNS[:-1]), str(record["seed"] or "all")] for record in kept]
    below = [] if columns is None else [_bar(record, min(BAR, columns)) for record in kept]
    yield from grid_lines(COLUMNS, rows, columns, below=below)
    if columns is not None:
        yield (Span(cut(LEGEND, columns), "detail"),)


def _bar(record: Record, columns: int) -> Line:
    """Return how far a seed is: what is read, what runs, what waits and what failed, in proportion."""
    return bar_line([(state.value, int(record[state] or 0)) for state in _IN_BAR], columns)


_IN_BAR = (LinkState.C, LinkState.R, LinkState.W, LinkState.E)


def _records(found: Status) -> Iterator[Record]:
    """Yield a record for each seed, and a last one, without a seed, for all."""
    rows = [(seed.links, seed.pages, seed.url) for seed in found.seeds]
    for links, pages, url in [*rows, (found.links, found.pages, None)]:
        yield {
            **{str(state): links[state] for state in LinkState},
            **{str(kind): pages[kind] for kind in MediaKind},
            "seed": url,
        }
