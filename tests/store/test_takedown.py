"""Laws of takedown: nothing of a forgotten host or address is left, and nothing of it comes back."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from spider import url as urls
from spider.crawl.scope import Judge, SeedScope
from spider.errors import InputError
from spider.model import (
    Failed,
    Fetched,
    Health,
    LinkState,
    MediaKind,
    Reason,
    Rejected,
    Relation,
    Request,
    Scope,
    SeedStatus,
)
from spider.store import Database, Tally, ask, catalog, frontier, hosts, origins, schema, seeds, takedown
from spider.store.schema import Base, table
from tests.store.things import (
    LIMIT,
    LINK,
    NOW,
    a_link,
    a_medium,
    check_counters,
    fetched,
    redirected,
    rows,
    seed,
    take,
    worker,
    writing,
)

BAD = "bad.test"
KEEP = {("Forgotten", "target"), ("Host", "name"), ("SeedLink", "url"), ("SeedLink", "key")}
"""Where the name may stay, so that it cannot come back."""


def mentions(database: Database, text: str) -> set[tuple[str, str]]:
    """Return every column of the database in which a text is."""
    found = set()
    with database.read() as connection:
        for each in Base.metadata.sorted_tables:
            for row in connection.execute(sa.select(*each.c)).mappings():
                found |= {(each.name, name) for name, value in row.items() if text in str(value)}
    return found


def about(bad: str, request: Request, *, content: int) -> Fetched:
    """Return a page that tells of an address in every way a page can."""
    media = [
        a_medium(f"{bad}v.mp4"),
        a_medium(f"{bad}s.mp3", MediaKind.AUDIO),
        replace(a_medium("http://good.test/v.mp4"), poster=f"{bad}p.png"),
    ]
    found = fetched(
        request,
        *media,
        links=((a_link(f"{bad}deep/"), request.seed_id), (a_link("http://good.test/on"), request.seed_id)),
        refused=(
            (a_link(f"{bad}out", relation=Relation.EXTERNAL), "tree"),
            (a_link(f"{bad}refused"), "exclude"),
        ),
        content_hash=content,
    )
    assert found.page is not None
    return replace(found, page=replace(found.page, canonical=f"{bad}canonical"))


@pytest.fixture
def filled(database: Database) -> tuple[Database, int]:
    """Give a database in which a host is told of in every table that a crawl fills, and the worker that did it."""
    with writing(database) as (connection, tally):
        for address in ("http://good.test/", f"http://{BAD}/", "http://moved.test/"):
            seed(connection, address)
        for row in seeds.seed_rows(connection):
            seeds.plant(connection, row, limit=LIMIT, tally=tally)
        me = worker(connection)
        good, bad, moved = take(connection, me, tally)
        outcomes = [
            about(f"http://{BAD}/", good, content=1),
            about("http://good.test/elsewhere/", bad, content=1),
            redirected(moved, f"http://{BAD}/landed"),
        ]
        catalog.record(connection, me, outcomes, tally, now=NOW, limits={})
        place = hosts.host_ids(connection, [BAD])[BAD]
        origins.save_origins(connection, [origins.OriginRow(place, "http", 80, b"# bad.test", 200, NOW, None)])
        check = sa.insert(schema.MediaCheck)
        values = {"url_hash": 1, "url": f"http://{BAD}/v.mp4", "health": Health.ALIVE, "status": 200, "checked_at": NOW}
        connection.execute(check.values(**values))
        values |= {"url_hash": 2, "url": "http://good.test/v.mp4", "moved_to": f"http://{BAD}/w.mp4"}
        connection.execute(check.values(**values))
        taken = take(connection, me, tally, limit=1)
        failures = [frontier.Failure(request.link_id, Reason.TIMEOUT, "") for request in taken]
        frontier.fail(connection, me, failures[:1], tally)
    return database, me


def test_nothing_is_left_of_a_host(filled: tuple[Database, int]) -> None:
    """After a host is forgotten no row tells of it but the names that keep it out; counters are what counting gives."""
    database, _ = filled
    assert len(mentions(database, BAD)) > 10
    with database.read() as connection:
        media = sum(
            connection.scalar(sa.select(sa.func.count()).select_from(model)) or 0 for model in schema.MEDIA.values()
        )
        links = len([row for row in connection.scalars(sa.select(LINK.c.url)) if urls.host(row) == BAD])
    with writing(database) as (connection, tally):
        gone = takedown.forget(connection, BAD, tally, now=NOW)
    assert mentions(database, BAD) <= KEEP
    with database.read() as connection:
        check_counters(connection)
        left = sum(
            connection.scalar(sa.select(sa.func.count()).select_from(model)) or 0 for model in schema.MEDIA.values()
        )
        statuses = {row.url: row.status for row in seeds.seed_rows(connection, status=None)}
        assert not ask.link_counts(connection)[LinkState.R]
    assert (gone.target, gone.links, gone.media) == (BAD, links, media - left)
    assert gone.media == 5  # two that another page told of, three of its own pages
    assert statuses[f"http://{BAD}/"] is SeedStatus.REJECTED
    assert statuses["http://good.test/"] is SeedStatus.ACTIVE


def test_nothing_is_left_of_an_address(filled: tuple[Database, int]) -> None:
    """An address that is forgotten goes, however it is spelled; its host's others stay."""
    database, _ = filled
    with writing(database) as (connection, tally):
        gone = takedown.forget(connection, f"HTTP://{BAD}:80/deep/?utm_source=x#y", tally, now=NOW)
    assert (gone.links, gone.media) == (1, 0)
    assert mentions(database, f"http://{BAD}/deep/") == {("Forgotten", "target")}
    with database.read() as connection:
        check_counters(connection)
        assert len(mentions(database, f"http://{BAD}/")) > 5


def test_it_does_not_come_back(filled: tuple[Database, int]) -> None:
    """A page that is read again, or was in flight, brings nothing back; a seed given anew is not fetched."""
    database, me = filled
    with writing(database) as (connection, tally):
        (good, *_) = [
            row.id for row in connection.execute(sa.select(LINK.c.id).where(LINK.c.url == "http://good.test/"))
        ]
        frontier.renew(connection, [good], tally)
        flying = take(connection, me, tally)
        takedown.forget(connection, BAD, tally, now=NOW)
    outcomes = [about(f"http://{BAD}/", request, content=request.link_id) for request in flying]
    with writing(database) as (connection, tally):
        told = catalog.record(connection, me, outcomes, tally, now=NOW + 1, limits={})
        assert {urls.host(outcome.request.url) for outcome in told} == {"good.test"}
    assert mentions(database, BAD) <= KEEP
    with database.read() as connection:
        check_counters(connection)


def test_running_crawls_are_told(filled: tuple[Database, int]) -> None:
    """Who keeps scopes hears of it by the number that rises, and judges every address of the target as forgotten."""
    database, _ = filled
    with writing(database) as (connection, tally):
        before = ask.landed(connection)
        takedown.forget(connection, BAD, tally, now=NOW)
        takedown.forget(connection, "http://good.test/x?a=1", tally, now=NOW)
    with database.read() as connection:
        assert ask.landed(connection) > before
        judge = Judge([SeedScope(1, "http://good.test/", Scope.ANY, LIMIT)], forgotten=takedown.forgotten(connection))
    page = "http://good.test/"
    for address in (f"http://{BAD}/", f"https://{BAD}:8080/x", "http://good.test/x?utm_source=y&a=1"):
        assert judge.judge(address, page, seed_id=1, depth=1) == Rejected("forgotten")
    for address in ("http://good.test/x", "http://very.bad.test/", "http://bad.tests/"):
        assert judge.judge(address, page, seed_id=1, depth=1) != Rejected("forgotten")


def test_other_names_are_left_alone(database: Database) -> None:
    """A host whose name only holds the forgotten one's, or an address that only begins like it, stays."""
    with writing(database) as (connection, tally):
        for address in ("http://bad.test/", "http://very.bad.test/", "http://bad.tests/", "http://good.test/bad.test"):
            seed(connection, address)
        for row in seeds.seed_rows(connection):
            seeds.plant(connection, row, limit=LIMIT, tally=tally)
    with writing(database) as (connection, tally):
        assert takedown.forget(connection, "BAD.test", tally, now=NOW).links == 1
        assert takedown.forget(connection, "http://good.test/bad", tally, now=NOW).links == 0
        assert takedown.forget(connection, "bad.test", tally, now=NOW).links == 0
    assert [row[1] for row in rows(database, LINK, "id", "url")] == [
        "http://very.bad.test/",
        "http://bad.tests/",
        "http://good.test/bad.test",
    ]
    assert rows(database, table(schema.Forgotten), "target") == [("bad.test",), ("http://good.test/bad",)]


@pytest.mark.parametrize(
    "target", ["bad.test/page", "bad.test:8080", "me@bad.test", "bad.test?x", "", "a b", "http://"]
)
def test_neither_host_nor_address(target: str, filled: tuple[Database, int]) -> None:
    """What is neither is refused and takes nothing with it: least of all a whole host for one of its pages."""
    database, _ = filled
    before = rows(database, LINK, "id", "url")
    with database.write() as connection, pytest.raises(InputError):
        takedown.forget(connection, target, Tally(), now=NOW)
    assert rows(database, LINK, "id", "url") == before


def test_a_failure_in_flight(filled: tuple[Database, int]) -> None:
    """What fails or is skipped after it was forgotten leaves no trace."""
    database, me = filled
    with writing(database) as (connection, tally):
        flying = [request for request in take(connection, me, tally) if urls.host(request.url) == BAD]
        assert flying
        takedown.forget(connection, BAD, tally, now=NOW)
    with writing(database) as (connection, tally):
        outcomes = [Failed(request, Reason.CLIENT, "HTTP status 404", 404) for request in flying]
        assert catalog.record(connection, me, outcomes, tally, now=NOW, limits={}) == []
    assert mentions(database, BAD) <= KEEP
