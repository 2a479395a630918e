"""The twins of the URL machine, and the cases they are held to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from spider.url import engine

CASES = Path(__file__).parents[1] / "cases" / "urls"


def cases(name: str) -> list[dict[str, Any]]:
    """Read a file of the project's own cases."""
    return list(json.loads((CASES / f"{name}.json").read_text(encoding="ascii")))


@pytest.fixture(params=["interpreted", engine.COMPILED, *(engine.COMPILED + level for level in engine.LEVELS)])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """Give each twin in its turn; skip those, and say so, that this processor cannot run or no compiler has built."""
    if request.param == "interpreted":
        return engine.interpreted()
    if request.param not in engine.names():
        pytest.skip("this processor has not the instructions that this twin is made of")
    module = engine.load(request.param)
    if module is None:
        pytest.skip("no compiled twin of these very sources: no compiler?")
    return module


@pytest.fixture
def suite(shared: Path) -> Callable[[str], list[dict[str, Any]]]:
    """Give a function that reads a file of the reference suites, without its comments."""

    def read(name: str) -> list[dict[str, Any]]:
        entries = json.loads((shared / "data" / "urls" / f"{name}.json").read_text(encoding="utf-8"))
        return [entry for entry in entries if isinstance(entry, dict)]

    return read
