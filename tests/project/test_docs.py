"""Laws of the documents: what is generated is fresh, what is named exists."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


@pytest.mark.parametrize("script", ["make_data.py", "make_diagrams.py", "make_reliability.py"])
def test_generated_documents_are_fresh(script: str) -> None:
    """`make docs` would change nothing."""
    command = [sys.executable, str(ROOT / "docs" / script), "--check"]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """Each relative link of a document names a file that is there."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text(encoding="utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (document.parent / target).exists()] == []


def documented_names() -> list[str]:
    """Return the dotted names of code that papers.md and architecture.md speak of."""
    text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("papers.md", "architecture.md"))
    return sorted(set(re.findall(r"`(spider\.[A-Za-z_.0-9]+[A-Za-z_0-9])`", text)))


@pytest.mark.parametrize("name", documented_names())
def test_named_code_exists(name: str) -> None:
    """A module, class, function or table that the documents name is in the code."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = inspect.getattr_static(found, part)
        return
    pytest.fail(f"no module of {name}")


def test_named_tests_exist() -> None:
    """A test file that papers.md or security.md names is there."""
    text = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("papers.md", "security.md"))
    named = re.findall(r"`(tests/[\w./-]+)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert named
