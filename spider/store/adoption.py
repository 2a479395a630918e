"""Whose tree a link is in: that of the seed it was first met in, as long as that one is crawled.

This file moves no link between states (`frontier` does).
"""

from __future__ import annotations

import sqlalchemy as sa

from spider.model import SeedStatus
from spider.store.identity import Known
from spider.store.schema import CrawlerLink, SeedLink, table
from spider.store.tally import Tally

__all__ = ["WITHDRAWN", "adopt", "crawled"]

WITHDRAWN = "its seed is not crawled"
"""The message of links in E that waited when their seed was disabled."""

_LINK = table(CrawlerLink)
_SEED = table(SeedLink)


def crawled(seed_id: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Return the condition that a seed is crawled."""
    return seed_id.in_(sa.select(_SEED.c.id).where(_SEED.c.status == SeedStatus.ACTIVE))


def adopt(connection: sa.Connection, row: Known, seed_id: int, tally: Tally) -> bool:
    """Give a link to another seed's tree, unless its own is crawled; returns whether it went."""
    own = sa.select(_SEED.c.status).where(_SEED.c.id == row.seed_id)
    if connection.scalar(own) is SeedStatus.ACTIVE:
        return False
    given = sa.update(_LINK).where(_LINK.c.id == row.id).values(seed_id=seed_id)
    columns = (_LINK.c.host_id, _LINK.c.state, _LINK.c.relation)
    host_id, state, relation = connection.execute(given.returning(*columns)).one()
    tally.leave(row.seed_id, host_id, state)
    tally.enter(seed_id, host_id, state)
    tally.add(row.seed_id, f"relation.{relation}", -1)
    tally.add(seed_id, f"relation.{relation}")
    return True
