"""What one walk over a document gathers, before addresses are resolved and kinds decided.

A claim says: here stands a reference, this is what its place tells of it.  `found` then resolves all
references of the page at once and judges the claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from spider.model import Confidence, MediaKind, Source

__all__ = ["Attributes", "Claim", "Gathering", "Handler", "Reference", "ancestors"]

_NEAR = 64  # levels; more would let a deep page cost the square of its length

Attributes = dict[str, str | None]


@dataclass(slots=True)
class Reference:
    """A hyperlink as it stands in the document: `raw` is the attribute's value.

    `node` is an anchor whose text has not been read yet (`links.told` does).
    """

    raw: str
    source: Source
    text: str = ""
    title: str = ""
    rel: tuple[str, ...] = ()
    mime: str | None = None
    modified: int | None = None
    node: LexborNode | None = None


@dataclass(slots=True)
class Claim:
    """A reference that its place presents as a medium.

    `kind` is what the element says (video in ``<video>``), `mime` what is declared; where both are
    silent the address decides.  `page` is the page it is said to be on, where a sitemap speaks of another's
    media.  `frame` marks a place that may hold any document: only a player's
    address makes it a medium.
    """

    raw: str
    source: Source
    confidence: Confidence
    kind: MediaKind | None = None
    mime: str | None = None
    format: str | None = None
    text: str = ""
    title: str = ""
    poster: str | None = None
    duration: float | None = None
    frame: bool = False
    page: str | None = None
    also: list[Source] = field(default_factory=list)


@dataclass(slots=True)
class Gathering:
    """The heap that the handlers throw what they find upon, in document order.

    `budget` is the number of characters of anchor text still to be read: nested anchors share theirs.
    `text` is what a reader sees of the document, where it was asked for.
    """

    references: list[Reference] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    base: str | None = None
    title: str = ""
    language: str | None = None
    canonical: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)
    robots: set[str] = field(default_factory=set)
    scripts: list[str] = field(default_factory=list)
    inline: list[tuple[str, str]] = field(default_factory=list)
    feeds: list[str] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    variables: list[tuple[str, Source]] = field(default_factory=list)
    templates: list[LexborNode] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    budget: int = 1_000_000
    text: str = ""
    objects: dict[int, Claim] = field(default_factory=dict)


Handler = Callable[[Gathering, LexborNode, Attributes], None]


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the elements around `node`, the nearest first, as far as anyone looks for a meaning."""
    above = node.parent
    for _ in range(_NEAR):
        if above is None:
            return
        yield above
        above = above.parent
