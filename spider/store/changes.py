"""What became of pages that were seen before, and which pages are copies of others.

A medium is gone when its page is read without it, or the page itself is gone; it comes back when it is
told again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa

from spider import url as urls
from spider.model import Fetched, LinkState, Outcome, Request
from spider.store import dialect, identity
from spider.store.schema import MEDIA, CrawlerLink, Host, Page, table

__all__ = ["gone", "no_longer_there", "originals", "still_there"]

TOLD_ELSEWHERE = ("content_loc@text", "player_loc@text")
"""Sources of media that a sitemap tells of: the page itself need not show them."""

_PAGE = table(Page)
_LINK = table(CrawlerLink)
_FIRST = (
    sa.select(_PAGE.c.content_hash, sa.func.min(_PAGE.c.link_id))
    .where(sa.text("content_hash <> 0"), _PAGE.c.content_hash.in_(sa.bindparam("hashes", expanding=True)))
    .group_by(_PAGE.c.content_hash)
)


def originals(connection: sa.Connection, outcomes: Sequence[Outcome]) -> dict[int, int]:
    """Return, for each page among the outcomes that is a copy, the link whose page had its content first."""
    pages = [
        (outcome.content_hash, outcome.request.link_id)
        for outcome in outcomes
        if isinstance(outcome, Fetched) and outcome.content_hash and not outcome.unchanged
    ]
    first: dict[int, int] = {}
    for part in dialect.chunks(list({content for content, _ in pages})):
        rows = connection.execute(_FIRST, {"hashes": part})
        first.update((content, link_id) for content, link_id in rows)
    copies = {}
    for content, link_id in sorted(pages, key=lambda page: page[1]):
        original = first.setdefault(content, link_id)
        if original < link_id:
            copies[link_id] = original
    return copies


def still_there(connection: sa.Connection, page_ids: Sequence[int], now: int) -> None:
    """Take note that pages are as they were, and so are their media."""
    for part in dialect.chunks(page_ids):
        connection.execute(sa.update(_PAGE).where(_PAGE.c.link_id.in_(part)).values(fetched_at=now))
        for model in MEDIA.values():
            seen = sa.update(model).where(model.page_id.in_(part), model.gone_at.is_(None))
            connection.execute(seen.values(last_seen=now))


def no_longer_there(connection: sa.Connection, page_ids: Collection[int], now: int) -> None:
    """Take note of media that pages showed before and, read again, do not.

    One that a sitemap tells of stays.  One that is a link of its own, known as a medium by what it served,
    stays while that link is complete.
    """
    for model in MEDIA.values():
        for part in dialect.chunks(list(page_ids)):
            query = sa.select(model.id, model.url, model.url_hash).where(
                model.page_id.in_(part),
                model.last_seen < now,
                model.gone_at.is_(None),
                model.source.not_in(TOLD_ELSEWHERE),
            )
            missing = [row.id for row in connection.execute(query) if not _is_link(connection, row.url, row.url_hash)]
            connection.execute(sa.update(model).where(model.id.in_(missing)).values(gone_at=now))


def _is_link(connection: sa.Connection, url: str, h: int) -> bool:
    host = sa.select(Host.id).where(Host.name == urls.host(url)).scalar_subquery()
    query = sa.select(_LINK.c.state).where(_LINK.c.host_id == host, _LINK.c.h == h)
    return connection.scalar(query) is LinkState.C


def gone(connection: sa.Connection, requests: Sequence[Request], now: int) -> None:
    """Take note that links are gone (404, 410): their media as pages, and themselves as media of the pages above."""
    for request in requests:
        for model in MEDIA.values():
            held: sa.ColumnElement[bool] = model.page_id == request.link_id
            if request.parent_id is not None:
                itself = sa.and_(
                    model.page_id == request.parent_id, model.url_hash == identity.hash_of(connection, request.url)
                )
                held = sa.or_(held, itself)
            connection.execute(sa.update(model).where(held, model.gone_at.is_(None)).values(gone_at=now))
