"""Where media stand in the markup: the table of media sources, in order of trust, and their handlers.

Objects and embeds are read in `flash`, what scripts, attributes and metadata say in rooms of their own.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborNode

from spider.model import Confidence, MediaKind, Source
from spider.page.charset import clean
from spider.page.gather import Attributes, Claim, Gathering, Handler, ancestors
from spider.page.kinds import by_mime

__all__ = ["MEDIA_SOURCES", "MEDIA_TAGS", "preload"]

# (tag, attribute): how sure it is.  The order is the order of trust.
MEDIA_SOURCES: Final = MappingProxyType(
    {
        ("video", "src"): Confidence.ELEMENT,
        ("audio", "src"): Confidence.ELEMENT,
        ("source", "src"): Confidence.ELEMENT,
        ("object", "data"): Confidence.ELEMENT,
        ("param", "movie"): Confidence.ELEMENT,
        ("param", "src"): Confidence.ELEMENT,
        ("param", "url"): Confidence.ELEMENT,
        ("param", "filename"): Confidence.ELEMENT,
        ("param", "file"): Confidence.ELEMENT,
        ("param", "source"): Confidence.ELEMENT,
        ("embed", "src"): Confidence.ELEMENT,
        ("bgsound", "src"): Confidence.ELEMENT,
        ("img", "dynsrc"): Confidence.ELEMENT,
        ("enclosure", "url"): Confidence.ELEMENT,
        ("content", "url"): Confidence.ELEMENT,
        ("link", "enclosure"): Confidence.ELEMENT,
        ("source", "uri"): Confidence.ELEMENT,
        ("content_loc", "text"): Confidence.ELEMENT,
        ("manifest", "url"): Confidence.ELEMENT,
        ("document", "body"): Confidence.ELEMENT,
        ("a", "href"): Confidence.LINK,
        ("area", "href"): Confidence.LINK,
        ("script", "application/ld+json"): Confidence.METADATA,
        ("meta", "og:video"): Confidence.METADATA,
        ("meta", "og:video:url"): Confidence.METADATA,
        ("meta", "og:video:secure_url"): Confidence.METADATA,
        ("meta", "og:audio"): Confidence.METADATA,
        ("meta", "og:audio:url"): Confidence.METADATA,
        ("meta", "og:audio:secure_url"): Confidence.METADATA,
        ("meta", "twitter:player:stream"): Confidence.METADATA,
        ("itemprop", "contenturl"): Confidence.METADATA,
        ("meta", "twitter:player"): Confidence.PLAYER,
        ("itemprop", "embedurl"): Confidence.PLAYER,
        ("iframe", "src"): Confidence.PLAYER,
        ("iframe", "data-src"): Confidence.PLAYER,
        ("frame", "src"): Confidence.PLAYER,
        ("script", "src"): Confidence.PLAYER,
        ("player", "url"): Confidence.PLAYER,
        ("player_loc", "text"): Confidence.PLAYER,
        ("link", "preload"): Confidence.PRELOAD,
        ("header", "link"): Confidence.PRELOAD,
        ("*", "data-*"): Confidence.ATTRIBUTE,
        ("option", "value"): Confidence.ATTRIBUTE,
        ("param", "flashvars"): Confidence.ATTRIBUTE,
        ("embed", "flashvars"): Confidence.ATTRIBUTE,
        ("script", "text"): Confidence.SCRIPT,
        ("script", "swfobject"): Confidence.SCRIPT,
        ("*", "on*"): Confidence.SCRIPT,
        ("comment", "text"): Confidence.COMMENT,
    }
)

_KINDS: Final = MappingProxyType({"video": MediaKind.VIDEO, "audio": MediaKind.AUDIO})
# A manifest's type does not tell whether what it lists is seen or heard: the element does.
_MANIFESTS: Final = frozenset({"dash", "hds", "hls", "smil", "smooth"})
_AROUND: Final = frozenset({*_KINDS, "picture"})
_BGSOUND, _DYNSRC, _PRELOAD = Source("bgsound", "src"), Source("img", "dynsrc"), Source("link", "preload")
_SRC: Final = MappingProxyType({tag: Source(tag, "src") for tag in ("video", "audio", "source", "iframe", "frame")})


def _player(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    """Read a video or audio element; its sources are elements of their own."""
    src = attributes.get("src")
    if src and src.strip():
        tag = node.tag or ""
        found.claims.append(_claim(src, _SRC[tag], _KINDS[tag], attributes))


def _claim(src: str, source: Source, kind: MediaKind | None, attributes: Attributes) -> Claim:
    title = clean(attributes.get("title"))
    text = title or clean(attributes.get("aria-label"))
    poster = (attributes.get("poster") or "").strip() or None
    mime = (attributes.get("type") or "").strip() or None
    declared = by_mime(mime, src)
    if declared is not None and declared[1] not in _MANIFESTS:
        kind = declared[0]
    return Claim(src, source, Confidence.ELEMENT, kind, mime, text=text, title=title, poster=poster)


def _source(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    """Read a source with the words of the player around it; a picture's source is no medium."""
    src = attributes.get("src")
    if not src or not src.strip():
        return
    above = next((one for one in ancestors(node) if one.tag in _AROUND), None)
    if above is not None and above.tag == "picture":
        return
    outer: Attributes = above.attributes if above is not None else {}
    kind = _KINDS[above.tag or ""] if above is not None else None
    found.claims.append(_claim(src, _SRC["source"], kind, {**outer, "type": attributes.get("type")}))


def _sound(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    src = attributes.get("src")
    if src and src.strip():
        found.claims.append(Claim(src, _BGSOUND, Confidence.ELEMENT, MediaKind.AUDIO))


def _image(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    """Read Internet Explorer's moving image."""
    src = attributes.get("dynsrc")
    if src and src.strip():
        text = clean(attributes.get("alt"))
        found.claims.append(Claim(src, _DYNSRC, Confidence.ELEMENT, MediaKind.VIDEO, text=text))


def _preload(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    preload(found, attributes, _PRELOAD)


def preload(found: Gathering, attributes: Attributes, source: Source) -> None:
    """Claim what a page, or its Link header, asks to have fetched early, if it is to be played."""
    rel = (attributes.get("rel") or "").lower().split()
    kind = _KINDS.get((attributes.get("as") or "").strip().lower())
    if kind is not None and attributes.get("href") and not {"preload", "prefetch"}.isdisjoint(rel):
        href, mime = attributes["href"] or "", attributes.get("type")
        found.claims.append(Claim(href, source, Confidence.PRELOAD, kind, mime))


def _frame(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    """Read a frame: a medium where its address is a player's or a file's."""
    src = attributes.get("src")
    if src and src.strip():
        title = clean(attributes.get("title"))
        source = _SRC[node.tag or "iframe"]
        found.claims.append(Claim(src, source, Confidence.PLAYER, text=title, title=title, frame=True))


MEDIA_TAGS: Final[MappingProxyType[str, Handler]] = MappingProxyType(
    {
        "video": _player,
        "audio": _player,
        "source": _source,
        "bgsound": _sound,
        "img": _image,
        "link": _preload,
        "iframe": _frame,
        "frame": _frame,
    }
)
