"""Traps: whatever a page does, exploring it ends within its limits, and the rest of the page is found."""

from __future__ import annotations

import time

import pytest

from spider.ajax import Limits, Terms
from spider.model import Accepted, Purpose, Rejected, Verdict
from tests.ajax.conftest import Visit

ONE = Limits(depth=1, seconds=60)


def test_traps(visit: Visit) -> None:
    """Busy loops, alerts without end, popups, navigations, mailto, print and beforeunload are survived and told."""
    found = visit("traps.html", limits=ONE)
    assert found.depths == [0, 1]
    assert {"/popup.html", "/gone.html", "mailto:someone@example.com"} <= found.links
    assert found.resources == {"POST /api/traps/post"}
    posted = next(iter(found.application.resources.values()))
    assert (posted.refused, posted.body_shape) == ("method", "age name")
    assert "/logout" in found.links
    assert {"/popup.html", "/gone.html", "/logout", "/api/traps/post"}.isdisjoint(found.server.asked())


def test_endless_links_to_itself(visit: Visit) -> None:
    """A page that links to itself with another number each time is one state."""
    assert visit("again.html").depths == [0]


def test_stuck_while_loading(visit: Visit) -> None:
    """A script that never ends while the page loads is ended, and the page is explored."""
    began = time.monotonic()
    assert visit("stuck.html", limits=ONE).depths == [0, 1]
    assert time.monotonic() - began < 40


def test_endless_answer(visit: Visit) -> None:
    """An answer without end is cut at its deadline, and the other events are fired."""
    found = visit("endless.html", limits=ONE, terms=Terms(deadline=1.5))
    assert found.resources == {"GET /endless", "GET /api/endless/other"}
    assert found.depths == [0, 1]


def test_large_answer_is_cut(visit: Visit) -> None:
    """An answer that grows beyond the limit of size is cut too, long before its deadline."""
    began = time.monotonic()
    assert visit("flood.html", limits=ONE, terms=Terms(max_size=300_000, deadline=50)).depths == [0, 1]
    assert time.monotonic() - began < 40


def test_streams(visit: Visit) -> None:
    """What an event stream brings makes a state; a beacon, a worker and what it asks for are told."""
    found = visit("streams.html", limits=ONE)
    assert found.depths == [0, 1]
    expected = {"GET /events", "POST /api/streams/beacon", "GET /worker.js", "GET /api/streams/worker"}
    assert found.resources == expected


def test_gate_refuses_by_name(visit: Visit) -> None:
    """What the gate refuses is not asked for; it is told, with the rule."""

    def permit(url: str, purpose: Purpose) -> Verdict:
        return Rejected("robots") if purpose is Purpose.XHR and "tabs/1" in url else Accepted()

    found = visit("tabs.html", permit=permit)
    refused = {one.url: one.refused for one in found.application.resources.values() if one.refused}
    assert {found.path(url): rule for url, rule in refused.items()} == {"/api/tabs/1": "robots"}
    assert "/api/tabs/1" not in found.server.asked()


def test_posts_are_sent_when_allowed(visit: Visit) -> None:
    """With leave, a request that may change something reaches the server."""
    assert "/api/traps/post" not in visit("post.html").server.asked()
    found = visit("post.html", terms=Terms(allow_post=True))
    assert "/api/traps/post" in found.server.asked()
    assert found.resources == {"POST /api/traps/post", "POST /api/traps/form"}
    assert {one.body_shape for one in found.application.resources.values()} == {"age name", None}


@pytest.mark.parametrize("limits", [Limits(states=3), Limits(events=4)], ids=["states", "events"])
def test_limits_are_exact(visit: Visit, limits: Limits) -> None:
    """A limit ends the exploration at its number, and is named."""
    found = visit("tabs.html", limits=limits).application
    assert len(found.states) <= limits.states
    assert found.fired <= limits.events
    assert found.ended in {"states", "events"}


def test_decoys_make_no_states(visit: Visit) -> None:
    """Clocks, counters, advertisements and numbers drawn by chance make no states, whatever they show."""
    for _ in range(2):
        assert visit("decoys.html").depths == [0, 1]


def test_replays_cost_the_server_nothing(visit: Visit) -> None:
    """Loads and walks after the first are answered from what was kept."""
    found = visit("tabs.html")
    assert found.application.loads > 1
    asked = found.server.asked()
    assert asked.count("/tabs.html") == 1
