"""``spider runs``: every crawl made on the database."""

from __future__ import annotations

import time

import click

from spider.cli.ending import complain
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.crawl.process import at_work
from spider.report import RUN_COLUMNS, run_lines, run_record
from spider.store import Database, ask, workers

__all__ = ["command"]


@click.command("runs")
@listing_options
@click.pass_obj
def command(given: Globals, form: str, output: str | None, raw: bool) -> None:  # noqa: FBT001  # click gives values
    """List the crawls made, the newest first.

    Each with when it began and ended, and why: done, stopped, max-pages,
    max-time, storage; running, or killed where it never said. Pages are those that
    the run read or found unchanged; media those on pages that were new or had
    changed. W, R, C, E and refused count the whole database as the run left it.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection:
        found = ask.runs(connection)
        now = time.time_ns() // 1000
        running = {row.run_id for row in workers.rows(connection) if at_work(row, now)}
    records = [run_record(row, running=row.id in running) for row in found]
    if not answer(records, How(form, output, raw), columns=RUN_COLUMNS, lines=run_lines) and not given.quiet:
        complain(f"{database.name} has seen no crawl yet; spider crawl URL begins")
