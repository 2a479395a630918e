"""Traps: whatever a page does, exploring it ends within its limits, and the rest of the page is found."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from spider.ajax import Browser, Explorer, Limits, Terms
from spider.ajax.events import Event
from spider.ajax.tab import Tab
from spider.model import Accepted, Purpose, Rejected, Verdict
from tests.ajax.conftest import SKIP, Visit, accept, content
from tests.server import WebServer

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


def test_crash_of_the_renderer(browser: Browser, web: Callable[..., WebServer]) -> None:
    """A tab that crashes is replaced, its event is not fired again, and all the rest is found."""
    server = web(content, per_host=64, skip=SKIP)
    tabs: list[Tab] = []

    async def tab() -> Tab:
        opened = await browser.tab(accept)
        if not tabs:
            fire = opened.fire

            async def crash(node: int, event: Event) -> None:
                if event.path == "#two":
                    await asyncio.wait({asyncio.ensure_future(opened._session.send("Page.crash"))}, timeout=1)
                await fire(node, event)

            opened.fire = crash  # type: ignore[method-assign]  # as a page that crashes would
        tabs.append(opened)
        return opened

    explorer = Explorer(f"{server.url}inline.html", tab, browser.discard, limits=Limits(seconds=60))
    found = browser.run(explorer.explore())
    assert len(tabs) == 2
    assert len(found.notes) == 1
    assert sorted(state.depth for state in found.states) == [0, 1, 1, 1, 1, 2]


@pytest.mark.usefixtures("browser")
def test_browser_that_dies(web: Callable[..., WebServer]) -> None:
    """A browser that is gone is started again for the next tab."""
    server = web(content, per_host=64, skip=SKIP)
    with Browser() as other:
        for _ in range(2):

            async def tab() -> Tab:
                return await other.tab(accept)

            explorer = Explorer(f"{server.url}toggles.html", tab, other.discard, limits=Limits(seconds=60))
            assert len(other.run(explorer.explore()).states) == 4
            other.run(other._browser.close())
