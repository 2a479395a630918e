"""What other attributes name: lazy loaders, players' settings, handlers, options.

An attribute is read only where its value has a media extension or its element is a frame that a
script will fill; it says less than an element, and more than a script.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spider.model import Confidence, MediaKind, Source
from spider.page.gather import Attributes, Claim, Gathering, Handler
from spider.page.kinds import extension, media_kind
from spider.page.scripts import hints, is_hint, strings

__all__ = ["ATTRIBUTE_TAGS", "gather_attributes", "gather_variables", "is_worth_while"]

# A frame's or player's address before a script moves it to src.
LAZY: Final = (
    "data-src",
    "data-lazy-src",
    "data-lazy",
    "data-original",
    "data-url",
    "data-video-src",
    "data-audio-src",
    "data-source",
    "data-iframe-src",
    "data-litespeed-src",
    "data-cookieblock-src",
    "data-consent-src",
)
# Elements whose own handlers read these attributes: not to be told again as less sure.
_TOLD: Final = frozenset(
    {
        ("a", "href"),
        ("area", "href"),
        ("audio", "src"),
        ("bgsound", "src"),
        ("embed", "src"),
        ("embed", "flashvars"),
        ("frame", "src"),
        ("iframe", "src"),
        ("iframe", "srcdoc"),
        ("img", "dynsrc"),
        ("link", "href"),
        ("meta", "content"),
        ("object", "data"),
        ("param", "value"),
        ("script", "src"),
        ("source", "src"),
        ("video", "src"),
    }
)
# Text about a medium is no medium.
_TEXTS: Final = frozenset({"alt", "aria-label", "class", "id", "name", "placeholder", "summary", "title", "style"})
_TAG = re.compile(r"<([a-zA-Z][^\s/>]*+)")
_REACH = 2000  # characters of an attribute's value before what is looked for

# Custom elements that carry a player's key: the attribute, and the address it stands for.
_KEYED: Final = MappingProxyType(
    {
        "amp-youtube": ("data-videoid", "https://www.youtube.com/embed/{}"),
        "lite-youtube": ("videoid", "https://www.youtube.com/embed/{}"),
        "amp-vimeo": ("data-videoid", "https://player.vimeo.com/video/{}"),
        "lite-vimeo": ("videoid", "https://player.vimeo.com/video/{}"),
        "amp-dailymotion": ("data-videoid", "https://www.dailymotion.com/embed/video/{}"),
        "amp-jwplayer": ("data-media-id", "https://cdn.jwplayer.com/players/{}.html"),
    }
)


def _lazy(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    """Read a frame that is filled later; its player is as sure as if it stood there."""
    tag = node.tag or ""
    for name in LAZY:
        value = attributes.get(name)
        if value and value.strip() and value != attributes.get("src"):
            found.claims.append(Claim(value, Source(tag, name), Confidence.PLAYER, frame=True))


def _media_lazy(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    tag = node.tag or ""
    kind = MediaKind(tag) if tag in {"video", "audio"} else None
    for name in LAZY:
        value = attributes.get(name)
        if value and value.strip() and value != attributes.get("src") and "{" not in value:
            mime = attributes.get("type")
            found.claims.append(Claim(value, Source(tag, name), Confidence.ATTRIBUTE, kind, mime))


def _keyed(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    tag = node.tag or ""
    name, pattern = _KEYED[tag]
    key = (attributes.get(name) or "").strip()
    if key and key.replace("-", "").replace("_", "").isalnum():
        found.claims.append(Claim(pattern.format(key), Source(tag, name), Confidence.PLAYER, frame=True))


ATTRIBUTE_TAGS: Final[MappingProxyType[str, Handler]] = MappingProxyType(
    {"iframe": _lazy, "embed": _lazy, "video": _media_lazy, "audio": _media_lazy, "source": _media_lazy}
    | dict.fromkeys(_KEYED, _keyed)
)


def is_worth_while(text: str) -> bool:
    """Say whether a media extension stands in an attribute that no other handler reads.

    Most pages have none, and are spared a walk over all attributes.  In doubt the answer is yes.
    """
    for place in hints(text):
        low = max(0, place - _REACH)
        start = text.rfind("<", low, place)
        if start < 0:
            if text.rfind(">", low, place) < 0:
                return True
        elif text.find(">", start, place) < 0 and not _is_told(text, start, place):
            return True
    return False


def _is_told(text: str, start: int, place: int) -> bool:
    tag = _TAG.match(text, start)
    before = text[start : max(start, text.rfind("=", start, place))].split()
    name = before[-1].lower() if before else ""
    quoted = text[max(0, start - 1) : start] in {'"', "'"}
    return not quoted and tag is not None and (name in _TEXTS or (tag[1].lower(), name) in _TOLD)


def gather_attributes(found: Gathering, tree: LexborHTMLParser) -> None:
    """Claim what all other attributes name: addresses by themselves, or inside settings and handlers."""
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            if value and "." in value and name not in _TEXTS and is_hint(value):
                tag = node.tag or ""
                if (tag, name) not in _TOLD:
                    _value(found, value, Source(tag, name))


def _value(found: Gathering, value: str, source: Source) -> None:
    confidence = Confidence.SCRIPT if source.attribute.startswith("on") else Confidence.ATTRIBUTE
    bare = value.strip()
    if "{" not in bare and "<" not in bare and media_kind(bare) is not None and not any(c.isspace() for c in bare):
        found.claims.append(Claim(bare, source, confidence))
        return
    for text in strings(bare):
        found.claims.append(Claim(text, source, confidence))


def gather_variables(found: Gathering) -> None:
    """Claim the files named in a Flash player's variables: ``file=/a.mp3&autostart=true``."""
    for value, source in found.variables:
        for pair in value.replace(";", "&").split("&")[:200]:
            _, _, text = pair.partition("=")
            text = unquote(text, errors="replace").strip()
            if extension(text) and media_kind(text) is not None and "{" not in text:
                found.claims.append(Claim(text, source, Confidence.ATTRIBUTE))
        for text in strings(unquote(value, errors="replace")) if "{" in value or "%7B" in value else ():
            found.claims.append(Claim(text, source, Confidence.ATTRIBUTE))
