"""Large databases for `crawl.py`: filled by hand, and what a page costs in them.

::

    _growth.py fill FILE COUNT STATE HOST     prints the file's size
    _growth.py pages FILE                     prints milliseconds of processor time and of wall a page
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from spider import url as urls
from spider.model import Fetched, Link, Outcome, Page, Relation, Request, Response, Source
from spider.store import Connection, Database, Tally, catalog, frontier, hosts, runs, workers

LATER, WAITING = 10**15, 1
ROUNDS, WARM, EACH = 60, 5, 16
SOURCE = Source("a", "href")


def fill(name: Path, count: int, *, state: int, first: str) -> None:
    """Make a database with `count` links in a state; a tenth of them are the first host's."""
    hosts = max(10, count // 1000)
    name.unlink(missing_ok=True)
    Database.open(str(name)).close()
    with contextlib.closing(sqlite3.connect(name)) as base:
        base.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE; PRAGMA cache_size = -400000")
        with base:
            base.execute(
                'INSERT INTO "SeedLink" (id, url, key, origin, status, added_at) VALUES (1, ?, ?, 1, 1, 0)',
                ("http://seed.invalid/", "http://seed.invalid/"),
            )
            waits = state == WAITING
            names = ((n + 1, name_of(n, first), size_of(n, count, hosts) * waits) for n in range(hosts))
            base.executemany('INSERT INTO "Host" VALUES (?, ?, 0, ?, NULL, NULL, 0, 0, 0)', names)
            base.executemany(
                'INSERT INTO "CrawlerLink" (host_id, h, url, state, depth, seed_id, parent_id, text, source, relation,'
                " hops, late, attempt) VALUES (?, ?, ?, ?, 2, 1, 1, 'twenty letters, here', 'a@href', 1, 0, 0, 0)",
                ((host, h, url, state) for host, h, url in links(count, hosts, first)),
            )
            base.execute('INSERT INTO "Count" VALUES (1, ?, ?)', ("W" if waits else "C", count))
        base.execute("PRAGMA journal_mode = WAL")


def name_of(host: int, first: str) -> str:
    """Return the name of a host by its number."""
    return f"h{host}.example" if host else first


def size_of(host: int, count: int, hosts: int) -> int:
    """Return how many of all links are a host's: a tenth are the first's."""
    return (count - count // 10) // (hosts - 1) if host else count // 10


def links(count: int, hosts: int, first: str) -> Iterator[tuple[int, int, str]]:
    """Yield hosts, hashes and addresses of 75 bytes: those of a host together, as a crawl meets them."""
    number = 0
    for host in range(hosts):
        name = name_of(host, first)
        for _ in range(size_of(host, count, hosts)):
            number += 1
            yield host + 1, hash((number, "link")), f"http://{name}/{'path/' * 8}{number:0>{75 - 48 - len(name)}}"


def visited(request: Request) -> Outcome:
    """Return a page with 80 links, each twice."""
    found = [f"{request.url}/{place % 40}" for place in range(80)]
    made = [(Link(url, urls.identify(url), SOURCE, Relation.DOWNWARD, "text"), 1) for url in found]
    response = Response(request, request.url, 200, {}, b"x")
    page = Page(request.url, "utf-8", "header", request.url, "A title")
    return Fetched(request, response, page=page, links=tuple(made), content_hash=request.link_id)


def one_round(connection: Connection, me: int, number: int) -> None:
    """Lease the host whose turn it is, take links out, record their pages."""
    tally = Tally()
    (host,) = hosts.lease(connection, me, now=LATER, until=2 * LATER, limit=1)
    outcomes = [visited(request) for request in frontier.check_out(connection, me, host.id, tally, limit=EACH)]
    catalog.record(connection, me, outcomes, tally, now=LATER, limits={1: 9})
    hosts.let_go(connection, me, [host.id])
    hosts.rest(connection, host.name, until=number + 1)
    tally.flush(connection)


def pages(name: str) -> None:
    """Take out and record pages of a filled database; print what one costs."""
    cpu = wall = 0.0
    with Database.open(name) as database:
        with database.write() as connection:
            row = workers.WorkerRow(0, runs.begin(connection, now=1), "m", "b", os.getpid(), "s", 1)
            me = workers.register(connection, row)
        for number in range(ROUNDS + WARM):
            if number == WARM:
                cpu, wall = time.process_time(), time.perf_counter()
            with database.write() as connection:
                one_round(connection, me, number)
        done = ROUNDS * EACH
        print((time.process_time() - cpu) / done * 1000, (time.perf_counter() - wall) / done * 1000)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fill", name, count, state, first]:
            fill(Path(name), int(count), state=int(state), first=first)
            print(Path(name).stat().st_size)
        case ["pages", name]:
            pages(name)
        case _:
            sys.exit(__doc__)
