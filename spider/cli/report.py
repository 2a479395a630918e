"""``spider report``: the pages with their media."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TextIO

import click

from spider.cli import html
from spider.cli.ending import complain
from spider.cli.listing import output_option
from spider.cli.options import Globals
from spider.cli.output import Counted, columns_of, opened, show
from spider.cli.which import given_options, narrowed, which_options
from spider.report import FORMATS, MEDIA_COLUMNS, Record, media_lines, media_record, write_records
from spider.store import Database, ask

__all__ = ["command", "write"]


@click.command("report")
@which_options
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, "html"]),
    default="table",
    show_default=True,
    help="How to show it; html is one file for a browser, with a gallery.",
)
@output_option
@click.option("--raw", is_flag=True, help="CSV: leave cells that a spreadsheet would run as they are.")
@click.pass_obj
def command(
    given: Globals,
    /,
    *,
    form: str,
    output: str | None,
    raw: bool,
    **which: Any,  # noqa: ANN401  # the options that narrow
) -> None:
    """Show the pages with their media.

    One row for each medium of a page, with the columns page, title, media (its
    address), kind, text (of the link to it), source (where in the page it
    stood, as tag@attribute), seed, depth, first_seen and last_seen.

    The confidence says how a medium was told: by a media element; by a link,
    the page's metadata or a known player; by an attribute, a script or a
    comment that looks like one.

    A medium is gone when its page was read again without it, or is gone itself.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection, opened(output) as stream:
        asked = narrowed(connection, **which)
        if form == "html":
            html.write(connection, stream, name=database.name, options=given_options(which), **asked)
            return
        records = Counted(media_record(row) for row in ask.media_rows(connection, **asked))
        write(records, stream, form=form, raw=raw)
        empty = not any(ask.link_counts(connection).values())
    if not records.count and not given.quiet:
        complain(_nothing(database.name, empty=empty, which=which))


def write(records: Iterable[Record], stream: TextIO, *, form: str, raw: bool = False) -> None:
    """Write the report's records in one of `FORMATS`."""
    if form == "table":
        show(media_lines(records, columns_of(stream)), stream)
    else:
        write_records(records, stream, form=form, columns=MEDIA_COLUMNS, raw=raw)


def _nothing(db: str, *, empty: bool, which: Mapping[str, Any]) -> str:
    """Say why there is nothing to report, and what to do about it."""
    if empty:
        return f"{db} is empty: no page has been visited yet; spider crawl URL begins"
    if which["gone"]:
        within = " since the last crawl" if which["new"] else " since then" if which["since"] is not None else ""
        return f"nothing of the kind is gone{within}"
    if which["new"]:
        return "nothing of the kind is new: the last crawl saw none for the first time"
    if which["since"] is not None:
        return "nothing of the kind was seen first within that time"
    if which["dead"]:
        return "nothing of the kind was found dead; spider check asks whether the media are still there"
    return "no page with such media; spider status counts what was visited, --confidence comment shows guesses too"
