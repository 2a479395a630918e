"""``spider db``: care for the database: is it sound, copies, space, the schema."""

from __future__ import annotations

from pathlib import Path

import click

from spider.cli import copying
from spider.cli.bars import bar
from spider.cli.ending import STORAGE, complain
from spider.cli.formatter import HelpContext
from spider.cli.options import Globals
from spider.errors import InputError
from spider.report import many, visible
from spider.store import Database, ask, backup, care

__all__ = ["command"]


@click.group("db")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Look after the database: check, backup, copy, vacuum, upgrade.

    All of it may be done while a crawl is at work.
    """
    given = ctx.default_map or {}
    ctx.default_map = {name: dict(given) for name in command.commands}


@command.command("check")
@click.option("--repair", is_flag=True, help="Set the counters to what counting gives; nothing else is touched.")
@click.pass_obj
def check(given: Globals, *, repair: bool) -> int:
    """Tell whether the database is sound.

    Checks the file's integrity, rows that speak of rows which are not there,
    links whose columns do not fit their state, and every kept counter. What is
    wrong is written one a line, and the exit code is 5.
    """
    with Database.open(given.db, create=False) as database:
        if repair:
            _repair(database, given)
        wrong = 0
        with bar(f"checking {database.name}", lambda: wrong, None, quiet=given.quiet) as write:
            for fault in care.faults(database):
                wrong += 1
                write(visible(f"{fault.kind}  {fault.text}"))
        if wrong:
            complain(f"{database.name} is not sound: {many(wrong, 'fault')}{_hint(repair=repair)}")
            return STORAGE
        if not given.quiet:
            with database.read() as connection:
                links = sum(ask.link_counts(connection).values())
            click.echo(visible(f"{database.name} is sound: {many(links, 'link')}"))
    return 0


def _repair(database: Database, given: Globals) -> None:
    with database.write() as connection:
        wrong = care.recount(connection)
    if wrong and not given.quiet:
        click.echo(f"{many(wrong, 'counter')} set right")


def _hint(*, repair: bool) -> str:
    return "" if repair else "; --repair sets counters right, a copy (spider db backup) mends the rest"


@command.command("backup")
@click.argument("file")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.pass_obj
def backup_command(given: Globals, *, file: str, force: bool) -> None:
    """Copy the database to FILE, as it stands at one moment.

    A crawl may go on meanwhile. FILE is whole or not there: a copy that breaks
    off leaves nothing behind, and replaces nothing.
    """
    with Database.open(given.db, create=False) as database:
        if database.path is None:
            raise InputError(
                "a PostgreSQL database is copied by its own tools: pg_dump --format=custom --file=FILE URL"
            )
        target = _target(database.path, file, force=force)
        with bar(f"copying {database.name}", int, None, quiet=given.quiet):
            size = backup.copy(database.path, target)
    if not given.quiet:
        click.echo(visible(f"{file}: {size:,} bytes"))


def _target(source: Path, name: str, *, force: bool) -> Path:
    """Return where the copy goes; InputError where it may not."""
    target = Path(name)
    try:
        if target.is_dir():
            raise InputError(f"{visible(name)} is a directory; name a file")
        if target.exists() and target.samefile(source):
            raise InputError(f"{visible(name)} is the database itself")
        if target.exists() and not force:
            raise InputError(f"{visible(name)} is there already; --force replaces it")
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise InputError(f"cannot write {visible(name)}: {reason}") from error
    return target


@command.command("vacuum")
@click.pass_obj
def vacuum(given: Globals) -> None:
    """Give back the space that deleted rows took.

    Needs as much free space as the database has, for a while; a crawl that is at
    work waits meanwhile.
    """
    with Database.open(given.db, create=False) as database:
        before = _size(database)
        with bar(f"packing {database.name}", int, None, quiet=given.quiet):
            care.vacuum(database)
        after = _size(database)
    if not given.quiet:
        click.echo(visible(database.name + (f": {before:,} bytes before, {after:,} now" if before else ": done")))


def _size(database: Database) -> int:
    """Return the size of the file and of what is written beside it; 0 where there is none."""
    path = database.path
    if path is None:
        return 0
    parts = (path, path.with_name(f"{path.name}-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())


@command.command("upgrade")
@click.pass_obj
def upgrade(given: Globals) -> None:
    """Bring the database to this program's schema.

    Every command does so when it opens one of an older schema; here it is told.
    The file as it was is kept beside it, as FILE.before-REVISION.
    """
    with (
        bar("upgrading", int, None, quiet=given.quiet),
        Database.open(given.db, create=False) as database,
    ):
        name, before, kept = database.name, database.upgraded_from, database.kept_copy
    if given.quiet:
        return
    if before is None:
        click.echo(visible(f"{name} has the newest schema"))
    else:
        click.echo(visible(f"{name} upgraded from schema {before}" + (f"; as it was: {kept}" if kept else "")))


command.add_command(copying.command)
for _part in command.commands.values():
    _part.context_class = HelpContext
