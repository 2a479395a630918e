"""The link forest: drawn with lines, or as records in the tree's order; a link a line, its media counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from spider.report.formats import Record
from spider.report.tables import Line, Span
from spider.report.text import cut, many, visible, width

if TYPE_CHECKING:
    from spider.store.forest import Branch

__all__ = ["TREE_COLUMNS", "tree_lines", "tree_records"]

TREE_COLUMNS = ("level", "state", "url", "parent", "media", "beneath", "reason", "status", "text", "title")
"""The columns of a branch; `media` are its page's own, `beneath` all in its tree."""

MIN_LABEL = 16
MIN_TEXT = 8


def tree_records(branches: Iterable[Branch]) -> Iterator[Record]:
    """Yield the branches as records, each with the page that it stands below."""
    above: list[str] = []
    for branch in branches:
        level = len(branch.lasts)
        del above[level:]
        yield {
            "level": level,
            "state": str(branch.state),
            "url": branch.url,
            "parent": above[-1] if above else None,
            "media": branch.own,
            "beneath": branch.beneath,
            "reason": str(branch.reason) if branch.reason else None,
            "status": branch.status,
            "text": branch.text,
            "title": branch.title,
        }
        above.append(branch.url)


def tree_lines(branches: Iterable[Branch], columns: int | None) -> Iterator[Line]:
    """Yield the branches, each below its page, and a last line that counts them; nothing for no branch.

    Addresses on the host of the page above are shown without it.  With `columns` a line fits them, cut
    where it must be, and what stands too deep stands behind an ellipsis.
    """
    above: list[str] = []
    links = media = 0
    for branch in branches:
        level = len(branch.lasts)
        del above[level:]
        label = _label(branch.url, above[-1] if above else None)
        above.append(branch.url)
        links += 1
        media += branch.own
        yield _fitted(_prefix(branch.lasts, columns), branch, visible(label), columns)
    if links:
        yield ()
        yield (Span(f"{many(links, 'link')}, {many(media, 'medium', 'media')}", "head"),)


def _prefix(lasts: tuple[bool, ...], columns: int | None) -> str:
    """Return the lines that lead to a branch, shortened on the left to a third of the room."""
    if not lasts:
        return ""
    drawn = "".join("    " if last else "│   " for last in lasts[:-1]) + ("└── " if lasts[-1] else "├── ")
    room = None if columns is None else max(len("… └── "), columns // 3)
    if room is None or len(drawn) <= room:
        return drawn
    kept = (room - len("… ")) // len("├── ") * len("├── ")
    return f"… {drawn[-kept:]}"


def _fitted(prefix: str, branch: Branch, label: str, columns: int | None) -> Line:
    """Return one line: how the link stands, its address, its media, what failed, its text, as far as there is room."""
    counted = f"  {many(branch.beneath, 'medium', 'media')}" if branch.beneath else ""
    failed = f"  {branch.reason}{f' {branch.status}' if branch.status else ''}" if branch.reason else ""
    told = visible(branch.text)
    if columns is not None:
        room = columns - width(prefix) - len("C ") - len(counted)
        failed = failed if room - len(failed) >= MIN_LABEL else ""
        room -= len(failed)
        label = cut(label, max(1, room))
        room -= width(label) + len("  “”")
        told = cut(told, room) if room >= MIN_TEXT else ""
    return [
        Span(prefix, "detail"),
        Span(f"{branch.state} ", f"state.{branch.state}"),
        Span(label, "page" if branch.own else ""),
        Span(counted, "number"),
        Span(failed, "bad"),
        Span(f"  “{told}”" if told else "", "detail"),
    ]


def _label(url: str, above: str | None) -> str:
    """Return an address, without its origin where the page above has the same."""
    origin = _origin(url)
    return url[len(origin) :] or "/" if above is not None and origin == _origin(above) else url


def _origin(url: str) -> str:
    """Return the scheme and host of an address."""
    end = url.find("/", url.find("://") + 3)
    return url if end < 0 else url[:end]
