"""The list of seeds: what is decided of a seed holds for what was found from it, and nothing dangles."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from spider.errors import InputError
from spider.model import LinkState, Reason, SeedOrigin, SeedStatus
from spider.store import Database, Tally, ask, catalog, frontier, seeds, workers
from spider.store.adoption import WITHDRAWN
from spider.store.schema import MEDIA, Base, Count, Page, SeedLink, table
from tests.store.things import (
    LIMIT,
    LINK,
    MINUTE,
    NOW,
    a_link,
    a_medium,
    check_counters,
    fetched,
    new_link,
    rows,
    take,
    worker,
    writing,
)

A, B = "http://a.test/", "http://b.test/"


def grown(database: Database) -> tuple[int, int]:
    """Make two seeds: A with a page, a medium, two links that wait, one that failed; B with one link; return them."""
    with writing(database) as (connection, tally):
        one, two = (seeds.add_seed(connection, url, now=NOW) for url in (A, B))
        seeds.plant_all(connection, {one: LIMIT, two: LIMIT}, tally, given=())
        me = worker(connection)
        first, _ = sorted(take(connection, me, tally), key=lambda request: request.url)
        links = tuple((a_link(f"{A}{name}"), one) for name in ("x", "y", "z"))
        outcome = fetched(first, a_medium(f"{A}film.mp4"), links=links)
        catalog.record(connection, me, [outcome], tally, now=NOW, limits={one: LIMIT, two: LIMIT})
        tally.flush(connection)
        (request, *_) = frontier.check_out(connection, me, first.host_id, tally, limit=1)
        later = frontier.Failure(request.link_id, Reason.TIMEOUT, "late", NOW + MINUTE)
        frontier.fail(connection, me, [later], tally)
        workers.unregister(connection, me, tally)
    return one, two


def states(database: Database, seed_id: int) -> dict[str, LinkState]:
    """Return the state of each link of a seed."""
    with database.read() as connection:
        query = sa.select(LINK.c.url, LINK.c.state).where(LINK.c.seed_id == seed_id)
        return {row.url: row.state for row in connection.execute(query)}


def decide(database: Database, seed_id: int, status: SeedStatus) -> None:
    """Set a seed's status, and hold the counters to the truth."""
    with writing(database) as (connection, tally):
        seeds.set_status(connection, seed_id, status, tally, now=NOW + 7)
    with database.read() as connection:
        check_counters(connection)


def test_a_disabled_seed_has_nothing_waiting(database: Database) -> None:
    """What waits of it goes to E and says why; neither time, nor a retry, nor a refresh brings it back."""
    one, _ = grown(database)
    decide(database, one, SeedStatus.DISABLED)
    W, C, E = LinkState.W, LinkState.C, LinkState.E  # noqa: N806  # the states' own names
    assert states(database, one) == {A: C, f"{A}x": E, f"{A}y": E, f"{A}z": E}
    with writing(database) as (connection, tally):
        assert frontier.retry_due(connection, NOW + 10**12, tally) == 0
        assert frontier.retry(connection, tally) == 0
        assert frontier.refresh(connection, tally, before=NOW + 1, sooner=NOW + 1) == 0
        assert frontier.next_retry(connection) is None
    decide(database, one, SeedStatus.ACTIVE)
    assert states(database, one) == {A: C, f"{A}x": E, f"{A}y": W, f"{A}z": W}
    with database.read() as connection:
        assert [row.message for row in ask.error_rows(connection)] == ["late"]


def test_what_was_in_flight_is_withdrawn_later(database: Database) -> None:
    """A link that came back to W after its seed was disabled leaves W when the next crawl begins."""
    one, two = grown(database)
    with writing(database) as (connection, tally):
        me = worker(connection, 2)
        held = [request for request in take(connection, me, tally) if request.seed_id == one]
        assert len(held) == 2
        seeds.set_status(connection, one, SeedStatus.DISABLED, tally, now=NOW)
        frontier.release(connection, me, tally)
    assert list(states(database, one).values()).count(LinkState.W) == 2
    with writing(database) as (connection, tally):
        seeds.withdraw_idle(connection, tally)
    assert LinkState.W not in states(database, one).values()
    assert list(states(database, two).values()) == [LinkState.W]
    with database.read() as connection:
        check_counters(connection)


def test_another_seed_takes_over_what_it_meets(database: Database) -> None:
    """A link of a disabled seed that an active one's page shows joins that one's tree, and waits if it waited."""
    one, two = grown(database)
    with writing(database) as (connection, tally):
        frontier.add(connection, [new_link(f"{A}y", two, depth=3)], tally)
    assert f"{A}y" in states(database, one)
    decide(database, one, SeedStatus.DISABLED)
    with writing(database) as (connection, tally):
        met = [new_link(url, two, depth=3) for url in (A, f"{A}x", f"{A}y")]
        frontier.add(connection, met, tally)
    assert states(database, one) == {f"{A}z": LinkState.E}
    assert states(database, two) == {
        B: LinkState.W,
        A: LinkState.C,
        f"{A}x": LinkState.E,
        f"{A}y": LinkState.W,
    }
    with database.read() as connection:
        check_counters(connection)


def test_removing_a_seed_leaves_nothing_of_it(database: Database) -> None:
    """Its links, pages, media and counters go; no row speaks of it, and the other seed's stay."""
    one, two = grown(database)
    with writing(database) as (connection, tally):
        assert seeds.remove(connection, one, tally) == (4, 1)
    with database.read() as connection:
        check_counters(connection)
        assert [row.id for row in seeds.seed_rows(connection, status=None)] == [two]
        assert connection.scalar(sa.select(sa.func.count()).select_from(Page)) == 0
        for model in MEDIA.values():
            assert connection.scalar(sa.select(sa.func.count()).select_from(model)) == 0
        told = sa.select(Count.seed_id).distinct()
        assert set(connection.scalars(told)) == {0, two}
        for foreign in (key for rows_ in Base.metadata.sorted_tables for key in rows_.foreign_keys):
            parents = sa.select(foreign.column)
            stray = sa.select(foreign.parent).where(foreign.parent.is_not(None), foreign.parent.not_in(parents))
            assert connection.execute(stray).all() == [], str(foreign.parent)
    assert list(states(database, two)) == [B]


def test_what_two_seeds_share_is_looked_for_again(database: Database) -> None:
    """When a seed goes, pages of others on its hosts do not pass as unchanged any more: they may show its links."""
    one, two = grown(database)
    with writing(database) as (connection, tally):
        frontier.add(connection, [new_link(f"{A}shared/", two)], tally)
        me = worker(connection, 3)
        request = next(request for request in take(connection, me, tally) if request.url == f"{A}shared/")
        outcome = fetched(request, headers={"etag": '"1"'})
        catalog.record(connection, me, [outcome], tally, now=NOW, limits={one: LIMIT, two: LIMIT})
    page = table(Page)
    assert rows(database, page, "link_id", "content_hash")[-1][1] == 1
    with writing(database) as (connection, tally):
        seeds.remove(connection, one, tally)
    assert [row[1:] for row in rows(database, page, "link_id", "content_hash", "etag")] == [(0, None)]


def test_candidates_wait_for_a_decision(database: Database) -> None:
    """What is searched or submitted is a candidate until it is confirmed, and none again by being found again."""
    with writing(database) as (connection, tally):
        found = seeds.add_seed(connection, A, now=NOW, origin=SeedOrigin.SEARCH, note="A title")
        assert seeds.seed_rows(connection) == []
        (row,) = seeds.seed_rows(connection, status=SeedStatus.CANDIDATE)
        assert (row.id, row.origin, row.note, row.added_at, row.decided_at) == (found, "search", "A title", NOW, None)
        seeds.set_status(connection, found, SeedStatus.REJECTED, tally, now=NOW + 1)
        assert seeds.add_seed(connection, A, now=NOW + 2, origin=SeedOrigin.SUBMITTED) == found
        assert seeds.find(connection, str(found)).status is SeedStatus.REJECTED
        seeds.add_seed(connection, A, now=NOW + 3, tally=tally)
        row = seeds.find(connection, "HTTP://A.test")
    assert (row.status, row.origin, row.added_at, row.decided_at) == ("active", "search", NOW, NOW + 3)


@pytest.mark.parametrize("text", ["7", "0", "9" * 30, "nowhere.test", "²"])
def test_an_unknown_seed_is_named(database: Database, text: str) -> None:
    """A number or an address that the list does not have is the user's error."""
    with database.read() as connection, pytest.raises(InputError):
        seeds.find(connection, text)


def test_running_crawls_are_told(database: Database) -> None:
    """Each decision raises the number by which a crawl sees that its seeds changed."""
    one, two = grown(database)
    seen = []
    with database.write() as connection:
        for change in (SeedStatus.DISABLED, SeedStatus.ACTIVE, None):
            tally = Tally()
            if change is None:
                seeds.remove(connection, two, tally)
            else:
                seeds.set_status(connection, one, change, tally, now=NOW)
            tally.flush(connection)
            seen.append(ask.landed(connection))
    assert seen == sorted(set(seen))
    assert seen[0] > 0
    assert WITHDRAWN not in {row[0] for row in rows(database, LINK, "message")}
    assert len(rows(database, table(SeedLink), "id")) == 1
