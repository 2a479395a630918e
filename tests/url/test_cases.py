"""The project's own cases: they reach every state, every move, every error, and every kind of bug that others had."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from spider.url import InvalidURL, Step, key, parse, trace
from spider.url.machine import CHILD, FRONT, PARENT
from tests.url.conftest import cases

ALL = [*cases("machine"), *cases("reports")]

ERRORS = """
    domain-to-ASCII domain-invalid-code-point host-invalid-code-point IPv4-empty-part IPv4-too-many-parts
    IPv4-non-numeric-part IPv4-non-decimal-part IPv4-out-of-range-part IPv6-unclosed IPv6-invalid-compression
    IPv6-too-many-pieces IPv6-multiple-compression IPv6-invalid-code-point IPv6-too-few-pieces
    IPv4-in-IPv6-too-many-pieces IPv4-in-IPv6-invalid-code-point IPv4-in-IPv6-out-of-range-part
    IPv4-in-IPv6-too-few-parts invalid-URL-unit special-scheme-missing-following-solidus
    missing-scheme-non-relative-URL invalid-reverse-solidus invalid-credentials host-missing port-out-of-range
    port-invalid file-invalid-Windows-drive-letter file-invalid-Windows-drive-letter-host
"""
"""The names of section 1.1 that a parser can meet (domain-to-Unicode is met by those who show hosts)."""


def named(case: dict[str, Any]) -> str:
    """Name a case by why it is one, and by what it is."""
    return f"{case['why']}: {ascii(case['input'])[:60]}"


@pytest.mark.parametrize("case", ALL, ids=named)
def test_case(case: dict[str, Any]) -> None:
    """A case parses to its URL with its errors, or fails with its reason."""
    encoding = case.get("encoding", "utf-8")
    if case["href"] is None:
        with pytest.raises(InvalidURL) as caught:
            parse(case["input"], case.get("base"), encoding=encoding)
        assert caught.value.reason == case["reason"]
        return
    url = parse(case["input"], case.get("base"), encoding=encoding)
    assert str(url) == case["href"]
    assert [name for name, _ in url.errors] == case.get("errors", [])


def test_twins(twin: ModuleType) -> None:
    """Each twin writes every case as its URL without fragment."""
    for case in ALL:
        base, encoding = case.get("base"), case.get("encoding", "utf-8")
        want = case["href"] and case["href"].partition("#")[0]
        if base:
            assert twin.normalize_all([case["input"]], base, encoding=encoding) == [want], named(case)
        if want:
            assert twin.normalize(case["input"], base, encoding=encoding) == want, named(case)
        else:
            with pytest.raises(InvalidURL):
                twin.normalize(case["input"], base, encoding=encoding)


@pytest.mark.parametrize("case", [case for case in ALL if "key" in case], ids=named)
def test_key(case: dict[str, Any]) -> None:
    """A report's address has the key that its users asked for."""
    assert key(case["href"].partition("#")[0]) == case["key"]


def test_every_report_is_a_case() -> None:
    """Each of the 31 public bug reports has at least one case."""
    assert {case["report"] for case in cases("reports")} == set(range(1, 32))


def test_every_error_is_a_case() -> None:
    """The cases meet each error that a parser can meet, and no other."""
    met = {case["reason"] for case in ALL if case["href"] is None}
    met |= {name for case in ALL for name in case.get("errors", [])}
    assert met == set(ERRORS.split())


def cell(step: Step) -> tuple[str, str]:
    """Say which cell of the tables a step was: its input's class and its state."""
    token = step.input
    if step.state in FRONT["a"]:
        letter = token.isascii() and token.isalpha()
        return "a" if letter else token or "$" if token in {"", *":/?#"} else "n" if token in {
            *"0123456789+-."
        } else "x", step.state
    if step.state in CHILD["D1"]:
        return {"/": "D2", "\\": "D2", ".": "D3", "%2e": "D3", "%2E": "D3"}.get(token, "D1"), step.state
    return token if token in PARENT else "/" if token == "\\" else "N" if token.isdigit() else "A", step.state


def test_every_cell_is_a_case() -> None:
    """The cases meet every cell of the three tables, but those of states that only stay where they are."""
    met = {cell(step) for case in ALL for step in trace(case["input"], case.get("base"))}
    cells = {
        (token, state)
        for table in (FRONT, PARENT, CHILD)
        for token, row in table.items()
        for state in row
        if state not in {"S5", "S6", "S7"}
    }
    assert cells - met == {("D1", "S5-5")}  # a run of other characters is one step
    assert {"S6", "S7", "S8"} <= {state for _, state in met}
