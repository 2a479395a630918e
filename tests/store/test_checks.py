"""Laws of what is to be checked, on both engines: which media, each once, whose turn; and of edges and last media."""

from __future__ import annotations

import sqlalchemy as sa

from spider import url as urls
from spider.model import Confidence, Health, LinkState, MediaKind, Reason, Relation
from spider.store import Database, ask, checks, edges, frontier, hosts, seeds
from spider.store.checks import CheckRow
from spider.store.identity import NewLink
from spider.store.schema import MEDIA, table
from spider.store.tally import Tally

NOW = 1_000
ROOT = "http://a.example/"


def planted(database: Database) -> None:
    """Put a seed and its link in."""
    with database.write() as connection:
        tally = Tally()
        seeds.add_seed(connection, ROOT, now=1)
        (row,) = seeds.seed_rows(connection)
        seeds.plant(connection, row, limit=5, tally=tally)
        tally.flush(connection)


def put(
    database: Database, kind: MediaKind, url: str, *, confidence: Confidence = Confidence.ELEMENT, **more: object
) -> None:
    """Put a medium on the seed's page."""
    with database.write() as connection:
        page = connection.scalar(sa.text('SELECT min(id) FROM "CrawlerLink"'))
        row = {
            "page_id": page,
            "url_hash": urls.identify(url),
            "url": url,
            "source": "a@href",
            "confidence": confidence,
        }
        connection.execute(sa.insert(table(MEDIA[kind])).values(**row, **({"first_seen": 1, "last_seen": 1} | more)))


def checked(url: str, health: Health, at: int) -> CheckRow:
    """Return what a check found of a medium."""
    reason = Reason.TIMEOUT if health is Health.UNSURE else None
    return CheckRow(urls.identify(url), url, health, 0, reason, None, None, None, at)


def test_what_is_due(database: Database) -> None:
    """Due is what was never checked, or long ago, or is unsure; not what is gone, a guess, or of no web address."""
    planted(database)
    for number, kind in enumerate(MediaKind):
        put(database, kind, f"http://m.example/{number}")
    put(database, MediaKind.VIDEO, "http://m.example/gone", gone_at=5)
    put(database, MediaKind.VIDEO, "http://m.example/guess", confidence=Confidence.SCRIPT)
    put(database, MediaKind.VIDEO, "rtmp://m.example/stream")
    put(database, MediaKind.VIDEO, "http://m.example/old")
    put(database, MediaKind.VIDEO, "http://m.example/unsure")
    put(database, MediaKind.VIDEO, "http://m.example/fresh")
    with database.write() as connection:
        checks.record(connection, [checked("http://m.example/old", Health.DEAD, NOW - 50)])
        checks.record(connection, [checked("http://m.example/unsure", Health.UNSURE, NOW - 1)])
        checks.record(connection, [checked("http://m.example/fresh", Health.ALIVE, NOW - 1)])
    with database.read() as connection:
        found = {
            kind: [place.url.rpartition("/")[2] for place in checks.due(connection, kind, before=NOW - 10, now=NOW)]
            for kind in MediaKind
        }
        assert found == {MediaKind.VIDEO: ["0", "old", "unsure"], MediaKind.AUDIO: ["1"], MediaKind.FLASH: ["2"]}
        ids = [place.id for place in checks.due(connection, MediaKind.VIDEO, before=NOW - 10, now=NOW, seed=ROOT)]
        asked = checks.places(connection, MediaKind.VIDEO, ids, began=NOW - 5)
        assert [due.url.rpartition("/")[2] for due in asked] == ["0", "old"]  # another check told of the third
        assert checks.counts(connection) == {Health.ALIVE: 1, Health.DEAD: 1, Health.UNSURE: 1}
    with database.write() as connection:
        checks.record(connection, [checked("http://m.example/old", Health.ALIVE, NOW)])
        assert checks.counts(connection) == {Health.ALIVE: 2, Health.UNSURE: 1}


def test_turns(database: Database) -> None:
    """A host is one's for one request; who asks meanwhile is told when, and no crawl leases it."""
    with database.write() as connection:
        assert checks.take_turn(connection, ["a.example", "b.example"], now=10, until=99) == {}
    with database.write() as connection:
        assert checks.take_turn(connection, ["a.example", "c.example"], now=11, until=99) == {"a.example": 99}
        checks.end_turns(connection, {"a.example": 20})
        assert hosts.lease_host(connection, 1, "a.example", now=20, until=50) is not None
        assert checks.take_turn(connection, ["a.example"], now=21, until=99) == {"a.example": None}


def test_edges_and_last_media(database: Database) -> None:
    """Edges are a page's links, each once; the media found last come first, named by title or text."""
    planted(database)
    with database.read() as connection:
        seed_id, page_id = connection.execute(sa.text('SELECT seed_id, id FROM "CrawlerLink"')).one()
    place = {"host": "a.example", "depth": 1, "seed_id": seed_id, "limit": 5, "source": "a@href", "parent_id": page_id}
    links = [
        NewLink(url=f"{ROOT}{name}", h=urls.identify(f"{ROOT}{name}"), relation=Relation.DOWNWARD, text=name, **place)
        for name in ("x", "y", "x")
    ]
    with database.write() as connection:
        tally = Tally()
        rows = frontier.add(connection, links, tally)
        edges.write(connection, [], links, rows)
        tally.flush(connection)
    put(database, MediaKind.AUDIO, "http://m.example/1", text="first", first_seen=1)
    put(database, MediaKind.VIDEO, "http://m.example/2", text="text", title="second", first_seen=2)
    put(database, MediaKind.VIDEO, "http://m.example/3", first_seen=3)
    with database.read() as connection:
        assert [(row.link, row.state) for row in edges.edge_rows(connection)] == [
            (f"{ROOT}x", LinkState.W), (f"{ROOT}y", LinkState.W)
        ]  # fmt: skip
        assert ask.latest_media(connection, limit=2) == [
            (MediaKind.VIDEO, "", "http://m.example/3"),
            (MediaKind.VIDEO, "second", "http://m.example/2"),
        ]
        assert hosts.soonest(connection, most=3)[0][0] == "a.example"
