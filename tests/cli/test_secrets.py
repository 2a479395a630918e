"""Laws of passwords: the address of a database may hold one, and nothing that is printed does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spider.cli.root import COMMANDS
from tests.cli.conftest import Run, run

__all__ = ["run"]

CLI = Path(__file__).resolve().parents[2] / "spider" / "cli"
OPENS = re.compile(r"(?:Database\.open|_opened)\(given\.db")
FILES = frozenset({"demo.py", "doctor.py"})
"""Commands that speak of the database as a file, once they know that it is one."""

ASKED = (
    "crawl", "check", "report", "tree", "status", "errors", "skipped", "runs", "workers", "why http://a.example/",
    "export urls", "db check", "db upgrade", "db vacuum", "db backup copy.db", "seeds list", "seeds remove 1",
    "doctor", "retry", "forget http://a.example/",
)  # fmt: skip


def test_what_was_typed_for_a_database_is_only_opened() -> None:
    """A command's file uses the address as it was typed to open the database, and its masked name to speak of it."""
    used = [
        f"{path.name}: {line.strip()}"
        for path in CLI.glob("*.py")
        if path.name not in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if "given.db" in line and not OPENS.search(line)
    ]
    assert used == []


@pytest.mark.parametrize("words", ASKED)
@pytest.mark.parametrize(
    "address", ["postgresql://me:s3cret@127.0.0.1:9/x", "postgresql://127.0.0.1:9/x?password=s3cret"]
)
def test_no_command_prints_a_password(address: str, words: str, run: Run) -> None:
    """Where the database cannot be reached the message names it without its password."""
    done = run("--db", address, *words.split())
    assert done.exit_code != 1
    assert "s3cret" not in done.output
    assert "127.0.0.1" in done.output


def test_every_command_that_opens_one_is_asked() -> None:
    """The commands above are all that open the database that --db names."""
    opening = {path.stem for path in CLI.glob("*.py") if "given.db" in path.read_text(encoding="utf-8")}
    named = {command.name for command in COMMANDS} & opening
    assert named - {words.split()[0] for words in ASKED} <= {"demo", "browse"}
