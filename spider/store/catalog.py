"""Write what became of links, a page's whole outcome in one transaction.

The moves themselves are `frontier`'s; reading for reports is `ask`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

import sqlalchemy as sa

from spider import url as urls
from spider.model import Failed, Fetched, Link, Media, Outcome, Reason, Relation, Request, Skipped
from spider.states import Rendering
from spider.store import changes, dialect, edges, frontier, graphs, held, identity, seeds, takedown
from spider.store.changes import originals
from spider.store.frontier import Failure, NewLink
from spider.store.likeness import near_originals
from spider.store.schema import MEDIA, OutLink, Page, table
from spider.store.schema import Skipped as SkippedRow
from spider.store.tally import LANDED, Tally

__all__ = ["GONE", "record"]

GONE = frozenset({404, 410})

SCOPE_RULES = frozenset({"tree", "kin", "host", "domain"})
"""Rules whose refusal of a link to another site makes it an OutLink."""

_PAGE = table(Page)
_OUT = table(OutLink)
_SKIPPED = table(SkippedRow)


@dataclass(slots=True)
class _Batch:
    """The rows that a batch of outcomes makes, gathered so that each table is written once."""

    hasten: int | None
    ladder: str
    pages: list[dict[str, object]] = field(default_factory=list)
    copies: dict[int, int] = field(default_factory=dict)
    unchanged: list[int] = field(default_factory=list)
    reread: set[int] = field(default_factory=set)
    gone: list[Request] = field(default_factory=list)
    failed_pages: list[dict[str, object]] = field(default_factory=list)
    media: dict[str, list[dict[str, object]]] = field(default_factory=lambda: {kind: [] for kind in MEDIA})
    graphs: dict[int, Rendering] = field(default_factory=dict)
    elsewhere: list[tuple[Media, int]] = field(default_factory=list)
    links: list[NewLink] = field(default_factory=list)
    out: dict[int, dict[str, object]] = field(default_factory=dict)
    skipped: dict[tuple[int, str], dict[str, object]] = field(default_factory=dict)
    edges: bool = False


def record(  # noqa: PLR0913  # what is kept of a crawl hangs on each of these
    connection: sa.Connection,
    worker_id: int,
    outcomes: Sequence[Outcome],
    tally: Tally,
    *,
    now: int,
    limits: Mapping[int, int],
    dedup: bool = True,
    hasten: int | None = None,
    keep_edges: bool = False,
) -> list[Outcome]:
    """Write outcomes down and move their links; returns those whose links were still this worker's.

    An outcome whose link another worker has taken meanwhile (a lease that ran out) leaves no trace.
    `limits` gives the depth limit of each seed.  With `dedup` a page whose content another page had
    first, or that has a fingerprint near to another's, is marked as its copy, and what it links to waits
    behind all other links.  A page that was fetched before `hasten` (UTC microseconds) waits again where a
    sitemap tells that it changed since.  With `keep_edges` every link of every page is kept.
    """
    moved = _move(connection, worker_id, outcomes, tally)
    mine = [outcome for outcome in outcomes if outcome.request.link_id in moved]
    batch = _Batch(hasten, dialect.ladder(connection), edges=keep_edges)
    if dedup:
        batch.copies = originals(connection, mine)
        near = near_originals(connection, mine, batch.copies)
        batch.copies |= near
        mine = [_marked(outcome, near) for outcome in mine]
    for outcome in mine:
        place = moved[outcome.request.link_id]
        match outcome:
            case Fetched(void=True):
                pass
            case Fetched():
                _gather(batch, outcome, place, limits=limits, now=now)
                _count(outcome, place.seed_id, tally)
                if outcome.redirect is not None and str(outcome.request.source) == seeds.SOURCE:
                    seeds.land(connection, place.seed_id, outcome.redirect.url)
                    tally.add(*LANDED)
            case Failed(status=int() as status):
                batch.failed_pages.append(_failed_page(outcome.request, status, now))
                if status in GONE:
                    batch.gone.append(outcome.request)
            case Failed():
                pass
            case Skipped():
                place_of = (outcome.request.url, identity.hash_of(connection, outcome.request.url))
                _refuse(batch, place_of, outcome.rule, place.parent_id, now)
            case _:
                assert_never(outcome)
    _bar(batch, takedown.forgotten(connection))
    _write(connection, batch, tally, now)
    frontier.renew(connection, _cut_too_soon(mine, moved), tally)
    frontier.renew_nearer(connection, tally)
    return mine


def _marked(outcome: Outcome, copies: Mapping[int, int]) -> Outcome:
    """Let an outcome tell that its page is nearly a copy; an exact one, of another host's, perhaps, is no trap."""
    if isinstance(outcome, Fetched) and outcome.request.link_id in copies:
        return replace(outcome, copy=True)
    return outcome


def _cut_too_soon(outcomes: Iterable[Outcome], moved: Mapping[int, frontier.Moved]) -> list[int]:
    """Return the pages that came nearer while they were read, where links were refused for the depth they had."""
    return [
        outcome.request.link_id
        for outcome in outcomes
        if isinstance(outcome, Fetched)
        and moved[outcome.request.link_id].depth < outcome.request.depth
        and any(rule == "depth" for _, rule in outcome.refused)
    ]


def _move(
    connection: sa.Connection, worker_id: int, outcomes: Sequence[Outcome], tally: Tally
) -> dict[int, frontier.Moved]:
    ladder = dialect.ladder(connection)
    done: list[int] = []
    failures: list[Failure] = []
    moved: dict[int, frontier.Moved] = {}
    for outcome in outcomes:
        request = outcome.request
        match outcome:
            case Fetched(redirect=Link() as target) if _is_itself(request, target, ladder):
                moved |= frontier.send_on(connection, worker_id, request.link_id, target.url, tally)
            case Fetched(void=True):
                moved |= frontier.drop(connection, worker_id, request.link_id, tally)
            case Fetched():
                done.append(request.link_id)
            case Failed(reason=reason, message=message, retry_at=retry_at):
                failures.append(Failure(request.link_id, reason, held.fit(message) or "", retry_at))
            case Skipped(rule=rule):
                reason = Reason.ROBOTS if rule == "robots" else Reason.REFUSED
                failures.append(Failure(request.link_id, reason, f"refused by rule {rule}"))
            case _:
                assert_never(outcome)
    moved |= frontier.complete(connection, worker_id, done, tally)
    moved |= frontier.fail(connection, worker_id, failures, tally)
    return moved


def _is_itself(request: Request, target: Link, ladder: str) -> bool:
    """Whether a redirect's target has the link's own identity, and so could never enter W beside it."""
    return identity.same(target.url, request.url, ladder)


# --- a fetched page -------------------------------------------------------------------------------


def _gather(batch: _Batch, outcome: Fetched, place: frontier.Moved, *, limits: Mapping[int, int], now: int) -> None:
    request, page, depth = outcome.request, outcome.page, place.depth
    target = outcome.redirect
    if target is not None and _is_itself(request, target, batch.ladder):
        return
    if outcome.unchanged:
        batch.unchanged.append(request.link_id)
        return
    copy_of = batch.copies.get(request.link_id)
    batch.pages.append(_page(outcome, copy_of, now))
    if target is not None:
        batch.links.append(_sent_on(request, target, depth, limits.get(request.seed_id, depth)))
    late = request.late or copy_of is not None
    batch.links.extend(
        _found(
            link,
            seed_id,
            request,
            depth=depth + 1,
            limit=limits.get(seed_id, depth + 1),
            late=late,
            changed=_stale(link, batch.hasten, now),
        )
        for link, seed_id in outcome.links
    )
    if request.known is not None:
        batch.reread.add(request.link_id)
    if outcome.rendering is not None and outcome.rendering.graph is not None:
        batch.graphs[request.link_id] = outcome.rendering
    for medium in page.media if page is not None else ():
        if medium.page is None:
            batch.media[medium.kind].append(held.row(medium, request.link_id, now))
        else:
            batch.elsewhere.append((medium, request.link_id))
    if outcome.medium is not None:
        holder = request.link_id if place.parent_id is None else place.parent_id  # forgotten meanwhile, perhaps
        batch.media[outcome.medium.kind].append(held.row(outcome.medium, holder, now))
    _gather_refused(batch, outcome, now)


def _gather_refused(batch: _Batch, outcome: Fetched, now: int) -> None:
    """Gather what was refused: links that leave the site by the scope's word, and all others by their rule."""
    request = outcome.request
    for link, rule in outcome.refused:
        if link.relation is Relation.EXTERNAL and rule in SCOPE_RULES:
            row = batch.out.setdefault(
                link.h,
                {
                    "url_hash": link.h,
                    "url": link.url,
                    "page_id": request.link_id,
                    "text": link.text or None,
                    "count": 0,
                },
            )
            row["count"] = int(str(row["count"])) + 1
        else:
            _refuse(batch, (link.url, link.h), rule, request.link_id, now)


def _stale(link: Link, hasten: int | None, now: int) -> int | None:
    """Return the moment before which a page must have been fetched to be out of date, as a sitemap says."""
    return None if hasten is None or link.modified is None or link.modified > now else min(link.modified, hasten)


def _found(
    link: Link, seed_id: int, request: Request, *, depth: int, limit: int, late: bool, changed: int | None
) -> NewLink:
    return NewLink(
        url=link.url,
        h=link.h,
        host=urls.host(link.url),
        depth=depth,
        seed_id=seed_id,
        limit=limit,
        source=str(link.source),
        relation=link.relation,
        parent_id=request.link_id,
        text=link.text,
        late=late,
        changed=changed,
    )


def _sent_on(request: Request, target: Link, depth: int, limit: int) -> NewLink:
    """Place a redirect's target where the link stood: same depth, same page, same anchor text."""
    return NewLink(
        url=target.url,
        h=target.h,
        host=urls.host(target.url),
        depth=depth,
        seed_id=request.seed_id,
        limit=limit,
        source=str(request.source),
        relation=target.relation,
        parent_id=request.parent_id,
        text=request.text,
        hops=request.hops + 1,
        late=request.late,
    )


def _page(outcome: Fetched, copy_of: int | None, now: int) -> dict[str, object]:
    response, page, rendering = outcome.response, outcome.page, outcome.rendering or Rendering()
    return {
        "link_id": outcome.request.link_id,
        "status": response.status,
        "content_type": held.fit(response.content_type),
        "charset": page.charset if page else None,
        "title": (page.title or None) if page else None,
        "etag": held.fit(response.headers.get("etag")),
        "last_modified": held.fit(response.headers.get("last-modified")),
        "content_hash": outcome.content_hash,
        "simhash": page.simhash if page else None,
        "size": len(response.body),
        "fetched_at": now,
        "changed_at": now,
        "canonical": page.canonical if page else None,
        "redirect_to": response.location,
        "copy_of": copy_of,
        "application": held.fit(", ".join(rendering.looks)) or None,
        "ajax": rendering.plan,
    }


def _failed_page(request: Request, status: int, now: int) -> dict[str, object]:
    return {
        "link_id": request.link_id,
        "status": status,
        "content_type": "",
        "content_hash": 0,
        "size": 0,
        "fetched_at": now,
        "changed_at": now,
        "ajax": 0,
    }


def _refuse(batch: _Batch, place: tuple[str, int], rule: str, page_id: int | None, now: int) -> None:
    url, h = place
    row = batch.skipped.setdefault(
        (h, rule), {"url_hash": h, "url": url, "rule": rule, "page_id": page_id, "at": now, "count": 0}
    )
    row["count"] = int(str(row["count"])) + 1


def _count(outcome: Fetched, seed_id: int, tally: Tally) -> None:
    for _, rule in outcome.refused:
        tally.add(seed_id, f"cut.{rule}")
    if outcome.response.truncated:
        tally.add(seed_id, "cut.max-size")


def _bar(batch: _Batch, targets: frozenset[str]) -> None:
    """Take out what tells of the forgotten: a page read again, or one in flight when they were, knows them still."""
    if not targets:
        return

    def covers(url: object) -> bool:
        return takedown.covers(targets, str(url), batch.ladder)

    batch.links = [link for link in batch.links if not covers(link.url)]
    for kind, rows in batch.media.items():
        batch.media[kind] = [row for row in rows if not covers(row["url"])]
    batch.out = {place: row for place, row in batch.out.items() if not covers(row["url"])}
    batch.skipped = {place: row for place, row in batch.skipped.items() if not covers(row["url"])}
    mentions = (
        (batch.pages, "redirect_to"),
        (batch.pages, "canonical"),
        *((rows, "poster") for rows in batch.media.values()),
    )
    for rows, column in mentions:
        for row in rows:
            if covers(row[column]):
                row[column] = None


# --- writing --------------------------------------------------------------------------------------

_KEPT_ON_FAILURE = ("status", "fetched_at")


def _write(connection: sa.Connection, batch: _Batch, tally: Tally, now: int) -> None:
    if batch.pages:
        connection.execute(_read_pages(connection, tuple(batch.pages[0])), batch.pages)
    if batch.failed_pages:
        connection.execute(_failed_pages(connection), batch.failed_pages)
    links = frontier.add(connection, batch.links, tally)
    tally.met.extend(batch.links)
    if batch.edges:
        edges.write(connection, batch.reread, batch.links, links)
    for medium, sitemap in batch.elsewhere:
        place = medium.page or medium.url
        holder = links.get((urls.host(place), identity.hash_of(connection, place)), sitemap)
        batch.media[medium.kind].append(held.row(medium, holder, now))
    needed = graphs.replace(connection, batch.reread, batch.graphs)
    for kind, rows in batch.media.items():
        if rows:
            held.write(connection, kind, rows, needed)
    changes.still_there(connection, batch.unchanged, now)
    changes.no_longer_there(connection, batch.reread, now)
    changes.gone(connection, batch.gone, now)
    if batch.out:
        connection.execute(_counted(connection, _OUT, "url_hash"), list(batch.out.values()))
    if batch.skipped:
        connection.execute(_counted(connection, _SKIPPED, "url_hash", "rule"), list(batch.skipped.values()))


@dialect.once
def _read_pages(connection: sa.Connection, columns: tuple[str, ...]) -> sa.Insert:
    insert = dialect.insert(connection, _PAGE)
    new = insert.excluded
    fresh = {name: new[name] for name in columns if name not in {"link_id", "changed_at"}}
    changed = sa.case((_PAGE.c.content_hash == new.content_hash, _PAGE.c.changed_at), else_=new.changed_at)
    return insert.on_conflict_do_update(index_elements=[_PAGE.c.link_id], set_={**fresh, "changed_at": changed})


@dialect.once
def _failed_pages(connection: sa.Connection) -> sa.Insert:
    insert = dialect.insert(connection, _PAGE)
    kept = {name: insert.excluded[name] for name in _KEPT_ON_FAILURE}
    return insert.on_conflict_do_update(index_elements=[_PAGE.c.link_id], set_=kept)


@dialect.once
def _counted(connection: sa.Connection, counted: sa.Table, *identity: str) -> sa.Insert:
    insert = dialect.insert(connection, counted)
    more = {"count": counted.c["count"] + insert.excluded["count"]}
    return insert.on_conflict_do_update(index_elements=identity, set_=more)
