"""Laws of answers: filters, order, counts that agree with each other, and streams that hold little at a time."""

from __future__ import annotations

import tracemalloc

import pytest
import sqlalchemy as sa

from spider.errors import InputError
from spider.model import Confidence, Failed, LinkState, MediaKind, Reason, Relation
from spider.patterns import Pattern
from spider.store import Database, ask, catalog, frontier, schema, seeds
from spider.store.schema import table
from tests.store.things import (
    LIMIT,
    LINK,
    NOW,
    a_link,
    a_medium,
    fetched,
    new_link,
    seed,
    take,
    worker,
    writing,
)

MANY = 50_000


@pytest.fixture
def filled(database: Database) -> Database:
    """Give a database of two seeds whose pages hold media of each kind and each surety, with links in each state."""
    with writing(database) as (connection, tally):
        for address in ("http://a.test/", "http://b.test/"):
            seed(connection, address)
        for row in seeds.seed_rows(connection):
            seeds.plant(connection, row, limit=LIMIT, tally=tally)
        me = worker(connection)
        a, b = take(connection, me, tally)
        outcomes = [
            fetched(
                a,
                a_medium("http://m.test/1.swf", MediaKind.FLASH, text="A game"),
                a_medium("http://m.test/2.mp4"),
                a_medium("http://m.test/3.mp4", confidence=Confidence.SCRIPT),
                links=tuple((a_link(f"http://a.test/{name}"), a.seed_id) for name in "xyz"),
            ),
            fetched(
                b,
                a_medium("http://m.test/2.mp4", confidence=Confidence.LINK),
                a_medium("http://m.test/4.mp3", MediaKind.AUDIO),
                refused=(
                    (a_link("http://out.test/", relation=Relation.EXTERNAL), "tree"),
                    (a_link("http://b.test/q"), "exclude"),
                ),
                content_hash=2,
            ),
        ]
        catalog.record(connection, me, outcomes, tally, now=NOW, limits={})
        x, y, _ = take(connection, me, tally)
        failed = Failed(x, Reason.CLIENT, "HTTP status 404", 404)
        catalog.record(connection, me, [failed], tally, now=NOW, limits={})
        frontier.release(connection, me, tally, [y.link_id])
    return database


def told(database: Database, **options: object) -> list[tuple[str, str]]:
    """Return the page and the medium of each row of a report."""
    with database.read() as connection:
        return [(row.page[7:8], row.media[14:]) for row in ask.media_rows(connection, **options)]  # type: ignore[arg-type]


ALL = [("a", "2.mp4"), ("a", "1.swf"), ("b", "2.mp4"), ("b", "4.mp3")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ALL),
        ({"kinds": [MediaKind.VIDEO]}, [("a", "2.mp4"), ("b", "2.mp4")]),
        ({"kinds": []}, []),
        ({"confidence": Confidence.ELEMENT}, [("a", "2.mp4"), ("a", "1.swf"), ("b", "4.mp3")]),
        ({"confidence": Confidence.COMMENT}, [("a", "2.mp4"), ("a", "3.mp4"), ("a", "1.swf"), *ALL[2:]]),
        ({"seed": "b.test", "kinds": [MediaKind.AUDIO]}, None),
        ({"seed": "http://b.test/"}, ALL[2:]),
        ({"seed": "HTTP://B.test:80/#x"}, ALL[2:]),
        ({"host": "A.test"}, ALL[:2]),
        ({"host": "test"}, []),
        ({"match": Pattern.of("game")}, ALL[1:2]),
        ({"match": Pattern.of("^http://b")}, ALL[2:]),
        ({"match": Pattern.of("mp[34]$"), "host": "b.test", "kinds": [MediaKind.AUDIO]}, ALL[3:]),
        ({"gone": True}, []),
        ({"since": NOW}, ALL),
        ({"since": NOW + 1}, []),
    ],
)
def test_filters(options: dict[str, object], expected: list[tuple[str, str]] | None, filled: Database) -> None:
    """Each filter takes away what it names and nothing else; what is left comes page by page, as pages were found."""
    if expected is None:
        with pytest.raises(InputError, match="no such seed"):
            told(filled, **options)
    else:
        assert told(filled, **options) == expected


def test_a_row(filled: Database) -> None:
    """A row says where the medium is, what it is, how it was told, and when it was seen."""
    with filled.read() as connection:
        row = next(row for row in ask.media_rows(connection) if row.kind is MediaKind.FLASH)
    assert (row.page, row.title, row.media) == ("http://a.test/", "A title", "http://m.test/1.swf")
    assert (row.text, row.source, row.seed, row.depth) == ("A game", "video@src", "http://a.test/", 0)
    assert (row.first_seen, row.last_seen) == (NOW, NOW)


def test_status_agrees(filled: Database) -> None:
    """The numbers of the status are those that counting the rows gives, in all and seed by seed."""
    with filled.read() as connection:
        status = ask.status(connection)
        states = list(connection.scalars(sa.select(LINK.c.state)))
        rows = list(ask.media_rows(connection))
        assert ask.link_counts(connection) == status.links
        assert (ask.outlink_count(connection), ask.skipped_counts(connection)) == (1, {"exclude": 1})
    assert status.links == {state: states.count(state) for state in LinkState}
    assert status.media == {kind: sum(row.kind is kind for row in rows) for kind in MediaKind}
    assert status.pages == {kind: len({row.page for row in rows if row.kind is kind}) for kind in MediaKind}
    for state in LinkState:
        assert sum(row.links[state] for row in status.seeds) == status.links[state]
    assert [row.url for row in status.seeds] == ["http://a.test/", "http://b.test/"]


def test_errors(filled: Database) -> None:
    """The E queue tells of each link what failed, its status, and the page that showed it; filters narrow it."""
    with filled.read() as connection:
        (row,) = ask.error_rows(connection)
        assert (row.url, row.reason, row.status, row.attempt) == ("http://a.test/x", Reason.CLIENT, 404, 1)
        assert (row.message, row.seed, row.depth, row.parent) == (
            "HTTP status 404",
            "http://a.test/",
            1,
            "http://a.test/",
        )
        assert list(ask.error_rows(connection, seed="http://a.test/", reason=Reason.CLIENT)) == [row]
        assert list(ask.error_rows(connection, seed="http://b.test/")) == []
        assert list(ask.error_rows(connection, reason=Reason.DNS)) == []


def test_streams_hold_little(database: Database) -> None:
    """A report of fifty thousand media is never in memory as a whole, and its connection stays as it was."""
    many = MANY if database.is_sqlite else MANY // 5  # a server's rows come slowly while memory is watched
    with writing(database) as (connection, tally):
        seed_id = seed(connection)
        pages = frontier.add(connection, [new_link(f"http://a.test/{n}", seed_id) for n in range(50)], tally)
        rows = [
            {
                "page_id": page_id,
                "url_hash": number,
                "url": f"http://m.test/{number}.mp4",
                "source": "video@src",
                "confidence": Confidence.ELEMENT,
                "first_seen": NOW,
                "last_seen": NOW,
            }
            for page_id in pages.values()
            for number in range(many // 50)
        ]
        connection.execute(sa.insert(table(schema.Video)), rows)
        del rows
    with database.read() as connection:
        stream = ask.media_rows(connection)
        next(stream)
        tracemalloc.start()
        try:
            number = 1 + sum(1 for _ in stream)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert connection.get_execution_options().get("yield_per") is None
    assert number == many
    assert peak < 4_000_000  # bytes: fifty thousand would be twenty times that
