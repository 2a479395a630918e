"""Laws of docs/reports.md: the columns that are documented are those that are printed, in their order."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from spider.cli import doctor, fingerprint, links, status
from spider.report import (
    ERROR_COLUMNS,
    MEDIA_COLUMNS,
    RUN_COLUMNS,
    SEED_COLUMNS,
    SKIPPED_COLUMNS,
    TREE_COLUMNS,
    WHY_COLUMNS,
    WORKER_COLUMNS,
)
from spider.report.network import EDGE_COLUMNS, LINK_COLUMNS
from tests.cli.conftest import Run, run
from tests.report.filled import ROOT, fill

__all__ = ["run"]

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reports.md"
COLUMNS = {
    "report": MEDIA_COLUMNS,
    "errors": ERROR_COLUMNS,
    "skipped": SKIPPED_COLUMNS,
    "why": WHY_COLUMNS,
    "runs": RUN_COLUMNS,
    "workers": WORKER_COLUMNS,
    "tree": TREE_COLUMNS,
    "status": status.COLUMNS,
    "seeds list": SEED_COLUMNS,
    "links": links.COLUMNS,
    "fingerprint": fingerprint.COLUMNS,
    "doctor": doctor.COLUMNS,
    "export links": LINK_COLUMNS,
    "export links --edges": EDGE_COLUMNS,
}
ASKED = {"why": [ROOT], "links": ["page.html"], "fingerprint": ["page.html"]}
"""What a command is asked of, where it is asked of something."""


def documented() -> dict[str, tuple[str, ...]]:
    """Return the columns by command, as the document has them."""
    sections = re.split(r"^#+ ", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {}
    for section in sections:
        name, _, body = section.partition("\n")
        if name.startswith("`spider "):
            found[name.strip("`\n").removeprefix("spider ")] = tuple(re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE))
    return found


def test_the_document_has_every_column() -> None:
    """Each list's columns are documented once, in their order, and no other."""
    assert documented() == {name: tuple(map(str, columns)) for name, columns in COLUMNS.items()}


@pytest.mark.parametrize("command", COLUMNS)
def test_the_document_s_columns_are_printed(command: str, run: Run, tmp_path: Path) -> None:
    """What a command prints has the documented columns: CSV as headings, JSON lines as keys."""
    fill(tmp_path / "spider.db")
    (tmp_path / "page.html").write_text("<a href=/x>x</a><video src=v.mp4></video><script>fetch('/y')</script>")
    words = [*command.split(), *ASKED.get(command, [])]
    head = run(*words, "--format", "csv").stdout.splitlines()[0]
    assert tuple(head.split(",")) == documented()[command]
    lines = run(*words, "--format", "jsonl").stdout.splitlines()
    assert {tuple(json.loads(line)) for line in lines} <= {documented()[command]}


def test_the_pictures_are_there() -> None:
    """Every picture that the document shows is kept beside it."""
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", DOCUMENT.read_text(encoding="utf-8"))
    assert len(shown) >= 3
    assert [name for name in shown if not (DOCUMENT.parent / name).is_file()] == []
