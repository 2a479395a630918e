"""What a hostile server does to a crawl: it ends in time and in memory, with its class, and the crawl goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.hostile.scenarios import LONG, SCENARIOS
from tests.hostile.stage import BASE, EVIL, GOOD, Result, Scenario, Spider, play

SLACK = 1.0  # seconds beyond the deadline
TRIES = 3  # on a machine that is busy with other things, one of them is on time


@pytest.fixture(scope="module")
def crawler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spider]:
    """Give a spider in a process of its own, which has crawled before."""
    process = Spider(tmp_path_factory.mktemp("hostile"))
    play(Scenario(0, "nothing bad"), process)
    yield process
    process.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
def test_row(scenario: Scenario, crawler: Spider) -> None:
    """The hostile address gets its outcome in time; every honest page of it and of the next host is read."""
    deadline = float({**BASE, **scenario.plan}["deadline"])
    for attempt in range(1, TRIES + 1):
        result = play(scenario, crawler)
        with contextlib.suppress(*[AssertionError] * (attempt < TRIES)):
            hold(scenario, result)
            assert result.spent(labour=scenario.plan.get("deadline") == LONG["deadline"]) <= deadline + SLACK
            break
    assert result.facts["growth"] <= scenario.growth


def hold(scenario: Scenario, result: Result) -> None:
    """Hold a result to what the scenario says must come of it."""
    outcomes = result.outcomes
    if f"{EVIL}/evil" in outcomes:
        assert result.evil["is"] == scenario.expect, result.evil
    if scenario.check is not None:
        scenario.check(result)
    honest = [f"{GOOD}/", f"{GOOD}/one", f"{GOOD}/two", *([f"{EVIL}/after"] if scenario.after else [])]
    assert [outcomes[place]["is"] for place in honest] == ["C"] * len(honest)
    assert outcomes[f"{GOOD}/one"]["media"]
    assert result.facts["modules"] == ["tests.hostile.driver"] or "__main__" not in result.facts["modules"]
