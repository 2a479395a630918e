"""A database that is always the same, made through the store's own functions: two seeds, five pages, every kind."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from spider import url as urls
from spider.model import (
    Confidence,
    Failed,
    Fetched,
    Link,
    Media,
    MediaKind,
    Outcome,
    Page,
    Reason,
    Relation,
    Request,
    Response,
    Source,
)
from spider.store import Database, Tally, catalog, frontier, hosts, runs, seeds, workers
from tests.report.test_text import HOSTILE

__all__ = ["HOSTILE_TITLE", "NOW", "RADIO", "ROOT", "fill"]

NOW = 1_796_072_163_000_000
"""2026-11-30T20:56:03Z."""

DAY = 86_400_000_000
ROOT = "http://museum.example/"
RADIO = "http://radio.example/"
LIMIT = 5
HOSTILE_TITLE = f"=cmd|' /C calc'!A0 {HOSTILE.replace(chr(0), '').replace(chr(0xD800), '')}"


def link(url: str, text: str = "") -> Link:
    """Return a link as a page has it."""
    return Link(url, urls.identify(url), Source("a", "href"), Relation.DOWNWARD, text)


def medium(url: str, kind: MediaKind, source: str, text: str = "", told: Confidence = Confidence.ELEMENT) -> Media:
    """Return a medium as a page has it."""
    tag, _, attribute = source.partition("@")
    return Media(url, urls.identify(url), kind, Source(tag, attribute), told, text)


FILM = medium(f"{ROOT}films/train.mp4", MediaKind.VIDEO, "video@src", "The train arrives")
PAGES: dict[str, tuple[str, tuple[Media, ...], tuple[Link, ...]]] = {
    ROOT: (
        "Museum of moving pictures",
        (),
        (link(f"{ROOT}films/", "Films"), link(f"{ROOT}games/", "Games"), link(f"{ROOT}lost.html", "Lost")),
    ),
    f"{ROOT}films/": (
        "Films",
        (
            FILM,
            medium(f"{ROOT}films/train.ogv", MediaKind.VIDEO, "source@src"),
            medium(f"{ROOT}sound/train.mp3", MediaKind.AUDIO, "a@href", "Its sound", Confidence.LINK),
            medium(f"{ROOT}films/maybe.mp4", MediaKind.VIDEO, "script@text", "", Confidence.SCRIPT),
        ),
        (),
    ),
    f"{ROOT}games/": (
        HOSTILE_TITLE,
        (
            medium(f"{ROOT}games/snake.swf", MediaKind.FLASH, "object@data", f"-1+1 {HOSTILE[:9]}"),
            medium(f"{ROOT}games/%E5%BD%B1.swf", MediaKind.FLASH, "embed@src", "影片 “中文”, a;b"),
        ),
        (),
    ),
    RADIO: ("Radio", (medium(f"{RADIO}live.m3u8?q=a,b&c=%22", MediaKind.AUDIO, "audio@src"),), ()),
}
"""The pages by address: title, media, links."""

REFUSED = {
    ROOT: (
        (Link("http://elsewhere.example/", urls.identify("http://elsewhere.example/"), Source("a", "href"),
              Relation.EXTERNAL), "external"),
        (link(f"{ROOT}private/"), "robots"),
    ),
}  # fmt: skip
"""What was refused, and by which rule, by the page that shows it."""

FAILURES = {
    f"{ROOT}lost.html": (Reason.CLIENT, f"404 Not {HOSTILE[:8]} Found", 404, None),
}


def fill(address: Path | str) -> None:
    """Make the database at a path or an address."""
    with Database.open(str(address)) as database:
        with database.write() as connection:
            tally = Tally()
            for url in (ROOT, RADIO):
                seeds.add_seed(connection, url, now=NOW)
            for seed in seeds.seed_rows(connection):
                seeds.plant(connection, seed, limit=LIMIT, tally=tally)
            run = runs.begin(connection, now=NOW)
            me = workers.register(connection, workers.WorkerRow(0, run, "here", "boot", 1, "now", NOW))
            tally.flush(connection)
        while _round(database, me):
            pass
        _see_again(database, me)
        with database.write() as connection:
            tally = Tally()
            workers.unregister(connection, me, tally)
            tally.flush(connection)


def _round(database: Database, me: int) -> int:
    """Visit one depth of each host; return how many links that were."""
    with database.write() as connection:
        tally = Tally()
        visited = 0
        for host in hosts.lease(connection, me, now=NOW, until=NOW + DAY, limit=10):
            requests = frontier.check_out(connection, me, host.id, tally, limit=100)
            _record(connection, me, requests, tally, NOW)
            visited += len(requests)
        hosts.let_go(connection, me)
        tally.flush(connection)
    return visited


def _see_again(database: Database, me: int) -> None:
    """Visit the first page with media once more, a day later."""
    with database.write() as connection:
        tally = Tally()
        moved = frontier.renew(connection, [3], tally)
        assert moved == 1
        host = hosts.lease_host(connection, me, "museum.example", now=NOW + DAY, until=NOW + 2 * DAY)
        assert host is not None
        _record(connection, me, frontier.check_out(connection, me, host.id, tally, limit=1), tally, NOW + DAY)
        hosts.let_go(connection, me)
        tally.flush(connection)


def _record(connection: Connection, me: int, requests: list[Request], tally: Tally, now: int) -> None:
    """Write down what visits give."""
    limits = {1: LIMIT, 2: LIMIT}
    catalog.record(
        connection, me, [_outcome(request) for request in requests], tally, now=now, limits=limits, keep_edges=True
    )


def _outcome(request: Request) -> Outcome:
    """Return what a visit gives."""
    if request.url in FAILURES:
        return Failed(request, *FAILURES[request.url])
    title, media, links = PAGES[request.url]
    page = Page(
        request.url,
        "utf-8",
        "header",
        request.url,
        title=title,
        media=media,
        links=links,
    )
    response = Response(request, request.url, 200, {"content-type": "text/html"})
    followed = tuple((link, request.seed_id) for link in links)
    return Fetched(request, response, page=page, links=followed, refused=REFUSED.get(request.url, ()))
