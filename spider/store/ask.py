"""Read the database for people: rows for reports, counts for the status, the E queue.

Everything here streams or is small; nothing writes.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from spider import url as urls
from spider.errors import InputError
from spider.model import Confidence, Health, LinkState, MediaKind, Reason, SeedStatus
from spider.patterns import Pattern
from spider.store import dialect, identity
from spider.store.adoption import WITHDRAWN
from spider.store.schema import MEDIA, Count, CrawlerLink, Host, MediaCheck, OutLink, Page, Run, SeedLink, table
from spider.store.schema import Skipped as SkippedRow
from spider.store.tally import LANDED

__all__ = [
    "ErrorRow",
    "MediaRow",
    "RunRow",
    "SeedStatusRow",
    "Status",
    "error_rows",
    "find_seed",
    "landed",
    "latest_media",
    "link_counts",
    "media_rows",
    "outlink_count",
    "runs",
    "skipped_counts",
    "status",
]

_LINK = table(CrawlerLink)
_HOST = table(Host)
_SEED = table(SeedLink)
_PAGE = table(Page)
_COUNT = table(Count)
_RUN = table(Run)
_CHECK = table(MediaCheck)
_SKIPPED = table(SkippedRow)


@dataclass(frozen=True, slots=True)
class MediaRow:
    """One medium on one page, as reports show it; times are UTC microseconds.

    `title` is the page's, `name` the medium's own.  `size` is in bytes and `duration` in seconds, where known;
    `gone_at` None means it is still there.  What a check found of its own address, where there was one, are `size`,
    `health`, `status` (0: no answer), `served` (its real type), `moved_to` and `checked_at`.
    """

    page: str
    title: str
    media: str
    kind: MediaKind
    text: str
    source: str
    seed: str
    depth: int
    first_seen: int
    last_seen: int
    page_id: int
    name: str = ""
    format: str | None = None
    mime: str | None = None
    poster: str | None = None
    duration: float | None = None
    size: int | None = None
    gone_at: int | None = None
    health: Health | None = None
    status: int | None = None
    served: str | None = None
    moved_to: str | None = None
    checked_at: int | None = None


def media_rows(  # noqa: PLR0913  # one for each thing that is asked
    connection: sa.Connection,
    *,
    kinds: Collection[MediaKind] = tuple(MediaKind),
    confidence: Confidence = Confidence.LINK,
    seed: str | None = None,
    host: str | None = None,
    match: Pattern | None = None,
    gone: bool | None = False,
    since: int | None = None,
    dead: bool = False,
) -> Iterator[MediaRow]:
    """Stream the media of pages, in the order the pages were found.

    `confidence` is the least sure level shown; `seed` an address of the list, `host` the page's host
    name; `match` is searched in the addresses of page and medium, the title and the text.  `gone` shows
    those that are gone in place of those that are there, None both; `since` only what was first seen, or went,
    from a moment (UTC microseconds) on; `dead` only what a check found dead.  InputError where there is no such seed.
    """
    seed_id = None if seed is None else find_seed(connection, seed)
    shown = [level for level in Confidence if level.rank <= confidence.rank]
    streams = [
        _streamed(connection, kind, _of_kind(kind, shown, gone=gone, since=since, dead=dead), (seed_id, host))
        for kind in MediaKind
        if kind in kinds
    ]
    for _, _, row in heapq.merge(*streams, key=lambda item: item[:2]):
        if match is None or any(match.search(text) for text in (row.page, row.media, row.title, row.text)):
            yield row


def _of_kind(
    kind: MediaKind, shown: Collection[Confidence], *, gone: bool | None, since: int | None, dead: bool
) -> sa.Select[Any]:
    rows = table(MEDIA[kind])
    query = (
        sa.select(
            rows.c.page_id,
            _LINK.c.url,
            _PAGE.c.title,
            rows.c.url,
            rows.c.text,
            rows.c.source,
            _SEED.c.url,
            _LINK.c.depth,
            rows.c.first_seen,
            rows.c.last_seen,
            rows.c.title,
            rows.c.format,
            rows.c.mime,
            rows.c.poster,
            rows.c.duration,
            _CHECK.c.size,
            rows.c.gone_at,
            *(_CHECK.c[name] for name in ("health", "status", "mime", "moved_to", "checked_at")),
        )
        .join_from(rows, _LINK, rows.c.page_id == _LINK.c.id)
        .join(_SEED, _LINK.c.seed_id == _SEED.c.id)
        .outerjoin(_PAGE, _PAGE.c.link_id == _LINK.c.id)
        .outerjoin(_CHECK, _CHECK.c.url_hash == rows.c.url_hash)
        .where(rows.c.confidence.in_(shown))
        .order_by(rows.c.page_id, rows.c.id)
    )
    if gone is not None:
        query = query.where(rows.c.gone_at.is_not(None) if gone else rows.c.gone_at.is_(None))
    if dead:
        query = query.where(_CHECK.c.health == Health.DEAD)
    first, last = rows.c.first_seen, rows.c.gone_at
    moment = {True: last, False: first, None: sa.func.coalesce(last, first)}[gone]
    return query if since is None else query.where(moment >= since)


def _streamed(
    connection: sa.Connection, kind: MediaKind, query: sa.Select[Any], place: tuple[int | None, str | None]
) -> Iterator[tuple[int, int, MediaRow]]:
    seed_id, host = place
    if seed_id is not None:
        query = query.where(_LINK.c.seed_id == seed_id)
    if host is not None:
        query = query.join(_HOST, _HOST.c.id == _LINK.c.host_id).where(_HOST.c.name == host.lower())
    for row in dialect.streamed(connection, query):
        page_id, page, title, media, text, source, root, depth, first, last, name, *known = row
        told = (page, title or "", media, kind, text or "", source, root, depth, first, last)
        yield page_id, kind.code, MediaRow(*told, page_id, name or "", *known)


def latest_media(connection: sa.Connection, *, limit: int) -> list[tuple[MediaKind, str, str]]:
    """Return kind, title and address of the media that were found last, the newest first: a question of no time."""
    found: list[tuple[int, int, MediaKind, str, str]] = []
    for kind in MediaKind:
        rows = table(MEDIA[kind])
        columns = (rows.c.first_seen, rows.c.id, sa.func.coalesce(rows.c.title, rows.c.text, ""), rows.c.url)
        last = connection.execute(sa.select(*columns).order_by(rows.c.id.desc()).limit(limit))
        found += [(seen, number, kind, title, url) for seen, number, title, url in last]
    return [row[2:] for row in sorted(found, key=lambda row: row[:2], reverse=True)[:limit]]


def find_seed(connection: sa.Connection, text: str) -> int:
    """Return the row of a seed by its address, however spelled; InputError where the list has no such seed."""
    wanted = identity.key_of(connection, urls.normalize(urls.complete(text)))
    number = connection.scalar(sa.select(_SEED.c.id).where(_SEED.c.key == wanted))
    if number is None:
        msg = f"no such seed: {text}"
        raise InputError(msg)
    return int(number)


def landed(connection: sa.Connection) -> int:
    """Return a number that rises whenever a seed's redirects lead somewhere new."""
    seed_id, name = LANDED
    return connection.scalar(sa.select(_COUNT.c.value).where(_COUNT.c.seed_id == seed_id, _COUNT.c.name == name)) or 0


# --- status ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeedStatusRow:
    """A seed's links by state and its pages with each kind of media."""

    url: str
    links: dict[LinkState, int]
    pages: dict[MediaKind, int]


@dataclass(frozen=True, slots=True)
class Status:
    """The whole database in numbers: links by state, pages with each kind, media of each kind."""

    links: dict[LinkState, int]
    pages: dict[MediaKind, int]
    media: dict[MediaKind, int]
    seeds: tuple[SeedStatusRow, ...]


def link_counts(connection: sa.Connection) -> dict[LinkState, int]:
    """Return how many links stand in each state, from the kept counters."""
    words = [state.value for state in LinkState]
    query = (
        sa.select(_COUNT.c.name, sa.func.sum(_COUNT.c.value)).where(_COUNT.c.name.in_(words)).group_by(_COUNT.c.name)
    )
    found = {name: int(value) for name, value in connection.execute(query)}
    return {state: found.get(state.value, 0) for state in LinkState}


def status(connection: sa.Connection, *, confidence: Confidence = Confidence.LINK) -> Status:
    """Return links by state, and pages and media by kind at a level of confidence, in all and by seed.

    Media that are gone are not counted.
    """
    links = _links_by_seed(connection)
    shown = [level for level in Confidence if level.rank <= confidence.rank]
    pages: dict[int, dict[MediaKind, int]] = {}
    media: Counter[MediaKind] = Counter()
    for kind in MediaKind:
        held = table(MEDIA[kind])
        query = (
            sa.select(_LINK.c.seed_id, sa.func.count(held.c.page_id.distinct()), sa.func.count())
            .join_from(held, _LINK, held.c.page_id == _LINK.c.id)
            .where(held.c.confidence.in_(shown), held.c.gone_at.is_(None))
            .group_by(_LINK.c.seed_id)
        )
        for seed_id, holding, found in connection.execute(query):
            pages.setdefault(seed_id, {})[kind] = holding
            media[kind] += found
    rows = connection.execute(
        sa.select(_SEED.c.id, _SEED.c.url).where(_SEED.c.status == SeedStatus.ACTIVE).order_by(_SEED.c.id)
    )
    seeds = tuple(
        SeedStatusRow(
            url,
            {state: links.get(number, {}).get(state, 0) for state in LinkState},
            {kind: pages.get(number, {}).get(kind, 0) for kind in MediaKind},
        )
        for number, url in rows
    )
    return Status(
        links={state: sum(counts.get(state, 0) for counts in links.values()) for state in LinkState},
        pages={kind: sum(counts.get(kind, 0) for counts in pages.values()) for kind in MediaKind},
        media={kind: media[kind] for kind in MediaKind},
        seeds=seeds,
    )


def _links_by_seed(connection: sa.Connection) -> dict[int, dict[LinkState, int]]:
    words = [state.value for state in LinkState]
    query = sa.select(_COUNT.c.seed_id, _COUNT.c.name, _COUNT.c.value).where(_COUNT.c.name.in_(words))
    found: dict[int, dict[LinkState, int]] = {}
    for seed_id, name, value in connection.execute(query):
        found.setdefault(seed_id, {})[LinkState(name)] = value
    return found


# --- errors, refusals, runs -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """A link in E: what failed, when it is due again (UTC microseconds) and the page that showed it."""

    url: str
    reason: Reason
    message: str
    status: int | None
    attempt: int
    retry_at: int | None
    seed: str
    depth: int
    parent: str | None


def error_rows(
    connection: sa.Connection, *, seed: str | None = None, reason: Reason | None = None
) -> Iterator[ErrorRow]:
    """Stream the E queue in the order its links were found; InputError where there is no such seed.

    What only waits for its seed to be crawled again is shown where a seed or a reason is asked for.
    """
    parent = _LINK.alias("parent")
    query = (
        sa.select(
            _LINK.c.url,
            _LINK.c.reason,
            _LINK.c.message,
            _PAGE.c.status,
            _LINK.c.attempt,
            _LINK.c.retry_at,
            _SEED.c.url,
            _LINK.c.depth,
            parent.c.url,
        )
        .join_from(_LINK, _SEED, _LINK.c.seed_id == _SEED.c.id)
        .outerjoin(_PAGE, _PAGE.c.link_id == _LINK.c.id)
        .outerjoin(parent, parent.c.id == _LINK.c.parent_id)
        .where(_LINK.c.state == LinkState.E)
        .order_by(_LINK.c.id)
    )
    if seed is reason is None:
        query = query.where(sa.or_(_LINK.c.message.is_(None), _LINK.c.message != WITHDRAWN))
    if seed is not None:
        query = query.where(_LINK.c.seed_id == find_seed(connection, seed))
    if reason is not None:
        query = query.where(_LINK.c.reason == reason)
    for row in dialect.streamed(connection, query):
        yield ErrorRow(*row)


def skipped_counts(connection: sa.Connection) -> dict[str, int]:
    """Return how many addresses each rule refused."""
    query = sa.select(_SKIPPED.c.rule, sa.func.count()).group_by(_SKIPPED.c.rule).order_by(_SKIPPED.c.rule)
    return {str(rule): int(number) for rule, number in connection.execute(query)}


def outlink_count(connection: sa.Connection) -> int:
    """Return how many addresses on other sites pages show."""
    return connection.scalar(sa.select(sa.func.count()).select_from(OutLink)) or 0


@dataclass(frozen=True, slots=True)
class RunRow:
    """One crawl; `ended_at` None means it runs or was killed."""

    id: int
    began_at: int
    ended_at: int | None
    why: str | None
    counts: str | None


def runs(connection: sa.Connection) -> list[RunRow]:
    """Return the crawls made on this database, the newest first."""
    columns = (_RUN.c.id, _RUN.c.began_at, _RUN.c.ended_at, _RUN.c.why, _RUN.c.counts)
    return [RunRow(*row) for row in connection.execute(sa.select(*columns).order_by(_RUN.c.id.desc()))]
