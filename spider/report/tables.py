"""Records laid out for people: lines of spans, each span a text and the part it plays.

A line knows no colours and no terminal; who prints it gives a width, or None for no wrapping, so that
the same lines are plain and stable in a file and fit a terminal of any size.  Everything streams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from spider.report.formats import Record
from spider.report.text import cut, many, visible, width, wrap

__all__ = ["BARS", "Line", "Span", "bar_line", "entry_lines", "error_lines", "grid_lines", "media_lines"]

KIND = len("video")
MIN_COLUMNS = 40
MAX_LINES = 4

BARS = {"C": "█", "R": "▓", "W": "░", "E": "×"}
"""What a bar of links is made of, by state; told apart without colours too."""


class Span(NamedTuple):
    """A run of text and its part: page, media, kind, bad, number, head, or nothing in particular."""

    text: str
    part: str = ""


Line = Sequence[Span]


def media_lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield the report's records under their pages, and a last line that counts them.

    Records of one page are expected to follow one another.  No record gives no line.
    """
    last: tuple[object, ...] | None = None
    pages, kinds = 0, Counter[str]()
    for record in records:
        head = (record["page"], record["title"], record["seed"], record["depth"])
        if head != last:
            pages += last is None or head[0] != last[0]
            if last is not None:
                yield ()
            yield from _address(record["page"], columns, part="page")
            yield from _details(_page_details(record), columns, indent=2)
            last = head
        kind = str(record["kind"])
        kinds[kind] += 1
        yield from _address(record["media"], columns, part="media", label=Span(f"  {kind:{KIND}}  ", f"kind.{kind}"))
        yield from _details(_media_details(record), columns, indent=KIND + 4)
    if last is not None:
        yield ()
        yield (Span(_counted(pages, kinds), "head"),)


def error_lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield the links in E, each with what is known of its failure, and a last line that counts them."""
    reasons = Counter[str]()
    for record in records:
        reasons[visible(str(record["reason"]))] += 1
        yield from _address(record["url"], columns, part="page")
        yield from _details(_error_details(record), columns, indent=2)
    if reasons:
        yield ()
        yield from _details([f"{number} {reason}" for reason, number in sorted(reasons.items())], columns, indent=0)


def entry_lines(
    records: Iterable[Record],
    columns: int | None,
    *,
    details: Callable[[Record], list[str]],
    label: Callable[[Record], str] | None = None,
) -> Iterator[Line]:
    """Yield each record's address, behind its label where there are labels, with its details below."""
    for record in records:
        named = f"{visible(label(record))}  " if label else ""
        lead = Span(named, "number") if named else None
        yield from _address(record["url"] or "-", columns, part="page", label=lead)
        yield from _details(details(record), columns, indent=max(2, width(named)))


def grid_lines(
    headings: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None, *, below: Sequence[Line] = ()
) -> Iterator[Line]:
    """Yield rows of numbers under headings, right-aligned; the last column is a text, and wrapped.

    `below` has a line to stand under each row.
    """
    cells = [[visible(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(width(row[place]) for row in cells) for place in range(len(headings) - 1)]
    indent = sum(widths) + 2 * len(widths)
    room = None if columns is None else max(MIN_COLUMNS // 2, columns - indent)
    for number, row in enumerate(cells):
        part = "number" if number else "head"
        lead = [Span(f"{cell:>{size}}  ", part) for cell, size in zip(row[:-1], widths, strict=True)]
        first, *rest = [row[-1]] if room is None else wrap(row[-1], room)
        yield [*lead, Span(first, "page" if number else "head")]
        for piece in rest:
            yield (Span(" " * indent + piece, "page"),)
        if number and below:
            yield below[number - 1]


def bar_line(numbers: Sequence[tuple[str, int]], columns: int) -> Line:
    """Return a bar of this many columns at most, cut in proportion: a part's character is `BARS`'s.

    What there is any of has a column at least; nothing at all is an empty line.
    """
    total = sum(number for _, number in numbers)
    if not total:
        return ()
    sizes = {name: max(1, number * columns // total) for name, number in numbers if number}
    longest = max(sizes, key=lambda name: sizes[name])
    sizes[longest] = max(1, columns - (sum(sizes.values()) - sizes[longest]))
    return [Span(BARS[name] * size, f"bar.{name}") for name, size in sizes.items()]


def _page_details(record: Record) -> list[str]:
    """Return what is told of a page below its address."""
    title = f"“{record['title']}”" if record["title"] else "(no title)"
    return [title, f"depth {record['depth']}", f"seed {record['seed']}"]


def _media_details(record: Record) -> list[str]:
    """Return what is told of a medium below its address."""
    first, last = record["first_seen"], record["last_seen"]
    text = [f"“{record['text']}”"] if record["text"] else []
    seen = f"seen {first}" if first == last else f"seen {first} to {last}"
    return [*text, str(record["source"]), seen, *_checked(record)]


def _checked(record: Record) -> list[str]:
    """Return what a check found of a medium, where one was made."""
    if not record["health"]:
        return []
    said = f" with status {record['status']}" if record["status"] and record["health"] != "alive" else ""
    moved = [f"moved to {record['moved_to']}"] if record["moved_to"] else []
    told = [str(record["type"])] if record["type"] else []
    size = [f"{record['size']:,} bytes"] if record["size"] is not None else []
    return [*moved, *told, *size, f"found {record['health']}{said} {record['checked_at']}"]


def _error_details(record: Record) -> list[str]:
    """Return what is told of a failure below the address that failed."""
    return [
        f"{record['reason']}: {record['message'] or 'no answer'}",
        f"try {record['attempt']}",
        f"again {record['retry_at']}" if record["retry_at"] else "not tried again by itself",
        f"depth {record['depth']}",
        f"from {record['parent'] or 'the list of seeds'}",
    ]


def _counted(pages: int, kinds: Counter[str]) -> str:
    """Return the report's last line."""
    found = ", ".join(f"{kinds[kind]:,} {kind}" for kind in ("video", "audio", "flash") if kinds[kind])
    return f"{many(pages, 'page')} with {found}"


def _address(url: object, columns: int | None, *, part: str, label: Span | None = None) -> Iterator[Line]:
    """Yield an address behind its label, as many lines as it takes, aligned with the first."""
    text = visible(str(url))
    indent = width(label.text) if label else 0
    pieces = [text] if columns is None else list(wrap(text, max(MIN_COLUMNS // 2, columns - indent)))
    lead = label or Span("")
    for piece in pieces:
        yield (lead, Span(piece, part))
        lead = Span(" " * indent)


def _details(pieces: Sequence[str], columns: int | None, *, indent: int) -> Iterator[Line]:
    """Yield pieces behind one another with a dot between them, broken between pieces where they do not fit."""
    room = None if columns is None else max(MIN_COLUMNS // 2, columns - indent)
    line, shown = "", [visible(piece) for piece in pieces]
    for piece in shown if room is None else _fitted(shown, room):
        longer = f"{line} · {piece}" if line else piece
        if room is None or width(longer) <= room:
            line = longer
            continue
        yield (Span(" " * indent + line, "detail"),)
        line = piece
    yield (Span(" " * indent + line, "detail"),)


def _fitted(pieces: Sequence[str], room: int) -> Iterator[str]:
    """Yield pieces that each fit a line; what would take more than a few is cut."""
    for piece in pieces:
        yield from wrap(cut(piece, room * MAX_LINES), room)
