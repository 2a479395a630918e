"""What a page says of its media to machines: Open Graph, Twitter cards, JSON-LD, microdata.

Such an address is a claim without an element: it may be a file, a player, or (often) a picture.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spider.model import Confidence, MediaKind, Source
from spider.page.charset import clean
from spider.page.gather import Claim, Gathering, ancestors
from spider.page.kinds import extension

__all__ = ["duration", "gather_json", "gather_metas", "gather_microdata"]

VIDEO, AUDIO = MediaKind.VIDEO, MediaKind.AUDIO
_FAMILIES: Final = MappingProxyType({"og:video": VIDEO, "og:audio": AUDIO})
_PLAIN, _SECURE = ("", ":url"), ":secure_url"

# schema.org types: what they play; a type without a kind leaves it to the address.
_TYPES: Final = MappingProxyType(
    {
        "videoobject": VIDEO,
        "videoobjectsnapshot": VIDEO,
        "clip": VIDEO,
        "videoclip": VIDEO,
        "musicvideoobject": VIDEO,
        "tvclip": VIDEO,
        "audioobject": AUDIO,
        "audioobjectsnapshot": AUDIO,
        "audiobook": AUDIO,
        "musicrecording": AUDIO,
        "podcastepisode": AUDIO,
        "radioclip": AUDIO,
        "mediaobject": None,
        "datadownload": None,
    }
)
_NO_MEDIUM_WORDS = """avif bmp gif htm html ico jpeg jpg json pdf png svg txt vtt webp xml zip"""
_NO_MEDIUM: Final = frozenset(_NO_MEDIUM_WORDS.split())
_DOCUMENTS: Final = frozenset({"text/html", "application/xhtml+xml"})

_DURATION = re.compile(
    r"P(?:(\d{1,5})D)?T?(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})(?:\.(\d{1,6}))?S)?", re.IGNORECASE
)
# What JSON is wrapped in against readers that know no scripts, longest first.
_OPENINGS = ("<!--", "//<![CDATA[", "// <![CDATA[", "/*<![CDATA[*/", "/* <![CDATA[ */", "<![CDATA[")
_CLOSINGS = ("//-->", "-->", "//]]>", "// ]]>", "/*]]>*/", "/* ]]> */", "]]>")
_BETWEEN = re.compile(r"[\s;,]*")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_ITEMS = 1000  # properties of microdata that are looked at
_VALUES = 1000  # values of one block that are read
_NODES = 20_000  # values of one page's JSON-LD that are looked at
_AGES = 1e9  # seconds that no medium lasts
_LONGEST = 500_000  # characters of one block; as values they take thirty times as many bytes


def duration(text: object) -> float | None:
    """Return the seconds of an ISO 8601 duration (``PT1H2M3S``), or of a plain number; None if it is neither."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return float(text) if 0 <= text < _AGES else None
    if not isinstance(text, str):
        return None
    text = text.strip()[:40]
    if re.fullmatch(r"\d{1,8}", text):
        return float(text)
    match = _DURATION.fullmatch(text)
    if not match or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[:4])
    return days * 86400 + hours * 3600 + minutes * 60 + seconds + float(f"0.{match[5] or 0}")


def gather_metas(found: Gathering) -> None:
    """Claim what Open Graph and Twitter's card name; a structured property belongs to the one before it."""
    title = next((clean(content) for name, content in found.metas if name == "og:title"), "")
    poster = next((content for name, content in found.metas if name in {"og:image", "og:image:url"}), None)
    claims: list[Claim] = []
    for family, kind in _FAMILIES.items():
        claims += _open_graph(found.metas, family, kind)
    claims += _twitter(found.metas)
    for claim in claims:
        claim.title = title
        claim.poster = poster.strip() if poster and claim.kind is VIDEO else None
    found.claims += claims


def _open_graph(metas: list[tuple[str, str]], family: str, kind: MediaKind) -> list[Claim]:
    claims: list[Claim] = []
    group: list[Claim] = []
    for name, content in metas:
        if not name.startswith(family) or not content.strip():
            continue
        rest = name[len(family) :]
        if rest in _PLAIN or rest == _SECURE:
            if rest == "" and group:
                group = []
            group.append(Claim(content, Source("meta", name), Confidence.METADATA, kind))
            claims.append(group[-1])
        elif rest == ":type":
            for claim in group:
                claim.mime = content.strip().lower()
        elif rest == ":duration":
            for claim in group:
                claim.duration = duration(content)
    return [_framed(claim) for claim in claims if extension(claim.raw.strip()) not in _NO_MEDIUM or _is_page(claim)]


def _is_page(claim: Claim) -> bool:
    return claim.mime in _DOCUMENTS or extension(claim.raw.strip()) in {"html", "htm"}


def _framed(claim: Claim) -> Claim:
    """Mark a claim on a document: the player's page, not the file."""
    if _is_page(claim):
        claim.mime, claim.confidence = None, Confidence.PLAYER
    return claim


def _twitter(metas: list[tuple[str, str]]) -> list[Claim]:
    card = dict(reversed(metas))
    kind = AUDIO if card.get("og:type", "").startswith("music") else VIDEO
    claims = []
    player = card.get("twitter:player", "").strip()
    if player:
        claims.append(Claim(player, Source("meta", "twitter:player"), Confidence.PLAYER, kind))
    stream = card.get("twitter:player:stream", "").strip()
    if stream and extension(stream) not in _NO_MEDIUM:
        mime = card.get("twitter:player:stream:content_type", "").partition(";")[0].strip().lower() or None
        claims.append(Claim(stream, Source("meta", "twitter:player:stream"), Confidence.METADATA, mime=mime))
        if mime is None:
            claims[-1].kind = None if extension(stream) else kind
    return claims


def gather_json(found: Gathering) -> None:
    """Claim what the JSON-LD blocks name: contentUrl is a file, embedUrl a player."""
    for mime, text in found.inline:
        if mime.partition(";")[0].strip() == "application/ld+json":
            for value in _values(text[:_LONGEST]):
                for item in _objects(value):
                    _item(found, item)


def _values(text: str) -> Iterator[object]:
    """Yield the JSON values of a block, whatever it is wrapped in and however it ends."""
    text = text.strip()
    for opening in _OPENINGS:
        text = text.removeprefix(opening).lstrip()
    for closing in _CLOSINGS:
        text = text.removesuffix(closing).rstrip()
    try:
        yield json.loads(text, strict=False)
    except (ValueError, RecursionError):
        yield from _loose(_TRAILING_COMMA.sub(r"\1", text))


def _loose(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder(strict=False)
    place = 0
    for _ in range(_VALUES):
        between = _BETWEEN.match(text, place)
        place = between.end() if between else place
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield value


def _objects(value: object) -> Iterator[dict[str, object]]:
    stack, seen = [value], 0
    while stack and seen < _NODES:
        item = stack.pop()
        seen += 1
        if isinstance(item, dict):
            yield item
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))


def _item(found: Gathering, item: dict[str, object]) -> None:
    types = [str(name).rpartition("/")[2].lower() for name in _listed(item.get("@type"))]
    if "imageobject" in types:
        return
    known = next((name for name in types if name in _TYPES), None)
    kind = _TYPES[known] if known else None
    source = Source("script", "application/ld+json")
    for key, confidence in (("contentUrl", Confidence.METADATA), ("embedUrl", Confidence.PLAYER)):
        for url in _listed(item.get(key, item.get(key[:-3] + "URL"))):
            if not isinstance(url, str) or not url.strip() or (known is None and kind is None and key == "embedUrl"):
                continue
            claim = Claim(url, source, confidence, kind, _text(item.get("encodingFormat")) or None)
            claim.title = clean(_text(item.get("name")) or _text(item.get("headline")))
            claim.poster = _first(item.get("thumbnailUrl")) or _first(item.get("thumbnail"))
            claim.duration = duration(item.get("duration"))
            _add(found, claim)


def _add(found: Gathering, claim: Claim) -> None:
    """Put a claim on the heap, unless its file is a picture or a page."""
    if claim.confidence is Confidence.PLAYER or extension(claim.raw.strip()) not in _NO_MEDIUM:
        found.claims.append(claim)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _first(value: object) -> str | None:
    for item in _listed(value):
        if isinstance(item, dict):
            item = item.get("contentUrl") or item.get("url")  # noqa: PLW2901 (an image may be an object or its address)
        if isinstance(item, str) and item.strip():
            return item.strip()
    return None


_PROPERTIES: Final = MappingProxyType({"contenturl": Confidence.METADATA, "embedurl": Confidence.PLAYER})


def gather_microdata(found: Gathering, tree: LexborHTMLParser) -> None:
    """Claim what microdata items of a media type name (HTML, section 5)."""
    left = _ITEMS
    for node in tree.css("[itemprop]"):
        attributes = node.attributes
        name = (attributes.get("itemprop") or "").strip().lower()
        confidence = _PROPERTIES.get(name)
        if confidence is None:
            continue
        left -= 1
        if left < 0:
            return
        scope = next((above for above in ancestors(node) if "itemscope" in above.attributes), None)
        known = _item_type(scope)
        url = next((attributes[key] for key in ("content", "href", "src", "data") if attributes.get(key)), None)
        if known is not None and (url or node.text()).strip():
            _add(found, Claim(url or node.text(), Source("itemprop", name), confidence, known[0]))


def _item_type(scope: LexborNode | None) -> tuple[MediaKind | None] | None:
    if scope is None:
        return None
    for name in (scope.attributes.get("itemtype") or "").lower().split():
        short = name.rstrip("/").rpartition("/")[2]
        if short in _TYPES:
            return (_TYPES[short],)
    return None
