"""Every link of every page, where a crawl keeps them: the whole graph, of which the forest is a spanning part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import LinkState
from spider.store import dialect
from spider.store.ask import find_seed
from spider.store.identity import NewLink
from spider.store.schema import CrawlerLink, Edge, SeedLink, table

__all__ = ["EdgeRow", "any_kept", "edge_rows", "write"]

_EDGE = table(Edge)
_LINK = table(CrawlerLink)
_SEED = table(SeedLink)


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A link as it stands on one page; `state`, `depth` and `seed` are those of the link that it leads to."""

    page_id: int
    link_id: int
    page: str
    link: str
    text: str
    source: str
    relation: str
    state: LinkState
    depth: int
    seed: str


def write(
    connection: sa.Connection,
    reread: Collection[int],
    links: Iterable[NewLink],
    rows: Mapping[tuple[str, int], int],
) -> None:
    """Write the links of pages that were read, in place of what pages that were `reread` had before.

    `rows` has the row of each link by its host and hash.  A redirect's target stands on no page.
    """
    for part in dialect.chunks(sorted(reread)):
        connection.execute(sa.delete(_EDGE).where(_EDGE.c.page_id.in_(part)))
    found: dict[tuple[int, int], dict[str, object]] = {}
    for link in links:
        if link.parent_id is not None and not link.hops:
            place = link.parent_id, rows[link.host, link.h]
            known = {"text": link.text or None, "source": link.source, "relation": link.relation}
            found.setdefault(place, {"page_id": place[0], "link_id": place[1], **known})
    if found:
        connection.execute(dialect.insert(connection, _EDGE).on_conflict_do_nothing(), list(found.values()))


def any_kept(connection: sa.Connection) -> bool:
    """Whether any crawl has kept them."""
    return connection.scalar(sa.select(_EDGE.c.page_id).limit(1)) is not None


def edge_rows(connection: sa.Connection, *, seed: str | None = None) -> Iterator[EdgeRow]:
    """Stream the links of pages, in the order the pages were found; `seed`: of one tree, both ends within it."""
    page = _LINK.alias("page")
    columns = (page.c.id, _LINK.c.id, page.c.url, _LINK.c.url, _EDGE.c.text, _EDGE.c.source, _EDGE.c.relation)
    query = (
        sa.select(*columns, _LINK.c.state, _LINK.c.depth, _SEED.c.url)
        .join_from(_EDGE, page, page.c.id == _EDGE.c.page_id)
        .join(_LINK, _LINK.c.id == _EDGE.c.link_id)
        .join(_SEED, _SEED.c.id == _LINK.c.seed_id)
        .order_by(_EDGE.c.page_id, _EDGE.c.link_id)
    )
    if seed is not None:
        number = find_seed(connection, seed)
        query = query.where(_LINK.c.seed_id == number, page.c.seed_id == number)
    for row in dialect.streamed(connection, query):
        told = (*row[:4], row[4] or "", row[5], str(row[6]), *row[7:])
        yield EdgeRow(*told)
