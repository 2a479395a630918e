"""RSS, Atom and sitemaps read as pages: what they link to, and the media they enclose.

The elements are told by their local names, since feeds get their namespaces wrong more often than their
words.  A text that declares entities of its own is refused, with a note.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from lxml import etree

from spider.model import Confidence, MediaKind, Source
from spider.page.charset import clean
from spider.page.gather import Claim, Gathering, Reference
from spider.page.kinds import by_mime, extension, media_kind
from spider.page.links import FEED_TYPES
from spider.page.metadata import duration
from spider.page.xmltext import REFUSED, encoded, local_name, parser

__all__ = ["FEED_ROOTS", "gather_feed", "inflate"]

FEED_ROOTS: Final = frozenset({"feed", "rdf", "rss", "sitemapindex", "urlset"})

_KINDS: Final = MappingProxyType({"video": MediaKind.VIDEO, "audio": MediaKind.AUDIO})
_ITEMS: Final = frozenset({"entry", "item", "sitemap", "url"})
_CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,3}):(\d{2})")
_MOST = 50_000  # links of one feed; the sitemap protocol allows as many
_DATE = 35  # characters of a date
_TEXT = 100_000  # characters of one element that are kept
_INFLATED = 50_000_000  # bytes; the sitemap protocol allows as many


def inflate(body: bytes) -> bytes:
    """Return the content of a gzip file, at most 50 MB of it; what is none, or broken, as far as it goes."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    out = bytearray()
    with gzip.GzipFile(fileobj=io.BytesIO(body)) as stream:
        try:
            while len(out) < _INFLATED and (piece := stream.read(65_536)):
                out += piece
        except (OSError, EOFError, zlib.error):
            pass
    return bytes(out[:_INFLATED])


def gather_feed(text: str) -> Gathering:
    """Read a feed or sitemap: its links in document order, its enclosures, its title."""
    found = Gathering()
    body = encoded(text)
    if body is None:
        found.notes.append(REFUSED)
        return found
    reader = _Reader(found)
    try:
        etree.fromstring(body, parser(reader))
    except (etree.XMLSyntaxError, ValueError) as error:
        found.notes.append(f"not well formed: {clean(str(error))[:200]}")
    reader.end_item()
    return found


def _moment(text: str) -> int | None:
    """Return a W3C date, with a time or without, as UTC microseconds; None for what is none."""
    try:
        moment = datetime.fromisoformat(text.strip()[:_DATE])
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)
    except (ValueError, OverflowError):
        return None


def _seconds(text: str) -> float | None:
    """Return the seconds of a podcast's duration: a number, a clock's 1:02:03, or ISO 8601."""
    match = _CLOCK.fullmatch(text.strip())
    if match:
        return int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3])
    return duration(text)


class _Reader:
    """The parser's target: told of each start, end and text, it keeps what the tables ask for."""

    def __init__(self, found: Gathering) -> None:
        self.found = found
        self.path: list[str] = []
        self.text: list[str] = []
        self.size = 0
        self._clear()

    def _clear(self) -> None:
        self.references: list[Reference] = []
        self.claims: list[Claim] = []
        self.title = ""
        self.poster: str | None = None
        self.seconds: float | None = None
        self.modified: int | None = None

    def start(self, tag: str | bytes, attrib: Mapping[Any, Any]) -> None:
        """Take an element that says something by its attributes."""
        name = local_name(tag)
        if name in _ITEMS:
            self.end_item()
        self.path.append(name)
        self.text, self.size = [], 0
        handler = _STARTS.get(name)
        if handler:
            handler(self, {local_name(key): value for key, value in attrib.items()})

    def end(self, tag: str | bytes) -> None:
        """Take an element that says something by its text."""
        name = local_name(tag)
        if self.path:
            self.path.pop()
        text = "".join(self.text).strip()
        handler = _ENDS.get(name)
        if handler and text:
            handler(self, text)
        self.text, self.size = [], 0
        if name in _ITEMS:
            self.end_item()

    def data(self, data: str | bytes) -> None:
        """Take text."""
        if self.size < _TEXT and isinstance(data, str):
            self.text.append(data)
            self.size += len(data)

    def comment(self, text: str | bytes) -> None:
        """Take no comment."""

    def close(self) -> None:
        """Return nothing: what was found is in the gathering."""

    def end_item(self) -> None:
        """Give an item's title, picture and duration to what it links to and encloses."""
        for reference in self.references:
            reference.text = reference.text or self.title
            reference.modified = self.modified
        place = next((reference.raw for reference in self.references if reference.source.tag == "loc"), None)
        for claim in self.claims:
            claim.page = place
            claim.text = claim.text or self.title
            claim.title = claim.title or self.title
            claim.poster = claim.poster or self.poster
            claim.duration = self.seconds if claim.duration is None else claim.duration
        room = _MOST - len(self.found.references)
        if len(self.references) > room >= 0 and not any(note.startswith("links") for note in self.found.notes):
            self.found.notes.append(f"links: more than {_MOST}, the first kept")
        self.found.references += self.references[: max(0, room)]
        self.found.claims += self.claims[:_MOST]
        self._clear()

    def link(self, address: str, source: Source, *, rel: tuple[str, ...] = (), mime: str | None = None) -> None:
        """Keep a link, the media types of whose target may be known."""
        if address.strip():
            self.references.append(Reference(address, source, rel=rel, mime=mime))

    def medium(self, address: str | None, source: Source, attributes: Mapping[str, str]) -> None:
        """Keep what is enclosed, if its type, its declared medium or its name says that it is one of ours."""
        if not address or not address.strip():
            return
        mime = attributes.get("type")
        told = by_mime(mime, address)
        if told and told[1] == "asf" and (mime or "").strip().lower().startswith("application/"):
            return  # ASF's application type is a redirector's as often as a file's, and names neither sound nor picture
        kind = told[0] if told else _KINDS.get((attributes.get("medium") or "").lower())
        if kind is None and media_kind(address.strip(), mime) is None:
            return
        claim = Claim(address, source, Confidence.ELEMENT, kind, mime, duration=duration(attributes.get("duration")))
        claim.title = clean(attributes.get("title"))
        self.claims.append(claim)

    def player(self, address: str, source: Source) -> None:
        """Keep a player: a Flash movie is one by its name, any other is a document."""
        flash = extension(address.strip()) == "swf"
        kind, confidence = (MediaKind.FLASH, Confidence.ELEMENT) if flash else (MediaKind.VIDEO, Confidence.PLAYER)
        self.claims.append(Claim(address, source, confidence, kind))


Attributes = Mapping[str, str]


def _atom_link(reader: _Reader, attributes: Attributes) -> None:
    href, rel = attributes.get("href", ""), attributes.get("rel", "alternate").lower()
    if not href.strip():
        return
    reader.link(href, Source("link", "href"), rel=(rel,), mime=attributes.get("type"))
    if rel == "enclosure":
        reader.medium(href, Source("link", "enclosure"), attributes)
    elif attributes.get("type", "").lower() in FEED_TYPES:
        reader.found.feeds.append(href)


def _enclosure(reader: _Reader, attributes: Attributes) -> None:
    reader.medium(attributes.get("url"), Source("enclosure", "url"), attributes)


def _content(reader: _Reader, attributes: Attributes) -> None:
    reader.medium(attributes.get("url") or attributes.get("src"), Source("content", "url"), attributes)


def _media_player(reader: _Reader, attributes: Attributes) -> None:
    if attributes.get("url", "").strip():
        reader.player(attributes["url"], Source("player", "url"))


def _alternative(reader: _Reader, attributes: Attributes) -> None:
    if "alternateenclosure" in reader.path:
        reader.medium(attributes.get("uri"), Source("source", "uri"), {"type": "", **attributes})


def _thumbnail(reader: _Reader, attributes: Attributes) -> None:
    reader.poster = reader.poster or attributes.get("url") or attributes.get("href") or None


_STARTS: Final[Mapping[str, Callable[[_Reader, Attributes], None]]] = MappingProxyType(
    {
        "link": _atom_link,
        "enclosure": _enclosure,
        "content": _content,
        "player": _media_player,
        "source": _alternative,
        "thumbnail": _thumbnail,
    }
)


def _rss_link(reader: _Reader, text: str) -> None:
    reader.link(text, Source("link", "text"))


def _place(reader: _Reader, text: str) -> None:
    if reader.path and reader.path[-1] in {"url", "sitemap"}:
        reader.link(text, Source("loc", "text"), rel=("sitemap",) if reader.path[-1] == "sitemap" else ())
        if reader.path[-1] == "sitemap":
            reader.found.feeds.append(text)


def _changed(reader: _Reader, text: str) -> None:
    reader.modified = _moment(text)


def _title(reader: _Reader, text: str) -> None:
    reader.found.title = reader.found.title or clean(text)
    reader.title = reader.title or (clean(text) if reader.path and reader.path[-1] != "image" else "")


def _sitemap_file(reader: _Reader, text: str) -> None:
    kind = MediaKind.AUDIO if "audio" in reader.path else MediaKind.VIDEO
    reader.claims.append(Claim(text, Source("content_loc", "text"), Confidence.ELEMENT, kind))


def _sitemap_player(reader: _Reader, text: str) -> None:
    reader.player(text, Source("player_loc", "text"))


def _picture(reader: _Reader, text: str) -> None:
    reader.poster = reader.poster or text


def _duration(reader: _Reader, text: str) -> None:
    reader.seconds = _seconds(text)


_ENDS: Final[Mapping[str, Callable[[_Reader, str], None]]] = MappingProxyType(
    {
        "link": _rss_link,
        "lastmod": _changed,
        "loc": _place,
        "title": _title,
        "content_loc": _sitemap_file,
        "content_segment_loc": _sitemap_file,
        "player_loc": _sitemap_player,
        "thumbnail_loc": _picture,
        "duration": _duration,
    }
)
