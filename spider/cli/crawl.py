"""``spider crawl``: visit seeds, record what their pages hold."""

from __future__ import annotations

import sys
from typing import Any

import click

from spider.cli.options import Globals, called, setting_options
from spider.cli.rehearsal import rehearsed
from spider.cli.run import follow
from spider.crawl import Crawler, Plan, load_seeds, nursing
from spider.errors import InputError
from spider.store import Database
from spider.store import seeds as seed_list

__all__ = ["command"]


@click.command("crawl")
@click.argument("seeds", nargs=-1, metavar="[SEEDS]...")
@click.option("--dry-run", is_flag=True, help="Ask nobody; show what would be visited next, and what refused.")
@setting_options()
@click.pass_obj
def command(
    given: Globals,
    /,
    seeds: tuple[str, ...],
    *,
    dry_run: bool,
    log: str | None,
    log_format: str,
    **values: Any,  # noqa: ANN401  # the settings
) -> int:
    """Visit seeds and record the media of their pages.

    SEEDS are files with one address a line, "-" for the standard input, or
    addresses that begin with http:// or https://.  Without any, the crawl goes on
    with the seeds that the database knows.

    Ctrl-C finishes what is in flight and stops; a second one stops at once.
    Neither loses anything: what still waits is visited by the next crawl.

    With --dry-run nobody is asked and nothing is kept: the first 50 links that
    would be visited are listed (--max-pages: as many), in their order, and when.
    """
    found = load_seeds(seeds, sys.stdin.buffer)
    plan = Plan(**values)
    if dry_run:
        return rehearsed(given, plan, found, values["key"])
    with (
        nursing(plan, given.db) as nursery,
        Database.open(given.db, create=bool(found), ladder=values["key"]) as database,
    ):
        if not found:
            _check_known(database, database.name)
        told = bool(given.verbose or log)
        crawl = Crawler(database, plan, seeds=found, told=told, nursery=nursery)
        return follow(
            crawl,
            quiet=given.quiet,
            verbose=bool(given.verbose),
            log=log,
            log_format=log_format,
            program=called(database.name),
        )


def _check_known(database: Database, name: str) -> None:
    """Refuse to crawl nothing: no seed was given, and the database has none either."""
    with database.read() as connection:
        if not seed_list.seed_rows(connection):
            raise InputError(f"no seed is given, and {name} knows none; try spider crawl seeds.txt, or a URL")
