"""``spider export``: links, media and pages for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from spider.cli.bars import bar, drawable
from spider.cli.ending import complain
from spider.cli.listing import output_option
from spider.cli.options import Globals
from spider.cli.output import opened
from spider.cli.which import narrowed, which_options
from spider.model import MediaKind
from spider.report import export as exports
from spider.report import network, write_records
from spider.store import Connection, Database, ask, edges, forest, seeds
from spider.store.once import once

if TYPE_CHECKING:
    from spider.store.ask import MediaRow

__all__ = ["command"]

RECORDS = ("jsonl", "csv", "json", "markdown")
GRAPHS = {"dot": network.write_dot, "graphml": network.write_graphml}

_PLAYED = (MediaKind.VIDEO, MediaKind.AUDIO)
_NARROWS_LINKS = {"seed"}
_NARROWS_PAGES = {"seed", "host", "confidence"}

_EXAMPLES = """\b
Examples:
  spider export urls --media video | yt-dlp -a -
  spider export m3u -o found.m3u
  spider export links --format dot | dot -Tsvg -o links.svg
"""

_T = TypeVar("_T")


@dataclass(slots=True)
class _Job:
    """What is exported, where to, what the options say, and how many have passed."""

    connection: Connection
    stream: TextIO
    which: dict[str, Any]
    form: str
    raw: bool
    edges: bool
    count: int = 0

    def passing(self, rows: Iterable[_T]) -> Iterator[_T]:
        """Count rows on their way."""
        for row in rows:
            self.count += 1
            yield row


@click.command("export", epilog=_EXAMPLES)
@click.argument("what", type=click.Choice(["urls", "m3u", "xspf", "rss", "sitemap", "links"]))
@which_options
@click.option(
    "--format",
    "form",
    type=click.Choice([*RECORDS, *GRAPHS]),
    help="How to write links; dot is for Graphviz, graphml for Gephi and its like.  [default: jsonl]",
)
@click.option("--edges", is_flag=True, help="Every link of every page, where crawl --edges kept them.")
@output_option
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
    edges: bool,
    **which: Any,  # noqa: ANN401  # the options that narrow
) -> None:
    """Write what was found for other programs.

    urls: the addresses of media, one a line; m3u, xspf: a playlist of video and
    audio; rss: a feed of them, as for podcasts; sitemap: the pages read, with
    their videos; links: every link with its state and the page that showed it, or
    with --edges each link of each page.
    """
    given = ctx.find_object(Globals) or Globals("")
    _check(ctx, what, which, {"format": form, "edges": edges})
    with Database.open(given.db, create=False) as database, database.read() as connection, opened(output) as stream:
        job = _Job(connection, stream, which, form or "jsonl", raw, edges)
        hidden = given.quiet or stream.isatty()  # the answer goes where the bar would be
        total = _total(connection, what, edges=edges) if drawable(quiet=hidden) else None
        with bar(f"exporting {what}", lambda: job.count, total, quiet=hidden):
            _WRITERS[what](job)
    if not job.count and not given.quiet:
        complain(_NO_EDGES if edges else "there is nothing of the kind to export")


_NO_EDGES = "no crawl has kept the links of every page: spider crawl --edges does from now on"


def _check(ctx: click.Context, what: str, which: dict[str, Any], of_links: dict[str, Any]) -> None:
    """Refuse options that say nothing to what is exported."""
    for name, value in of_links.items():
        if value and what != "links":
            raise click.UsageError(f"--{name} is for links; {what} has a format of its own", ctx)
    understood = {"links": _NARROWS_LINKS, "sitemap": _NARROWS_PAGES}.get(what, set(which))
    for name, value in which.items():
        if name not in understood and value not in {None, False, "all", "link"}:
            raise click.UsageError(f"--{name} says nothing to {what}", ctx)


def _total(connection: Connection, what: str, *, edges: bool) -> int | None:
    """Return how many rows there are at the most, where that is known without counting them one by one."""
    if what == "links" and not edges:
        return sum(ask.link_counts(connection).values())
    return sum(ask.status(connection).media.values()) if what not in {"links", "sitemap"} else None


def _media(job: _Job, *, kinds: tuple[MediaKind, ...] = tuple(MediaKind)) -> Iterator[MediaRow]:
    """Return the media that the options ask for, each once; of these kinds, unless one was asked for."""
    asked = narrowed(job.connection, **job.which)
    if job.which["media"] == "all":
        asked["kinds"] = kinds
    return job.passing(once(ask.media_rows(job.connection, **asked)))


def _urls(job: _Job) -> None:
    exports.write_urls(_media(job), job.stream)


def _m3u(job: _Job) -> None:
    exports.write_m3u(_media(job, kinds=_PLAYED), job.stream)


def _xspf(job: _Job) -> None:
    exports.write_xspf(_media(job, kinds=_PLAYED), job.stream)


def _rss(job: _Job) -> None:
    first = next(iter(seeds.seed_rows(job.connection)), None)
    link = job.which["seed"] or (first.url if first else "")
    exports.write_rss(_media(job, kinds=_PLAYED), job.stream, title=f"Found on {link}", link=link)


def _sitemap(job: _Job) -> None:
    place = {"seed": job.which["seed"], "host": job.which["host"]}
    pages = job.passing(forest.page_rows(job.connection, **place))
    videos = ask.media_rows(job.connection, **narrowed(job.connection, **{**job.which, "media": "video"}))
    left = exports.write_sitemap(pages, videos, job.stream)
    if left:
        complain(
            f"a sitemap holds {exports.SITEMAP_LIMIT:,} pages: {left:,} found no room; narrow it with --seed or --host"
        )


def _links(job: _Job) -> None:
    seed = job.which["seed"]
    kept = job.passing(edges.edge_rows(job.connection, seed=seed)) if job.edges else None
    links = forest.link_rows(job.connection, seed=seed)
    if job.form in GRAPHS:
        GRAPHS[job.form](links if job.edges else job.passing(links), job.stream, edges=kept)
    elif kept is not None:
        records = (network.edge_record(row) for row in kept)
        write_records(records, job.stream, form=job.form, columns=network.EDGE_COLUMNS, raw=job.raw)
    else:
        records = (network.link_record(row) for row in job.passing(links))
        write_records(records, job.stream, form=job.form, columns=network.LINK_COLUMNS, raw=job.raw)


_WRITERS: dict[str, Callable[[_Job], None]] = {
    "urls": _urls,
    "m3u": _m3u,
    "xspf": _xspf,
    "rss": _rss,
    "sitemap": _sitemap,
    "links": _links,
}
