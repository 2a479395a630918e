"""``spider tree``: the links as a tree, from each seed."""

from __future__ import annotations

import click

from spider.cli.asking import seed_option
from spider.cli.ending import complain
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.cli.output import Counted
from spider.report import TREE_COLUMNS, tree_lines, tree_records
from spider.store import Database, forest

__all__ = ["command"]


@click.command("tree")
@seed_option("Only what was found from this seed.")
@click.option("--depth", metavar="N", type=click.IntRange(0), help="Only so many steps below a seed.")
@click.option("--media-only", is_flag=True, help="Only the ways that lead to media.")
@listing_options
@click.pass_obj
def command(
    given: Globals, *, seed: str | None, depth: int | None, media_only: bool, form: str, output: str | None, raw: bool
) -> None:
    """Show the links as a tree, from each seed.

    Each link stands below the page that showed it first, behind its state: W
    waiting, R running, C complete, E failed. Media are counted in all that
    stands below. The other formats have a row for each link, in the same order.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection:
        trees = forest.Forest(connection, seed=seed)
        branches = Counted(trees.walk(depth=depth, wanted=trees.beneath if media_only else None))
        how = How(form, output, raw)
        answer(tree_records(branches), how, columns=TREE_COLUMNS, lines=lambda _, width: tree_lines(branches, width))
    if not branches.count and not given.quiet:
        complain(
            "no way leads to media" if len(trees) else f"{database.name} knows no link yet; spider crawl URL begins"
        )
