"""Read the database at a glance: how links relate, what fails and why, which hosts are slow, what a crawl changed."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from spider.model import LinkState, MediaKind, Reason, Relation
from spider.store.schema import MEDIA, CrawlerLink, Host, OutLink, Page, SeedLink, state_is, table

__all__ = ["HostRow", "changed", "reasons", "relations", "slow_hosts"]

_LINK = table(CrawlerLink)
_HOST = table(Host)
_SEED = table(SeedLink)
_OUT = table(OutLink)
_PAGE = table(Page)


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host and its pace: its usual time to answer and the wait between two requests, in microseconds.

    `pages` counts its pages that were read, `waiting` its links in W, `failures` those in a row.
    """

    name: str
    latency: int
    delay: int
    pages: int
    waiting: int
    failures: int


def slow_hosts(connection: sa.Connection, *, limit: int = 20) -> list[HostRow]:
    """Return the hosts that take longest to answer, the slowest first; a host that never answered is none."""
    slowest = sa.select(_HOST).where(_HOST.c.latency > 0).order_by(_HOST.c.latency.desc(), _HOST.c.id).limit(limit)
    hosts = connection.execute(slowest).all()
    query = (
        sa.select(_LINK.c.host_id, sa.func.count().label("pages"))
        .join_from(_PAGE, _LINK, _PAGE.c.link_id == _LINK.c.id)
        .where(_LINK.c.host_id.in_([host.id for host in hosts]))
        .group_by(_LINK.c.host_id)
    )
    pages: dict[int, int] = {row.host_id: row.pages for row in connection.execute(query)}
    return [
        HostRow(host.name, host.latency, host.delay, pages.get(host.id, 0), host.waiting, host.failures)
        for host in hosts
    ]


def relations(connection: sa.Connection) -> dict[str, dict[Relation, int]]:
    """Return how many links of each seed's forest stand in each relation to the page that showed them first.

    Links to other sites that the scope left alone count as external; seeds themselves are no links.
    """
    forest = (
        sa.select(_LINK.c.seed_id, _LINK.c.relation, sa.func.count())
        .where(_LINK.c.parent_id.is_not(None))
        .group_by(_LINK.c.seed_id, _LINK.c.relation)
    )
    outside = (
        sa.select(_LINK.c.seed_id, sa.func.count())
        .join_from(_OUT, _LINK, _LINK.c.id == _OUT.c.page_id)
        .group_by(_LINK.c.seed_id)
    )
    found: dict[int, dict[Relation, int]] = {}
    for seed_id, relation, number in connection.execute(forest):
        found.setdefault(seed_id, {})[relation] = number
    for seed_id, number in connection.execute(outside):
        classes = found.setdefault(seed_id, {})
        classes[Relation.EXTERNAL] = classes.get(Relation.EXTERNAL, 0) + number
    seeds = connection.execute(sa.select(_SEED.c.id, _SEED.c.url).order_by(_SEED.c.id))
    return {
        url: {relation: found[number].get(relation, 0) for relation in Relation}
        for number, url in seeds
        if number in found
    }


def reasons(connection: sa.Connection) -> dict[Reason, int]:
    """Return how many links failed for each reason, the most frequent first."""
    query = sa.select(_LINK.c.reason, sa.func.count()).where(state_is(LinkState.E)).group_by(_LINK.c.reason)
    found = [(reason, number) for reason, number in connection.execute(query) if reason is not None]
    return dict(sorted(found, key=lambda one: (-one[1], one[0].code)))


def changed(connection: sa.Connection, *, since: int) -> dict[MediaKind, tuple[int, int]]:
    """Return how many media of each kind were first seen, and how many went, from a moment (UTC microseconds) on."""
    found = {}
    for kind in MediaKind:
        rows = table(MEDIA[kind])
        new, gone = (
            connection.scalar(sa.select(sa.func.count()).select_from(rows).where(condition)) or 0
            for condition in (sa.and_(rows.c.first_seen >= since, rows.c.gone_at.is_(None)), rows.c.gone_at >= since)
        )
        found[kind] = (new, gone)
    return found
