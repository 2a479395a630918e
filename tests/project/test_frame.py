"""Laws of the project's frame: packaging, the Makefile, the files that a stranger looks for first."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import spider
from spider.crawl import seeds

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """Return pyproject.toml as a dict."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_packages(project: dict[str, Any]) -> None:
    """The wheel's packages are the directories of spider/ that hold Python, and the migrations."""
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "spider").rglob("*.py")}
    found = {".".join(folder.parts) for folder in folders if "site" not in folder.parts}
    assert set(project["tool"]["setuptools"]["packages"]) == found | {"spider.migrations", "spider.migrations.versions"}


def test_version() -> None:
    """The version is a release number, and the changelog speaks of it or of what is not yet released."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", spider.__version__)
    assert re.search(
        rf"^## (Unreleased|{re.escape(spider.__version__)})", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )


def test_migrations_folder_is_no_package() -> None:
    """alembic/ has no __init__.py: with one it would shadow the library of that name."""
    assert (ROOT / "alembic" / "env.py").is_file()
    assert not (ROOT / "alembic" / "__init__.py").exists()


def test_every_ignored_rule_has_its_reason() -> None:
    """Each rule that ruff is told to ignore has a reason beside it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.mccabe]")[0]
    lines = [line for line in section.splitlines() if re.search(r'"[A-Z]+\d+"', line)]
    assert lines
    assert [line for line in lines if "  # " not in line and "   # " not in line] == []


def targets() -> set[str]:
    """Return the targets that the Makefile has."""
    return set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))


def make(*arguments: str) -> str:
    """Return what make prints, in an environment that does not know of a make around it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", *arguments], cwd=ROOT, env=kept, capture_output=True, text=True, check=True).stdout


def test_make_alone_lists_every_target() -> None:
    """`make` and `make help` list every target with its line, and all are declared phony."""
    listed = re.findall(r"^  make ([a-z-]+) +\S", make(), re.MULTILINE)
    assert sorted(listed) == sorted(targets())
    assert make("help") == make()
    assert set(re.findall(r"[a-z-]+", MAKEFILE.partition(".PHONY:")[2].partition("\n")[0])) == targets()


def test_make_has_the_promised_targets() -> None:
    """The commands that the README and the design promise exist."""
    assert {"help", "venv", "demo", "test", "check", "bench", "soak", "format", "docs", "clean", "browser"} <= targets()


def test_check_does_everything() -> None:
    """`make check` goes through format, lint, types, floors and the tests, which build documents and the wheel."""
    planned = make("-n", "check")
    for part in ("ruff format --check", "ruff check", "mypy", "lint-imports", "pytest"):
        assert part in planned
    scripts = re.findall(r"docs/(make_\w+\.py) --check", MAKEFILE)
    freshness = (ROOT / "tests" / "project" / "test_docs.py").read_text(encoding="utf-8")
    assert scripts
    assert [name for name in scripts if name not in freshness] == []
    assert "--wheel" in (ROOT / "tests" / "project" / "test_wheel.py").read_text(encoding="utf-8")


def test_ci_is_make_check() -> None:
    """.ci/run can be run and ends in `make check`."""
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith("exec make check </dev/null")


def test_seeds_file() -> None:
    """seeds.txt holds twenty sites, each once, as the reader of seeds reads it."""
    with (ROOT / "seeds.txt").open("rb") as stdin:
        found = seeds.load_seeds([str(ROOT / "seeds.txt")], stdin)
    assert len({seed.url for seed in found}) == len(found) == 20
