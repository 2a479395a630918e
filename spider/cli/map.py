"""``spider map``: paper 3, a site's internal addresses, one a line."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from spider.cli.asking import web_address
from spider.cli.ending import complain, say
from spider.cli.options import Globals, setting_options
from spider.cli.progress import Progress
from spider.cli.run import remember
from spider.cli.signals import stopping
from spider.crawl import Crawler, Plan, Seed, load_seeds
from spider.model import Failed, Fetched, Link, Outcome, Relation
from spider.report import visible
from spider.store import Database

__all__ = ["command"]

MEANINGLESS = ("scope", "edges", "exclusive", "log", "log-format", "refresh", "dedup", "min-free")
"""Settings of a crawl that say nothing here: the scope is the host, and no database is kept."""


@click.command("map")
@click.argument("url")
@click.option("--external", is_flag=True, help="List the addresses outside the site too.")
@click.option("--dead", is_flag=True, help="List the addresses that do not answer too.")
@setting_options(without=MEANINGLESS, depth=3, sitemaps=False)
@click.pass_obj
def command(given: Globals, /, url: str, *, external: bool, dead: bool, **values: Any) -> int:  # noqa: ANN401  # the settings
    """List a site's own addresses.

    Follows the links of URL's host and writes each address that answered, one a
    line, as they come.  With --external or --dead every line begins with a word,
    internal, external or dead, and a tab; behind a dead address stand a tab and
    the reason.

    No database is used or left behind.
    """
    found = _seeds(url)
    with (
        tempfile.TemporaryDirectory(prefix="spider-map-") as folder,
        Database.open(str(Path(folder) / "map.db"), ladder=values["key"]) as database,
    ):
        crawl = Crawler(database, Plan(**values, scope="host", visit_media=True), seeds=found)
        return _list(crawl, given, external=external, dead=dead)


def _list(crawl: Crawler, given: Globals, *, external: bool, dead: bool) -> int:
    """Write the addresses as they come and return the exit code."""
    listing = _Listing(external=external, dead=dead)
    failed: dict[str, str] = {}
    with stopping(crawl, Progress(crawl).note) as caught:
        for outcome in crawl.run():
            listing.take(outcome)
            remember(failed, outcome)
        listing.end()
    for url, why in failed.items():
        complain(f"{url}: {why}")
    if not given.quiet:
        say(crawl.last_line())
    return crawl.exit_code if caught.exit_code is None else caught.exit_code


class _Listing:
    """What is written of a crawl's outcomes."""

    def __init__(self, *, external: bool, dead: bool) -> None:
        """Write addresses that answered; others where asked to, and then every line says what it is."""
        self.external = external
        self.dead = dead
        self._named = external or dead
        self._outside: set[int] = set()
        self._failed: dict[int, Failed] = {}

    def take(self, outcome: Outcome) -> None:
        """Write what one outcome shows."""
        match outcome:
            case Fetched(request=request, redirect=redirect, page=page):
                self._failed.pop(request.link_id, None)
                if redirect is None:
                    self._write("internal", request.url)
                if self.external and page is not None:
                    self._write_outside(page.links)
            case Failed(request=request):
                self._failed[request.link_id] = outcome

    def end(self) -> None:
        """Write what stayed dead."""
        for failure in self._failed.values() if self.dead else ():
            self._write("dead", failure.request.url, f"{failure.reason}: {failure.message}")

    def _write_outside(self, links: Iterable[Link]) -> None:
        """Write the external links that were not met before."""
        for link in links:
            if link.relation is Relation.EXTERNAL and link.h not in self._outside:
                self._outside.add(link.h)
                self._write("external", link.url)

    def _write(self, word: str, url: str, *more: str) -> None:
        """Write one line; it leaves at once, so that a pipe's other end need not wait."""
        click.echo("\t".join(visible(part) for part in ([word] if self._named else []) + [url, *more]))


def _seeds(url: str) -> list[Seed]:
    """Return the one seed; an address may lack its scheme here, since nothing else is expected."""
    return load_seeds([web_address(url)], io.BytesIO())
