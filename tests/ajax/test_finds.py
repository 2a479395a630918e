"""Cases of one kind each: a page on which /found.html hides behind one event, one timer or one frame."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spider.ajax import Limits
from tests.ajax.conftest import Explore
from tests.replies import Asked, Reply

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "ajax" / "finds.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_found(case: dict[str, Any], explore: Explore) -> None:
    """The address is told as a link or a resource, and nothing goes wrong on the way."""

    def content(asked: Asked) -> Reply | None:
        pages = {"/": case["html"], "/inner.html": "<a href=/found.html>x</a>"}
        return Reply(pages[asked.path]) if asked.path in pages else None

    found = explore(content, limits=Limits(depth=3, seconds=30))
    told = [*found.links, *found.resources]
    assert [url for url in told if "/found.html" in url], case["why"]
    assert "POST" not in {asked.method for asked in found.server.requests}
    assert found.application.notes == []
