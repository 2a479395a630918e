"""``spider skipped``: what was refused, and by which rule."""

from __future__ import annotations

import click

from spider.cli.ending import complain
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.report import SKIPPED_COLUMNS, skipped_lines, skipped_record
from spider.store import Database, trace

__all__ = ["command"]


@click.command("skipped")
@click.option("--rule", metavar="RULE", help="Only what this rule refused.")
@listing_options
@click.pass_obj
def command(given: Globals, *, rule: str | None, form: str, output: str | None, raw: bool) -> None:
    """List the addresses that were refused, and by which rule.

    Rules are, among others: tree, kin, host, domain (outside of the scope),
    external (another site), depth, include, exclude, robots, nofollow. Each
    address stands with the page that showed it first, and how often pages did.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection:
        records = (skipped_record(row) for row in trace.skipped_rows(connection, rule=rule))
        count = answer(records, How(form, output, raw), columns=SKIPPED_COLUMNS, lines=skipped_lines)
        known = trace.rules(connection) if not count and not given.quiet else []
    if not count and not given.quiet:
        complain(f"nothing was refused by {rule}; rules that refused: {', '.join(known)}" if known else _NOTHING)


_NOTHING = "nothing was refused"
