"""XML from strangers, made safe to parse: nothing is expanded, nothing outside the text is opened.

A text that declares entities of its own is refused whole, since no feed needs them and both attacks do
(XXE, "billion laughs").
"""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5
from typing import Final

from lxml import etree

__all__ = ["REFUSED", "Element", "encoded", "local_name", "parser"]

Element = etree._Element  # noqa: SLF001  # the name that lxml's stubs and documentation have for it

REFUSED: Final = "refused: the document declares entities of its own"

_DOCTYPE = re.compile(r"<!DOCTYPE[^<>\[]*+\[", re.IGNORECASE)
_PROLOG = 100_000  # characters in which a document type must stand to count
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A section of character data is kept as it is; elsewhere feeds forget that "&" begins a reference.
_REFERENCE = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?:(#?[0-9a-zA-Z]{1,40});)?", re.DOTALL)
_OWN: Final = frozenset({"amp", "apos", "gt", "lt", "quot"})
_DECLARATION = re.compile(r"[\ufeff\s]*+<\?xml[^>]*+\?>|[\ufeff\s]++")


def encoded(text: str) -> bytes | None:
    """Return a text as the UTF-8 that a parser takes, characters that XML forbids as U+FFFD; None if it is refused.

    The declaration goes: the charset it named has been read by then.
    """
    if _DOCTYPE.search(text, 0, _PROLOG):
        return None
    match = _DECLARATION.match(text)
    text = _REFERENCE.sub(_mended, text[match.end() :] if match else text)
    return _CONTROLS.sub("\ufffd", text).encode("utf-8", "replace")


def _mended(match: re.Match[str]) -> str:
    """Write what XML has no name for: HTML's entities as characters, a bare ampersand as one."""
    name = match[1]
    if name is None:
        return match[0] if match[0] != "&" else "&amp;"
    if name in _OWN:
        return match[0]
    if name.startswith("#"):
        # what is no character would come back as bytes that are no text
        char = _CONTROLS.sub("", unescape(match[0]))
        return match[0] if char not in {"", "\ufffd"} else "\ufffd"
    return html5.get(f"{name};") or f"&amp;{name};"


def parser(target: etree.ParserTarget | None = None) -> etree.XMLParser:
    """Return a parser that mends what it can and opens nothing."""
    return etree.XMLParser(
        target=target, recover=True, resolve_entities=False, no_network=True, load_dtd=False, encoding="utf-8"
    )


def local_name(tag: object) -> str:
    """Return a tag's name without its namespace, lower case, "" for what is no element."""
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
