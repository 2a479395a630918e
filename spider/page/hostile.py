"""What would make a parser slow or greedy, found before it is parsed, and made harmless.

The HTML standard's tree construction is quadratic in three things that only hostile pages have in
number: elements open at once, formatting elements waiting to be reopened, attributes on one tag.
Each check here is linear, and cheap where nothing is wrong.  A page that fails one is flattened: of its
tags only those that this package reads are kept, nested no deeper than it matters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection

__all__ = ["REST", "TOKEN", "VOID", "tame"]

_SMALL = 1000  # tags: below this the worst page costs milliseconds
_TAGS = 15_000  # tags: above this depth is looked at
_REOPENED = 300_000  # formatting elements times tags: what the tree could grow to
_DEEP = 512  # elements open at once that browsers allow too
_FLAT = 100  # elements open at once in a flattened page
_MOST = 350_000  # tags that are parsed at all, each of up to 700 bytes in the tree
_LONG = 1000  # characters of one tag: below this its attributes are few
_WORK = 90_000_000  # sum of the squares of what is longer: about a third of a second
_ATTRIBUTES = 256  # attributes kept on one tag

# A tag as the standard's tokenizer sees it (13.2.5.6 to 13.2.5.40): quotes count only after "=".
# Possessive throughout, and an open quote ends with the text: no character is read twice.
REST = r"""(?:[\s/]++|[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+)?+|=)*+"""
_TAG = re.compile(rf"<(/?)([a-zA-Z][^\s/>]*+){REST}(?:>|\Z)")
_ATTRIBUTE = re.compile(r"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+)?+""")
_WANTED = re.compile(r"(?:href|src|data|type|classid|value|name|content|rel|action|property)\s*+=", re.IGNORECASE)
_WORDS = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_FORMATTING = frozenset(_WORDS.split("|"))
# The flag stands inside, so that the engine may leap from "<" to "<".
_ADORNED = re.compile(rf"<(?=[b-uB-U])(?i:{_WORDS}|body|html)\s[^>]{{0,80}}")
_VOID_WORDS = """area base basefont bgsound br col embed frame hr img input keygen link meta param source
    track wbr"""
VOID = frozenset(_VOID_WORDS.split())
# Elements whose end may be left out do not nest by themselves: what holds them is counted.
_IMPLIED_WORDS = """p li dt dd tr td th tbody thead tfoot option optgroup rb rt rp rtc colgroup caption"""
_IMPLIED = frozenset(_IMPLIED_WORDS.split())
_RAW = "script|style|textarea|title|xmp|iframe|noembed|noframes"
TOKEN = re.compile(
    rf"<!--(?:.*?-->|.*\Z)|<(?P<raw>{_RAW})(?=[\s/>])(?P<rest>{REST})>(?:.*?</(?P=raw)(?=[\s/>])[^>]*+>|.*\Z)"
    rf"|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/>]*+)(?P<attributes>{REST})(?:>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def tame(text: str, keep: Collection[str]) -> tuple[str, list[str]]:
    """Return a text that parses in linear time, and notes of what was cut; `keep` names the tags that are read."""
    notes: list[str] = []
    tags = text.count("<")
    if tags > _MOST:
        whole = len(text)
        text = text[: whole * _MOST // tags]
        notes.append(f"tags: {tags} found, the first {len(text)} of {whole} characters read")
        tags = _MOST
    if len(text) > _LONG and _looks_long(text):
        text = _fewer_attributes(text, notes)
    if tags > _SMALL and (tags > _TAGS or _adorned(text) * tags > _REOPENED) and not _is_shallow(text):
        text = _flatten(text, frozenset(keep))
        notes.append(f"nesting: deeper than {_DEEP} elements, flattened")
    return text, notes


def _looks_long(text: str) -> bool:
    """Say whether the attributes of long tags, each compared with each, would be too much work."""
    work = place = 0
    while place + _LONG < len(text):
        end = text.rfind(">", place, place + _LONG)
        if end < 0:
            end = text.find(">", place + _LONG)
            end = len(text) if end < 0 else end
            start = text.find("<", place, end)
            work += (end - start) ** 2 if start >= 0 else 0
        place = end + 1
    return work > _WORK


def _fewer_attributes(text: str, notes: list[str]) -> str:
    cut = 0

    def shorten(match: re.Match[str]) -> str:
        nonlocal cut
        if len(match[0]) <= _LONG or match["end"] or not match["tag"]:
            return match[0]
        kept: list[str] = []
        wanted: list[str] = []
        whole = 0
        for whole, one in enumerate(_ATTRIBUTE.finditer(match["attributes"]), 1):  # one by one: there may be a million
            if whole <= _ATTRIBUTES:
                kept.append(one[0])
            elif len(wanted) < _ATTRIBUTES and _WANTED.match(one[0]):
                wanted.append(one[0])
        if whole <= _ATTRIBUTES:
            return match[0]
        cut += whole - len(kept) - len(wanted)
        return f"<{match['tag']} {' '.join(kept + wanted)}>"

    text = TOKEN.sub(shorten, text)
    if cut:
        notes.append(f"attributes: {cut} cut from tags with more than {_ATTRIBUTES}")
    return text


def _adorned(text: str) -> int:
    """Count the formatting tags that the standard would reopen each: those that are not alike."""
    return len(set(_ADORNED.findall(text)))


def _is_shallow(text: str) -> bool:
    """Say whether no more elements are ever open at once than a browser allows."""
    open_tags: Counter[str] = Counter()
    depth = formatting = roots = 0
    for match in _TAG.finditer(text):
        tag = match[2].lower()
        if tag in VOID or tag in _IMPLIED:
            continue
        if not match[1]:
            open_tags[tag] += 1
            depth += 1
            formatting += tag in _FORMATTING
            roots += tag in {"html", "body"}
            if depth > _DEEP or formatting > _FLAT or roots > _FLAT:
                return False
        elif open_tags[tag]:
            open_tags[tag] -= 1
            depth -= 1
            formatting -= tag in _FORMATTING
    return True


def _flatten(text: str, keep: frozenset[str]) -> str:
    """Keep the tags that are read, and of their nesting the first hundred levels."""
    return TOKEN.sub(_flattener(keep), text)


def _flattener(keep: frozenset[str]) -> Callable[[re.Match[str]], str]:
    open_tags: Counter[str] = Counter()

    def start(tag: str, text: str) -> str:
        if tag in VOID:
            return text
        if tag == "a" and open_tags["a"]:
            return "</a>" + text
        if open_tags.total() >= _FLAT:
            return f"{text}</{tag}>"
        open_tags[tag] += 1
        return text

    def flat(match: re.Match[str]) -> str:
        tag = (match["tag"] or match["raw"] or "").lower()
        if tag not in keep or tag in {"html", "body"}:
            return " " if tag else ""
        if match["raw"]:
            return match[0]
        if not match["end"]:
            return start(tag, match[0])
        ends = open_tags[tag] > 0
        open_tags[tag] -= ends
        return match[0] if ends else ""

    return flat
