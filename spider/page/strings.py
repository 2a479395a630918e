"""Addresses in what is no markup: quoted strings of scripts, styles, bare text.

A string is an address where it begins as one does, or is a path whose last part has an extension.  Strings
that a script puts together are put together too, as far as their parts are strings or names of strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

__all__ = ["addresses_in_code", "addresses_in_style", "addresses_in_text", "is_address"]

_KNOWN: Final = (
    "7z|aac|ashx|asmx|aspx?|atom|avi|bmp|bz2|cfm|cgi|css|csv|docx?|dtd|eot|epub|flac|flv|gif|gz|html?|ico|jar|jpe?g|js"
    "|json|jsonld|jspx?|jspa|m3u8|m4a|m4v|mjs|mkv|mov|mp3|mp4|mpd|mpe?g|odt|og[agv]|opus|otf|pdf|php|php3|php5|phtml"
    "|png|pptx?|rar|rdf|rss|rtf|shtml|svc|svg|swf|tar|tgz|tiff?|torrent|ttf|txt|vtt|wasm|wav|webm|webmanifest|webp|wmv"
    "|woff2?|wsdl|xht|xhtml|xlsx?|xml|xsd|xslt?|ya?ml|zip"
)
_BEGINS = re.compile(
    r"(?:(?:https?|ftp|wss?):/?/?|//(?=[\w\[])|/(?=[\w%~.-])|\.{1,2}/)[^\s\"'<>`{}|\\^]{0,2000}+\Z|/\Z", re.IGNORECASE
)
_PATH = re.compile(rf"[\w%~@-][\w%~@./-]{{0,300}}\.(?:{_KNOWN})(?:[?#][^\s\"'<>]{{0,1000}}+)?\Z", re.IGNORECASE)
_STRING = r"""(?:"(?:[^"\\\n]|\\.){0,300}+"|'(?:[^'\\\n]|\\.){0,300}+'|`(?:[^`\\]|\\.){0,300}+`)"""
_LITERAL = re.compile(rf"\\.|{_STRING}")  # an escape outside is no quote
_NAME = r"[A-Za-z_$][\w$]{0,60}+"
_SET = re.compile(rf"(?<![\w$.])({_NAME})\s{{0,8}}+=\s{{0,8}}+({_STRING})\s{{0,8}}+(?=[;,\n}}]|\Z)")
_SUM = re.compile(rf"\\.|(?:{_NAME}|{_STRING})(?:\s{{0,8}}+\+\s{{0,8}}+(?:{_NAME}|{_STRING}))++")
_PART = re.compile(rf"{_STRING}|{_NAME}")
_WEB = re.compile(r"https?://[^\s\"'<>`\\^{}|]{1,2000}+", re.IGNORECASE)
_RELATIVE = re.compile(r"(?<![\w/.:\"'=])(?:\.{1,2}/)++[\w%~@-][\w%~@./-]{0,500}+")
_ROOTED = re.compile(rf"(?<![\w/.:<\"'=])/[\w%~@-][\w%~@./-]{{0,500}}?\.(?:{_KNOWN})(?![\w/])", re.IGNORECASE)
_STYLE = re.compile(
    r"""url\(\s{0,20}+(?:"([^"\n]{1,2000}+)"|'([^'\n]{1,2000}+)'|([^\s"'()]{1,2000}+))|@import\s{1,20}+["']([^"'\n]{1,2000}+)""",
    re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_BEHIND = ".,;:!?)]"  # what stands behind an address in a sentence
_MOST = 5_000  # strings of one text
_READ = 2_000_000  # characters of one text that are read


def is_address(text: str) -> bool:
    """Say whether a text, whole, is written as an address is."""
    return _BEGINS.match(text) is not None and text not in {"/", "//", "./", "../"}


def _may_be(text: str) -> bool:
    return is_address(text) or (len(text) < 400 and _PATH.match(text) is not None)  # noqa: PLR2004  # no name is longer


def _plain(literal: str) -> str:
    """Return what a literal of a script says."""
    text = literal[1:-1]
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: chr(int(match[1] or match[2], 16)) if match[1] or match[2] else match[3], text)


def addresses_in_code(text: str) -> Iterator[str]:
    """Yield the addresses among the strings of a script, and those in its comments."""
    text = text[:_READ]
    ends: dict[int, int] = {}
    for whole, start, end in _sums(text):
        ends[start] = end
        if _may_be(whole):
            yield whole
    summed = 0
    for match in islice(_LITERAL.finditer(text), _MOST):
        summed = max(summed, ends.get(match.start(), 0))
        value = _plain(match[0])
        if match[0][0] != "\\" and match.start() >= summed and "${" not in value and _may_be(value):
            yield value
    yield from (match[0].rstrip(_BEHIND) for match in _WEB.finditer(text))


def _sums(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the strings that are put together, as far as all their parts are known, with where they stand."""
    known: dict[str, str] = {}
    for match in _SET.finditer(text):
        known.setdefault(match[1], _plain(match[2]))
    for match in islice(_SUM.finditer(text), _MOST):
        if match[0][0] != "\\":
            parts = [known.get(part) if part[0] not in "\"'`" else _plain(part) for part in _PART.findall(match[0])]
            if None not in parts:
                yield "".join(part or "" for part in parts), match.start(), match.end()


def addresses_in_text(text: str) -> Iterator[str]:
    """Yield the addresses in a bare text: whole ones, dotted paths, paths with an extension that is known."""
    text = text[:_READ]
    for pattern in (_WEB, _RELATIVE, _ROOTED):
        for match in pattern.finditer(text):
            yield match[0].rstrip(_BEHIND)


def addresses_in_style(text: str) -> Iterator[str]:
    """Yield what a style sheet, or a style attribute, loads: ``url()`` and ``@import``."""
    for match in _STYLE.finditer(text[:_READ]):
        value = next(filter(None, match.groups()), "")
        if not value.startswith(("data:", "#")):
            yield value
