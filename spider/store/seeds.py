"""The list of seeds: SeedLink rows, and the link in W that each begins with."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from spider import url as urls
from spider.model import LinkState, Relation, SeedOrigin, SeedStatus
from spider.store import dialect, frontier
from spider.store.schema import Count, CrawlerLink, SeedLink, state_is, table
from spider.store.tally import Tally

__all__ = ["SeedRow", "add_seed", "land", "plant", "plant_all", "seed_rows", "unfetched"]

_SEED = table(SeedLink)
_LINK = table(CrawlerLink)
_COUNT = table(Count)
LIMIT = "limit.depth"
SOURCE = "seed@url"
"""The source of a link that a seed begins with, and of what it redirects to."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A seed as it stands in the list; `options` are its own settings, times UTC microseconds."""

    id: int
    url: str
    origin: SeedOrigin
    status: SeedStatus
    note: str | None
    landed_url: str | None
    options: Mapping[str, object]
    added_at: int = 0
    decided_at: int | None = None

    @property
    def root(self) -> str:
        """The address that its scope is reckoned from."""
        return self.landed_url or self.url


def add_seed(
    connection: sa.Connection,
    url: str,
    *,
    now: int,
    origin: SeedOrigin = SeedOrigin.HAND,
    options: Mapping[str, object] | None = None,
    note: str | None = None,
) -> int:
    """Put a normalized address in the list and return its row; one that is there becomes active again.

    Options given replace the ones it had; none given leaves them.
    """
    values = {"note": note} if note is not None else {}
    if options:
        values["options"] = json.dumps(options, sort_keys=True)
    fresh = {"url": url, "key": urls.key(url), "origin": origin, "added_at": now}
    status = SeedStatus.ACTIVE if origin is SeedOrigin.HAND else SeedStatus.CANDIDATE
    insert = dialect.insert(connection, _SEED).values(**fresh, **values, status=status)
    again = {**values, "status": status} if origin is SeedOrigin.HAND else {"key": _SEED.c.key}
    statement = insert.on_conflict_do_update(index_elements=[_SEED.c.key], set_=again)
    return int(connection.execute(statement.returning(_SEED.c.id)).scalar_one())


def plant(connection: sa.Connection, seed: SeedRow, *, limit: int, tally: Tally) -> int:
    """Put the seed's own link in W at depth 0, unless it is known; returns the link's row."""
    link = frontier.NewLink(
        url=seed.url,
        h=urls.identify(seed.url),
        host=urls.host(seed.url),
        depth=0,
        seed_id=seed.id,
        limit=limit,
        source=SOURCE,
        relation=Relation.HORIZONTAL,
    )
    return frontier.add(connection, [link], tally)[link.host, link.h]


def plant_all(connection: sa.Connection, limits: Mapping[int, int], tally: Tally, *, given: Collection[int]) -> None:
    """Plant the active seeds, each with the depth limit it is to be crawled with.

    One `given` anew whose link failed before is tried again; where the limit was raised since the last
    crawl, the pages that stood at the old one are read again for the links that it cut.
    """
    for seed in seed_rows(connection):
        link_id = plant(connection, seed, limit=limits[seed.id], tally=tally)
        if seed.id in given:
            frontier.retry(connection, tally, link_ids=[link_id])
        before = _limit(connection, seed.id)
        if before is not None and limits[seed.id] > before:
            frontier.deepen(connection, seed.id, before, tally)
        if limits[seed.id] != before:
            _set_limit(connection, seed.id, limits[seed.id])


def seed_rows(connection: sa.Connection, *, status: SeedStatus | None = SeedStatus.ACTIVE) -> list[SeedRow]:
    """Return the seeds of a status (None: of any), in the order they came."""
    columns = (
        _SEED.c.id,
        _SEED.c.url,
        _SEED.c.origin,
        _SEED.c.status,
        _SEED.c.note,
        _SEED.c.landed_url,
        _SEED.c.options,
    )
    query = sa.select(*columns).order_by(_SEED.c.id)
    if status is not None:
        query = query.where(_SEED.c.status == status)
    return [SeedRow(*row[:-1], options=json.loads(row[-1] or "{}")) for row in connection.execute(query)]


def land(connection: sa.Connection, seed_id: int, url: str) -> None:
    """Take note of where a seed's redirects led: its scope is reckoned from there."""
    connection.execute(sa.update(_SEED).where(_SEED.c.id == seed_id).values(landed_url=url))


def unfetched(connection: sa.Connection, seed_ids: list[int]) -> list[str]:
    """Return the addresses of seeds, or of what they redirect to, that stand in E."""
    bad: list[str] = []
    for part in dialect.chunks(seed_ids):
        query = sa.select(_LINK.c.url).where(state_is(LinkState.E), _LINK.c.source == SOURCE, _LINK.c.seed_id.in_(part))
        bad.extend(connection.scalars(query))
    return bad


def _limit(connection: sa.Connection, seed_id: int) -> int | None:
    """Return the depth limit that the seed was last crawled with; None when it never was."""
    return connection.scalar(sa.select(_COUNT.c.value).where(_COUNT.c.seed_id == seed_id, _COUNT.c.name == LIMIT))


def _set_limit(connection: sa.Connection, seed_id: int, value: int) -> None:
    """Keep the depth limit that the seed is crawled with, so that a greater one later reaches deeper."""
    insert = dialect.insert(connection, _COUNT).values(seed_id=seed_id, name=LIMIT, value=value)
    connection.execute(insert.on_conflict_do_update(index_elements=["seed_id", "name"], set_={"value": value}))
