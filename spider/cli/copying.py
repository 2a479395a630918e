"""``spider db copy``: move a crawl to another database, of the other engine too."""

from __future__ import annotations

import click

from spider.cli.bars import bar
from spider.cli.options import Globals
from spider.errors import InputError
from spider.report import many, visible
from spider.store import Database, copying
from spider.store.database import address_of

__all__ = ["command"]


@click.command("copy")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.pass_obj
def command(given: Globals, *, source: str, target: str) -> None:
    """Copy all of a database into an empty one.

    FROM and TO are SQLite files or addresses such as
    postgresql+psycopg://user@host/name, so that a crawl that outgrows a file goes
    on where several machines can share it, or comes back. All rows are copied or
    none; they keep their numbers, and are counted on both sides.
    """
    if address_of(source) == address_of(target):
        raise InputError("FROM and TO are the same database")
    done = 0
    with Database.open(source, create=False) as there, Database.open(target) as here:
        total = copying.row_count(there)
        with bar("copying", lambda: done, total, quiet=given.quiet):
            for number in copying.copied(there, here):
                done = number
        names = there.name, here.name
    if not given.quiet:
        click.echo(visible(f"{names[0]} copied to {names[1]}: {many(done, 'row')}"))
