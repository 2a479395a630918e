"""Laws of the lock: it pins what pyproject.toml asks for, with hashes, and names no index."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / ".ci" / "lock.txt").read_text(encoding="utf-8")
PINNED = re.compile(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==(\S+)(?: ; ([^\\]+?))? \\$", re.MULTILINE)
PYTHONS = ("3.11.9", "3.12.9", "3.13.9")


def asked() -> list[Requirement]:
    """Return what pyproject.toml asks for: the program's own, and that of development, PostgreSQL and Ajax."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in ("dev", "postgres", "ajax") for line in extras[name])]
    return [Requirement(line) for line in lines]


def pinned(python: str) -> dict[str, Version]:
    """Return what the lock pins for a version of Python on Linux."""
    place = {"python_full_version": python, "python_version": python.rpartition(".")[0], "sys_platform": "linux"}
    return {
        name: Version(version)
        for name, version, marker in PINNED.findall(LOCK)
        if not marker or Requirement(f"x; {marker}").marker.evaluate(place)  # type: ignore[union-attr]  # there is one
    }


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_pins_what_is_asked_for(python: str) -> None:
    """Each library that pyproject.toml names is pinned to a version that it allows (run: make lock)."""
    found = pinned(python)
    missing = [str(one) for one in asked() if canonicalize_name(one.name) not in found]
    assert missing == []
    wrong = [str(one) for one in asked() if found[canonicalize_name(one.name)] not in one.specifier]
    assert wrong == []


def test_every_pin_has_hashes_and_no_index_is_named() -> None:
    """Each pin has hashes, nothing else stands there, and pip is left to the index that it is set up with."""
    lines = [line for line in LOCK.splitlines() if not line.startswith("#")]
    pins = [line for line in lines if not line.startswith(" ")]
    assert len(pins) == len(PINNED.findall(LOCK)) > 40
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?", line) for line in lines if line.startswith(" "))
    assert "://" not in LOCK


@pytest.mark.parametrize("script", ["audit", "browser", "lock", "run", "venv"])
def test_scripts_are_shell(script: str) -> None:
    """Each script of .ci is one that a plain shell reads."""
    done = subprocess.run(["sh", "-n", ROOT / ".ci" / script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
