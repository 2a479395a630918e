"""A large document read in pieces: the tree of each is gone before the next is built.

A tree takes up to seven hundred bytes a tag, and a hundred an attribute: a page of ten megabytes would take hundreds of
them.  Pieces are cut between tags, never in a script, a style or a comment; what an element around the cut would have
said of those within is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from spider.page.document import LINKS, MANY, gather
from spider.page.gather import Gathering
from spider.page.hostile import TOKEN
from spider.page.links import told

__all__ = ["CLAIMS", "gather_pieces", "is_large"]

CLAIMS = 10_000
"""Media that one page may present: what is beyond is not weighed."""

ADDED = {"references": LINKS + 1, "claims": CLAIMS + 1, "scripts": 5000, "inline": 2000, "feeds": 1000}
"""What is taken from all pieces together, and the most of each."""

TAGS = 20_000  # of a document that is read whole, and of a piece
LENGTH = 300_000  # characters of a piece, unless one script is longer
LONGEST = 2_000_000  # characters of one script, or one text, that are read
MOST = 350_000  # tags that are read at all


def is_large(text: str) -> bool:
    """Say whether a document's tree would take tens of megabytes."""
    return len(text) > LONGEST or (len(text) > LENGTH and (text.count("<") > TAGS or text.count("=") > TAGS * 4))


def gather_pieces(text: str, *, hidden: bool = False, alike: bool = False) -> Gathering:
    """Gather what all pieces of a document hold, as `spider.page.document.gather` does of a whole one."""
    found = Gathering()
    for piece in _pieces(text, found):
        part = gather(piece, hidden=hidden, alike=alike)
        _join(found, part)
    if len(found.references) > LINKS:
        del found.references[LINKS:]
        found.notes = [*(note for note in found.notes if note != MANY), MANY]
    return found


def _pieces(text: str, found: Gathering) -> Iterator[str]:
    start = read = 0
    for tags, place in _cuts(text):
        if place - start > LONGEST:
            found.notes.append(f"size: of {place - start} characters without a tag the first {LONGEST} read")
        yield text[start : min(place, start + LONGEST)]
        start, read = place, read + tags
        if read > MOST:
            found.notes.append(f"tags: more than {MOST}, the first {start} of {len(text)} characters read")
            return


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each piece ends, with the number of its tags; a script or a text that is long is one by itself."""
    start = tags = 0
    for match in TOKEN.finditer(text):
        if tags and (tags >= TAGS or match.end() - start >= LENGTH):
            yield tags, match.start()
            start, tags = match.start(), 0
        tags += 1
    yield tags, len(text)


def _join(found: Gathering, part: Gathering) -> None:
    """Add what a piece holds to what those before it did; no part of its tree is kept."""
    del part.references[LINKS + 1 :]
    for one in part.references:
        told(part, one)
    for name, most in ADDED.items():
        kept = getattr(found, name)
        kept.extend(getattr(part, name)[: max(0, most - len(kept))])
    for name in ("base", "title", "language", "canonical", "text"):
        setattr(found, name, getattr(found, name) or getattr(part, name))
    found.robots |= part.robots
    found.notes.extend(note for note in part.notes if note not in found.notes)
