"""``spider doctor``: what is here, what is missing, and what brings it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from spider import __version__
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.errors import BrowserError, DiskError, SpiderError, StorageError
from spider.report import Line, Record, Span, many, visible
from spider.report.text import wrap

__all__ = ["COLUMNS", "Finding", "command"]

COLUMNS = ("check", "state", "detail", "remedy")

LIBRARIES = ("click", "requests", "urllib3", "lxml", "selectolax", "SQLAlchemy", "alembic", "rich", "Jinja2", "protego")
ROOM = 1_000_000_000
"""Bytes that should be free where the database grows."""

LEAST = 100_000_000
"""Bytes below which no crawl should begin."""

_INSTALL = "pip install multimedia-spider"
_PARTS = {"ok": "number", "less": "head", "missing": "bad"}
STATE = len("missing ")
MIN_ROOM = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: ok, less than it could be, or missing; and the command that brings what is missing.

    `code` is the exit code where work is not possible so, 0 where it is.
    """

    check: str
    state: str
    detail: str
    remedy: str | None = None
    code: int = 0


@click.command("doctor")
@listing_options
@click.pass_obj
def command(given: Globals, /, *, form: str, output: str | None, raw: bool) -> int:
    """Tell what is here, what is missing, and what brings it.

    Looks at versions, the compiled reading of URLs, the browser, the driver of
    PostgreSQL, the database that --db names, the disk and the right to write. The
    exit code is 0 where a crawl could begin, 5 or 7 where the database or the
    disk stands in its way.
    """
    found = [finding for check in CHECKS for finding in check(given)]
    records = [{name: getattr(one, name) for name in COLUMNS} for one in found]
    answer(records, How(form, output, raw), columns=COLUMNS, lines=_lines)
    return max((one.code for one in found), default=0)


def _lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield each finding, and below it what brings what is missing."""
    listed = list(records)
    indent = STATE + max(len(str(record["check"])) for record in listed) + 2
    room = None if columns is None else max(MIN_ROOM, columns - indent)
    for record in listed:
        state = str(record["state"])
        lead = [Span(f"{state:{STATE}}", _PARTS[state]), Span(f"{record['check']:{indent - STATE}}")]
        for piece in _pieces(record["detail"], room):
            yield [*lead, Span(piece, "page")]
            lead = [Span(" " * indent)]
        if record["remedy"]:
            for place, piece in enumerate(_pieces(record["remedy"], None if room is None else room - 2)):
                yield (Span(f"{' ' * indent}{'  ' if place else '→ '}{piece}", "detail"),)


def _pieces(text: object, room: int | None) -> Iterable[str]:
    """Return a text in pieces that fit."""
    shown = visible(str(text))
    return [shown] if room is None else wrap(shown, room)


# --- the checks -----------------------------------------------------------------------------------


def _program(_given: Globals) -> Iterator[Finding]:
    yield Finding("spider", "ok", f"{__version__} in {Path(__file__).resolve().parents[1]}")
    yield Finding("Python", "ok", f"{platform.python_version()} ({platform.platform(terse=True)})")


def _libraries(_given: Globals) -> Iterator[Finding]:
    """Name the versions of the libraries that the work rests on."""
    told, lacking = [], []
    for name in LIBRARIES:
        try:
            told.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            lacking.append(name)
    yield Finding("libraries", "ok", ", ".join([*told, f"SQLite {sqlite3.sqlite_version}"]))
    if lacking:
        yield Finding("libraries", "missing", ", ".join(lacking), f"{_INSTALL} --force-reinstall", code=1)


def _engine(_given: Globals) -> Iterator[Finding]:
    """Tell which twin reads URLs."""
    from spider.url import engine  # noqa: PLC0415  # only this command asks for it

    if os.environ.get(engine.PURE, "") not in {"", "0"}:
        yield Finding("URL machine", "less", f"interpreted, because {engine.PURE} says so", f"unset {engine.PURE}")
    elif (twin := engine.compiled()) is None:
        remedy = f"install a C compiler, then {_INSTALL} --force-reinstall --no-binary multimedia-spider"
        yield Finding("URL machine", "less", "interpreted: it gives the same answers, some ten times slower", remedy)
    else:
        level = twin.__name__.removeprefix(f"{twin.__package__}.{engine.COMPILED}").strip("_").upper()
        yield Finding("URL machine", "ok", f"compiled, with {level}" if level else "compiled")


def _browser(_given: Globals) -> Iterator[Finding]:
    """Tell whether Ajax can be crawled."""
    from spider.ajax.browser import find  # noqa: PLC0415

    try:
        yield Finding("Playwright", "ok", importlib.metadata.version("playwright"))
    except importlib.metadata.PackageNotFoundError:
        yield Finding("Playwright", "less", "not here: no Ajax", "pip install 'multimedia-spider[ajax]'")
    try:
        program = find()
    except BrowserError as error:
        yield Finding("browser", "missing", str(error), "name one that is there: SPIDER_BROWSER=/usr/bin/chromium")
        return
    if program is None:
        yield Finding("browser", "less", "none found: no Ajax", "apt-get install chromium")
    else:
        yield Finding("browser", "ok", program)


def _datasette(_given: Globals) -> Iterator[Finding]:
    """Tell whether the database can be browsed."""
    try:
        yield Finding("Datasette", "ok", importlib.metadata.version("datasette"))
    except importlib.metadata.PackageNotFoundError:
        yield Finding("Datasette", "less", "not here: no spider browse", "pip install 'multimedia-spider[browse]'")


def _driver(given: Globals) -> Iterator[Finding]:
    """Tell whether PostgreSQL can be spoken to; where the database is one, that is needed."""
    needed = given.db.startswith("postgresql")
    try:
        yield Finding("PostgreSQL", "ok", f"psycopg {importlib.metadata.version('psycopg')}")
    except importlib.metadata.PackageNotFoundError:
        state = "missing" if needed else "less"
        remedy = "pip install 'multimedia-spider[postgres]'"
        yield Finding("PostgreSQL", state, "no driver: SQLite only", remedy, StorageError.exit_code if needed else 0)


def _database(given: Globals) -> Iterator[Finding]:
    """Open the database and count its links; one that is not there yet is fine."""
    from spider.store import Database, ask  # noqa: PLC0415

    if "://" not in given.db and not Path(given.db).exists():
        yield Finding("database", "less", f"{given.db} is not there yet", "spider crawl URL")
        return
    try:
        with Database.open(given.db, create=False) as database, database.read() as connection:
            links = sum(ask.link_counts(connection).values())
            seeds = len(ask.status(connection).seeds)
            name = database.name
    except SpiderError as error:
        yield Finding("database", "missing", str(error), "name another with --db", StorageError.exit_code)
        return
    yield Finding("database", "ok", f"{name}: {many(seeds, 'seed')}, {many(links, 'link')}")


def _place(given: Globals) -> Iterator[Finding]:
    """Tell whether the folder of the database may be written in, and whether there is room."""
    if "://" in given.db and not given.db.startswith("sqlite"):
        return
    folder = Path(given.db.partition(":///")[2] or given.db).absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        yield Finding("folder", "missing", f"cannot write in {folder}: {reason}", "name another place with --db", 5)
        return
    yield Finding("folder", "ok", f"{folder} may be written in")
    if Path(given.db).exists() and not os.access(given.db, os.W_OK):
        yield Finding("database", "missing", f"{given.db} may not be written", f"chmod u+w {given.db}", 5)
    state = "missing" if free < LEAST else "less" if free < ROOM else "ok"
    remedy = None if state == "ok" else "make room, or name another place with --db"
    yield Finding("disk", state, f"{free / 1e9:,.2f} GB free", remedy, DiskError.exit_code if free < LEAST else 0)


def _terminal(_given: Globals) -> Iterator[Finding]:
    """Tell whether every script can be shown."""
    name = (sys.stdout.encoding or "").lower()
    if name.replace("-", "") == "utf8":
        yield Finding("output", "ok", "UTF-8")
    else:
        yield Finding("output", "less", f"{name or 'no encoding'}: what it lacks is escaped", "export LANG=C.UTF-8")


CHECKS: tuple[Callable[[Globals], Iterator[Finding]], ...] = (
    _program,
    _libraries,
    _engine,
    _browser,
    _datasette,
    _driver,
    _database,
    _place,
    _terminal,
)
