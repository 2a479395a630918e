"""The frontier against a plain dict: whatever workers do in whatever order, each link stands where the dict says."""

from __future__ import annotations

from dataclasses import dataclass, field

import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from spider import url as urls
from spider.model import LinkState, Reason
from spider.store import Database, frontier, hosts, runs, workers
from spider.store.frontier import Failure
from tests.store.things import LIMIT, LINK, check_counters, empty, new_link, seed, writing

W, R, C, E = LinkState.W, LinkState.R, LinkState.C, LinkState.E
HOSTS = ("a.test", "b.test")
PATHS = ("", "1", "2", "3", "%7Eu", "~u")  # the last two are one address, spelled in two ways
URLS = tuple(f"http://{host}/{path}" for host in HOSTS for path in PATHS)
LEASE = 100


@dataclass
class Held:
    """What the dict says of one link."""

    id: int
    url: str
    host: str
    state: LinkState = W
    depth: int = 0
    attempt: int = 0
    worker: int | None = None
    retry_at: int | None = None


@dataclass
class Model:
    """The plain truth: links by their key, leases by host, workers alive."""

    links: dict[str, Held] = field(default_factory=dict)
    leases: dict[str, tuple[int, int]] = field(default_factory=dict)
    workers: set[int] = field(default_factory=set)

    def to_waiting(self, link: Held, *, attempt: int) -> None:
        """Put a link in W."""
        link.state, link.attempt, link.worker, link.retry_at = W, attempt, None, None

    def of(self, state: LinkState) -> list[Held]:
        """Return the links in a state."""
        return [link for link in self.links.values() if link.state is state]

    def end(self, worker: int) -> None:
        """End a worker: what it held is others'."""
        for link in self.of(R):
            if link.worker == worker:
                self.to_waiting(link, attempt=link.attempt - 1)
        self.leases = {host: lease for host, lease in self.leases.items() if lease[0] != worker}
        self.workers.discard(worker)


class Frontier(RuleBasedStateMachine):
    """Workers that add, lease, take out, finish, lose and die, over a real database."""

    database: Database

    @initialize()
    def begin(self) -> None:
        """Start with one seed and one worker."""
        empty(self.database)
        self.now = 1000
        self.model = Model()
        self.numbers: dict[str, int] = {}
        self.handed: list[tuple[int, int]] = []
        with writing(self.database) as (connection, _):
            self.seed = seed(connection)
            self.run = runs.begin(connection, now=self.now)
        self.a_worker_comes()

    # --- who works --------------------------------------------------------------------------------

    @rule()
    def a_worker_comes(self) -> None:
        """A worker gets a number that none had before."""
        with writing(self.database) as (connection, _):
            row = workers.WorkerRow(0, self.run, "machine", "boot", 1, "0", self.now)
            number = workers.register(connection, row)
        assert all(number > worker for worker, _ in self.handed)
        assert number not in self.model.workers
        self.model.workers.add(number)

    @precondition(lambda self: len(self.model.workers) > 1)
    @rule(data=st.data())
    def a_worker_dies(self, data: st.DataObject) -> None:
        """Links and hosts of a dead worker are free as soon as another looks; its beat says that it is over."""
        dead = data.draw(st.sampled_from(sorted(self.model.workers)))
        with writing(self.database) as (connection, tally):
            assert workers.beat(connection, dead, now=self.now)
            assert workers.recover(connection, lambda row: row.id == dead, tally) == 1
            assert not workers.beat(connection, dead, now=self.now)
        self.model.end(dead)

    @rule(data=st.data())
    def a_worker_renews(self, data: st.DataObject) -> None:
        """A worker's leases last longer, also those that ran out and that nobody else took; no other's do."""
        worker = data.draw(st.sampled_from(sorted(self.model.workers)))
        until = self.now + LEASE
        with writing(self.database) as (connection, _):
            workers.renew(connection, worker, until=until)
        self.model.leases = {
            host: (holder, until if holder == worker else end) for host, (holder, end) in self.model.leases.items()
        }

    @rule(by=st.integers(1, 150))
    def time_passes(self, by: int) -> None:
        """The clock moves."""
        self.now += by

    # --- → W --------------------------------------------------------------------------------------

    @rule(
        met=st.lists(st.tuples(st.sampled_from(URLS), st.integers(0, LIMIT)), min_size=1, max_size=8),
        collide=st.booleans(),
    )
    def add(self, met: list[tuple[str, int]], *, collide: bool) -> None:
        """New links wait in the order met; one met nearer comes nearer, and is read again if its own were cut.

        `collide` gives every address the hash of its host's first: they must live side by side.
        """
        number = self.shared if collide else self.first
        links = [new_link(url, self.seed, depth=depth, h=number(url)) for url, depth in met]
        with writing(self.database) as (connection, tally):
            frontier.add(connection, links, tally)
            known = dict(connection.execute(sa.select(LINK.c.url, LINK.c.id)).all())
        nearest: dict[str, tuple[str, int]] = {}
        for url, depth in met:
            identity = urls.key(url)
            if identity not in nearest or depth < nearest[identity][1]:
                nearest[identity] = (url, depth)
        for identity, (url, depth) in nearest.items():
            link = self.model.links.get(identity)
            if link is None:
                self.model.links[identity] = Held(known[url], url, urls.host(url), depth=depth)
            elif depth < link.depth:
                if link.state is C and link.depth >= LIMIT:
                    self.model.to_waiting(link, attempt=0)
                link.depth = depth

    def first(self, url: str) -> int:
        """Return the hash that an address was first met with."""
        return self.numbers.setdefault(urls.key(url), urls.identify(url))

    def shared(self, url: str) -> int:
        """Return a hash that addresses of one host share, unless this one was met with another before."""
        return self.numbers.setdefault(urls.key(url), 7)

    @precondition(lambda self: self.model.of(C))
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        """Complete links go back to W; others named with them stay where they are."""
        some = data.draw(st.lists(st.sampled_from(sorted(self.model.links)), min_size=1, unique=True))
        chosen = [self.model.links[identity] for identity in some]
        with writing(self.database) as (connection, tally):
            number = frontier.renew(connection, [link.id for link in chosen], tally)
        complete = [link for link in chosen if link.state is C]
        assert number == len(complete)
        for link in complete:
            self.model.to_waiting(link, attempt=0)

    @rule(limit=st.integers(0, LIMIT))
    def deepen(self, limit: int) -> None:
        """Complete links at the old limit or beyond are read again."""
        with writing(self.database) as (connection, tally):
            number = frontier.deepen(connection, self.seed, limit, tally)
        chosen = [link for link in self.model.of(C) if link.depth >= limit]
        assert number == len(chosen)
        for link in chosen:
            self.model.to_waiting(link, attempt=0)

    @rule()
    def retry_due(self) -> None:
        """Links of E come back when their time has come, and only they; the next time is known."""
        with writing(self.database) as (connection, tally):
            due = [link for link in self.model.of(E) if link.retry_at is not None and link.retry_at <= self.now]
            times = [link.retry_at for link in self.model.of(E) if link.retry_at is not None]
            assert frontier.next_retry(connection) == min(times, default=None)
            assert frontier.retry_due(connection, self.now, tally) == len(due)
        for link in due:
            self.model.to_waiting(link, attempt=link.attempt)

    @rule(reason=st.sampled_from([None, Reason.TIMEOUT, Reason.SERVER]))
    def retry(self, reason: Reason | None) -> None:
        """Asked for, links of E come back with their tries forgotten."""
        with writing(self.database) as (connection, tally):
            number = frontier.retry(connection, tally, seed_id=self.seed, reason=reason)
        chosen = [link for link in self.model.of(E) if reason in {None, self.reason(link)}]
        assert number == len(chosen)
        for link in chosen:
            self.model.to_waiting(link, attempt=0)

    # --- W → R ------------------------------------------------------------------------------------

    @rule(data=st.data(), limit=st.integers(1, 3))
    def lease(self, data: st.DataObject, limit: int) -> None:
        """A host with links waiting is leased by one at a time; the oldest due come first."""
        worker = data.draw(st.sampled_from(sorted(self.model.workers)))
        with writing(self.database) as (connection, _):
            taken = hosts.lease(connection, worker, now=self.now, until=self.now + LEASE, limit=limit)
        free = {host for host in HOSTS if host not in self.model.leases or self.model.leases[host][1] < self.now}
        wanted = free & {link.host for link in self.model.of(W)}
        assert {host.name for host in taken} <= wanted
        assert len(taken) == min(limit, len(wanted))
        for host in taken:
            self.model.leases[host.name] = (worker, self.now + LEASE)

    @precondition(lambda self: self.model.leases)
    @rule(data=st.data(), limit=st.integers(1, 4), deepest=st.booleans())
    def check_out(self, data: st.DataObject, limit: int, *, deepest: bool) -> None:
        """A leased host gives the links of its nearest (or deepest) depth, in the order they came."""
        host = data.draw(st.sampled_from(sorted(self.model.leases)))
        worker = self.model.leases[host][0]
        with writing(self.database) as (connection, tally):
            number = hosts.host_ids(connection, [host])[host]
            taken = frontier.check_out(connection, worker, number, tally, limit=limit, deepest=deepest)
        waiting = [link for link in self.model.of(W) if link.host == host]
        depth = (max if deepest else min)((link.depth for link in waiting), default=None)
        expected = sorted((link for link in waiting if link.depth == depth), key=lambda link: link.id)[:limit]
        assert [request.link_id for request in taken] == [link.id for link in expected]
        for request, link in zip(taken, expected, strict=True):
            link.state, link.worker, link.attempt = R, worker, link.attempt + 1
            assert (request.url, request.depth, request.attempt) == (link.url, link.depth, link.attempt)
            self.handed.append((worker, link.id))

    @precondition(lambda self: self.model.leases)
    @rule(data=st.data())
    def let_go(self, data: st.DataObject) -> None:
        """A host let go is free; one that another holds stays with it."""
        worker, host = data.draw(st.sampled_from(sorted(self.model.workers))), data.draw(st.sampled_from(HOSTS))
        with writing(self.database) as (connection, _):
            hosts.let_go(connection, worker, [hosts.host_ids(connection, [host])[host]])
        if self.model.leases.get(host, (0, 0))[0] == worker:
            del self.model.leases[host]

    # --- R → --------------------------------------------------------------------------------------

    def some_handed(self, data: st.DataObject) -> tuple[int, list[Held], list[Held]]:
        """Draw links that were once handed to a worker: all of them, and those that it still has."""
        worker = data.draw(st.sampled_from(sorted({worker for worker, _ in self.handed})))
        ids = data.draw(
            st.lists(st.sampled_from(sorted({link for who, link in self.handed if who == worker})), unique=True)
        )
        by_id = {link.id: link for link in self.model.links.values()}
        chosen = [by_id[number] for number in ids]
        return worker, chosen, [link for link in chosen if link.state is R and link.worker == worker]

    @precondition(lambda self: self.handed)
    @rule(data=st.data())
    def complete(self, data: st.DataObject) -> None:
        """Links in the worker's hands are complete; those it lost stay as they are and are not in the answer."""
        worker, chosen, mine = self.some_handed(data)
        with writing(self.database) as (connection, tally):
            moved = frontier.complete(connection, worker, [link.id for link in chosen], tally)
        assert {number: place.depth for number, place in moved.items()} == {link.id: link.depth for link in mine}
        for link in mine:
            link.state, link.worker = C, None

    @precondition(lambda self: self.handed)
    @rule(data=st.data(), wait=st.none() | st.integers(0, 200))
    def fail(self, data: st.DataObject, wait: int | None) -> None:
        """Links in the worker's hands fail with the time of their next try, or none; lost ones stay as they are."""
        worker, chosen, mine = self.some_handed(data)
        retry_at = None if wait is None else self.now + wait
        with writing(self.database) as (connection, tally):
            failures = [Failure(link.id, self.reason(link), "failed", retry_at) for link in chosen]
            assert set(frontier.fail(connection, worker, failures, tally)) == {link.id for link in mine}
        for link in mine:
            link.state, link.worker, link.retry_at = E, None, retry_at

    @staticmethod
    def reason(link: Held) -> Reason:
        """Return the reason that a link always fails with."""
        return Reason.TIMEOUT if link.id % 2 else Reason.SERVER

    @precondition(lambda self: self.handed)
    @rule(data=st.data(), everything=st.booleans())
    def release(self, data: st.DataObject, *, everything: bool) -> None:
        """Links given back wait again where they stood, and the try that did not happen is not counted."""
        worker, chosen, mine = self.some_handed(data)
        if everything:
            mine = [link for link in self.model.of(R) if link.worker == worker]
        with writing(self.database) as (connection, tally):
            ids = None if everything else [link.id for link in chosen]
            assert set(frontier.release(connection, worker, tally, ids)) == {link.id for link in mine}
        for link in mine:
            self.model.to_waiting(link, attempt=link.attempt - 1)

    # --- what holds always ------------------------------------------------------------------------

    @invariant()
    def the_database_is_the_dict(self) -> None:
        """Each link is once in the database, in the state the dict says, and every counter is what counting gives."""
        with self.database.read() as connection:
            check_counters(connection)
            names = ("id", "url", "state", "depth", "attempt", "worker_id", "retry_at")
            there = {row.id: tuple(row) for row in connection.execute(sa.select(*(LINK.c[name] for name in names)))}
            waits = hosts.anything_waits(connection)
            runs_somewhere = hosts.running(connection)
        assert there == {
            link.id: (link.id, link.url, link.state, link.depth, link.attempt, link.worker, link.retry_at)
            for link in self.model.links.values()
        }
        assert waits == bool(self.model.of(W))
        assert runs_somewhere == bool(self.model.of(R))


def test_the_frontier_is_a_dict(database: Database) -> None:
    """Whatever is done in whatever order: one state a link, one worker a link, true counters, nothing lost."""

    class Machine(Frontier):
        """The machine over this test's database."""

    Machine.database = database
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=30 if database.is_sqlite else 10,
            stateful_step_count=30,
            deadline=None,
            database=None,
            phases=[Phase.generate],  # shrinking would take minutes; the steps that failed are shown as they were
            suppress_health_check=list(HealthCheck),
        ),
    )
