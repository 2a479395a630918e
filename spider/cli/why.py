"""``spider why``: how an address came to stand where it does."""

from __future__ import annotations

import click

from spider.cli.ending import complain
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.report import WHY_COLUMNS, why_lines, why_records
from spider.store import Database, trace

__all__ = ["command"]


@click.command("why")
@click.argument("url")
@listing_options
@click.pass_obj
def command(given: Globals, url: str, *, form: str, output: str | None, raw: bool) -> None:
    """Tell why an address was visited, or was not.

    Shows the links that led from a seed to it, its state and depth, what failed
    and when it is tried again; or the rule that refused it and the page that
    showed it; and the pages that hold it as a medium.
    """
    address = trace.address_of(url)
    with Database.open(given.db, create=False) as database, database.read() as connection:
        found = trace.why(connection, address)
    records = why_records(found)
    answer(records, How(form, output, raw), columns=WHY_COLUMNS, lines=lambda _, width: why_lines(records, width))
    if not found.known and not given.quiet:
        complain(f"{address} was never met: no page that was read shows it")
