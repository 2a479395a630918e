"""Laws of recording outcomes: all of a page or nothing of it, and what time does to pages and media."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from spider import url as urls
from spider.errors import StorageError
from spider.model import (
    Confidence,
    Failed,
    Fetched,
    LinkState,
    MediaKind,
    Outcome,
    Reason,
    Relation,
    Request,
    Response,
    Skipped,
)
from spider.store import Database, Tally, ask, catalog, frontier, held, schema, seeds, workers
from spider.store.schema import Base, table
from tests.store.things import (
    LIMIT,
    LINK,
    NOW,
    a_link,
    a_medium,
    check_counters,
    fetched,
    new_link,
    one_link,
    redirected,
    rows,
    take,
    worker,
    writing,
)

PAGE = table(schema.Page)
VIDEO = table(schema.Video)
OUT = table(schema.OutLink)
SKIPPED = table(schema.Skipped)


def record(
    database: Database, worker_id: int, *outcomes: Outcome, now: int = NOW, limits: dict[int, int] | None = None
) -> list[Outcome]:
    """Record outcomes in a transaction of their own, and check the counters after it."""
    with writing(database) as (connection, tally):
        known = {row.id: LIMIT for row in seeds.seed_rows(connection, status=None)}
        told = catalog.record(connection, worker_id, outcomes, tally, now=now, limits=limits or known)
    with database.read() as connection:
        check_counters(connection)
    return told


def everything(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table."""
    with database.read() as connection:
        return {
            each.name: sorted(map(tuple, connection.execute(sa.select(*each.c)).all()), key=repr)
            for each in Base.metadata.sorted_tables
        }


def again(database: Database, worker_id: int, now: int = NOW) -> Request:
    """Renew every complete link and take out the one there is."""
    with writing(database) as (connection, tally):
        frontier.renew(connection, list(connection.scalars(sa.select(LINK.c.id))), tally)
        (request,) = take(connection, worker_id, tally)
    del now
    return request


def full(request: Request, seed_id: int = 1) -> Fetched:
    """Return an outcome that writes to every table an outcome can write to."""
    return fetched(
        request,
        a_medium("http://m.test/v.mp4", text="a film"),
        a_medium("http://m.test/s.mp3", MediaKind.AUDIO),
        a_medium("http://m.test/f.swf", MediaKind.FLASH),
        links=((a_link("http://a.test/one"), seed_id), (a_link("http://b.test/two"), seed_id)),
        refused=(
            (a_link("http://out.test/", relation=Relation.EXTERNAL, text="away"), "tree"),
            (a_link("http://a.test/deep"), "depth"),
        ),
    )


# --- one transaction ------------------------------------------------------------------------------


def test_all_of_a_page(database: Database) -> None:
    """State, page, media, new links, links out, refusals and counts are there together."""
    worker_id, request = one_link(database)
    outcome = full(request, request.seed_id)
    assert record(database, worker_id, outcome) == [outcome]
    links = rows(database, LINK, "id", "url", "state", "depth", "parent_id", "seed_id")
    assert links[0][1:] == (request.url, LinkState.C, 0, None, request.seed_id)
    assert {link[1:] for link in links[1:]} == {
        ("http://a.test/one", LinkState.W, 1, request.link_id, request.seed_id),
        ("http://b.test/two", LinkState.W, 1, request.link_id, request.seed_id),
    }
    assert rows(database, PAGE, "link_id", "status", "title", "fetched_at") == [(request.link_id, 200, "A title", NOW)]
    for model in schema.MEDIA.values():
        assert [row[0] for row in rows(database, table(model), "page_id")] == [request.link_id]
    assert rows(database, OUT, "url", "page_id", "text", "count") == [("http://out.test/", request.link_id, "away", 1)]
    assert rows(database, SKIPPED, "url", "rule", "page_id") == [("http://a.test/deep", "depth", request.link_id)]
    with database.read() as connection:
        counts = dict(connection.execute(sa.select(schema.Count.name, schema.Count.value)).all())
    assert (counts["cut.depth"], counts["cut.tree"]) == (1, 1)


STEPS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "pages": lambda patch: patch.setattr(catalog, "_write", broken),
    "media": lambda patch: patch.setattr(held, "write", broken),
    "links": lambda patch: patch.setattr(frontier, "add", broken),
    "refusals": lambda patch: patch.setattr(catalog, "_counted", broken),
    "counts": lambda patch: patch.setattr(Tally, "flush", broken),
}


def broken(*_: object, **__: object) -> None:
    """Fail as a full disk does."""
    raise StorageError("database or disk is full")


@pytest.mark.parametrize("step", STEPS)
def test_or_nothing_of_it(step: str, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one step fails, whichever it is, nothing of the page is there, and its link is still in R."""
    worker_id, request = one_link(database)
    before = everything(database)
    STEPS[step](monkeypatch)
    with pytest.raises(StorageError):
        record(database, worker_id, full(request, request.seed_id))
    monkeypatch.undo()
    assert everything(database) == before
    assert record(database, worker_id, full(request, request.seed_id))


@pytest.mark.parametrize("kind", ["fetched", "redirected", "failed", "skipped", "itself"])
def test_not_ours(kind: str, database: Database) -> None:
    """What a worker brings for a link that was taken from it leaves no trace at all."""
    worker_id, request = one_link(database)
    with writing(database) as (connection, tally):
        other = worker(connection, 2)
        workers.recover(connection, lambda row: row.id == worker_id, tally)
        assert [taken.link_id for taken in take(connection, other, tally)] == [request.link_id]
    outcomes: dict[str, Outcome] = {
        "fetched": full(request, request.seed_id),
        "redirected": redirected(request, "http://b.test/"),
        "failed": Failed(request, Reason.CLIENT, "HTTP status 410", 410),
        "skipped": Skipped(request, "robots"),
        "itself": redirected(request, "http://a.test/?utm_source=x"),
    }
    before = everything(database)
    assert record(database, worker_id, outcomes[kind]) == []
    assert everything(database) == before
    assert record(database, other, outcomes[kind]) == [outcomes[kind]]


# --- redirects ------------------------------------------------------------------------------------


def test_a_redirect_is_a_link_of_its_own(database: Database) -> None:
    """A redirect completes its link; its target waits at the same depth, one hop on, with the same anchor."""
    worker_id, request = one_link(database)
    record(database, worker_id, fetched(request, links=((a_link("http://a.test/old", text="old"), request.seed_id),)))
    with writing(database) as (connection, tally):
        (old,) = take(connection, worker_id, tally)
    record(database, worker_id, redirected(old, "http://a.test/new"))
    assert rows(database, LINK, "url", "state", "depth", "hops", "parent_id", "text", "source")[1:] == [
        ("http://a.test/new", LinkState.W, 1, 1, request.link_id, "old", "a@href"),
        ("http://a.test/old", LinkState.C, 1, 0, request.link_id, "old", "a@href"),
    ]
    assert (old.link_id, "http://a.test/new") in rows(database, PAGE, "link_id", "redirect_to")


def test_a_redirect_to_itself(database: Database) -> None:
    """A redirect to another spelling of the link itself sends that spelling to W again, with its hops counted."""
    worker_id, request = one_link(database, "http://a.test/?utm_source=x")
    record(database, worker_id, redirected(request, "http://a.test/"))
    assert rows(database, LINK, "url", "state", "hops", "attempt") == [("http://a.test/", LinkState.W, 1, 0)]
    assert rows(database, PAGE, "link_id") == []
    with writing(database) as (connection, tally):
        (taken,) = take(connection, worker_id, tally)
    assert (taken.url, taken.hops, taken.attempt) == ("http://a.test/", 1, 1)


def test_a_seed_lands(database: Database) -> None:
    """A seed that redirects takes its root along, and says so to whoever keeps scopes; a deeper link does not."""
    worker_id, request = one_link(database)
    with database.read() as connection:
        before = ask.landed(connection)
    record(database, worker_id, redirected(request, "http://www.a.test/"))
    with writing(database) as (connection, tally):
        (row,) = seeds.seed_rows(connection)
        assert (row.url, row.root) == ("http://a.test/", "http://www.a.test/")
        assert ask.landed(connection) > before
        (home,) = take(connection, worker_id, tally)
    record(database, worker_id, fetched(home, links=((a_link("http://www.a.test/x"), request.seed_id),)))
    with writing(database) as (connection, tally):
        (deeper,) = take(connection, worker_id, tally)
        landed = ask.landed(connection)
    record(database, worker_id, redirected(deeper, "http://www.a.test/y"))
    with database.read() as connection:
        assert seeds.seed_rows(connection)[0].root == "http://www.a.test/"
        assert ask.landed(connection) == landed


# --- read again -----------------------------------------------------------------------------------


def test_read_again(database: Database) -> None:
    """A page read again keeps when its media were first seen and moves when last; nothing is there twice."""
    worker_id, request = one_link(database)
    record(database, worker_id, fetched(request, a_medium("http://m.test/v.mp4", text="old")))
    later = NOW + 10
    request = again(database, worker_id)
    record(database, worker_id, fetched(request, a_medium("http://m.test/v.mp4", text="new")), now=later)
    assert rows(database, VIDEO, "url", "text", "first_seen", "last_seen", "gone_at") == [
        ("http://m.test/v.mp4", "new", NOW, later, None)
    ]
    assert rows(database, PAGE, "fetched_at") == [(later,)]


@pytest.mark.parametrize(("content", "changed"), [(1, NOW), (2, NOW + 10)])
def test_changed_at(content: int, changed: int, database: Database) -> None:
    """When a page changed is when its content was last seen to differ, and not when it was last seen."""
    worker_id, request = one_link(database)
    record(database, worker_id, fetched(request, content_hash=1))
    with writing(database) as (connection, tally):
        assert frontier.refresh(connection, tally, before=NOW, sooner=NOW) == 1
        (request,) = take(connection, worker_id, tally)
    record(database, worker_id, fetched(request, content_hash=content), now=NOW + 10)
    assert rows(database, PAGE, "fetched_at", "changed_at", "content_hash") == [(NOW + 10, changed, content)]


def test_a_failure_keeps_what_was_read(database: Database) -> None:
    """A page that fails later keeps its title, content and media; its status and the time are the failure's."""
    worker_id, request = one_link(database)
    record(database, worker_id, fetched(request, a_medium("http://m.test/v.mp4")))
    request = again(database, worker_id)
    record(database, worker_id, Failed(request, Reason.SERVER, "HTTP status 503", 503), now=NOW + 10)
    assert rows(database, PAGE, "title", "status", "fetched_at") == [("A title", 503, NOW + 10)]
    assert rows(database, VIDEO, "url", "gone_at") == [("http://m.test/v.mp4", None)]


def test_a_link_that_is_a_medium(database: Database) -> None:
    """A link that turned out to be a medium belongs to the page that showed it; a seed that is one, to itself."""
    worker_id, request = one_link(database)
    medium = a_medium("http://a.test/get?7", confidence=Confidence.LINK)
    record(database, worker_id, fetched(request, links=((a_link(medium.url), request.seed_id),)))
    with writing(database) as (connection, tally):
        (link,) = take(connection, worker_id, tally)
    response = Response(link, link.url, 200, {"content-type": "video/mp4"})
    record(database, worker_id, Fetched(link, response, medium=medium))
    assert rows(database, VIDEO, "page_id", "url") == [(request.link_id, medium.url)]


# --- depth ----------------------------------------------------------------------------------------


def test_nearer_while_it_is_read(database: Database) -> None:
    """A page that comes nearer while it is being read at the limit is read again: its links were cut."""
    worker_id, request = one_link(database)
    with writing(database) as (connection, tally):
        frontier.add(connection, [new_link("http://a.test/x", request.seed_id, depth=LIMIT)], tally)
        (deep,) = take(connection, worker_id, tally)
    record(database, worker_id, fetched(request, links=((a_link(deep.url), request.seed_id),)))
    record(database, worker_id, fetched(deep, refused=((a_link("http://a.test/y"), "depth"),), content_hash=2))
    assert (deep.url, LinkState.W, 1) in rows(database, LINK, "url", "state", "depth")


def test_nearer_in_the_same_moment(database: Database) -> None:
    """A page met nearer is read again also where the cut that makes it needed is in the same batch."""
    worker_id, request = one_link(database)
    with writing(database) as (connection, tally):
        links = [new_link("http://a.test/mid", request.seed_id, depth=LIMIT - 1)]
        frontier.add(connection, links, tally)
        (mid,) = take(connection, worker_id, tally)
    record(database, worker_id, fetched(mid, links=((a_link("http://a.test/end"), request.seed_id),), content_hash=2))
    with writing(database) as (connection, tally):
        (end,) = take(connection, worker_id, tally)
    record(
        database,
        worker_id,
        fetched(end, refused=((a_link("http://a.test/off"), "depth"),), content_hash=3),
        fetched(request, links=((a_link(mid.url), request.seed_id),)),
    )
    assert (mid.url, LinkState.W, 1) in rows(database, LINK, "url", "state", "depth")


def test_nearer_before_anything_is_cut(database: Database) -> None:
    """A page met nearer before anything of its tree was cut is read again once something is."""
    worker_id, request = one_link(database)
    with writing(database) as (connection, tally):
        frontier.add(connection, [new_link("http://a.test/mid", request.seed_id, depth=LIMIT - 1)], tally)
        (mid,) = take(connection, worker_id, tally)
    record(database, worker_id, fetched(mid, links=((a_link("http://a.test/end"), request.seed_id),), content_hash=2))
    record(database, worker_id, fetched(request, links=((a_link(mid.url), request.seed_id),)))
    with writing(database) as (connection, tally):
        taken = take(connection, worker_id, tally)
        end = next(request for request in taken if request.url == "http://a.test/end")
    record(database, worker_id, fetched(end, refused=((a_link("http://a.test/off"), "depth"),), content_hash=3))
    assert (mid.url, LinkState.W, 1) in rows(database, LINK, "url", "state", "depth")


# --- hostile text ---------------------------------------------------------------------------------


def test_hostile_headers(database: Database) -> None:
    """NUL and lone surrogates in what a server says are kept as U+FFFD, on either engine."""
    worker_id, request = one_link(database)
    bad = "x\0y\udc80z"
    headers = {"content-type": f"text/html{bad}", "etag": bad, "last-modified": bad}
    record(database, worker_id, fetched(request, headers=headers))
    assert rows(database, PAGE, "etag", "last_modified", "content_type") == [
        ("x\ufffdy\ufffdz", "x\ufffdy\ufffdz", "text/htmlx\ufffdy\ufffdz")
    ]
    request = again(database, worker_id)
    record(database, worker_id, Failed(request, Reason.PROTOCOL, bad))
    assert rows(database, LINK, "message") == [("x\ufffdy\ufffdz",)]


def test_hostile_numbers(database: Database) -> None:
    """Lengths that are no lengths are recorded as unknown."""
    worker_id, request = one_link(database)
    media = [
        replace(a_medium(f"http://m.test/{number}.mp4"), duration=duration)
        for number, duration in enumerate([float("nan"), float("inf"), 12.5])
    ]
    record(database, worker_id, fetched(request, *media))
    assert [row[1] for row in rows(database, VIDEO, "url", "duration")] == [None, None, 12.5]


def test_many_links(database: Database) -> None:
    """A page with more links than an engine takes in one statement is recorded, each link once, in order."""
    worker_id, request = one_link(database)
    addresses = [f"http://a.test/{number}" for number in range(3000)]
    found = tuple((a_link(address), request.seed_id) for address in (*addresses, *addresses[:10]))
    record(database, worker_id, fetched(request, links=found))
    assert [row[1] for row in rows(database, LINK, "id", "url")] == [request.url, *addresses]
    assert urls.identify(addresses[0]) == rows(database, LINK, "id", "h")[1][1]
