"""Laws of ``spider db``: what it finds, what it copies, what it says, and the code it ends with."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from spider.store import Database
from tests.cli.conftest import Run


@pytest.fixture
def known(tmp_path: Path, run: Run) -> Path:
    """Make a database that knows one seed and one link, ``spider.db``, and return its path."""
    assert run("crawl", "http://127.0.0.1:9/", "--delay", "0", "--retries", "0").exit_code == 3
    return tmp_path / "spider.db"


def ask(path: Path, statement: str) -> None:
    """Change a database by hand."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.usefixtures("known")
def test_a_sound_one(run: Run) -> None:
    """A sound database is one line and code 0, and nothing at all where quiet is asked for."""
    done = run("db", "check")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "spider.db is sound: 1 link\n", "")
    done = run("-q", "db", "check")
    assert (done.exit_code, done.output) == (0, "")


def test_faults(run: Run, known: Path) -> None:
    """Each fault is a line, the last line counts them, and the code is 5 until all is well."""
    ask(known, "UPDATE \"Count\" SET value = 12 WHERE name = 'E'")
    done = run("db", "check")
    assert (done.exit_code, done.stdout) == (5, "counters  seed 1: E is kept as 12, counted 1\n")
    assert done.stderr == (
        "spider: spider.db is not sound: 1 fault; "
        "--repair sets counters right, a copy (spider db backup) mends the rest\n"
    )
    done = run("db", "check", "--repair")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "1 counter set right\nspider.db is sound: 1 link\n", "")
    ask(known, "UPDATE CrawlerLink SET reason = NULL")
    done = run("db", "check", "--repair")
    assert (done.exit_code, done.stdout) == (5, "states  1 link: in E without a reason\n")
    assert done.stderr == "spider: spider.db is not sound: 1 fault\n"


def test_copies(run: Run, known: Path, tmp_path: Path) -> None:
    """A copy is a database of its own; what is there already is replaced only where that is said."""
    done = run("db", "backup", "copy.db")
    assert (done.exit_code, done.stdout) == (0, f"copy.db: {(tmp_path / 'copy.db').stat().st_size:,} bytes\n")
    assert run("--db", "copy.db", "db", "check").stdout == "copy.db is sound: 1 link\n"
    ask(known, "DELETE FROM CrawlerLink")
    for words, message in (
        (("copy.db",), "copy.db is there already; --force replaces it"),
        (("spider.db", "--force"), "spider.db is the database itself"),
        ((".",), ". is a directory; name a file"),
    ):
        done = run("db", "backup", *words)
        assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"spider: {message}\n")
    assert run("--db", "copy.db", "db", "check").exit_code == 0
    assert run("-q", "db", "backup", "copy.db", "--force").output == ""
    assert run("--db", "copy.db", "db", "check").exit_code == 5
    done = run("db", "backup", "nowhere/copy.db")
    assert (done.exit_code, done.stdout) == (5, "")
    assert done.stderr == "spider: cannot copy spider.db to nowhere/copy.db: no such file or directory\n"


def test_space_and_schema(run: Run, known: Path) -> None:
    """Vacuum says how large the file was and is; upgrade says that nothing is to be done."""
    done = run("db", "vacuum")
    size = known.stat().st_size
    assert (done.exit_code, done.stdout) == (0, f"spider.db: {size:,} bytes before, {size:,} now\n")
    assert run("db", "upgrade").stdout == "spider.db has the newest schema\n"
    assert run("-q", "db", "vacuum").output + run("-q", "db", "upgrade").output == ""


@pytest.mark.parametrize("words", ["check", "backup copy.db", "vacuum", "upgrade"])
def test_there_must_be_one(run: Run, tmp_path: Path, words: str) -> None:
    """None of it makes a database, nor touches a file that is none: code 5."""
    done = run("db", *words.split())
    assert (done.exit_code, done.stdout, list(tmp_path.iterdir())) == (5, "", [])
    (tmp_path / "spider.db").write_text("no database")
    done = run("db", *words.split())
    assert (done.exit_code, done.stderr) == (5, "spider: spider.db is not a database\n")
    assert [file.name for file in tmp_path.iterdir()] == ["spider.db"]


def test_postgresql_has_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PostgreSQL database is not copied here: one line names the tool that does."""
    monkeypatch.setattr(Database, "path", None)
    run("crawl", "--min-free", "0", "--retries", "0", "--delay", "0", "http://127.0.0.1:9/")
    done = run("db", "backup", "copy.db")
    assert (done.exit_code, done.stdout) == (2, "")
    line = "a PostgreSQL database is copied by its own tools: pg_dump --format=custom --file=FILE URL"
    assert done.stderr == f"spider: {line}\n"
