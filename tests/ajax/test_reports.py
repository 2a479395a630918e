"""What went wrong elsewhere, a case of each kind: reports on other crawlers of applications."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spider.ajax import Ajax, Limits, Script, fingerprint
from tests.ajax.conftest import Explore
from tests.replies import Asked, Reply

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "ajax" / "reports.json").read_text("utf-8"))


def test_all_are_here() -> None:
    """No report is left out; the last one needs no browser."""
    assert [case["number"] for case in CASES] == list(range(1, 33))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["report"])
def test_report(case: dict[str, Any], explore: Explore) -> None:
    """States, limits and addresses are as the report would have them; every state is reached from the start."""

    def content(asked: Asked) -> Reply:
        page = asked.path.partition("?")[0] == "/"
        return Reply(case["html"]) if page else Reply("{}", type="application/json")

    limits = Limits(depth=case.get("depth", 4), states=case.get("most", 50), seconds=60)
    whole = explore(content, limits=limits)
    found, server = whole.application, whole.server
    told = whole.links | whole.media | {whole.path(url) for _, url in found.resources}
    assert told >= set(case.get("found", ()))
    assert told.isdisjoint(case.get("absent", ()))
    assert len(found.states) == case.get("states", len(found.states)), found.states
    assert found.ended == case.get("ended")
    into = [sum(1 for one in found.transitions if one.target == state.id) for state in found.states]
    assert max(into) >= case.get("shared", 0)
    assert sum(path == "/" for path in server.asked()) <= case.get("asked", 99)
    depths = {state.id: state.depth for state in found.states}
    assert max(depths.values()) <= limits.depth
    for state in found.states[1:]:
        assert any(one.target == state.id and depths[one.source] < state.depth for one in found.transitions)


def test_a_version_in_a_comment_is_none() -> None:
    """RetireJS/retire.js#422: neither a comment nor a file's name is a witness of a library or its version."""
    script = Script("http://example.com/jquery-3.1.0.min.js", "/*! jQuery v3.1.0 */ var a = 1;")
    assert fingerprint((), [script]).ajax is Ajax.NONE
