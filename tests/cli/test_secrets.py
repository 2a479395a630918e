"""Laws of passwords: the address of a database may hold one, and nothing that is printed does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spider.cli.root import COMMANDS
from spider.errors import caret, masked
from tests.cli.conftest import Run, run

__all__ = ["run"]

CLI = Path(__file__).resolve().parents[2] / "spider" / "cli"
OPENS = re.compile(r"(?:(?:Database\.open|_opened)\(|nursing\(plan, )given\.db")
FILES = frozenset({"demo.py", "doctor.py"})
"""Commands that speak of the database as a file, once they know that it is one."""

ASKED = (
    "crawl", "check", "report", "tree", "status", "errors", "skipped", "runs", "workers", "why http://a.example/",
    "export urls", "db check", "db upgrade", "db vacuum", "db backup copy.db", "seeds list", "seeds remove 1",
    "doctor", "retry", "forget http://a.example/", "url --key http://a.example/",
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


@pytest.mark.parametrize(
    "typed",
    [
        "http://me:s3cret@h.example/", "me:s3cret@h.example", "//me:s3cret@h.example/x", "http://:s3cret@h.example/",
        "ftp://me:s3cret@h.example/", "http://me:s3cret@h.example:x/", "http://me:1s3cret/?#@h.example/",
        "me:s3cret/more?@h.example",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "words",
    [
        "crawl", "map", "links", "robots", "ajax", "fingerprint", "seeds add", "seeds submit", "seeds remove", "why",
        "forget", "retry", "check", "seeds search films --engine",
    ],
)  # fmt: skip
def test_no_login_of_an_address_is_printed_or_kept(words: str, typed: str, run: Run, tmp_path: Path) -> None:
    """Where an address with a password is typed, it is refused before it is kept, and no message repeats it."""
    done = run(*words.split(), typed)
    assert done.exit_code in {2, 3, 5}
    assert "s3cret" not in done.output
    assert not any(b"s3cret" in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


@pytest.mark.parametrize("line", ["http://me:s3cret@h.example/", "me:s3cret@h.example/films/ depth=2"])
def test_no_login_of_a_file_of_seeds_is_printed(line: str, run: Run, tmp_path: Path) -> None:
    """A line of a seeds file with a password is refused and shown without it, the caret in its place."""
    (tmp_path / "seeds.txt").write_text(f"http://a.example/\n{line}\n")
    done = run("crawl", "seeds.txt")
    assert done.exit_code == 2
    assert done.stderr.startswith("spider: seeds.txt, line 2, column 1: a login is no part of an address")
    assert done.stderr.splitlines()[1] == line.replace("s3cret", "******")


def test_what_is_no_password_is_shown() -> None:
    """Ports, schemes, mail addresses and users without a password stay as they are, and so do places in a text."""
    for text in ("http://h:80/a@b", "http://[::1]:8/@x", "mailto:a@b.example", "http://me@h/", "a: b@c", "x://h/a:b@c"):
        assert masked(text) == text
    assert masked("cannot ask http://u:p@h/ (via 'v:w@i')") == "cannot ask http://u:*@h/ (via 'v:*@i')"
    assert caret("http://u:pw@h:x/", 14) == "http://u:**@h:x/\n              ^"
