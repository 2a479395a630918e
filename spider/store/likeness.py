"""Which pages are nearly copies of others, by their fingerprints (`spider.page.alike`).

A page that is no copy is written down by each part of its fingerprint, so that one like it is found by
looking up as many values, however many pages there are; a space of copies without end adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from spider.model import Fetched, Outcome
from spider.page.alike import NEAR, bands, distance
from spider.store import dialect
from spider.store.schema import Likeness, table

__all__ = ["forget", "near_originals"]

_LIKENESS = table(Likeness)
_MOST = 1000  # pages that are compared with one; ten million give six hundred


def near_originals(connection: sa.Connection, outcomes: Sequence[Outcome], copies: Mapping[int, int]) -> dict[int, int]:
    """Return, for each page among the outcomes that is nearly a copy, the link whose page it is near to.

    `copies` are known to be copies and left out.  Pages that are none are written down, to be found by others.
    """
    marks = {
        outcome.request.link_id: outcome.page.simhash
        for outcome in outcomes
        if isinstance(outcome, Fetched) and outcome.page is not None and outcome.page.simhash is not None
    }
    again = {
        outcome.request.link_id
        for outcome in outcomes
        if isinstance(outcome, Fetched) and outcome.request.known is not None and not outcome.unchanged
    }
    forget(connection, sorted(again.union(marks)))
    found: dict[int, int] = {}
    fresh: dict[int, int] = {}
    for link_id, mark in sorted(marks.items()):
        if link_id in copies:
            continue
        known = {**_stored(connection, mark), **fresh}
        near = [other for other, its in known.items() if other < link_id and distance(its, mark) <= NEAR]
        if near:
            found[link_id] = min(near)
        else:
            fresh[link_id] = mark
    rows = [
        {"band": band, "link_id": link_id, "simhash": mark} for link_id, mark in fresh.items() for band in _keys(mark)
    ]
    if rows:
        connection.execute(sa.insert(_LIKENESS), rows)
    return found


def forget(connection: sa.Connection, link_ids: Sequence[int]) -> None:
    """Let pages be found no more: they are read anew, or taken down."""
    for part in dialect.chunks(link_ids):
        connection.execute(sa.delete(_LIKENESS).where(_LIKENESS.c.link_id.in_(part)))


def _keys(mark: int) -> list[int]:
    return [number << 16 | bits for number, bits in enumerate(bands(mark))]


def _stored(connection: sa.Connection, mark: int) -> dict[int, int]:
    query = sa.select(_LIKENESS.c.link_id, _LIKENESS.c.simhash).where(_LIKENESS.c.band.in_(_keys(mark))).limit(_MOST)
    return {row.link_id: row.simhash for row in connection.execute(query)}
