"""What the tests of the store say often: links, outcomes, and the truth that kept counters must equal."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping

import sqlalchemy as sa

from spider import url as urls
from spider.model import (
    Confidence,
    Fetched,
    Link,
    LinkState,
    Media,
    MediaKind,
    Page,
    Relation,
    Request,
    Response,
    Source,
)
from spider.store import Database, Tally, frontier, hosts, runs, seeds, workers
from spider.store.schema import Base, Count, CrawlerLink, Host, Meta, table

LINK = table(CrawlerLink)
HOST = table(Host)
COUNT = table(Count)
NOW = 1_700_000_000_000_000
"""A moment, in UTC microseconds."""
MINUTE = 60_000_000
LIMIT = 5


def empty(database: Database) -> None:
    """Delete every row but what says which schema it is."""
    with database.write() as connection:
        for each in reversed(Base.metadata.sorted_tables):
            if each is not table(Meta):
                connection.execute(sa.delete(each))


@contextlib.contextmanager
def writing(database: Database) -> Iterator[tuple[sa.Connection, Tally]]:
    """Give a writing transaction with a tally that is flushed at its end."""
    with database.write() as connection:
        tally = Tally()
        yield connection, tally
        tally.flush(connection)


def rows(database: Database, which: sa.Table, *columns: str) -> list[tuple[object, ...]]:
    """Return some columns of a table, in the order of the first."""
    query = sa.select(*(which.c[name] for name in columns)).order_by(which.c[columns[0]])
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(query)]


def seed(connection: sa.Connection, url: str = "http://a.test/") -> int:
    """Put a seed in the list."""
    return seeds.add_seed(connection, url, now=NOW)


def new_link(url: str, seed_id: int, *, depth: int = 0, h: int | None = None, limit: int = LIMIT) -> frontier.NewLink:
    """Return a link as it is met."""
    return frontier.NewLink(
        url=url,
        h=urls.identify(url) if h is None else h,
        host=urls.host(url),
        depth=depth,
        seed_id=seed_id,
        limit=limit,
        source="a@href",
        relation=Relation.DOWNWARD,
    )


def worker(connection: sa.Connection, pid: int = 1) -> int:
    """Register a worker."""
    row = workers.WorkerRow(0, runs.begin(connection, now=NOW), "machine", "boot", pid, "0", NOW)
    return workers.register(connection, row)


def take(connection: sa.Connection, worker_id: int, tally: Tally, *, limit: int = 100) -> list[Request]:
    """Lease every host that is due and take out its nearest links."""
    tally.flush(connection)
    hosts.let_go(connection, worker_id)
    leased = hosts.lease(connection, worker_id, now=NOW, until=NOW + MINUTE, limit=100)
    return [
        request for host in leased for request in frontier.check_out(connection, worker_id, host.id, tally, limit=limit)
    ]


def one_link(database: Database, url: str = "http://a.test/") -> tuple[int, Request]:
    """Plant one seed and take its link out; returns the worker and the request."""
    with writing(database) as (connection, tally):
        seed(connection, url)
        (row,) = seeds.seed_rows(connection)
        seeds.plant(connection, row, limit=LIMIT, tally=tally)
        worker_id = worker(connection)
        (request,) = take(connection, worker_id, tally)
    return worker_id, request


def a_link(url: str, *, text: str = "", relation: Relation = Relation.DOWNWARD) -> Link:
    """Return a link as the page reader gives it."""
    return Link(url=url, h=urls.identify(url), source=Source("a", "href"), relation=relation, text=text)


def a_medium(
    url: str, kind: MediaKind = MediaKind.VIDEO, *, text: str = "", confidence: Confidence = Confidence.ELEMENT
) -> Media:
    """Return a medium as the page reader gives it."""
    return Media(url, urls.identify(url), kind, Source("video", "src"), confidence, text=text)


def a_page(url: str, *media: Media, title: str = "A title", canonical: str | None = None) -> Page:
    """Return what the page reader gives."""
    return Page(
        url=url, charset="utf-8", charset_from="header", base=url, title=title, media=media, canonical=canonical
    )


def fetched(
    request: Request,
    *media: Media,
    links: tuple[tuple[Link, int], ...] = (),
    refused: tuple[tuple[Link, str], ...] = (),
    content_hash: int = 1,
    headers: Mapping[str, str] | None = None,
) -> Fetched:
    """Return the outcome of a page that was read."""
    response = Response(request, request.url, 200, headers or {"content-type": "text/html"}, b"x")
    page = a_page(request.url, *media)
    return Fetched(request, response, page=page, links=links, refused=refused, content_hash=content_hash)


def redirected(request: Request, target: str) -> Fetched:
    """Return the outcome of a redirect that is followed."""
    response = Response(request, request.url, 301, {"location": target}, location=target)
    return Fetched(request, response, redirect=a_link(target, relation=Relation.HORIZONTAL))


def check_counters(connection: sa.Connection) -> None:
    """Assert that the kept counters are what counting gives, and that each link's columns fit its state."""
    links = connection.execute(sa.select(LINK)).all()
    counted: Counter[tuple[int, str]] = Counter()
    waiting: Counter[int] = Counter()
    for link in links:
        counted[link.seed_id, link.state.value] += 1
        counted[link.seed_id, f"relation.{link.relation}"] += 1
        waiting[link.host_id] += link.state is LinkState.W
        assert (link.worker_id is not None) == (link.state is LinkState.R), link
        assert (link.reason is not None) == (link.state is LinkState.E), link
        assert link.retry_at is None or link.state is LinkState.E, link
        assert link.attempt >= 0, link
    states = {state.value for state in LinkState}
    kept = {
        (seed_id, name): value
        for seed_id, name, value in connection.execute(sa.select(COUNT.c.seed_id, COUNT.c.name, COUNT.c.value))
        if name in states or name.startswith("relation.")
    }
    assert {place: number for place, number in kept.items() if number} == dict(counted.items())
    held = dict(connection.execute(sa.select(HOST.c.id, HOST.c.waiting)).all())
    assert held == {host_id: waiting[host_id] for host_id in held}
