"""Tell how an address came to stand where it does: the way to it, what refused it, where it was seen.

Everything here reads; `ask` has what reports and counts are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from spider import url as urls
from spider.model import LinkState, MediaKind, Reason, SeedStatus
from spider.states import Transition
from spider.store import dialect, graphs, identity, takedown
from spider.store.schema import MEDIA, CrawlerLink, OutLink, Page, SeedLink, table
from spider.store.schema import Skipped as SkippedTable

__all__ = ["EXTERNAL", "HeldRow", "SkippedRow", "Step", "Why", "address_of", "rules", "skipped_rows", "why"]

EXTERNAL = "external"
"""The rule that links to other sites are refused by; they have a table of their own."""

_LINK = table(CrawlerLink)
_PAGE = table(Page)
_SEED = table(SeedLink)
_OUT = table(OutLink)
_SKIPPED = table(SkippedTable)


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """An address that was refused: by which rule, how often, on which page first, when first (UTC microseconds).

    `page` is None where no page showed it, `at` where nobody wrote it down.
    """

    url: str
    rule: str
    page: str | None
    count: int
    at: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """One link on the way from a seed; the last is the address itself.

    `depth` counts from the seed; `status` and `fetched_at` tell of its page; `message` is what failed, or
    what the page turned out to be: a copy or a redirect.
    """

    url: str
    text: str
    source: str
    state: LinkState
    depth: int
    status: int | None
    reason: Reason | None
    message: str | None
    retry_at: int | None
    fetched_at: int | None


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A page that holds the address as a medium; `gone_at` None is still.

    `state` is the number of the state of an application that the medium needs to be seen, as reports number
    them: by their distance from the start, 0; `events` are a shortest way there.
    """

    page: str
    kind: MediaKind
    text: str
    source: str
    first_seen: int
    gone_at: int | None
    state: int | None = None
    events: tuple[Transition, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """All that is known of one address; nothing at all where no page that was read shows it."""

    url: str
    seed: str | None = None
    seed_status: SeedStatus | None = None
    path: tuple[Step, ...] = ()
    refused: tuple[SkippedRow, ...] = ()
    held: tuple[HeldRow, ...] = ()
    forgotten: bool = False

    @property
    def known(self) -> bool:
        """Whether the address was ever met."""
        return bool(self.path or self.refused or self.held or self.forgotten)


# --- refusals -------------------------------------------------------------------------------------


def skipped_rows(connection: sa.Connection, *, rule: str | None = None) -> Iterator[SkippedRow]:
    """Stream what was refused, by one rule or by all, in the order it was met; links to other sites come last."""
    query = _refused().order_by(_SKIPPED.c.id)
    if rule is not None:
        query = query.where(_SKIPPED.c.rule == rule)
    yield from _streamed(connection, query)
    if rule in {None, EXTERNAL}:
        yield from _streamed(connection, _outside().order_by(_OUT.c.id))


def rules(connection: sa.Connection) -> list[str]:
    """Return the names of the rules that refused anything."""
    named = set(connection.scalars(sa.select(_SKIPPED.c.rule).distinct()))
    outside = connection.scalar(sa.select(_OUT.c.id).limit(1)) is not None
    return sorted(named | {EXTERNAL} if outside else named)


def _refused() -> sa.Select[Any]:
    columns = (_SKIPPED.c.url, _SKIPPED.c.rule, _LINK.c.url, _SKIPPED.c["count"], _SKIPPED.c.at)
    return sa.select(*columns).outerjoin(_LINK, _LINK.c.id == _SKIPPED.c.page_id)


def _outside() -> sa.Select[Any]:
    columns = (_OUT.c.url, sa.literal(EXTERNAL), _LINK.c.url, _OUT.c["count"], sa.null())
    return sa.select(*columns).outerjoin(_LINK, _LINK.c.id == _OUT.c.page_id)


def _streamed(connection: sa.Connection, query: sa.Select[Any]) -> Iterator[SkippedRow]:
    for row in dialect.streamed(connection, query):
        yield SkippedRow(*row)


# --- one address ----------------------------------------------------------------------------------


def address_of(text: str) -> str:
    """Normalize an address as people write it, with https:// understood; InvalidURL where it is none."""
    return urls.normalize(urls.complete(text))


def why(connection: sa.Connection, url: str) -> Why:
    """Tell all that is known of a normalized address."""
    h = identity.hash_of(connection, url)
    link = identity.find(connection, url)
    path = () if link is None else tuple(_path(connection, link.id))
    seed = None if link is None else _seed(connection, link.seed_id)
    refused = [
        row
        for query in (_refused().where(_SKIPPED.c.url_hash == h), _outside().where(_OUT.c.url_hash == h))
        for row in _streamed(connection, query)
    ]
    gone = takedown.forgotten(connection)
    return Why(
        url,
        seed=seed[0] if seed else None,
        seed_status=seed[1] if seed else None,
        path=path,
        refused=tuple(refused),
        held=tuple(_held(connection, h)),
        forgotten=urls.host(url) in gone or identity.key_of(connection, url) in gone,
    )


def _seed(connection: sa.Connection, seed_id: int) -> tuple[str, SeedStatus] | None:
    row = connection.execute(sa.select(_SEED.c.url, _SEED.c.status).where(_SEED.c.id == seed_id)).first()
    return None if row is None else (row.url, row.status)


def _path(connection: sa.Connection, link_id: int) -> list[Step]:
    """Follow the pages that showed a link first, from it up to the seed, and return them in the seed's order."""
    steps: list[Step] = []
    met: set[int] = set()
    number: int | None = link_id
    while number is not None and number not in met:
        met.add(number)
        row = connection.execute(_STEP, {"id": number}).first()
        if row is None:
            break
        steps.append(
            Step(
                url=row.url,
                text=row.text or "",
                source=row.source,
                state=row.state,
                depth=row.depth,
                status=row.status,
                reason=row.reason,
                message=row.message or _turned_out(connection, row.copy_of, row.redirect_to),
                retry_at=row.retry_at,
                fetched_at=row.fetched_at,
            )
        )
        number = row.parent_id
    return steps[::-1]


_STEP = (
    sa.select(
        *(_LINK.c[name] for name in ("url", "text", "source", "state", "depth", "parent_id")),
        *(_LINK.c[name] for name in ("reason", "message", "retry_at")),
        *(_PAGE.c[name] for name in ("status", "fetched_at", "copy_of", "redirect_to")),
    )
    .outerjoin(_PAGE, _PAGE.c.link_id == _LINK.c.id)
    .where(_LINK.c.id == sa.bindparam("id"))
)


def _turned_out(connection: sa.Connection, copy_of: int | None, redirect_to: str | None) -> str | None:
    """Say what a page turned out to be, where it is no page of its own."""
    if redirect_to is not None:
        return f"redirects to {redirect_to}"
    original = None if copy_of is None else connection.scalar(sa.select(_LINK.c.url).where(_LINK.c.id == copy_of))
    return None if original is None else f"a copy of {original}"


def _held(connection: sa.Connection, h: int) -> Iterator[HeldRow]:
    """Yield the pages that hold a medium."""
    for kind in MediaKind:
        rows = table(MEDIA[kind])
        columns = (_LINK.c.url, rows.c.text, rows.c.source, rows.c.first_seen, rows.c.gone_at)
        query = sa.select(*columns, rows.c.page_id, rows.c.state_id)
        query = query.join_from(rows, _LINK, rows.c.page_id == _LINK.c.id)
        for row in connection.execute(query.where(rows.c.url_hash == h).order_by(rows.c.id)):
            place = (None, ()) if row.state_id is None else graphs.place_of(connection, row.page_id, row.state_id)
            yield HeldRow(row.url, kind, row.text or "", row.source, row.first_seen, row.gone_at, *place)
