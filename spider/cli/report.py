"""``spider report``: the pages with their media."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any, TextIO

import click

from spider.cli import html
from spider.cli.ending import complain
from spider.cli.options import Globals, Pattern, SettingType
from spider.cli.output import Counted, columns_of, opened, show
from spider.errors import InvalidURL
from spider.model import Confidence, MediaKind
from spider.report import FORMATS, MEDIA_COLUMNS, Record, media_lines, media_record, write_records
from spider.settings import Kind, Setting
from spider.store import Connection, Database, ask
from spider.url import host as host_of
from spider.url import normalize

__all__ = ["command", "write"]

LEVELS = ("element", "link", "attribute", "script", "comment")
"""One name for each tier of trust, the surest first."""

SINCE = Setting("since", Kind.SECONDS, None, "Only what was first seen within this time (7d).", minimum=0, maximum=1e10)


def _host_name(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return a host's name as addresses have it: lower case, IDNA; a port is left out."""
    if value is None:
        return None
    try:
        return host_of(normalize(f"http://{value}/"))
    except InvalidURL as error:
        raise click.BadParameter(f"{value!a} is not a host's name ({error.reason})") from error


@click.command("report")
@click.option(
    "--media",
    type=click.Choice(["video", "audio", "flash", "all"]),
    default="all",
    show_default=True,
    help="Only this kind of media.",
)
@click.option("--seed", metavar="URL", help="Only what was found from this seed.")
@click.option("--host", metavar="NAME", callback=_host_name, help="Only pages of this host.")
@click.option(
    "--match", metavar="REGEX", type=Pattern(), help="Only where REGEX is found in an address, title or text."
)
@click.option(
    "--confidence",
    type=click.Choice(LEVELS),
    default="link",
    show_default=True,
    metavar="LEVEL",
    help="Leave out what is less sure than element, link, attribute, script or comment.",
)
@click.option("--new", is_flag=True, help="Only what the last crawl saw first.")
@click.option("--since", metavar="AGE", type=SettingType(SINCE), help=SINCE.help)
@click.option("--gone", is_flag=True, help="What is no longer there; with the two above, what went within that time.")
@click.option(
    "--format",
    "form",
    type=click.Choice([*FORMATS, "html"]),
    default="table",
    show_default=True,
    help="How to show it; html is one file for a browser, with a gallery.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to this file, whole or not at all.")
@click.option("--raw", is_flag=True, help="CSV: leave cells that a spreadsheet would run as they are.")
@click.pass_obj
def command(  # noqa: PLR0913  # one for each option
    given: Globals,
    *,
    media: str,
    seed: str | None,
    host: str | None,
    match: re.Pattern[str] | None,
    confidence: str,
    new: bool,
    since: float | None,
    gone: bool,
    form: str,
    output: str | None,
    raw: bool,
) -> None:
    """Show the pages with their media.

    One row for each medium of a page, with the columns page, title, media (its
    address), kind, text (of the link to it), source (where in the page it
    stood, as tag@attribute), seed, depth, first_seen and last_seen.

    The confidence says how a medium was told: by a media element; by a link,
    the page's metadata or a known player; by an attribute, a script or a
    comment that looks like one.

    A medium is gone when its page was read again without it, or is gone itself.
    """
    kinds = tuple(MediaKind) if media == "all" else (MediaKind(media),)
    with Database.open(given.db, create=False) as database, database.read() as connection, opened(output) as stream:
        which: dict[str, Any] = {
            "kinds": kinds,
            "confidence": Confidence(confidence),
            "seed": seed,
            "host": host,
            "match": match,
            "gone": gone,
            "since": _moment(connection, new=new, since=since),
        }
        if form == "html":
            html.write(connection, stream, name=given.db, **which)
            return
        records = Counted(media_record(row) for row in ask.media_rows(connection, **which))
        write(records, stream, form=form, raw=raw)
        empty = not any(ask.link_counts(connection).values())
    if not records.count and not given.quiet:
        complain(_nothing(given.db, empty=empty, narrowed=new or gone or since is not None))


def write(records: Iterable[Record], stream: TextIO, *, form: str, raw: bool = False) -> None:
    """Write the report's records in one of `FORMATS`."""
    if form == "table":
        show(media_lines(records, columns_of(stream)), stream)
    else:
        write_records(records, stream, form=form, columns=MEDIA_COLUMNS, raw=raw)


def _moment(connection: Connection, *, new: bool, since: float | None) -> int | None:
    """Return the moment (UTC microseconds) from which on something counts: the later of the two asked for."""
    moments = [] if since is None else [time.time_ns() // 1000 - int(since * 1e6)]
    if new:
        moments += [run.began_at for run in ask.runs(connection)[:1]]
    return max(moments, default=None)


def _nothing(db: str, *, empty: bool, narrowed: bool) -> str:
    """Say why there is nothing to report, and what to do about it."""
    if narrowed and not empty:
        return "nothing of the kind within that time"
    if empty:
        return f"{db} is empty: no page has been visited yet; spider crawl URL begins"
    return "no page with such media; spider status counts what was visited, --confidence comment shows guesses too"
