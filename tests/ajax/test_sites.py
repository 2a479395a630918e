"""The test sites: their states and resources were designed first, and are met exactly, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.ajax.conftest import Visit

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "ajax" / "sites.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(CASES))
def test_site_is_met_exactly(name: str, visit: Visit, request: pytest.FixtureRequest) -> None:
    """States by depth, resources, links and media are those of the design, no more and no fewer."""
    case = CASES[name]
    if case.get("libraries"):
        request.getfixturevalue("libraries")
    found = visit(f"{name}.html")
    assert found.depths == case["depths"], found.application
    assert found.resources == set(case["resources"])
    assert found.links == set(case["links"])
    assert found.media == set(case.get("media", ()))
    assert found.application.ended is None


def test_toggles_in_all_orders(visit: Visit) -> None:
    """Without the reduction three toggles make eight states; with it four, and what was left out is counted."""
    assert visit("toggles.html", independence=False).depths == [0, 1, 1, 1, 2, 2, 2, 3]
    assert visit("toggles.html").application.left_out == 6


def test_every_state_is_reached_from_the_start(visit: Visit) -> None:
    """Each state but the start has a transition to it from one that is a step nearer."""
    found = visit("tabs.html").application
    depths = {state.id: state.depth for state in found.states}
    for state in found.states[1:]:
        assert any(one.target == state.id and depths[one.source] == state.depth - 1 for one in found.transitions)
