"""``spider errors``: the links that failed, and why."""

from __future__ import annotations

import click

from spider.cli.asking import reason_option, seed_option
from spider.cli.ending import complain
from spider.cli.options import Globals
from spider.cli.output import Counted, columns_of, opened, show
from spider.model import Reason
from spider.report import ERROR_COLUMNS, FORMATS, error_lines, error_record, write_records
from spider.store import Database, ask

__all__ = ["command"]


@click.command("errors")
@seed_option("Only what was found from this seed.")
@reason_option("Only what failed for this reason.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to show it."
)
@click.option("-o", "--output", metavar="FILE", help="Write to this file, whole or not at all.")
@click.option("--raw", is_flag=True, help="CSV: leave cells that a spreadsheet would run as they are.")
@click.pass_obj
def command(given: Globals, *, seed: str | None, reason: str | None, form: str, output: str | None, raw: bool) -> None:
    """List the links that failed, and why.

    Each with the reason, what happened, how often it was tried and when it is
    tried again by itself.  "spider retry" lets them wait for another try now.
    """
    wanted = None if reason is None else Reason(reason)
    with Database.open(given.db, create=False) as database, database.read() as connection, opened(output) as stream:
        records = Counted(error_record(row) for row in ask.error_rows(connection, seed=seed, reason=wanted))
        if form == "table":
            show(error_lines(records, columns_of(stream)), stream)
        else:
            write_records(records, stream, form=form, columns=ERROR_COLUMNS, raw=raw)
    if not records.count and not given.quiet:
        complain("no link has failed" if seed is reason is None else "no link has failed so")
