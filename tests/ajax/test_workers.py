"""Laws of workers: their clocks run with the page's, what they ask for is found, none holds the page up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.ajax import Application, Browser, Explorer, Limits
from spider.ajax.tab import Tab
from tests.ajax.conftest import accept
from tests.replies import Asked, Reply
from tests.server import WebServer

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "ajax" / "workers.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_worker(case: dict[str, str], browser: Browser, web: Callable[..., WebServer]) -> None:
    """What a worker asks for, or has the page show, is found, whatever its timers; one that never ends is survived."""
    page, script = case["page"], case["worker"]

    def content(asked: Asked) -> Reply | None:
        if asked.path.startswith("/worker.js"):
            return Reply(script, type="text/javascript")
        return Reply(page) if asked.path == "/" else Reply("{}", type="application/json")

    async def tab() -> Tab:
        return await browser.tab(accept)

    server = web(content, per_host=64, skip={"overlap": "a browser opens connections as it likes"})
    found: Application = browser.run(
        Explorer(server.url, tab, browser.discard, limits=Limits(depth=1, seconds=60)).explore()
    )
    told = {*found.links, *(url for _, url in found.resources)}
    assert f"{server.url}found" in told
    assert found.notes == []
