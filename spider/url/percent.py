"""Percent-encode sets and what is done with them (URL standard, section 1.3).

Each set grows by union from its parent, as the standard defines it; everything else in this file
is made from these sets.  This room knows characters and charsets, not what a URL is.
"""

from __future__ import annotations

import re
from functools import lru_cache

from spider.url.charset import encode_query

__all__ = [
    "C0_CONTROL",
    "FRAGMENT",
    "PATH",
    "QUERY",
    "SPECIAL_QUERY",
    "USERINFO",
    "bad_units",
    "decode",
    "encode",
    "encode_text",
    "kept",
    "scalars",
]

# Section 1.3, in its order.  Every set also holds all code points above U+007E.
C0_CONTROL = frozenset(map(chr, range(0x20))) | {"\x7f"}
FRAGMENT = C0_CONTROL | set(' "<>`')
QUERY = C0_CONTROL | set(' "#<>')
SPECIAL_QUERY = QUERY | set("'")
PATH = QUERY | set("?^`{}")
USERINFO = PATH | set("/:;=@[\\]|")

_ESCAPE = [f"%{byte:02X}" for byte in range(256)]
_DECODE = re.compile(rb"%([0-9A-Fa-f]{2})")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=16)
def _outside(encode_set: frozenset[str]) -> re.Pattern[str]:
    """Compile the pattern of a run of characters that are in the set."""
    return re.compile(f"[{re.escape(''.join(sorted(encode_set)))}\x80-\U0010ffff]+")


def _escaped(match: re.Match[str]) -> str:
    return "".join([_ESCAPE[byte] for byte in match[0].encode()])


def encode(text: str, encode_set: frozenset[str]) -> str:
    """UTF-8 percent-encode the characters of `text` that are in the set (section 1.3).

    `text` must hold no surrogates; see `scalars`.
    """
    return _outside(encode_set).sub(_escaped, text)


def encode_text(text: str, encode_set: frozenset[str], encoding: str) -> str:
    """Percent-encode a query in a page's charset (section 1.3, percent-encode after encoding).

    What the charset cannot spell becomes a decimal character reference, ``%26%239829%3B``.
    """
    if text.isascii() and encoding != "iso2022_jp":
        return encode(text, encode_set)
    plain = {ord(c) for c in map(chr, range(0x80)) if c not in encode_set}
    return encode_query(text, encoding, [chr(b) if b in plain else _ESCAPE[b] for b in range(256)])


def decode(text: str) -> bytes:
    """Percent-decode `text` to bytes (section 1.3); a stray ``%`` stays."""
    return _DECODE.sub(lambda match: bytes.fromhex(match[1].decode()), text.encode())


def scalars(text: str) -> str:
    """Join surrogate pairs, and put U+FFFD for each lone surrogate (Infra, scalar value string)."""
    if text.isascii() or not _LONE.search(text):
        return text
    joined = _PAIR.sub(lambda m: m[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
    return _LONE.sub("\ufffd", joined)


def kept(text: str, first: int) -> list[int]:
    """List the places, from `first` on, of what stays without tabs and newlines; a surrogate pair has one."""
    places: list[int] = []
    before = ""
    for place, char in enumerate(text[first:], first):
        if char in "\t\n\r":
            continue
        if not ("\udc00" <= char < "\ue000" and "\ud800" <= before < "\udc00"):
            places.append(place)
        before = char
    return places


@lru_cache(maxsize=1)
def _bad_unit() -> re.Pattern[str]:
    """Compile section 1.1's invalid-URL-unit: neither a URL code point (section 4.3) nor an escape."""
    planes = "".join(f"{chr(plane << 16)}-{chr(plane << 16 | 0xFFFD)}" for plane in range(1, 17))
    points = rf"0-9A-Za-z!$&'()*+,\-./:;=?@_~%\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd{planes}"
    return re.compile(rf"[^{points}]|%(?![0-9A-Fa-f]{{2}})")


def bad_units(text: str) -> list[int]:
    """List the places of what may not stand in a URL: no URL code point, and no escape (section 4.3)."""
    return [match.start() for match in _bad_unit().finditer(text)]
