"""``spider export``: links, media and pages for other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import click

from spider.cli.ending import complain
from spider.cli.options import Globals
from spider.cli.output import Counted, opened
from spider.cli.which import narrowed, which_options
from spider.model import MediaKind
from spider.report import export as exports
from spider.report import write_records
from spider.store import Connection, Database, ask, forest, seeds

if TYPE_CHECKING:
    from spider.store.ask import MediaRow

__all__ = ["command"]

RECORDS = ("jsonl", "csv", "json", "markdown")
GRAPHS = {"dot": exports.write_dot, "graphml": exports.write_graphml}

_PLAYED = (MediaKind.VIDEO, MediaKind.AUDIO)
_NARROWS_LINKS = {"seed"}
_NARROWS_PAGES = {"seed", "host", "confidence"}

_EXAMPLES = """\b
Examples:
  spider export urls --media video | yt-dlp -a -
  spider export m3u -o found.m3u
  spider export links --format dot | dot -Tsvg -o links.svg
"""


@click.command("export", epilog=_EXAMPLES)
@click.argument("what", type=click.Choice(["urls", "m3u", "xspf", "rss", "sitemap", "links"]))
@which_options
@click.option(
    "--format",
    "form",
    type=click.Choice([*RECORDS, *GRAPHS]),
    help="How to write links; dot is for Graphviz, graphml for Gephi and its like.  [default: jsonl]",
)
@click.option("-o", "--output", metavar="FILE", help="Write to this file, whole or not at all.")
@click.option("--raw", is_flag=True, help="CSV: leave cells that a spreadsheet would run as they are.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    what: str,
    form: str | None,
    output: str | None,
    raw: bool,
    **which: Any,  # noqa: ANN401  # the options that narrow
) -> None:
    """Write what was found for other programs.

    urls: the addresses of media, one a line; m3u, xspf: a playlist of video and
    audio; rss: a feed of them, as for podcasts; sitemap: the pages read, with
    their videos; links: every link with its state and the page that showed it.
    """
    given = ctx.find_object(Globals) or Globals("")
    _check(ctx, what, form, which)
    with Database.open(given.db, create=False) as database, database.read() as connection, opened(output) as stream:
        count = _WRITERS[what](connection, stream, {**which, "form": form or "jsonl", "raw": raw})
    if not count and not given.quiet:
        complain("there is nothing of the kind to export")


def _check(ctx: click.Context, what: str, form: str | None, which: dict[str, Any]) -> None:
    """Refuse options that say nothing to what is exported."""
    if form is not None and what != "links":
        raise click.UsageError(f"--format is for links; {what} has a format of its own", ctx)
    understood = {"links": _NARROWS_LINKS, "sitemap": _NARROWS_PAGES}.get(what, set(which))
    for name, value in which.items():
        if name not in understood and value not in {None, False, "all", "link"}:
            raise click.UsageError(f"--{name} says nothing to {what}", ctx)


def _media(
    connection: Connection, which: dict[str, Any], *, kinds: tuple[MediaKind, ...] = tuple(MediaKind)
) -> Counted[MediaRow]:
    """Return the media that the options ask for, each once; of these kinds, unless one was asked for."""
    asked = _asked(connection, which)
    if which["media"] == "all":
        asked["kinds"] = kinds
    return Counted(exports.once(ask.media_rows(connection, **asked)))


def _asked(connection: Connection, which: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `ask.media_rows` that the options' values ask for."""
    return narrowed(connection, **{name: value for name, value in which.items() if name not in {"form", "raw"}})


def _urls(connection: Connection, stream: TextIO, which: dict[str, Any]) -> int:
    media = _media(connection, which)
    exports.write_urls(media, stream)
    return media.count


def _m3u(connection: Connection, stream: TextIO, which: dict[str, Any]) -> int:
    media = _media(connection, which, kinds=_PLAYED)
    exports.write_m3u(media, stream)
    return media.count


def _xspf(connection: Connection, stream: TextIO, which: dict[str, Any]) -> int:
    media = _media(connection, which, kinds=_PLAYED)
    exports.write_xspf(media, stream)
    return media.count


def _rss(connection: Connection, stream: TextIO, which: dict[str, Any]) -> int:
    media = _media(connection, which, kinds=_PLAYED)
    first = next(iter(seeds.seed_rows(connection)), None)
    link = which["seed"] or (first.url if first else "")
    exports.write_rss(media, stream, title=f"Found on {link}", link=link)
    return media.count


def _sitemap(connection: Connection, stream: TextIO, which: dict[str, Any]) -> int:
    place = {"seed": which["seed"], "host": which["host"]}
    pages = Counted(forest.page_rows(connection, **place))
    videos = ask.media_rows(connection, **_asked(connection, {**which, "media": "video"}))
    left = exports.write_sitemap(pages, videos, stream)
    if left:
        complain(
            f"a sitemap holds {exports.SITEMAP_LIMIT:,} pages: {left:,} found no room; narrow it with --seed or --host"
        )
    return pages.count


def _links(connection: Connection, stream: TextIO, which: dict[str, Any]) -> int:
    rows = Counted(forest.link_rows(connection, seed=which["seed"]))
    if which["form"] in GRAPHS:
        GRAPHS[which["form"]](rows, stream)
    else:
        records = (exports.link_record(row) for row in rows)
        write_records(records, stream, form=which["form"], columns=exports.LINK_COLUMNS, raw=which["raw"])
    return rows.count


_WRITERS: dict[str, Callable[[Connection, TextIO, dict[str, Any]], int]] = {
    "urls": _urls,
    "m3u": _m3u,
    "xspf": _xspf,
    "rss": _rss,
    "sitemap": _sitemap,
    "links": _links,
}
