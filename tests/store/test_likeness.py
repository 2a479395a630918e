"""Pages that are nearly copies are found by the parts of their fingerprints, on both engines."""

from __future__ import annotations

import random
from dataclasses import replace

import sqlalchemy as sa

from spider.model import Fetched, Request
from spider.page.alike import NEAR, distance
from spider.store import Database, likeness
from spider.store.schema import Likeness, table
from tests.store.things import fetched, rows, writing

LIKENESS = table(Likeness)


def signed(mark: int) -> int:
    """Return 64 bits as the database keeps them."""
    return mark - (1 << 64) if mark >> 63 else mark


def read(link_id: int, mark: int | None) -> Fetched:
    """Return the outcome of a page with a fingerprint."""
    outcome = fetched(Request(f"http://a.test/{link_id}", link_id=link_id))
    assert outcome.page is not None
    return replace(outcome, page=replace(outcome.page, simhash=mark))


def find(database: Database, *outcomes: Fetched, copies: dict[int, int] | None = None) -> dict[int, int]:
    """Look for near originals in a transaction of its own."""
    with writing(database) as (connection, _):
        return likeness.near_originals(connection, outcomes, copies or {})


def test_near_pages_are_found_among_many(database: Database) -> None:
    """Of a thousand pages, each that differs in at most `NEAR` bits from an earlier one is found, and no other."""
    dice = random.Random(4)
    marks = [dice.getrandbits(64) for _ in range(1000)]
    for start in range(0, 1000, 100):
        batch = [read(number + 1, signed(marks[number])) for number in range(start, start + 100)]
        assert find(database, *batch) == {}
    for number in range(0, 1000, 50):
        near = marks[number] ^ sum(1 << bit for bit in dice.sample(range(64), dice.randrange(NEAR + 1)))
        far = marks[number] ^ sum(1 << bit for bit in dice.sample(range(64), NEAR + 1))
        found = find(database, read(2000 + number, signed(near)), read(4000 + number, signed(far)))
        expected = {2000 + number: number + 1}
        if distance(near, far) <= NEAR:
            expected[4000 + number] = number + 1
        assert found.items() <= expected.items() or found.keys() == {2000 + number}
        assert found[2000 + number] == number + 1


def test_copies_add_nothing(database: Database) -> None:
    """A thousand copies of a page, in one batch or in many, leave one page's rows."""
    assert find(database, read(1, 5), read(2, 5), read(3, 4)) == {2: 1, 3: 1}
    for number in range(10, 1000, 100):
        assert len(find(database, *(read(number + n, 5) for n in range(100)))) == 100
    assert rows(database, LIKENESS, "link_id") == [(1,)] * 4


def test_what_is_a_copy_already_is_left_out(database: Database) -> None:
    """A page of equal content is the copy of that page, and not looked for; so is one without a fingerprint."""
    assert find(database, read(1, 5), read(2, 5), read(3, None), copies={2: 1}) == {}
    assert rows(database, LIKENESS, "link_id") == [(1,)] * 4


def test_a_page_read_anew_is_itself_no_more(database: Database) -> None:
    """A page that is read again is not its own copy, and is found by what it says now."""
    find(database, read(1, 5))
    assert find(database, read(1, 5)) == {}
    far = signed(0xFFFF_FFFF_FFFF_0000)
    assert find(database, read(1, far), read(2, 5)) == {}
    assert find(database, read(3, far), read(4, 5)) == {3: 1, 4: 2}


def test_what_was_read_without_a_fingerprint_is_found_no_more(database: Database) -> None:
    """A page that a crawl without fingerprints has read again is not told by what it said before."""
    find(database, read(1, 5))
    again = read(1, None)
    find(database, replace(again, request=replace(again.request, known=3)))
    assert find(database, read(2, 5)) == {}


def test_the_look_up_walks_an_index(sqlite_database: Database) -> None:
    """However many pages there are, only those with a part in common are looked at."""
    statements: list[tuple[str, object]] = []

    def keep(_c: object, _cursor: object, statement: str, parameters: object, _context: object, _many: object) -> None:
        statements.append((statement, parameters))

    sa.event.listen(sqlite_database.engine, "before_cursor_execute", keep)
    find(sqlite_database, read(1, 5))
    sa.event.remove(sqlite_database.engine, "before_cursor_execute", keep)
    looked = [(text, values) for text, values in statements if text.startswith(("SELECT", "DELETE"))]
    assert len(looked) == 2
    with sqlite_database.read() as connection:
        for text, values in looked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all()  # type: ignore[arg-type]
            assert all("SEARCH" in row[3] for row in plan), plan
