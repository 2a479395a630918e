"""``spider tree``: the links as a tree, from each seed."""

from __future__ import annotations

import click

from spider.cli.asking import seed_option
from spider.cli.ending import complain
from spider.cli.options import Globals
from spider.cli.output import columns_of, opened, show
from spider.report import tree_lines
from spider.store import Database, forest

__all__ = ["command"]


@click.command("tree")
@seed_option("Only what was found from this seed.")
@click.option("--depth", metavar="N", type=click.IntRange(0), help="Only so many steps below a seed.")
@click.option("--media-only", is_flag=True, help="Only the ways that lead to media.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file, whole or not at all.")
@click.pass_obj
def command(given: Globals, *, seed: str | None, depth: int | None, media_only: bool, output: str | None) -> None:
    """Show the links as a tree, from each seed.

    Each link stands below the page that showed it first, behind its state: W
    waiting, R running, C complete, E failed. Media are counted in all that
    stands below.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection, opened(output) as stream:
        trees = forest.Forest(connection, seed=seed)
        branches = trees.walk(depth=depth, wanted=trees.beneath if media_only else None)
        count = show(tree_lines(branches, columns_of(stream)), stream)
    if not count and not given.quiet:
        complain(
            "no way leads to media" if len(trees) else f"{database.name} knows no link yet; spider crawl URL begins"
        )
