"""Text of pages, made fit to be shown: it is data, and must not steer the terminal or the program it is shown in."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

__all__ = ["csv_cell", "cut", "iso", "json_text", "many", "markdown_cell", "visible", "width", "wrap"]

# What a terminal acts on instead of showing it: C0 and DEL, C1 (ECMA-48), the line and paragraph
# separators, the marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX 9),
# invisible operators and tags, half a surrogate pair.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
# A cell that begins with one of these is a formula to a spreadsheet (OWASP, CSV injection), its
# full-width twins too.
_RUN = '[ "]*[=+\\-@\uff1d\uff0b\uff0d\uff20]'
_FORMULA = re.compile(f"{_RUN}|[\t\r\n]")
# Where the decimal mark is a comma, spreadsheets part a line at semicolons; a tab parts what is pasted. Quotes in the
# middle of a text shelter nothing then: to that reading the cell begins behind the mark.
_PARTED = re.compile(f"([;\t\r\n])(?={_RUN})")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def visible(text: str) -> str:
    r"""Return the text with every character that steers instead of showing written as an escape (``\x1b``)."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode-escape", "surrogatepass").decode("ascii"), text)


def json_text(value: object) -> str:
    """Return a value as one line of JSON (RFC 8259) that is readable in any script and safe to print.

    What `visible` would escape, JSON escapes in its own way; every other character stays.
    """
    return _UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], json.dumps(value, ensure_ascii=False))


def csv_cell(value: str | float | None, *, raw: bool = False) -> str:
    """Return the text of one cell; what a spreadsheet would run as a formula gets an apostrophe before it.

    So does what stands behind a semicolon, a tab or the end of a line, for many spreadsheets begin a cell there.
    `raw` leaves texts as they are.
    """
    if not isinstance(value, str):
        return "" if value is None else str(value)
    if raw:
        return value
    told = f"'{value}" if _FORMULA.match(value) else value
    return _PARTED.sub(r"\1'", told) if _PARTED.search(told) else told


# What Markdown takes for markup in a cell (CommonMark 2.4, the tilde and the pipe of GFM, the dollar of forges).
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&$]")
_ADDRESS = re.compile(r"https?://[^\s<>\\|]+")


def markdown_cell(value: str | float | None) -> str:
    """Return the text of one cell of a Markdown table: markup escaped, controls visible, an address a link."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    shown = visible(value)
    return f"<{shown}>" if _ADDRESS.fullmatch(shown) else _MARKUP.sub(r"\\\g<0>", shown)


def many(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun: ``1 link``, ``2,000 links``; `more` is the plural that takes no s."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"


def iso(time: int) -> str:
    """Return UTC microseconds as ISO 8601 with seconds: ``2026-11-30T20:56:03Z``."""
    return (_EPOCH + timedelta(seconds=time // 1_000_000)).strftime("%Y-%m-%dT%H:%M:%SZ")


def width(text: str) -> int:
    """Return the columns of a terminal that a text takes (UAX 11): two for a wide character, none for a mark."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    """Return the columns of one character."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, columns: int) -> str:
    """Return the text, or as much of it as fits, with an ellipsis."""
    if width(text) <= columns:
        return text
    return f"{text[: _fitting(text, columns - 1)]}…"


def wrap(text: str, columns: int) -> Iterator[str]:
    """Yield an address or a text in pieces that fit, broken behind a delimiter where one stands in a line's last half.

    The pieces joined are the text.
    """
    while width(text) > columns:
        room = max(1, _fitting(text, columns))
        delimiter = max(text.rfind(mark, room // 2, room) for mark in "/?&; ")
        end = delimiter + 1 if delimiter >= 0 else room
        yield text[:end]
        text = text[end:]
    yield text


def _fitting(text: str, columns: int) -> int:
    """Return how many characters of a text fit."""
    taken = 0
    for place, character in enumerate(text):
        taken += _columns(character)
        if taken > columns:
            return place
    return len(text)
