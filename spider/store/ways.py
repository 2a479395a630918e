"""The statements by which `frontier` moves links, each built once: building one takes longer than running it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from spider.model import LinkState
from spider.store import dialect
from spider.store.handout import COLUMNS
from spider.store.schema import CrawlerLink, state_is, table

if TYPE_CHECKING:
    from sqlalchemy.sql.dml import ReturningInsert, ReturningUpdate

__all__ = ["CHECK_OUT", "DONE", "DROPPED", "FAILED", "MOVED", "RELEASED", "SENT_ON", "Way", "new"]

W, R, C, E = LinkState.W, LinkState.R, LinkState.C, LinkState.E
_LINK = table(CrawlerLink)


@dialect.once
def new(connection: sa.Connection) -> ReturningInsert[int, int, int]:
    """Return the statement by which links enter W that are not there yet."""
    insert = dialect.insert(connection, _LINK).on_conflict_do_nothing()
    return insert.returning(_LINK.c.id, _LINK.c.host_id, _LINK.c.h)


_FIRST = (
    sa.select(_LINK.c.id)
    .where(
        _LINK.c.host_id == sa.bindparam("b_host"),
        state_is(W),
        _LINK.c.late == sa.bindparam("b_late"),
        _LINK.c.depth == sa.bindparam("b_depth"),
    )
    .order_by(_LINK.c.id)
    .limit(sa.bindparam("b_limit"))
)
CHECK_OUT = (
    sa.update(_LINK)
    .where(_LINK.c.id.in_(_FIRST.scalar_subquery()))
    .values(state=R, worker_id=sa.bindparam("b_worker"), attempt=_LINK.c.attempt + 1)
    .returning(*(_LINK.c[name] for name in COLUMNS))
)
MOVED = [_LINK.c[name] for name in ("id", "seed_id", "host_id", "depth", "parent_id", "relation")]
DROPPED = (
    sa.delete(_LINK)
    .where(state_is(R), _LINK.c.worker_id == sa.bindparam("b_worker"), _LINK.c.id == sa.bindparam("b_id"))
    .returning(*MOVED)
)


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of R for links in a worker's hands: to which state, by which statements for all and for some."""

    after: LinkState
    all: ReturningUpdate[Any]
    some: ReturningUpdate[Any]


def way(after: LinkState, **values: object) -> Way:
    """Make the statements of a way out of R; those for some take `b_ids`."""
    mine = sa.update(_LINK).where(state_is(R), _LINK.c.worker_id == sa.bindparam("b_worker"))
    every = mine.values(state=after, worker_id=None, **values)
    some = every.where(_LINK.c.id.in_(sa.bindparam("b_ids", expanding=True)))
    return Way(after, every.returning(*MOVED), some.returning(*MOVED))


DONE = way(C, reason=None, message=None, retry_at=None)
FAILED = way(E, reason=sa.bindparam("b_reason"), message=sa.bindparam("b_message"), retry_at=sa.bindparam("b_retry_at"))
RELEASED = way(W, attempt=_LINK.c.attempt - 1)
SENT_ON = way(W, url=sa.bindparam("b_url"), hops=_LINK.c.hops + 1, attempt=0)
