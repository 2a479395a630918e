"""Read the link forest (paper 2): every link below the page that showed it first, seeds at the roots.

Its shape is held as numbers alone, about a hundred bytes a link; addresses are read as they are needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import Confidence, LinkState, Reason
from spider.store import dialect
from spider.store.ask import find_seed
from spider.store.schema import MEDIA, CrawlerLink, Host, Page, SeedLink, table

__all__ = ["Branch", "Forest", "LinkRow", "PageRow", "link_rows", "page_rows"]

_LINK = table(CrawlerLink)
_PAGE = table(Page)
_SEED = table(SeedLink)
_HOST = table(Host)

OK = 200
_READ = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link of the forest; `parent` is the page that showed it first, None for a seed."""

    id: int
    parent_id: int | None
    url: str
    state: LinkState
    depth: int
    seed: str
    parent: str | None
    text: str
    source: str
    relation: str


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page that was read; `changed_at` (UTC microseconds) is when its content was last seen to differ."""

    id: int
    url: str
    changed_at: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A link as it stands in its tree.

    `lasts` says, for each level from the root's children down to this link, whether it is the last of its
    siblings there, and is empty for a root.  `own` counts the media of its page, `beneath` all in its tree.
    """

    id: int
    parent_id: int | None
    url: str
    text: str
    state: LinkState
    reason: Reason | None
    status: int | None
    title: str
    lasts: tuple[bool, ...]
    own: int
    beneath: int


class Forest:
    """The shape of the forest at one moment, and how many media lie beneath each link."""

    def __init__(
        self,
        connection: sa.Connection,
        *,
        seed: str | None = None,
        confidence: Confidence = Confidence.LINK,
    ) -> None:
        """Read the shape: of one seed's tree, by its address, or of all; InputError where there is no such seed."""
        self._connection = connection
        self._children: dict[int | None, list[int]] = {}
        self.own = _media_counts(connection, confidence)
        query = sa.select(_LINK.c.id, _LINK.c.parent_id).order_by(_LINK.c.seed_id, _LINK.c.id)
        if seed is not None:
            query = query.where(_LINK.c.seed_id == find_seed(connection, seed))
        self._parents: dict[int, int | None] = {
            row.id: row.parent_id for row in dialect.streamed(connection, query, at_once=2000)
        }
        self._plant()
        self.beneath = self._sums()

    def __len__(self) -> int:
        """Count the links."""
        return len(self._parents)

    def _plant(self) -> None:
        """Hang every link under its page, or at the root where its page is not of the forest."""
        for number, parent in self._parents.items():
            place = parent if parent in self._parents and parent != number else None
            self._children.setdefault(place, []).append(number)

    def _sums(self) -> dict[int, int]:
        """Add the media of every link to all that lie above it."""
        beneath: dict[int, int] = {}
        for number, _ in reversed(list(self._order(None, None))):
            total = self.own.get(number, 0) + sum(beneath.get(child, 0) for child in self._children.get(number, ()))
            if total:
                beneath[number] = total
        return beneath

    def _order(self, depth: int | None, wanted: Collection[int] | None) -> Iterator[tuple[int, tuple[bool, ...]]]:
        """Yield links from the roots down, each before its children, as deep as asked for."""
        stack = self._below(None, (), wanted)
        while stack:
            number, lasts = stack.pop()
            yield number, lasts
            if depth is None or len(lasts) < depth:
                stack += self._below(number, lasts, wanted)

    def _below(
        self, number: int | None, lasts: tuple[bool, ...], wanted: Collection[int] | None
    ) -> list[tuple[int, tuple[bool, ...]]]:
        """Return a link's children, the last first, as a stack wants them."""
        children = [child for child in self._children.get(number, ()) if wanted is None or child in wanted]
        if number is None:
            return [(child, ()) for child in reversed(children)]
        last = len(children) - 1
        return [(child, (*lasts, place == last)) for place, child in reversed([*enumerate(children)])]

    def nearest(self, limit: int) -> set[int]:
        """Return the links to show where not all can be: all with media beneath, then the first found."""
        chosen = set(self.beneath)
        for number in sorted(self._parents):
            if len(chosen) >= limit:
                break
            parent = self._parents[number]
            if parent is None or parent in chosen or parent not in self._parents:
                chosen.add(number)
        return chosen

    def walk(self, *, depth: int | None = None, wanted: Collection[int] | None = None) -> Iterator[Branch]:
        """Yield the branches from the roots down: to a depth below the root, and of them only those `wanted`."""
        part: list[tuple[int, tuple[bool, ...]]] = []
        for place in self._order(depth, wanted):
            part.append(place)
            if len(part) == dialect.CHUNK:
                yield from self._told(part)
                part = []
        yield from self._told(part)

    def _told(self, places: Iterable[tuple[int, tuple[bool, ...]]]) -> Iterator[Branch]:
        """Read what is known of some links, in one question."""
        listed = list(places)
        query = (
            sa.select(_LINK, _PAGE.c.status, _PAGE.c.title)
            .outerjoin(_PAGE, _PAGE.c.link_id == _LINK.c.id)
            .where(_LINK.c.id.in_([number for number, _ in listed]))
        )
        rows = {row.id: row for row in self._connection.execute(query)}
        for number, lasts in listed:
            row = rows[number]
            yield Branch(
                number,
                row.parent_id if lasts else None,
                row.url,
                row.text or "",
                row.state,
                row.reason,
                row.status,
                row.title or "",
                lasts,
                self.own.get(number, 0),
                self.beneath.get(number, 0),
            )


def _media_counts(connection: sa.Connection, confidence: Confidence) -> dict[int, int]:
    """Return how many media, still there and as sure as asked for, each page holds."""
    shown = [level for level in Confidence if level.rank <= confidence.rank]
    found: dict[int, int] = {}
    for model in MEDIA.values():
        rows = table(model)
        query = (
            sa.select(rows.c.page_id, sa.func.count())
            .where(rows.c.confidence.in_(shown), rows.c.gone_at.is_(None))
            .group_by(rows.c.page_id)
        )
        for page_id, number in connection.execute(query):
            found[page_id] = found.get(page_id, 0) + number
    return found


def link_rows(connection: sa.Connection, *, seed: str | None = None) -> Iterator[LinkRow]:
    """Stream the links of the forest in the order they were found; InputError where there is no such seed."""
    parent = _LINK.alias("parent")
    query = (
        sa.select(
            _LINK.c.id,
            _LINK.c.parent_id,
            _LINK.c.url,
            _LINK.c.state,
            _LINK.c.depth,
            _SEED.c.url,
            parent.c.url,
            _LINK.c.text,
            _LINK.c.source,
            _LINK.c.relation,
        )
        .join_from(_LINK, _SEED, _LINK.c.seed_id == _SEED.c.id)
        .outerjoin(parent, parent.c.id == _LINK.c.parent_id)
        .order_by(_LINK.c.id)
    )
    if seed is not None:
        query = query.where(_LINK.c.seed_id == find_seed(connection, seed))
    for row in dialect.streamed(connection, query):
        told = (*row[:7], row[7] or "", row[8], str(row[9]))
        yield LinkRow(*told)


def page_rows(connection: sa.Connection, *, seed: str | None = None, host: str | None = None) -> Iterator[PageRow]:
    """Stream the pages that a visitor gets, in the order they were found: no redirects, copies or feeds.

    InputError where there is no such seed.
    """
    query = (
        sa.select(_LINK.c.id, _LINK.c.url, _PAGE.c.changed_at)
        .join_from(_LINK, _PAGE, _PAGE.c.link_id == _LINK.c.id)
        .where(
            _LINK.c.state == LinkState.C,
            _PAGE.c.status == OK,
            _PAGE.c.redirect_to.is_(None),
            _PAGE.c.copy_of.is_(None),
            _PAGE.c.content_type.in_(_READ),
        )
        .order_by(_LINK.c.id)
    )
    if seed is not None:
        query = query.where(_LINK.c.seed_id == find_seed(connection, seed))
    if host is not None:
        query = query.join(_HOST, _HOST.c.id == _LINK.c.host_id).where(_HOST.c.name == host.lower())
    for row in dialect.streamed(connection, query):
        yield PageRow(*row)
