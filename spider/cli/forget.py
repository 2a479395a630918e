"""``spider forget``: a takedown."""

from __future__ import annotations

import time

import click

from spider.cli.options import Globals
from spider.report import many, visible
from spider.store import Database, Tally, takedown

__all__ = ["command"]


@click.command("forget")
@click.argument("target", metavar="HOST|URL")
@click.pass_obj
def command(given: Globals, target: str) -> None:
    """Drop what is known of a host or address, for good.

    Its links, pages and media go from the database, with what other pages told
    of it, and it is not visited again.
    """
    with Database.open(given.db, create=False) as database, database.write() as connection:
        tally = Tally()
        gone = takedown.forget(connection, target, tally, now=time.time_ns() // 1000)
        tally.flush(connection)
    if not given.quiet:
        click.echo(
            f"{visible(gone.target)}: {many(gone.links, 'link')} and {many(gone.media, 'medium', 'media')} forgotten"
        )
