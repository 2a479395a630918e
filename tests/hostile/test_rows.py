"""Laws of the table of rows: every way to be hurt is there, and every proof of it is."""

from __future__ import annotations

import ast
import functools
import json

import pytest

from tests.conftest import ROOT
from tests.hostile.rows import FAULTS, ROWS, Row
from tests.hostile.scenarios import SCENARIOS

FIGURES = ROOT / "tests" / "cases" / "hostile" / "figures.json"


@functools.cache
def functions(path: str) -> frozenset[str]:
    """Return the names of a file's functions."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def exists(test: str) -> bool:
    """Tell whether a test is in its file."""
    path, _, name = test.partition("::")
    return name in functions(path)


def test_every_fault_has_its_proof() -> None:
    """Each fault of a database names tests that exist."""
    assert [(fault.what, test) for fault in FAULTS for test in fault.tests if not exists(test)] == []
    assert all(fault.tests for fault in FAULTS)


def test_every_row_is_there() -> None:
    """The rows are one to fifty-two."""
    assert [row.number for row in ROWS] == list(range(1, 53))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.number))
def test_every_proof_is_there(row: Row) -> None:
    """Each row has scenarios or tests; the tests that it names exist."""
    assert row.tests or any(scenario.row == row.number for scenario in SCENARIOS)
    assert all(exists(test) for test in row.tests)


def test_every_scenario_has_its_row() -> None:
    """No scenario is of a row that there is not, and no two have one name."""
    assert {scenario.row for scenario in SCENARIOS} <= {row.number for row in ROWS}
    assert len({scenario.id for scenario in SCENARIOS}) == len(SCENARIOS)


def test_every_scenario_was_measured() -> None:
    """The document has a figure for every scenario (docs/make_reliability.py --measure), within its bounds."""
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    assert set(figures) == {scenario.id for scenario in SCENARIOS}
    for scenario in SCENARIOS:
        found = figures[scenario.id]
        assert found["seconds"] <= found["deadline"] + 1.0
        assert found["growth"] <= scenario.growth
