"""Cases of one kind each: a page on which /found.html hides behind one event, one timer or one frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider.ajax import Browser, Explorer, Limits
from spider.ajax.tab import Tab
from tests.ajax.conftest import accept
from tests.replies import Asked, Reply
from tests.server import WebServer

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "ajax" / "finds.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_found(case: dict[str, Any], browser: Browser, web: Callable[..., WebServer]) -> None:
    """The address is told as a link or a resource, and nothing goes wrong on the way."""

    def content(asked: Asked) -> Reply | None:
        pages = {"/": case["html"], "/inner.html": "<a href=/found.html>x</a>"}
        return Reply(pages[asked.path]) if asked.path in pages else None

    async def tab() -> Tab:
        return await browser.tab(accept)

    server = web(content, per_host=64, skip={"overlap": "a browser opens connections as it likes"})
    explorer = Explorer(server.url, tab, browser.discard, limits=Limits(depth=3, seconds=30))
    found = browser.run(explorer.explore())
    told = [*found.links, *(url for _, url in found.resources)]
    assert [url for url in told if "/found.html" in url], case["why"]
    assert "POST" not in {asked.method for asked in server.requests}
    assert found.notes == []
