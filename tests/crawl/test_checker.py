"""Laws of a check: every medium once, politely, over real HTTP, written down as it comes, and resumed where it was."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from spider import url as urls
from spider.crawl import Checker, Choice, Plan
from spider.model import Confidence, Health, MediaKind
from spider.store import Database, checks, hosts, seeds
from spider.store.checks import CheckRow
from spider.store.schema import MEDIA, table
from spider.store.tally import Tally
from tests.server import Asked, Reply, WebServer

MP4 = b"\0\0\0\x18ftypisom" + b"\0" * 3000
FILM = Reply(MP4, type="video/mp4")
Web = Callable[..., WebServer]


def put(path: Path, addresses: list[str], *, kind: MediaKind = MediaKind.VIDEO, seed: str | None = None) -> None:
    """Make a database in which one page holds these media; some stand there twice."""
    root = seed or addresses[0]
    with Database.open(str(path)) as database, database.write() as connection:
        tally = Tally()
        seeds.add_seed(connection, root, now=1)
        (row,) = seeds.seed_rows(connection)
        seeds.plant(connection, row, limit=5, tally=tally)
        tally.flush(connection)
        rows = [
            {"page_id": 1, "url_hash": urls.identify(url), "url": url, "source": "video@src",
             "confidence": Confidence.ELEMENT, "first_seen": 1, "last_seen": 1}
            for url in addresses
        ]  # fmt: skip
        connection.execute(sa.insert(table(MEDIA[kind])), rows)


@pytest.fixture
def check(tmp_path: Path) -> Iterator[Callable[..., list[CheckRow]]]:
    """Give a function that checks ``x.db`` with a plan's fields as keywords and returns what was found."""

    def run(choice: Choice | None = None, **fields: Any) -> list[CheckRow]:  # noqa: ANN401  # the plan's own types
        plan = Plan(**{"delay": 0.0, "allow_private": True, "timeout": 5.0, **fields})
        with Database.open(str(tmp_path / "x.db")) as database:
            return list(Checker(database, plan, choice or Choice()).run())

    yield run
    with sqlite3.connect(tmp_path / "x.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_what_is_found_is_written_down(web: Web, check: Callable[..., list[CheckRow]], tmp_path: Path) -> None:
    """Alive, moved, dead, closed and unsure are told apart over real HTTP, with size, type and the new place."""
    server = web(
        {
            "/alive.mp4": FILM,
            "/moved.mp4": Reply(status=301, headers=(("Location", "/alive.mp4"),)),
            "/soft.mp4": "<!doctype html><title>Sorry</title>",
            "/octets.mp4": Reply(MP4, type="application/octet-stream"),
            "/broken.mp4": Reply(status=500),
            "/login.mp4": Reply(status=401),
            "/closed/x.mp4": FILM,
            "/robots.txt": Reply("User-agent: *\nDisallow: /closed/\n", type="text/plain"),
        }
    )
    names = ("alive", "moved", "soft", "octets", "broken", "login", "closed/x", "lost")
    put(tmp_path / "x.db", [f"{server.url}{name}.mp4" for name in names])
    found = {row.url.removeprefix(server.url).removesuffix(".mp4"): row for row in check()}
    assert {name: str(row.health) for name, row in found.items()} == {
        "alive": "alive", "moved": "moved", "soft": "dead", "octets": "alive", "broken": "unsure", "login": "closed",
        "closed/x": "closed", "lost": "dead",
    }  # fmt: skip
    assert (found["alive"].mime, found["alive"].size, found["alive"].status) == ("video/mp4", len(MP4), 200)
    assert (found["octets"].mime, found["octets"].size) == ("video/mp4", len(MP4))
    assert found["moved"].moved_to == f"{server.url}alive.mp4"
    with sqlite3.connect(tmp_path / "x.db") as connection:
        rows = connection.execute("SELECT url, health, status FROM MediaCheck").fetchall()
    assert sorted(rows) == sorted((row.url, row.health.code, row.status) for row in found.values())


def test_only_heads_and_first_kilobytes_are_asked_for(
    web: Web, check: Callable[..., list[CheckRow]], tmp_path: Path
) -> None:
    """HEAD first; GET only where that settled nothing, and of a server that sends all, no more is taken than asked."""
    large = b"\0\0\0\x18ftypisom" + b"\0" * 50_000_000

    def content(asked: Asked) -> Reply | None:
        if asked.path == "/good.mp4":
            return FILM
        return Reply(large, type="application/octet-stream") if asked.path == "/pours.mp4" else None

    server = web(content)
    put(tmp_path / "x.db", [f"{server.url}good.mp4", f"{server.url}pours.mp4"])
    assert {row.health for row in check()} == {Health.ALIVE}
    asked = Counter((request.path, request.method) for request in server.requests)
    assert asked == {
        ("/robots.txt", "GET"): 1, ("/good.mp4", "HEAD"): 1, ("/pours.mp4", "HEAD"): 1, ("/pours.mp4", "GET"): 1,
    }  # fmt: skip


def test_each_host_at_its_pace_and_all_at_once(web: Web, check: Callable[..., list[CheckRow]], tmp_path: Path) -> None:
    """Hosts are asked beside one another; at each, one connection at a time and the delay between requests.

    A redirect to another host waits for that host's turn; a Crawl-delay counts.  The server watches the connections.
    """
    robots = {"127.0.0.2": "User-agent: *\nCrawl-delay: 0.4\n"}

    def content(asked: Asked) -> Reply | None:
        if asked.path == "/robots.txt":
            return Reply(robots.get(asked.host, ""), type="text/plain")
        if asked.path.startswith("/onward"):
            return Reply(status=302, headers=(("Location", f"http://127.0.0.1:{server.port}/film.mp4"),))
        return FILM

    server = web(content, hosts=3)
    put(
        tmp_path / "x.db",
        [
            *(f"{url}film{number}.mp4" for url in server.urls for number in range(3)),
            f"{server.urls[2]}onward.mp4",
        ],
    )
    began = time.monotonic()
    found = check(delay=0.2)
    elapsed = time.monotonic() - began
    assert Counter(row.health for row in found) == {Health.ALIVE: 10}
    for host, pause in (("127.0.0.1", 0.2), ("127.0.0.2", 0.4), ("127.0.0.3", 0.2)):
        times = [request.time for request in server.requests if request.host == host]
        assert len(times) >= 4
        gaps = [after - before for before, after in pairwise(times)]
        assert min(gaps[1:]) > pause * 0.9, (host, gaps)
        assert gaps[0] > 0.18
    all_at_once = [request.host for request in sorted(server.requests, key=lambda one: one.time)[:3]]
    assert len(set(all_at_once)) == 3, elapsed


def test_robots_is_kept_for_others(web: Web, check: Callable[..., list[CheckRow]], tmp_path: Path) -> None:
    """robots.txt is asked for once in a day, by a check or by a crawl; one that fails closes for now."""
    server = web({"/a.mp4": FILM, "/b.mp4": FILM, "/robots.txt": Reply("", type="text/plain")})
    put(tmp_path / "x.db", [f"{server.url}a.mp4", f"{server.url}b.mp4"])
    assert len(check()) == 2
    assert len(check()) == 2
    assert server.asked().count("/robots.txt") == 1
    broken = web({"/a.mp4": FILM, "/robots.txt": Reply(status=503)})
    put(tmp_path / "y.db", [f"{broken.url}a.mp4"])
    plan = Plan(delay=0.0, allow_private=True)
    with Database.open(str(tmp_path / "y.db")) as database:
        (row,) = Checker(database, plan, Choice()).run()
    assert row.health is Health.UNSURE
    assert broken.asked() == ["/robots.txt"]


def test_nothing_is_checked_twice(web: Web, check: Callable[..., list[CheckRow]], tmp_path: Path) -> None:
    """What was checked within the age is left alone; what was unsure is asked again whenever one asks."""
    answers = {"/a.mp4": FILM, "/b.mp4": Reply(status=500)}
    server = web(lambda asked: answers.get(asked.path))
    put(tmp_path / "x.db", [f"{server.url}a.mp4", f"{server.url}b.mp4"])
    week = Choice(older_than=7 * 86400.0)
    assert len(check(week)) == 2
    answers["/b.mp4"] = FILM
    assert [(row.url, row.health) for row in check(week)] == [(f"{server.url}b.mp4", Health.ALIVE)]
    assert check(week) == []
    assert len(check(Choice(older_than=0.0))) == 2
    assert check(Choice(kinds=(MediaKind.AUDIO,))) == []


def test_one_s_own_network_stays_closed(web: Web, check: Callable[..., list[CheckRow]], tmp_path: Path) -> None:
    """A page of the web leads no check into a private network, neither straight nor by a redirect."""
    inside = web({"/secret.mp4": FILM})
    outside = web({"/film.mp4": Reply(status=302, headers=(("Location", f"{inside.url}secret.mp4"),))}, hosts=2)
    second = outside.urls[1]
    put(tmp_path / "x.db", [f"{second}film.mp4", f"{inside.url}secret.mp4"], seed=second)
    found = {row.url: row.health for row in check(allow_private=False)}
    assert found == {f"{second}film.mp4": Health.CLOSED, f"{inside.url}secret.mp4": Health.CLOSED}
    assert inside.asked() == []


def test_a_crawl_s_host_is_left_to_it(web: Web, tmp_path: Path) -> None:
    """A host that a crawl holds is not asked; what is left is told, and done when the crawl has let go."""
    server = web({"/a.mp4": FILM}, hosts=2)
    path = tmp_path / "x.db"
    put(path, [f"{url}a.mp4" for url in server.urls])
    with Database.open(str(path)) as database:
        now = time.time_ns() // 1000
        with database.write() as connection:
            leased = hosts.lease_host(connection, 1, "127.0.0.1", now=now, until=now + 3600 * 1_000_000)
            assert leased is not None
        first = Checker(database, Plan(delay=0.0, allow_private=True), Choice())
        assert [urls.host(row.url) for row in first.run()] == ["127.0.0.2"]
        assert first.left == 1
        assert server.asked("127.0.0.1") == []
        with database.write() as connection:
            hosts.let_go(connection, 1)
        rest = Checker(database, Plan(delay=0.0, allow_private=True), Choice(older_than=60.0))
        assert [urls.host(row.url) for row in rest.run()] == ["127.0.0.1"]
        assert rest.left == 0


def test_turns_exclude_one_another(tmp_path: Path) -> None:
    """A host is reserved by one at a time; the others are told when, and a crawl cannot lease it meanwhile."""
    put(tmp_path / "x.db", ["http://a.example/a.mp4"])
    with Database.open(str(tmp_path / "x.db")) as database:
        with database.write() as connection:
            assert checks.take_turn(connection, ["a.example", "new.example"], now=10, until=99) == {}
        with database.write() as connection:
            assert checks.take_turn(connection, ["a.example"], now=11, until=99) == {"a.example": 99}
            assert hosts.lease(connection, 1, now=11, until=50, limit=9) == []
            checks.end_turns(connection, {"a.example": 20})
            assert checks.take_turn(connection, ["a.example"], now=20, until=120) == {}
            checks.end_turns(connection, {"a.example": 21})
            assert [host.name for host in hosts.lease(connection, 1, now=21, until=50, limit=9)] == ["a.example"]
            assert checks.take_turn(connection, ["a.example"], now=22, until=99) == {"a.example": None}


def test_a_check_that_was_stopped_goes_on_where_it_was(web: Web, tmp_path: Path) -> None:
    """Stopped in the middle it loses nothing: the next one asks for the rest, and for nothing twice."""
    server = web(lambda asked: FILM if asked.path != "/robots.txt" else Reply("", type="text/plain"))
    put(tmp_path / "x.db", [f"{server.url}{number}.mp4" for number in range(30)])
    week = Choice(older_than=7 * 86400.0)
    with Database.open(str(tmp_path / "x.db")) as database:
        first = Checker(database, Plan(delay=0.0, allow_private=True), week)
        done = []
        for row in first.run():
            done.append(row.url)
            if len(done) == 10:
                first.stop()
        assert first.left == 30 - len(done) > 0
        second = Checker(database, Plan(delay=0.0, allow_private=True), week)
        done += [row.url for row in second.run()]
    assert sorted(done) == sorted(f"{server.url}{number}.mp4" for number in range(30))
    assert max(Counter(server.asked()).values()) == 1


def test_the_command(
    web: Web,
    spider_process: Callable[..., Any],
    spider: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """The command tells what is not alive, ends with 4 where something is left, and report --dead shows the dead."""
    gate = threading.Event()

    def content(asked: Asked) -> Reply | None:
        if asked.path == "/slow.mp4":
            gate.wait(30)
        return FILM if asked.path in {"/a.mp4", "/slow.mp4"} else None

    server = web(content)
    put(tmp_path / "spider.db", [f"{server.url}{name}.mp4" for name in ("a", "lost", "slow")], seed=server.url)
    running = spider_process("check", "--delay", "0")
    assert running.stdout.readline() == f"dead    404       {server.url}lost.mp4\n"
    running.send_signal(2)
    gate.set()
    out, err = running.communicate(timeout=30)
    assert (out, running.returncode) == ("", 130)
    assert "finishing what is in flight" in err
    done = spider("check", "--delay", "0")
    assert done.returncode == 0
    assert spider("check").stderr.startswith("nothing to check")
    dead = spider("report", "--dead", "--format", "json")
    assert [(row["media"], row["health"], row["status"]) for row in json.loads(dead.stdout)] == [
        (f"{server.url}lost.mp4", "dead", 404)
    ]
    assert spider("-q", "check", "--older-than", "0", "--delay", "0").stderr == ""
