"""The fifty-two ways to be hurt: what each is, what is promised, and the tests that hold the promise.

They stand in ``tests/cases/hostile/rows.toml``.  Scenarios of a row are played by ``tests/hostile/test_wire.py``; the
tests named there are those beside them.  ``docs/reliability.md`` is written from it, and a test holds every name in it
to what there is.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

from tests.conftest import ROOT

__all__ = ["ROWS", "WIRE", "Row"]

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


ROWS = tuple(
    Row(**{**row, "tests": tuple(row.get("tests", ()))})
    for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["row"]
)
