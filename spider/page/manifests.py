"""Playlists and streaming manifests: which format, and which addresses they name.

HLS (RFC 8216), DASH (ISO 23009-1), HDS, Smooth Streaming, XSPF, SMIL, ASX, M3U and PLS.  An address with
a variable in it (``$Number$``, ``{bitrate}``) is not one: the manifest is templated.  Entities are
treated as in `feeds`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lxml import etree

from spider.model import Confidence, MediaKind, Source
from spider.page.gather import Claim, Gathering
from spider.page.kinds import by_name
from spider.page.signatures import root_name
from spider.page.xmltext import REFUSED, Element, encoded, local_name, parser
from spider.url import InvalidURL, normalize

__all__ = ["Manifest", "gather_manifest", "manifest"]

_URI = re.compile(r'[,:]URI="([^"]{1,4000})"')
_HLS_TAGS = ("#EXT-X-MEDIA:", "#EXT-X-I-FRAME-STREAM-INF:", "#EXT-X-MAP:", "#EXT-X-PART:", "#EXT-X-PRELOAD-HINT:")
_PLS = re.compile(r"^[ \t]*+File\d{1,6}[ \t]*+=([^\r\n]*+)", re.IGNORECASE | re.MULTILINE)
_ASX_HREF = re.compile(r"""<(?:ref|entryref)\s[^>]{0,500}?href\s*=\s*["']([^"']{1,4000})["']""", re.IGNORECASE)
VIDEO, AUDIO = MediaKind.VIDEO, MediaKind.AUDIO
_MOST = 10_000  # addresses of one manifest
_READ = 2_000_000  # characters of a list that are read
_TAGS = 100_000  # of a manifest in XML, whose tree takes a hundred bytes a tag


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest is and names: `format` as in a medium's, `urls` absolute and each once."""

    format: str
    urls: tuple[str, ...] = ()
    templated: bool = False
    notes: tuple[str, ...] = ()


def manifest(text: str, url: str) -> Manifest | None:
    """Read a manifest that came from `url`, None if the text is none."""
    head = text[:4096].lstrip("\ufeff \t\r\n")
    if head.startswith("#EXTM3U"):
        return _made("hls" if "#EXT-X-" in text[:65_536] else "m3u", _lines(text), url)
    if head[:10].lower() == "[playlist]":
        return _made("pls", iter(_PLS.findall(text)), url)
    root = root_name(text.lstrip("\ufeff"))
    if root == "asx":
        return _made("asx", iter(_ASX_HREF.findall(text)), url)
    reader = _READERS.get(root)
    if reader is None:
        return None
    form, walk = reader
    tree, notes = _tree(text)
    if tree is None:
        return Manifest(form, notes=notes)
    found = list(walk(tree, url))
    whole = [address for address in found if address is not None]
    made = _made(form, iter(whole), url)
    return Manifest(form, made.urls, templated=len(whole) < len(found), notes=notes)


def gather_manifest(read: Manifest, url: str) -> Gathering:
    """Claim a manifest itself, and what it names, as media of a page."""
    kind = AUDIO if read.format in {"m3u", "pls", "xspf"} else VIDEO
    found = Gathering(notes=list(read.notes))
    found.claims.append(Claim(url, Source("manifest", read.format), Confidence.ELEMENT, kind, format=read.format))
    for address in read.urls:
        told = by_name(address)
        found.claims.append(Claim(address, Source("manifest", "url"), Confidence.ELEMENT, told[0] if told else kind))
    return found


def _made(form: str, raws: Iterator[str], url: str) -> Manifest:
    urls: dict[str, None] = {}
    for raw in raws:
        if len(urls) >= _MOST:
            break
        try:
            urls.setdefault(normalize(raw, url))
        except InvalidURL:
            continue
    return Manifest(form, tuple(urls))


def _lines(text: str) -> Iterator[str]:
    for line in text[:_READ].splitlines():
        bare = line.strip()
        if bare.startswith(_HLS_TAGS):
            match = _URI.search(bare)
            if match:
                yield match[1]
        elif bare and not bare.startswith("#"):
            yield bare


def _tree(text: str) -> tuple[Element | None, tuple[str, ...]]:
    if text.count("<") > _TAGS or text.count("=") > 4 * _TAGS:
        return None, (f"more than {_TAGS} tags",)
    body = encoded(text)
    if body is None:
        return None, (REFUSED,)
    try:
        return etree.fromstring(body, parser()), ()
    except (etree.XMLSyntaxError, ValueError):
        return None, ("not well formed",)


def _name(element: Element) -> str:
    return local_name(element.tag)


def _children(element: Element, name: str) -> list[Element]:
    return [child for child in element if _name(child) == name]


def _join(raw: str, base: str) -> str:
    try:
        return normalize(raw, base)
    except InvalidURL:
        return base


def _dash(root: Element, base: str) -> Iterator[str | None]:
    """Yield what each representation plays, None for what only numbers make an address."""
    base = _based(root, base)
    for period in _children(root, "period"):
        inner = _based(period, base)
        for adaptation in _children(period, "adaptationset"):
            for representation in _children(adaptation, "representation"):
                levels = (period, adaptation, representation)
                place = _based(representation, _based(adaptation, inner))
                yield from _segments(levels, place)


def _based(element: Element, base: str) -> str:
    own = next((child.text for child in _children(element, "baseurl") if child.text and child.text.strip()), None)
    return _join(own, base) if own else base


def _segments(levels: tuple[Element, ...], base: str) -> Iterator[str | None]:
    listed = next((child for level in reversed(levels) for child in _children(level, "segmentlist")), None)
    template = next((child for level in reversed(levels) for child in _children(level, "segmenttemplate")), None)
    if listed is not None:
        yield from (_join(raw, base) for raw in _listed(listed))
    elif template is not None:
        for name in ("initialization", "media"):
            raw = template.get(name)
            if raw:
                yield None if "$" in raw else _join(raw, base)
    elif any(_children(level, "baseurl") for level in levels[1:]):
        yield base


def _listed(listed: Element) -> Iterator[str]:
    for child in listed:
        raw = child.get("sourceURL") or child.get("media")
        if raw:
            yield raw


def _hds(root: Element, base: str) -> Iterator[str | None]:
    base = _based(root, base)
    for media in root.iter():
        if _name(media) == "media":
            raw = media.get("url") or media.get("href")
            if raw:
                yield _join(raw, base)


def _smooth(root: Element, base: str) -> Iterator[str | None]:
    for stream in root.iter():
        raw = stream.get("Url") if _name(stream) == "streamindex" else None
        if raw:
            yield None if "{" in raw else _join(raw, base)


def _xspf(root: Element, base: str) -> Iterator[str | None]:
    for element in root.iter():
        if _name(element) == "location" and element.text and element.text.strip():
            yield _join(element.text, base)


def _smil(root: Element, base: str) -> Iterator[str | None]:
    for element in root.iter():
        if _name(element) == "meta" and element.get("base"):
            base = _join(element.get("base") or "", base)
        elif _name(element) in {"video", "audio", "ref", "media"} and element.get("src"):
            yield _join(element.get("src") or "", base)


_Walk = Callable[[Element, str], Iterator[str | None]]
_READERS: Final[Mapping[str, tuple[str, _Walk]]] = MappingProxyType(
    {
        "mpd": ("dash", _dash),
        "manifest": ("hds", _hds),
        "smoothstreamingmedia": ("smooth", _smooth),
        "playlist": ("xspf", _xspf),
        "smil": ("smil", _smil),
    }
)
