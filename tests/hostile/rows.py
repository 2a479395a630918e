"""The fifty-two ways to be hurt: what each is, what is promised, and the tests that hold the promise.

They stand in ``tests/cases/hostile/rows.toml``.  Scenarios of a row are played by ``tests/hostile/test_wire.py``; the
tests named there are those beside them.  ``docs/reliability.md`` is written from it, and a test holds every name in it
to what there is.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from tests.conftest import ROOT

__all__ = ["FAULTS", "ROWS", "WIRE", "Fault", "Row"]

WIRE = "tests/hostile/test_wire.py::test_row"
TABLE = ROOT / "tests" / "cases" / "hostile" / "rows.toml"


@dataclass(frozen=True, slots=True)
class Row:
    """One way: number, what happens, what is promised, the figure that bounds it, tests beside its scenarios."""

    number: int
    attack: str
    promise: str
    figure: str
    tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What may befall the database: what is said, the exit code, what is left of it, and the tests."""

    what: str
    said: str
    code: int
    left: str
    tests: tuple[str, ...]


_TABLES = tomllib.loads(TABLE.read_text(encoding="utf-8"))
ROWS = tuple(Row(**{**row, "tests": tuple(row.get("tests", ()))}) for row in _TABLES["row"])
FAULTS = tuple(Fault(**{**fault, "tests": tuple(fault["tests"])}) for fault in _TABLES["fault"])
