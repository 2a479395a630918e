"""Laws of speed: what is asked all the time is answered from an index, however many links there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from spider.model import LinkState, Reason
from spider.store import Database, Tally, ask, dialect, frontier, hosts, workers
from spider.store.frontier import Failure
from tests.store.things import MINUTE, NOW, new_link, seed, take, worker, writing

NUMBER = 2000


@pytest.fixture
def filled(sqlite_database: Database) -> Database:
    """Give a database with links in every state on several hosts, and statistics of them."""
    with writing(sqlite_database) as (connection, tally):
        seed_id = seed(connection)
        links = [new_link(f"http://h{n % 20}.test/{n}", seed_id, depth=n % 4) for n in range(NUMBER)]
        frontier.add(connection, links, tally)
        me = worker(connection)
        for step in range(3):
            ids = [request.link_id for request in take(connection, me, tally, limit=5)]
            if step == 0:
                frontier.complete(connection, me, ids, tally)
            elif step == 1:
                failures = [Failure(number, Reason.TIMEOUT, "", NOW) for number in ids]
                frontier.fail(connection, me, failures, tally)
    return sqlite_database


@pytest.fixture
def plans(filled: Database) -> Iterator[list[str]]:
    """Collect how SQLite goes about each statement that touches links."""
    found: list[str] = []

    def explain(
        connection: sa.Connection,
        cursor: object,
        statement: str,
        parameters: Sequence[object],
        context: object,
        many: object,
    ) -> None:
        del cursor, context, many
        if re.match(r"(SELECT|UPDATE|DELETE)", statement) and re.search("CrawlerLink|Host", statement):
            raw = connection.connection.cursor()
            raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            found.append(f"{statement}\n" + "\n".join(row[3] for row in raw.fetchall()))

    sa.event.listen(filled.engine, "before_cursor_execute", explain)
    yield found
    sa.event.remove(filled.engine, "before_cursor_execute", explain)


HOT: dict[str, tuple[Callable[[sa.Connection, Tally], object], str]] = {
    "lease": (lambda c, _: hosts.lease(c, 1, now=NOW, until=NOW + MINUTE, limit=5), "ix_Host_due"),
    "next due": (lambda c, _: hosts.next_due(c, NOW), "ix_Host_due"),
    "anything waits": (lambda c, _: hosts.anything_waits(c), "ix_Host_due"),
    "check out": (lambda c, t: frontier.check_out(c, 1, 1, t, limit=5), "ix_CrawlerLink_waiting"),
    "deepest": (lambda c, t: frontier.check_out(c, 1, 1, t, limit=5, deepest=True), "ix_CrawlerLink_waiting"),
    "complete": (lambda c, t: frontier.complete(c, 1, [1, 2], t), "PRIMARY KEY|ix_CrawlerLink_running"),
    "release": (lambda c, t: frontier.release(c, 1, t), "ix_CrawlerLink_running"),
    "let go": (lambda c, _: hosts.let_go(c, 1), "ix_Host_leased"),
    "renew": (lambda c, _: workers.renew(c, 1, until=NOW + MINUTE), "ix_Host_leased"),
    "recover": (lambda c, t: workers.recover(c, lambda _: True, t), "ix_CrawlerLink_running"),
    "running": (lambda c, _: hosts.running(c), "ix_CrawlerLink_running"),
    "retry due": (lambda c, t: frontier.retry_due(c, NOW, t), "ix_CrawlerLink_error"),
    "next retry": (lambda c, _: frontier.next_retry(c), "ix_CrawlerLink_error"),
    "meet again": (
        lambda c, t: frontier.add(c, [new_link("http://h1.test/1", 1, depth=0)], t),
        "sqlite_autoindex_CrawlerLink|uq_CrawlerLink_host_id_h",
    ),
    "shares": (lambda c, _: hosts.shares(c, since=NOW, most=100), "ix_Host_due|ix_Host_leased"),
    "rich": (lambda c, _: hosts.rich(c, 1), "ix_Host_leased"),
    "leased": (lambda c, _: hosts.leased_names(c, most=100), "ix_Host_leased"),
    "held": (lambda c, _: workers.hosts_held(c), "ix_Host_leased"),
    "forsake": (lambda c, t: workers.forsake(c, 1, t, links=[], held=[]), "ix_CrawlerLink_running"),
    "set pace": (lambda c, _: hosts.set_pace(c, [hosts.Leased(1, "", 0, 0, 0, 0)]), "PRIMARY KEY"),
    "count": (lambda c, _: ask.link_counts(c), ""),
}


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("what", HOT)
def test_no_full_scan(what: str, *, analyzed: bool, filled: Database, plans: list[str]) -> None:
    """Each hot statement walks an index made for it and never all links or hosts, and sorts nothing.

    So it is with statistics and without.
    """
    act, index = HOT[what]
    if analyzed:
        with filled.write() as connection:
            connection.exec_driver_sql("ANALYZE")
    plans.clear()
    with filled.write() as connection:
        act(connection, Tally())
    for plan in plans:
        steps = plan.partition("\n")[2]
        assert not re.search(r"SCAN \S*(CrawlerLink|Host)\S*$", steps, re.MULTILINE), plan
        assert "TEMP B-TREE" not in steps, plan
    assert analyzed or not index or any(re.search(index, plan) for plan in plans), "\n\n".join(plans)


def test_states_are_in_use(filled: Database) -> None:
    """The laws above are told of a database with links in every state."""
    with filled.read() as connection:
        assert all(ask.link_counts(connection)[state] for state in LinkState)


@given(st.lists(st.integers(), max_size=2000))
def test_few_lengths(values: list[int]) -> None:
    """Lists of values come to statements of ten lengths at the most, with every value and no other."""
    parts = list(dialect.chunks(values))
    assert {value for part in parts for value in part} == set(values)
    assert {len(part) for part in parts} <= {2**power for power in range(10)}
