"""``spider links``: papers 2 and 3's parser on its own, for one page."""

from __future__ import annotations

import dataclasses
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from spider import settings
from spider.cli.asking import web_address
from spider.cli.listing import How, answer, listing_options
from spider.cli.network import NETWORK, asking
from spider.cli.options import setting_options
from spider.cli.output import opened
from spider.errors import FetchError, InputError
from spider.fetch import Access, Client, Ruling, ask, every_type
from spider.model import Link, Media, Page, Reason, Request, Response, Source
from spider.page import mentions, read
from spider.report import Line, Record, Span, Value, json_text, many, visible
from spider.url import normalize

__all__ = ["COLUMNS", "Document", "command", "document_of", "fetched", "links"]

COLUMNS = ("fact", "relation", "source", "url", "text", "nofollow", "kind", "confidence")
"""One row for each link, address that leads elsewhere, address that is only named, and medium."""

_USED = (*NETWORK, "robots", "max-size")
_HOST = re.compile(
    r"(?:[\w-]+\.)+(?!(?:x?html?|txt|xml|md|json|php)\b)[^\W\d_]{2,}(?::\d+)?(?:/.*)?\Z|localhost\b", re.IGNORECASE
)
_HOPS = 10
_ERRORS, _SERVER_ERRORS = 400, 500
_EXAMPLES = """\b
Examples:
  spider links https://example.com/
  spider links --base https://example.com/a/ page.html
"""
_LOCAL = "http://localhost/"


@dataclass(frozen=True, slots=True)
class Document:
    """A document's bytes, where they came from, and what the server said of them."""

    body: bytes
    url: str
    headers: dict[str, str]


@click.command("links", epilog=_EXAMPLES)
@click.argument("place", metavar="URL|FILE|-")
@click.option("--base", metavar="URL", help="Where a file came from: its links are relative to it.")
@click.option("--type", "content_type", metavar="TYPE", help="The Content-Type it was served with, charset and all.")
@click.option("--hidden", is_flag=True, help="Read comments and templates too, and what is only named.")
@listing_options
@setting_options(without=[setting.name for setting in settings.SETTINGS if setting.name not in _USED])
def links(
    *, place: str, base: str | None, content_type: str | None, hidden: bool, form: str, output: str | None, raw: bool,
    **values: Any,  # noqa: ANN401  # the settings
) -> int:  # fmt: skip
    """List the links and media of one page.

    Each link stands with its relation to the page (downward, upward, horizontal,
    crosswise, external), the tag and attribute it was found in, its address and
    its text; each medium with its kind and how sure it is. The page is asked for,
    read from a file, or from the standard input (-). JSON has all that is known of
    the page, the other formats a row for each link and medium.
    """
    if base is not None:
        base = normalize(base)
    document = fetched(place, **values) if _is_web(place) else document_of(place, base)
    served, named = content_type or document.headers.get("content-type"), tuple[Link, ...]()
    page = read(
        document.body,
        base or document.url,
        content_type=served,
        headers=document.headers,
        hidden=hidden,
    )
    if form == "json" or hidden:
        known = {link.url for link in page.links}
        named = mentions(document.body, page.url, content_type=served, headers=document.headers)
        named = tuple(link for link in named if link.url not in known)
    if form == "json":
        with opened(output) as stream:
            stream.write(f"{json_text(_plain(page) | {'mentions': _plain(named)})}\n")
    else:
        how = How(form, output, raw)
        answer(_records(page, named), how, columns=COLUMNS, lines=lambda _, _width: _lines(page, named))
    return 0


def _is_web(place: str) -> bool:
    """Whether a place is an address, not a file: it has a scheme, or looks like a host's name and is no file."""
    if "://" in place:
        return True
    try:
        is_file = place == "-" or Path(place).exists()
    except ValueError:
        return False
    return not is_file and _HOST.match(place) is not None


def document_of(place: str, base: str | None) -> Document:
    """Read a file or the standard input; without a base it stands at the root of localhost."""
    if place == "-":
        return Document(sys.stdin.buffer.read(), base or _LOCAL, {})
    try:
        body = Path(place).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read {visible(place)}: {reason.lower()}") from error
    return Document(body, base or _LOCAL + quote(Path(place).name, errors="replace"), {})


def fetched(place: str, *, robots: str, **values: Any) -> Document:  # noqa: ANN401  # the settings
    """Ask for a page as a crawl would, redirects followed; FetchError where none comes."""
    url = web_address(place)
    with Client(asking(url, **values)) as client:
        response = _followed(client, url, obey=robots == "obey")
    return Document(response.body, response.url, dict(response.headers))


def _followed(client: Client, url: str, *, obey: bool) -> Response:
    """Follow redirects to a page, each hop judged by its own site's robots.txt."""
    for hops in range(_HOPS + 1):
        if obey:
            _permit(ask(client.whole, url), url)
        response: Response = client.get(Request(url, hops=hops), reads=every_type)
        if response.status >= _ERRORS:
            reason = Reason.SERVER if response.status >= _SERVER_ERRORS else Reason.CLIENT
            raise FetchError(reason, f"{url} answers with status {response.status}", status=response.status)
        if response.location is None:
            return response
        url = response.location
    raise FetchError(Reason.REDIRECT, f"more than {_HOPS} redirects")


def _permit(ruling: Ruling, url: str) -> None:
    """Raise FetchError where a site's robots.txt, or the want of it, closes an address."""
    if ruling.failure is not None and ruling.access is Access.DISALLOW:
        raise ruling.failure
    if not ruling.allows(settings.AGENT_TOKEN, url):
        raise FetchError(Reason.ROBOTS, f"robots.txt closes {url} (--robots ignore asks all the same)")


def _plain(value: object) -> Any:  # noqa: ANN401  # what JSON has
    """Turn a value into what JSON has; a source is its word, a set is sorted."""
    if isinstance(value, Source):
        return str(value)
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _records(page: Page, named: tuple[Link, ...]) -> Iterator[Record]:
    """Yield what `COLUMNS` names, for the links first, then the media."""
    for fact, found in (("link", page.links), ("elsewhere", page.others), ("named", named)):
        for link in found:
            marked = int(link.nofollow and link.h != 0)  # what no crawl follows anyway is not said to be marked
            yield _record(fact, link, relation=str(link.relation), source=str(link.source), nofollow=marked)
    for medium in page.media:
        sources = ", ".join(map(str, medium.sources))
        yield _record("medium", medium, source=sources, kind=str(medium.kind), confidence=str(medium.confidence))


def _record(fact: str, found: Link | Media, **known: Value) -> Record:
    return {**dict.fromkeys(COLUMNS), "fact": fact, "url": found.url, "text": found.text, **known}


def _lines(page: Page, named: tuple[Link, ...]) -> Iterator[Line]:
    """Yield the page's head, its links, what else it points to or names, and its media."""
    yield (Span(visible(page.url), "page"),)
    if page.title:
        yield (Span(f"  “{visible(page.title)}”", "detail"),)
    yield (Span(f"  {page.charset}, told by {page.charset_from}", "detail"),)
    for note in page.notes:
        yield (Span(f"  {visible(note)}", "bad"),)
    if page.links or page.others:
        yield ()
        yield from _columns([_link_cells(link) for link in page.links])
        yield from _columns([_link_cells(link, "elsewhere") for link in page.others])
    yield from _columns([_link_cells(link, "named") for link in named])
    if page.media:
        yield ()
        yield from _columns([_media_cells(medium) for medium in page.media])
    yield ()
    yield (Span(_counted(page), "head"),)


def _link_cells(link: Link, relation: str | None = None) -> list[Span]:
    text = f"“{visible(link.text)}”" if link.text else ""
    return [
        Span(relation or str(link.relation), "detail"),
        Span(str(link.source)),
        Span(visible(link.url), "page"),
        Span(f"{text} nofollow".strip() if link.nofollow and link.h else text),
    ]


def _media_cells(medium: Media) -> list[Span]:
    sources = ", ".join(map(str, medium.sources))
    return [
        Span(str(medium.kind), f"kind.{medium.kind}"),
        Span(str(medium.confidence), "detail"),
        Span(visible(medium.url), "media"),
        Span(" ".join(filter(None, [f"“{visible(medium.text)}”" if medium.text else "", f"({visible(sources)})"]))),
    ]


def _columns(rows: list[list[Span]]) -> Iterator[Line]:
    """Yield rows with their first two cells aligned."""
    widths = [max((len(row[place].text) for row in rows), default=0) for place in (0, 1)]
    for first, second, address, rest in rows:
        yield (
            Span(f"  {first.text:<{widths[0]}}  ", first.part),
            Span(f"{second.text:<{widths[1]}}  ", second.part),
            address,
            Span(f"  {rest.text}" if rest.text else "", rest.part),
        )


def _counted(page: Page) -> str:
    relations = Counter(str(link.relation) for link in page.links)
    kinds = Counter(str(medium.kind) for medium in page.media)
    return f"{_sum(relations, 'link', 'links')}; {_sum(kinds, 'medium', 'media')}"


def _sum(counts: Counter[str], one: str, more: str) -> str:
    total = counts.total()
    parts: Iterable[str] = (f"{number} {word}" for word, number in counts.most_common())
    return many(total, one, more) + (f": {', '.join(parts)}" if total else "")


command = links
