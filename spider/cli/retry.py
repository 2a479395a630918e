"""``spider retry``: failed links wait again."""

from __future__ import annotations

import click

from spider.cli.asking import reason_option, seed_option
from spider.cli.options import Globals
from spider.model import Reason
from spider.report import many
from spider.store import Database, Tally, ask, frontier

__all__ = ["command"]


@click.command("retry")
@seed_option("Only what was found from this seed.")
@reason_option("Only what failed for this reason.")
@click.pass_obj
def command(given: Globals, seed: str | None, reason: str | None) -> None:
    """Let failed links wait for another try.

    They go from E to W, and count as never tried; the next "spider crawl"
    visits them.
    """
    wanted = None if reason is None else Reason(reason)
    with Database.open(given.db, create=False) as database, database.write() as connection:
        tally = Tally()
        seed_id = None if seed is None else ask.find_seed(connection, seed)
        count = frontier.retry(connection, tally, seed_id=seed_id, reason=wanted)
        tally.flush(connection)
    if not given.quiet:
        click.echo(f"{many(count, 'link')} moved from E to W")
