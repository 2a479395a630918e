"""``spider fingerprint``: paper 4, algorithm 2: which library makes a page an application."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from spider import settings
from spider.ajax import Fingerprint, Script, fingerprint
from spider.cli.links import document_of, fetched
from spider.cli.listing import How, answer, listing_options
from spider.cli.network import NETWORK, asking
from spider.cli.options import setting_options
from spider.cli.output import opened
from spider.errors import FetchError, SpiderError
from spider.fetch import Client, every_type
from spider.model import Request
from spider.page import read
from spider.report import Line, Record, Span, json_text, visible
from spider.url import normalize

__all__ = ["COLUMNS", "command"]

COLUMNS = ("ajax", "library", "version", "told", "script")
"""One row for each library, with the page's verdict before it; a page without one has a row that says only that."""

_USED = (*NETWORK, "robots", "max-size")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_MOST = 50  # scripts of one page that are asked for


@click.command("fingerprint")
@click.argument("place", metavar="URL|FILE")
@listing_options
@setting_options(without=[one.name for one in settings.SETTINGS if one.name not in _USED])
def command(*, place: str, form: str, output: str | None, raw: bool, **values: Any) -> int:  # noqa: ANN401  # the settings
    """Tell which Ajax libraries a page uses.

    Reads the page and the scripts that it links to, or one script, and writes
    whether the page does Ajax by itself (plain), by a library, or not at all
    (none); then each library, its version where the code states it, how it was
    told (name, hash or signature), and its script.
    """
    found = _of_page(place, **values) if _WEB.match(place) else _of_file(place)
    if form == "json":
        with opened(output) as stream:
            stream.write(f"{json_text(_plain(found))}\n")
    else:
        answer(_records(found), How(form, output, raw), columns=COLUMNS, lines=lambda _, _width: _lines(found))
    return 0


def _of_page(place: str, **values: Any) -> Fingerprint:  # noqa: ANN401
    """Ask for a page and its scripts; those that do not come tell nothing."""
    page_of = fetched(place, **values)
    page = read(page_of.body, page_of.url, content_type=page_of.headers.get("content-type"), headers=page_of.headers)
    if page_of.url.partition("?")[0].endswith(".js"):
        return fingerprint([], [Script(page_of.url, page_of.body.decode("utf-8", "replace"))])
    values.pop("robots")
    scripts: list[Script] = []
    with Client(asking(normalize(place), **values)) as client:
        for url in page.scripts[:_MOST]:
            try:
                response = client.get(Request(url, referrer=page_of.url), reads=every_type)
            except FetchError:
                continue
            scripts.append(Script(url, response.body.decode("utf-8", "replace")))
    return fingerprint(page.inline_scripts, scripts)


def _of_file(place: str) -> Fingerprint:
    """Read a script, or a page with the scripts that lie beside it."""
    own = document_of(place, None)
    if place.endswith((".js", ".mjs")):
        return fingerprint([], [Script(place, own.body.decode("utf-8", "replace"))])
    page = read(own.body, own.url, content_type="text/html")
    scripts: list[Script] = []
    for url in page.scripts[:_MOST]:
        path = Path(place).parent / url.removeprefix("http://localhost/").partition("?")[0]
        if url.startswith("http://localhost/") and path.is_file():
            try:
                scripts.append(Script(url, document_of(str(path), None).body.decode("utf-8", "replace")))
            except SpiderError:
                continue
    return fingerprint(page.inline_scripts, scripts)


def _plain(found: Fingerprint) -> dict[str, object]:
    """Return a verdict as JSON has it."""
    libraries = [
        {"name": one.name, "version": one.version, "script": one.url, "told": one.told.value} for one in found.libraries
    ]
    return {"ajax": found.ajax.value, "libraries": libraries}


def _records(found: Fingerprint) -> Iterator[Record]:
    """Yield what `COLUMNS` names."""
    verdict: Record = dict.fromkeys(COLUMNS) | {"ajax": found.ajax.value}
    for one in found.libraries:
        yield {**verdict, "library": one.name, "version": one.version, "told": one.told.value, "script": one.url}
    if not found.libraries:
        yield verdict


def _lines(found: Fingerprint) -> Iterator[Line]:
    """Yield the verdict, then a library a line."""
    yield (Span(f"ajax  {found.ajax.value}", "head"),)
    for one in found.libraries:
        yield (
            Span(f"  {one.name} {one.version or '(version unknown)'}"),
            Span(f"  by {one.told.value}  ", "detail"),
            Span(visible(one.url), "page"),
        )
