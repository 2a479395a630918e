"""Every other address that a document names, where no reader is led: what a map of a site wants, and no crawl follows.

Images, styles, fonts, pings, archives, policies, sources of quotations, comments, strings of scripts, even bare
text.  None of these is a hyperlink or a medium of the page; each is told with its place, and nobody asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spider.model import Link, Source
from spider.page.charset import decode
from spider.page.found import Addresses, links
from spider.page.gather import Attributes, Gathering, Reference
from spider.page.hostile import tame
from spider.page.links import refresh_target
from spider.page.strings import addresses_in_code, addresses_in_style, addresses_in_text, is_address
from spider.url import KEY_LADDER, InvalidURL, normalize

__all__ = ["MENTIONED", "mentions"]

MENTIONED: Final = frozenset({
    "action", "archive", "attributionsrc", "background", "cite", "code", "codebase", "data", "dynsrc", "formaction",
    "href", "icon", "imagesrcset", "implementation", "longdesc", "lowsrc", "manifest", "ping", "pluginspage",
    "pluginurl", "poster", "profile", "src", "srcset", "xlink:href",
})  # fmt: skip
"""Attributes whose value is an address, or a list of addresses, whatever their element."""
_LISTS: Final = frozenset({"archive", "attributionsrc", "ping", "profile"})  # by spaces or commas
_SETS: Final = frozenset({"imagesrcset", "srcset"})
_WORDS: Final = frozenset({"alt", "aria-label", "class", "for", "id", "name", "placeholder", "title", "usemap"})
_META: Final = ("msapplication-", "og:", "twitter:", "thumbnail", "citation_")
_HEADERS: Final = MappingProxyType(
    {
        "content-location": re.compile(r"\s*+(\S++)"),
        "location": re.compile(r"\s*+(\S++)"),
        "link": re.compile(r"<([^>]{1,2000}+)>"),
        "refresh": re.compile(r"[^;,]{0,20}+[;,]\s*+(?:url\s*+=\s*+)?+[\"']?+([^\"'\s]++)", re.IGNORECASE),
        "content-security-policy": re.compile(r"report-uri\s++(\S++)", re.IGNORECASE),
        "content-security-policy-report-only": re.compile(r"report-uri\s++(\S++)", re.IGNORECASE),
        "sourcemap": re.compile(r"\s*+(\S++)"),
        "x-sourcemap": re.compile(r"\s*+(\S++)"),
    }
)
_POLICY = re.compile(r"report-uri\s++([^;]++)", re.IGNORECASE)
_TILE = re.compile(r"(?:^|;)\s*+(?:[\w-]{1,60}+\s*+=\s*+)?+([^;]++)")
_PROLOG = re.compile(r"""<(?:\?xml-[\w-]++|!DOCTYPE)\s([^>]{1,2000}+)>""", re.IGNORECASE)
_QUOTED = re.compile(r"""(?:^|\s|=)["']([^"']{1,1000}+)["']""")
_RULE = re.compile(r"^[ \t]*+(?:allow|disallow|sitemap)[ \t]*+:[ \t]*+([^\s#*$]++)", re.IGNORECASE | re.MULTILINE)
_MOST = 20_000  # mentions of one document
_DEEP = 3  # documents in documents
_REACH = 100_000  # characters of an attribute that are searched


class _Mentions:
    """What one document names, in order."""

    def __init__(self) -> None:
        self.references: list[Reference] = []

    def add(self, raw: str, tag: str, attribute: str) -> None:
        raw = raw.strip()
        if raw and len(self.references) < _MOST:
            self.references.append(Reference(raw, Source(tag, attribute)))

    def all(self, raws: Iterator[str], tag: str, attribute: str) -> None:
        for raw in raws:
            self.add(raw, tag, attribute)


def mentions(
    body: bytes, url: str, *, content_type: str | None = None, headers: Mapping[str, str] | None = None
) -> tuple[Link, ...]:
    """Return every address that a document names: HTML, XML, styles, scripts, JSON, text, and its headers.

    Each stands once, with the first place it was named in as its source.  InvalidURL if `url` is no URL.
    """
    page, found = normalize(url), _Mentions()
    base: str | None = None
    decoded = decode(body, content_type)
    for name, pattern in _HEADERS.items():
        value = next((text for key, text in (headers or {}).items() if key.lower() == name), "")
        found.all((match[1] for match in pattern.finditer(value[:65_536])), "header", name)
    kind = (content_type or "").partition(";")[0].strip().lower()
    if "css" in kind:
        found.all(addresses_in_style(decoded.text), "style", "text")
    elif "script" in kind or "json" in kind:
        found.all(addresses_in_code(decoded.text), "script", "text")
    elif page.partition("?")[0].endswith("/robots.txt"):
        found.all((match[1] for match in _RULE.finditer(decoded.text)), "robots", "rule")
    elif kind in {"", "text/plain"} or "html" in kind or "xml" in kind:
        base = _document(found, decoded.text, 0)
    try:
        against = normalize(base, page) if base else page
    except InvalidURL:
        against = page
    return _linked(found.references, against, page, decoded.charset)


def _linked(references: list[Reference], base: str, page: str, charset: str) -> tuple[Link, ...]:
    addresses = Addresses.of([one.raw for one in references], base, charset, KEY_LADDER)
    made: dict[str, Link] = {}
    for link in links(Gathering(references=references), addresses, page)[0]:
        made.setdefault(link.url, link)
    return tuple(made.values())


def _document(found: _Mentions, text: str, depth: int) -> str | None:
    """Read a document, and those that are written into it; return its base."""
    for match in _PROLOG.finditer(text[:65_536]):
        found.all((one[1] for one in _QUOTED.finditer(match[1]) if is_address(one[1])), "document", "prolog")
    tamed, _ = tame(text, frozenset())
    tree = LexborHTMLParser(tamed)
    base: str | None = None
    roots = [tree.root] if tree.root is not None else []
    while roots and len(found.references) < _MOST:
        for node in roots.pop().traverse(include_text=True):
            tag = node.tag or ""
            if tag == "-text":
                _text(found, node)
            elif tag == "template":
                roots.extend(node.template_fragments()[:1])
            elif not tag.startswith(("-", "!")):
                attributes = node.attributes
                if tag == "base" and base is None:
                    base = attributes.get("href")
                _attributes(found, tag, attributes, depth)
    if depth < _DEEP:
        for comment in _comments(text):
            _comment(found, comment, depth)
    return base


def _comments(text: str) -> Iterator[str]:
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        yield text[start + 4 : end]


def _comment(found: _Mentions, text: str, depth: int) -> None:
    inner = _Mentions()
    if "<" in text:
        _document(inner, text, depth + 1)
    inner.all(addresses_in_text(text), "comment", "text")
    found.all((one.raw for one in inner.references), "comment", "text")


def _text(found: _Mentions, node: LexborNode) -> None:
    """Read a piece of text by what it stands in."""
    text, above = node.text_content or "", node.parent.tag if node.parent is not None else ""
    if above == "style":
        found.all(addresses_in_style(text), "style", "text")
    elif above == "script":
        found.all(addresses_in_code(text), "script", "text")
    else:
        found.all(addresses_in_text(text), "document", "text")


def _attributes(found: _Mentions, tag: str, attributes: Attributes, depth: int) -> None:
    for name, value in attributes.items():
        if not value or name in _WORDS:
            continue
        if tag == "meta" and name == "content":
            _meta(found, attributes, value, depth)
        elif name == "srcdoc" and depth < _DEEP:
            _document(found, value, depth + 1)
        elif name in MENTIONED:
            _address(found, value, tag, name, depth)
        else:
            _free(found, value[:_REACH], tag, name)


def _free(found: _Mentions, value: str, tag: str, name: str) -> None:
    """Read an attribute that may say anything: a style, a handler, an address, settings."""
    shown = next((f"{word}*" for word in ("data-", "on") if name.startswith(word)), name)
    if name == "style":
        found.all(addresses_in_style(value), tag, name)
    elif is_address(value.strip()):
        found.add(value, tag, shown)
    elif "/" in value or "." in value:
        found.all(addresses_in_code(value), tag, shown)


def _address(found: _Mentions, value: str, tag: str, name: str, depth: int) -> None:
    """Take an address, or several; what it holds itself where it is a data: or a javascript: one."""
    if name in _SETS:
        return found.all((piece.split()[0] for piece in value.split(",") if piece.strip()), tag, name)
    if name in _LISTS:
        return found.all(iter(value.replace(",", " ").split()), tag, name)
    scheme, _, rest = value.strip().partition(":")
    if scheme.lower() == "javascript":
        found.all(addresses_in_code(unquote(rest, errors="replace")), tag, name)
    elif scheme.lower() == "data":
        if depth < _DEEP and any(kind in rest[:60].lower() for kind in ("svg", "html", "xml")):
            _document(found, unquote(rest.partition(",")[2], errors="replace"), depth + 1)
    else:
        found.add(value, tag, name)
    return None


def _meta(found: _Mentions, attributes: Attributes, content: str, depth: int) -> None:
    """Read what a meta element says: a refresh, a policy, a tile, HTML, an address."""
    told = (attributes.get("http-equiv") or attributes.get("name") or attributes.get("property") or "").strip().lower()
    if told == "refresh":
        found.add(refresh_target(content) or "", "meta", "content")
    elif told.startswith("content-security-policy"):
        for match in _POLICY.finditer(content):
            found.all(iter(match[1].split()), "meta", "content")
    elif "<" in content and depth < _DEEP:
        _document(found, content, depth + 1)
    elif told.startswith(_META):
        found.all((one[1] for one in _TILE.finditer(content) if is_address(one[1].strip())), "meta", "content")
    elif is_address(content.strip()):
        found.add(content, "meta", "content")
