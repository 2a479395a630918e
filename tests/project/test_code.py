"""Laws that every file of the code keeps."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = [*sorted((ROOT / "spider").rglob("*.py")), *sorted((ROOT / "alembic").rglob("*.py"))]
OTHERS = [path for name in ("tests", "docs", "benchmarks") for path in sorted((ROOT / name).rglob("*.py"))]
FILES = [*CODE, *(path for path in OTHERS if "node_modules" not in path.parts)]
MAX_LINES = 400

DOORS = {
    "alembic": {"spider/store", "alembic"},
    "cchardet": {"spider/page"},
    "click": {"spider/cli"},
    "datasette": {"spider/cli/browse.py"},
    "idna": {"spider/url"},
    "lxml": {"spider/page"},
    "playwright": {"spider/ajax/browser.py"},
    "protego": {"spider/fetch"},
    "psycopg": set[str](),
    "publicsuffixlist": {"spider/crawl", "spider/fetch"},  # scopes, and cookies
    "re2": {"spider/patterns.py"},
    "requests": {"spider/fetch"},
    "rich": {"spider/cli", "spider/report/formats.py"},
    "selectolax": {"spider/page"},
    "sqlalchemy": {"spider/store", "alembic"},
    "urllib3": {"spider/fetch"},
    "uvicorn": {"spider/cli/browse.py"},
    "webencodings": {"spider/page", "spider/url"},
}
"""Which part of the house may import an outside library."""


def name_of(path: Path) -> str:
    """Return the path as tests show it."""
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    """Yield the top-level name of everything that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_each_library_has_one_door() -> None:
    """Only the room that owns an outside library imports it."""
    strays = [
        f"{name_of(path)} imports {library}"
        for path in CODE
        for library in sorted(set(imported(path)) & set(DOORS))
        if not any(name_of(path) == door or name_of(path).startswith(f"{door}/") for door in DOORS[library])
    ]
    assert strays == []


def distribution_names(requirements: Iterable[str]) -> set[str]:
    """Return the names of distributions in requirement lines, as the index writes them."""
    return {re.split(r"[\s\[<>=!~;]", line)[0].lower().replace("_", "-") for line in requirements}


def test_dependencies_are_those_imported() -> None:
    """What the program imports is declared, for it or for an extra: nothing is missing, nothing is idle."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    providers = packages_distributions()
    outside = {name for path in CODE for name in imported(path)} - set(sys.stdlib_module_names)
    outside -= {"cython", "spider"}  # without Cython a stand-in of the project's own takes its place
    used = distribution_names(providers[name][0] for name in outside if name in providers)
    extras = project["optional-dependencies"]
    extra = distribution_names([*extras["ajax"], *extras["browse"]])
    assert used == distribution_names(project["dependencies"]) | extra


def test_no_file_is_a_whale() -> None:
    """No file of the project is longer than four hundred lines."""
    sizes = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in sizes.items() if lines > MAX_LINES} == {}


def test_every_module_says_what_it_is_for() -> None:
    """Each module has a docstring."""
    assert [name_of(path) for path in FILES if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


def test_nothing_is_left_to_do() -> None:
    """No file of the code postpones anything with a mark."""
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X:")
    assert [name_of(path) for path in FILES if any(mark in path.read_text(encoding="utf-8") for mark in marks)] == []


def packages() -> list[str]:
    """Return the dotted names of the packages of the spider."""
    inits = sorted((ROOT / "spider").rglob("__init__.py"))
    return [".".join(path.parent.relative_to(ROOT).parts) for path in inits]


def in_order(names: Iterable[str]) -> list[str]:
    """Sort names without doubles as ruff does: constants, then classes, then the rest."""
    return sorted(set(names), key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))


@pytest.mark.parametrize("package", packages())
def test_door(package: str) -> None:
    """Each package's __all__ is sorted, free of doubles and true."""
    module = importlib.import_module(package)
    assert module.__all__ == in_order(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def literal_all(path: Path) -> list[str]:
    """Return a module's literal __all__, [] where it has none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def test_every_all_is_sorted() -> None:
    """Every module's __all__ is sorted and has no doubles."""
    assert [name_of(path) for path in CODE if literal_all(path) != in_order(literal_all(path))] == []
