"""Laws of workers: their clocks run with the page's, what they ask for is found, none holds the page up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spider.ajax import Limits
from tests.ajax.conftest import Explore
from tests.replies import Asked, Reply

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "ajax" / "workers.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_worker(case: dict[str, str], explore: Explore) -> None:
    """What a worker asks for, or has the page show, is found, whatever its timers; one that never ends is survived."""
    page, script = case["page"], case["worker"]

    def content(asked: Asked) -> Reply | None:
        if asked.path.startswith("/worker.js"):
            return Reply(script, type="text/javascript")
        return Reply(page) if asked.path == "/" else Reply("{}", type="application/json")

    found = explore(content, limits=Limits(depth=1, seconds=60))
    assert {"/found", "GET /found"} & (found.links | found.resources)
    assert found.application.notes == []
