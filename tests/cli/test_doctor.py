"""Laws of the doctor: everything that a crawl rests on is looked at, and whatever is missing comes with its remedy."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest

from spider.cli.doctor import COLUMNS
from spider.cli.root import COMMANDS
from spider.store import Database
from tests.cli.conftest import Run

Program = Callable[..., CompletedProcess[str]]

CHECKS = [
    "spider",
    "Python",
    "libraries",
    "URL machine",
    "Playwright",
    "browser",
    "Datasette",
    "PostgreSQL",
    "database",
    "folder",
]


def findings(run: Run, *args: object, code: int = 0, **variables: str) -> dict[str, dict[str, Any]]:
    """Return the findings by what was checked; the last of a name counts."""
    done = run(*args, "doctor", "--format", "json", **variables)
    assert (done.exit_code, done.stderr) == (code, "")
    rows = json.loads(done.stdout)
    assert {tuple(row) for row in rows} == {COLUMNS}
    assert [row for row in rows if row["state"] not in {"ok", "less", "missing"}] == []
    assert [row for row in rows if (row["state"] == "ok") is not (row["remedy"] is None)] == []
    return {row["check"]: row for row in rows}


def test_everything_is_looked_at(run: Run, tmp_path: Path) -> None:
    """A sound installation is told in one line a check, and the code is 0."""
    Database.open(str(tmp_path / "spider.db")).close()
    found = findings(run)
    assert list(found) == [*CHECKS, "disk", "output"]
    assert found["database"]["detail"] == "spider.db: 0 seeds, 0 links"
    text = run("doctor").stdout
    assert [line.split()[0] for line in text.splitlines() if not line.startswith(" ")] != []
    assert "→" not in "".join(line for line in text.splitlines() if line.startswith("ok"))


def test_no_database_yet_is_no_fault(run: Run) -> None:
    """A database that is not there is told, with the command that makes one."""
    assert findings(run)["database"] == {
        "check": "database",
        "state": "less",
        "detail": "spider.db is not there yet",
        "remedy": "spider crawl URL",
    }


def test_what_is_no_database_stands_in_the_way(run: Run, tmp_path: Path) -> None:
    """Another file under that name, or a folder that is not there, is missing, code 5."""
    (tmp_path / "spider.db").write_text("shopping list")
    assert findings(run, code=5)["database"]["detail"] == "spider.db is not a database"
    found = findings(run, "--db", "nowhere/spider.db", code=5)
    assert found["folder"]["detail"].endswith("nowhere: no such file or directory")
    found = findings(run, "--db", "postgresql://nobody@127.0.0.1:1/none", code=5)
    assert found["database"]["state"] == "missing"
    assert "folder" not in found


@pytest.mark.parametrize(("free", "state", "code"), [(2e9, "ok", 0), (4e8, "less", 0), (4e7, "missing", 7)])
def test_too_little_room_stands_in_the_way(
    free: float, state: str, code: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Less than a gigabyte is told, less than a tenth of it is too little, code 7."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    disk = findings(run, code=code)["disk"]
    assert (disk["state"], disk["detail"]) == (state, f"{free / 1e9:.2f} GB free")


def test_what_only_ajax_needs_is_no_fault(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a browser or Playwright a crawl goes on; each comes with the command that brings it."""
    found = findings(run, SPIDER_BROWSER="/nowhere/chromium")["browser"]
    assert (found["state"], "SPIDER_BROWSER" in found["detail"]) == ("missing", True)
    monkeypatch.setattr("spider.ajax.browser.NAMES", ())
    assert findings(run)["browser"]["remedy"] == "apt-get install chromium"
    version = importlib.metadata.version

    def without(name: str) -> str:
        if name in {"playwright", "psycopg"}:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without)
    found = findings(run)
    assert found["Playwright"]["remedy"] == "pip install 'multimedia-spider[ajax]'"
    assert found["PostgreSQL"]["state"] == "less"


def test_a_library_that_is_missing_is_a_fault(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program cannot do without is missing, code 1."""
    version = importlib.metadata.version

    def without(name: str) -> str:
        if name == "rich":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without)
    assert findings(run, code=1)["libraries"]["detail"] == "rich"


def test_the_slow_twin_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreted reading of URLs is less than it could be: by wish, or for want of a compiler."""
    assert findings(run, SPIDER_PURE="1")["URL machine"]["remedy"] == "unset SPIDER_PURE"
    monkeypatch.setattr("spider.url.engine.compiled", lambda: None)
    assert "compiler" in findings(run)["URL machine"]["remedy"]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("spider re", ["retry", "report"]),
        ("spider report --fo", ["--format"]),
        ("spider report --format j", ["json", "jsonl"]),
        ("spider --ve", ["--verbose", "--version"]),
    ],
)
def test_a_shell_completes(words: str, completed: list[str], spider: Program) -> None:
    """Commands, options and their values are completed; commands without a look at their modules."""
    position = str(len(words.split()) - 1)
    done = spider(_SPIDER_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=position)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(",")[2] for line in done.stdout.splitlines()] == completed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str, spider: Program) -> None:
    """Each shell gets a script that asks the program."""
    done = spider(_SPIDER_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert f"_SPIDER_COMPLETE={shell}_complete" in done.stdout
    assert "doctor" in {command.name for command in COMMANDS}
