"""Where a soak writes down what it measured, for ``docs/reliability.md``."""

from __future__ import annotations

import json

from tests.conftest import ROOT

__all__ = ["measured", "record"]

FIGURES = ROOT / "tests" / "cases" / "hostile" / "soak.json"


def measured() -> dict[str, int]:
    """Return what the last soaks measured, by name."""
    known: dict[str, int] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return known


def record(**figures: int) -> None:
    """Write figures down."""
    FIGURES.write_text(json.dumps({**measured(), **figures}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
