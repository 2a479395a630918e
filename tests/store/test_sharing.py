"""Laws of sharing: several writers on one database never hurt each other, and a killed one loses nothing told."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
import sqlalchemy as sa

from spider import url as urls
from spider.model import LinkState, Request
from spider.store import Database, Tally, catalog, frontier, hosts, workers
from spider.store.schema import Forgotten, table
from tests.conftest import ROOT, environment
from tests.store.things import (
    LIMIT,
    LINK,
    MINUTE,
    NOW,
    a_link,
    check_counters,
    fetched,
    new_link,
    rows,
    seed,
    take,
    worker,
    writing,
)

SPAWN = multiprocessing.get_context("spawn")
HOSTS = 6
FAN = 4
DEPTH = 2


def children(request: Request) -> list[str]:
    """Return what the page of a request links to: pages of its own host and of the next, many of them met before."""
    if request.depth >= DEPTH:
        return []
    number = int(urls.host(request.url).partition(".")[0][1:])
    name = request.url.rpartition("/")[2]
    paths = [f"{name}{letter}" for letter in "abcdefgh"[:FAN]]
    near = [f"http://h{number}.test/{path}" for path in paths]
    far = [f"http://h{(number + 1) % HOSTS}.test/{path}" for path in reversed(paths)]
    return [*near, *far] if number % 2 else [*far, *near]


def work(database: Database, number: int) -> list[int]:
    """Crawl an imagined site until nothing is left; return the links this worker completed."""
    done: list[int] = []
    with writing(database) as (connection, _):
        me = worker(connection, number)
    while True:
        with writing(database) as (connection, tally):
            leased = hosts.lease(connection, me, now=NOW, until=NOW + MINUTE, limit=2)
            taken = [
                request for host in leased for request in frontier.check_out(connection, me, host.id, tally, limit=3)
            ]
        if not taken:
            with database.read() as connection:
                if not hosts.anything_waits(connection) and not hosts.running(connection):
                    return done
            time.sleep(0.001)
        outcomes = [
            fetched(
                request,
                links=tuple((a_link(address), request.seed_id) for address in children(request)),
                content_hash=request.link_id,
            )
            for request in taken
        ]
        with writing(database) as (connection, tally):
            mine = catalog.record(
                connection, me, outcomes, tally, now=NOW, limits={request.seed_id: LIMIT for request in taken}
            )
            tally.flush(connection)
            hosts.set_pace(connection, leased)
            hosts.let_go(connection, me, [host.id for host in leased])
        done.extend(outcome.request.link_id for outcome in mine)


def plant(database: Database) -> None:
    """Put a first link of each host in W."""
    with writing(database) as (connection, tally):
        seed_id = seed(connection)
        frontier.add(connection, [new_link(f"http://h{n}.test/r", seed_id) for n in range(HOSTS)], tally)


def check_shared(database: Database, done: list[list[int]]) -> None:
    """Assert that every link was completed once, by one worker."""
    everyone = Counter(link for each in done for link in each)
    links = rows(database, LINK, "id", "state")
    assert {state for _, state in links} == {LinkState.C}
    assert everyone == Counter(link for link, _ in links)
    expected = HOSTS * sum(FAN**depth for depth in range(DEPTH + 1))
    assert len(links) == expected
    with database.read() as connection:
        check_counters(connection)


def test_threads_share(database: Database) -> None:
    """Threads that work on one database are never told that it is locked, and no link is done twice."""
    plant(database)
    done: list[list[int]] = []
    faults: list[BaseException] = []

    def run(number: int) -> None:
        try:
            done.append(work(database, number))
        except BaseException as error:  # noqa: BLE001  # shown below, in the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    check_shared(database, done)


def work_apart(address: str, number: int, start: Barrier, path: str) -> None:
    """Work in a process of its own, and write down what was completed."""
    with Database.open(address) as database:
        start.wait(30)
        Path(path).write_text(" ".join(map(str, work(database, number))))


def test_processes_share(address: str, database: Database, tmp_path: Path) -> None:
    """So do processes."""
    plant(database)
    start = SPAWN.Barrier(2)
    paths = [tmp_path / f"done{number}" for number in range(2)]
    processes = [
        SPAWN.Process(target=work_apart, args=(address, number, start, str(path))) for number, path in enumerate(paths)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    check_shared(database, [list(map(int, path.read_text().split())) for path in paths])


def test_writers_take_turns(database: Database) -> None:
    """Two writers who touch the same rows in opposite orders wait for each other, and never in a ring."""
    names = ["a.test", "b.test"]
    with database.write() as connection:
        for name in names:
            connection.execute(sa.insert(Forgotten).values(target=name, at=0))
    faults: list[BaseException] = []

    def run(order: list[str]) -> None:
        try:
            with database.write() as connection:
                for name in order:
                    row = sa.update(Forgotten).where(Forgotten.target == name)
                    connection.execute(row.values(at=Forgotten.at + 1))
                    time.sleep(0.1)
        except BaseException as error:  # noqa: BLE001  # shown below, in the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=run, args=(order,)) for order in (names, names[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    assert rows(database, table(Forgotten), "target", "at") == [("a.test", 2), ("b.test", 2)]


def test_a_lease_that_ran_out(database: Database) -> None:
    """Two workers who both believe that a host is theirs still never take one link both."""
    with writing(database) as (connection, tally):
        seed_id = seed(connection)
        links = [new_link(f"http://a.test/{number}", seed_id) for number in range(40)]
        frontier.add(connection, links, tally)
        both = [worker(connection, number) for number in range(2)]
        host_id = hosts.host_ids(connection, ["a.test"])["a.test"]
    taken: list[list[int]] = [[], []]

    def run(number: int) -> None:
        while True:
            with writing(database) as (connection, tally):
                got = frontier.check_out(connection, both[number], host_id, tally, limit=1)
            if not got:
                return
            taken[number].extend(request.link_id for request in got)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(taken[0] + taken[1]) == [row[0] for row in rows(database, LINK, "id")]
    with database.read() as connection:
        check_counters(connection)


def test_links_of_nobody_are_found(database: Database) -> None:
    """Links and hosts that a worker took after it had been given up for dead come back too."""
    with writing(database) as (connection, tally):
        frontier.add(connection, [new_link("http://a.test/", seed(connection))], tally)
        ghost = worker(connection)
        workers.recover(connection, lambda row: row.id == ghost, tally)
        assert take(connection, ghost, tally)
    with writing(database) as (connection, tally):
        workers.recover(connection, lambda _: False, tally)
    with writing(database) as (connection, tally):
        check_counters(connection)
        assert take(connection, worker(connection, 2), tally)


KILLED = """
import sys
from spider.store import Database
from tests.store.things import *
from spider.store import catalog
with Database.open(sys.argv[1]) as database:
    with writing(database) as (connection, tally):
        frontier.add(connection, [new_link("http://a.test/", seed(connection))], tally)
        me = worker(connection)
    number = 0
    while True:
        with writing(database) as (connection, tally):
            hosts.let_go(connection, me)
            taken = take(connection, me, tally, limit=3)
        outcomes = []
        for request in taken:
            number += 1
            links = tuple((a_link(f"http://a.test/{number}/{n}"), request.seed_id) for n in range(20))
            outcomes.append(fetched(request, a_medium(f"http://m.test/{number}.mp4"), links=links, content_hash=number))
        with writing(database) as (connection, tally):
            catalog.record(connection, me, outcomes, tally, now=NOW, limits={})
        print(*(request.link_id for request in taken), flush=True)
"""


@pytest.mark.parametrize("after", [0.0, 0.03, 0.1])
def test_killed_while_it_writes(after: float, address: str) -> None:
    """After kill -9 the database is whole, all that was told to be written is there, and what was in R comes back."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, address],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = [process.stdout.readline()]
    time.sleep(after)
    os.kill(process.pid, signal.SIGKILL)
    rest, errors = process.communicate(timeout=30)
    told += rest.splitlines(keepends=True)
    with Database.open(address) as after_it:
        if after_it.is_sqlite:
            with after_it.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        written = {int(word) for line in told if line.endswith("\n") for word in line.split()}
        complete = {link for link, state in rows(after_it, LINK, "id", "state") if state is LinkState.C}
        assert written, errors
        assert written <= complete
        with writing(after_it) as (connection, tally):
            assert workers.recover(connection, lambda _: True, tally) == 1
            tally.flush(connection)
            assert not hosts.running(connection)
            check_counters(connection)
            assert take(connection, worker(connection, 2), Tally())


def test_hosts_in_hand_are_shared_out_too(database: Database) -> None:
    """A host counts while there is work on it, also when all its links are in hand: else it would go to and fro."""
    with writing(database) as (connection, tally):
        seed_id = seed(connection)
        frontier.add(connection, [new_link(f"http://h{n}.test/", seed_id) for n in range(HOSTS)], tally)
        first = worker(connection)
        worker(connection, pid=2)
        tally.flush(connection)
        leased = hosts.lease(connection, first, now=NOW, until=NOW + MINUTE, limit=HOSTS - 2)
        for host in leased[1:]:
            frontier.check_out(connection, first, host.id, tally, limit=9)
        tally.flush(connection)
        assert hosts.waiting(connection, most=99) == 3
        assert hosts.shares(connection, since=0, most=99) == (HOSTS, 2)
        assert hosts.shares(connection, since=0, most=4) == (4, 2)
