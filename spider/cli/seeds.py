"""``spider seeds``: the list of seeds, and paper 2's three ways into it: by hand, searched, submitted and confirmed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import click

from spider import settings
from spider.cli.asking import web_address
from spider.cli.checking import USED, checked, courtesy, typed
from spider.cli.ending import complain
from spider.cli.formatter import HelpContext
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals, setting_options
from spider.crawl import load_seeds
from spider.crawl.candidates import search
from spider.crawl.process import at_work
from spider.errors import BusyError, FetchError
from spider.model import SeedOrigin, SeedStatus
from spider.report import SEED_COLUMNS, many, seed_lines, seed_record, visible
from spider.store import Connection, Database, Tally, seeds, workers

__all__ = ["command"]

_UNCONFIRMED = FetchError.exit_code

_network_options = setting_options(without=[each.name for each in settings.SETTINGS if each.name not in USED])
_named = click.argument("which", metavar="ID|URL...", nargs=-1, required=True)
_count_option = click.option(
    "--pages", metavar="N", type=click.IntRange(0, 100), default=5, show_default=True,
    help="Look at this many of the pages that it links to, beside its own.",
)  # fmt: skip


@click.group("seeds")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Keep the list of seeds: add, search, confirm, disable, remove.

    A seed is active, and then every crawl begins from it; or a candidate that was
    found by a search or submitted, and waits for a person to confirm or reject
    it; or disabled for a time. Every command but list takes seeds by their number
    or their address.
    """
    given = ctx.default_map or {}
    ctx.default_map = {name: dict(given) for name in command.commands}


def _now() -> int:
    return time.time_ns() // 1000


def _said(given: Globals, text: str) -> None:
    if not given.quiet:
        click.echo(visible(text))


# --- by hand --------------------------------------------------------------------------------------


@command.command("add")
@click.argument("places", metavar="URL|FILE...", nargs=-1, required=True)
@click.option("--note", metavar="TEXT", help="What to remember of them.")
@click.pass_obj
def add(given: Globals, places: tuple[str, ...], note: str | None) -> None:
    """Put seeds in the list, to be crawled from now on.

    As "spider crawl" takes them: addresses, files with one a line, or "-" for the
    standard input. One that is there already is crawled (again) from now on; what
    waited when it was disabled waits again.
    """
    found = load_seeds(places, sys.stdin.buffer)
    with Database.open(given.db) as database, database.write() as connection:
        before = {row.id for row in seeds.seed_rows(connection, status=None)}
        tally = Tally()
        rows = [
            seeds.add_seed(connection, seed.url, now=_now(), options=dict(seed.options), note=note, tally=tally)
            for seed in found
        ]
        tally.flush(connection)
    new = len(set(rows) - before)
    _said(given, f"{many(new, 'seed')} added" + (f", {len(rows) - new} known before" if new < len(rows) else ""))


# --- by search and by submission ------------------------------------------------------------------


@command.command("search")
@click.argument("words")
@click.option("--engine", metavar="URL", required=True, help="The address of the SearXNG instance.")
@click.option(
    "--pages", metavar="N", type=click.IntRange(1, 50), default=1, show_default=True, help="Ask for this many pages."
)
@_network_options
@listing_options
@click.pass_obj
def search_command(
    given: Globals, /, words: str, *, engine: str, pages: int, form: str, output: str | None, raw: bool, **values: Any  # noqa: ANN401  # the settings
) -> None:  # fmt: skip
    """Ask a meta search engine for sites; list them as candidates.

    The engine is a SearXNG instance, your own perhaps, that gives JSON. What it
    finds joins the list as candidates, with its title as the note, and is shown;
    "spider seeds confirm" decides. What the list has already stays as it is.
    """
    address = web_address(engine, "--engine")
    with courtesy(typed(address, values), values) as polite:
        try:
            found = list(search(polite, address, words, count=pages))
        except FetchError as error:
            raise FetchError(error.reason, f"{address}: {error.message}", status=error.status) from error
    with Database.open(given.db) as database:
        with database.write() as connection:
            ids = [
                seeds.add_seed(connection, one.url, now=_now(), origin=SeedOrigin.SEARCH, note=one.title or None)
                for one in found
            ]
        rows = _rows(database)
    listed = [seed_record(rows[number]) for number in ids]
    answer(listed, How(form, output, raw), columns=SEED_COLUMNS, lines=seed_lines)
    if not found and not given.quiet:
        complain(f"{address} finds nothing of the kind")


@command.command("submit")
@click.argument("url")
@click.option("--note", metavar="TEXT", help="What it is, or why it should be crawled.")
@click.pass_obj
def submit(given: Globals, url: str, note: str | None) -> None:
    """Propose a seed; it is crawled once it is confirmed."""
    address = web_address(url)
    with Database.open(given.db) as database:
        with database.write() as connection:
            number = seeds.add_seed(connection, address, now=_now(), origin=SeedOrigin.SUBMITTED, note=note)
        row = _rows(database)[number]
    _said(given, f"{row.id}  {row.url}  {row.status}")


# --- decisions ------------------------------------------------------------------------------------


@command.command("check")
@click.argument("which", metavar="[ID|URL]...", nargs=-1)
@_count_option
@_network_options
@click.pass_obj
def check_command(given: Globals, /, which: tuple[str, ...], *, pages: int, **values: Any) -> int:  # noqa: ANN401  # the settings
    """Look at candidates, and say what they are good for.

    All candidates, or the seeds named: whether the name resolves, what answers,
    whether robots.txt allows it, and how many media its page and some pages of
    its tree hold. Nothing is decided; the exit code is 3 if any is not good.
    """
    with Database.open(given.db, create=False) as database:
        chosen = _chosen(database, which) if which else _candidates(database)
        looked = [found for _, found in checked(database, chosen, pages, values)]
    if not looked and not given.quiet:
        complain("no candidate waits for a decision")
    return 0 if all(found.good for found in looked) else _UNCONFIRMED


@command.command("confirm")
@_named
@_count_option
@click.option("--yes", is_flag=True, help="Ask no question: confirm those whose check is good.")
@click.option("--unchecked", is_flag=True, help="Make no check either: confirm them all.")
@_network_options
@click.pass_obj
def confirm(
    given: Globals, /, which: tuple[str, ...], *, pages: int, yes: bool, unchecked: bool, **values: Any  # noqa: ANN401  # the settings
) -> int:  # fmt: skip
    """Crawl candidates from now on, after a look at each.

    Shows what "spider seeds check" would, and asks. An empty answer, or none,
    leaves a candidate as it is. The exit code is 3 if any was not confirmed.
    """
    left = 0
    with Database.open(given.db, create=False) as database:
        chosen = _chosen(database, which)
        if unchecked:
            _decide(database, chosen, SeedStatus.ACTIVE)
            _said(given, f"{many(len(chosen), 'seed')} confirmed")
            return 0
        for row, found in checked(database, chosen, pages, values):
            if found.good if yes else _asked(f"Crawl {row.url} from now on? [y/N] "):
                _decide(database, [row], SeedStatus.ACTIVE)
                _said(given, f"{row.id}  {row.url}  confirmed")
            else:
                left += 1
                _said(given, f"{row.id}  {row.url}  stays {row.status}")
    return _UNCONFIRMED if left else 0


def _asked(question: str) -> bool:
    """Ask a person; the end of the input is a no."""
    click.echo(visible(question), nl=False, err=True)
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        click.echo(err=True)
    return line.strip().lower() in {"y", "yes"}


def _decision(name: str, status: SeedStatus, done: str, text: str) -> None:
    """Make the command that gives seeds a status."""

    @command.command(name, help=text)
    @_named
    @click.pass_obj
    def decide(given: Globals, which: tuple[str, ...]) -> None:
        with Database.open(given.db, create=False) as database:
            chosen = _chosen(database, which)
            _decide(database, chosen, status)
        for row in chosen:
            _said(given, f"{row.id}  {row.url}  {done}")


_decision(
    "reject",
    SeedStatus.REJECTED,
    "rejected",
    """Decide against candidates.

    They stay in the list as rejected, so that no search brings them back; "spider
    seeds confirm" or "spider seeds add" may still change that.""",
)
_decision(
    "disable",
    SeedStatus.DISABLED,
    "disabled",
    """Crawl seeds no more, for the time being.

    What was found from them stays in the reports; what waited is not visited, and
    not tried or read again, until "spider seeds enable". A crawl under way heeds
    it within moments. What they share with other seeds is visited as theirs, once
    a page of theirs that shows it is read again.""",
)
_decision(
    "enable",
    SeedStatus.ACTIVE,
    "enabled",
    """Crawl seeds again.

    What waited when they were disabled waits again.""",
)


@command.command("remove")
@_named
@click.pass_obj
def remove(given: Globals, which: tuple[str, ...]) -> None:
    """Take seeds off the list, with all that was found from them.

    Their links, those that wait among them, pages and media leave the database,
    and the reports with them; "spider seeds disable" keeps them. What they share
    with other seeds is found again, as theirs, when the pages of those are next
    read. A site that nobody may ask again is one for "spider forget".
    """
    with Database.open(given.db, create=False) as database:
        chosen = _chosen(database, which)
        with database.write() as connection:
            _nobody_at_work(connection, database.name)
            for row in chosen:
                tally = Tally()
                links, media = seeds.remove(connection, row.id, tally)
                tally.flush(connection)
                _said(
                    given,
                    f"{row.id}  {row.url}  removed, with {many(links, 'link')} and {many(media, 'medium', 'media')}",
                )


def _nobody_at_work(connection: Connection, name: str) -> None:
    """Refuse while a crawl runs: it could go on finding links for what is removed."""
    for row in workers.rows(connection):
        if at_work(row, _now()):
            raise BusyError(f"run {row.run_id} (process {row.pid}) is at work on {name}; stop it, or disable the seed")


@command.command("list")
@click.option("--status", type=click.Choice([str(status) for status in SeedStatus]), help="Only these.")
@listing_options
@click.pass_obj
def list_command(given: Globals, *, status: str | None, form: str, output: str | None, raw: bool) -> None:
    """Show the list: number, address, status, and how each came."""
    with Database.open(given.db, create=False) as database, database.read() as connection:
        rows = seeds.seed_rows(connection, status=None if status is None else SeedStatus(status))
    count = answer(map(seed_record, rows), How(form, output, raw), columns=SEED_COLUMNS, lines=seed_lines)
    if not count and not given.quiet:
        complain(f"{database.name} has no seed{'' if status is None else f' that is {status}'}; spider seeds add URL")


# --- what they share ------------------------------------------------------------------------------


def _rows(database: Database) -> dict[int, seeds.SeedRow]:
    with database.read() as connection:
        return {row.id: row for row in seeds.seed_rows(connection, status=None)}


def _chosen(database: Database, which: Sequence[str]) -> list[seeds.SeedRow]:
    """Return the seeds that are named, each once; InputError for the first that the list does not have."""
    with database.read() as connection:
        found = [seeds.find(connection, text) for text in which]
    return list({row.id: row for row in found}.values())


def _candidates(database: Database) -> list[seeds.SeedRow]:
    with database.read() as connection:
        return seeds.seed_rows(connection, status=SeedStatus.CANDIDATE)


def _decide(database: Database, rows: Sequence[seeds.SeedRow], status: SeedStatus) -> None:
    with database.write() as connection:
        tally = Tally()
        for row in rows:
            seeds.set_status(connection, row.id, status, tally, now=_now())
        tally.flush(connection)


for _part in command.commands.values():
    _part.context_class = HelpContext
