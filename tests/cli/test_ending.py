"""Laws of endings: every way out has its exit code and one line, whatever happened."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from subprocess import CompletedProcess

import click
import pytest

from spider import errors
from spider.cli import status
from spider.cli.ending import INTERRUPTED, ended
from tests.cli.conftest import Run
from tests.conftest import environment
from tests.report.test_text import HOSTILE, steers

Program = Callable[..., CompletedProcess[str]]

TREE = [
    (errors.SpiderError("x"), 1),
    (errors.InputError("x"), 2),
    (errors.InvalidURL("http://[", 7, "IPv6-unclosed"), 2),
    (errors.SeedsError("seeds.txt", "x", line=1, text="y"), 2),
    (errors.SettingError("x"), 2),
    (errors.FetchError("dns", "x"), 3),
    (errors.StorageError("x"), 5),
    (errors.BrowserError("x"), 6),
    (errors.DiskError("x"), 7),
    (errors.BusyError("x"), 8),
]


def breaking(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let ``spider status`` run into an error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(status, "Database", type("Database", (), {"open": fail}))


@pytest.mark.parametrize(("error", "code"), TREE, ids=[type(error).__name__ for error, _ in TREE])
def test_each_error_has_its_code(
    error: errors.SpiderError, code: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the spider raises on purpose is told as it says, and ends with the code that the tree gives."""
    breaking(monkeypatch, error)
    done = run("status")
    assert (done.exit_code, done.stdout, done.stderr) == (code, "", f"spider: {error}\n")


def test_an_internal_error_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything else is 1, one line, and a hint; with -v the traceback stands before it."""
    breaking(monkeypatch, ZeroDivisionError(f"no\nway {HOSTILE}"))
    done = run("status")
    assert done.exit_code == 1
    assert done.stderr.startswith("spider: internal error: ZeroDivisionError: no way ")
    assert done.stderr.endswith(" (-v before the command shows where)\n")
    assert done.stderr.count("\n") == 1
    assert not any(map(steers, done.stderr.rstrip("\n")))
    shown = run("-v", "status").stderr
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.endswith(done.stderr)
    assert not any(map(steers, shown.replace("\n", "")))


def test_ctrl_c_is_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt that nobody handles is 130, without a trace."""
    breaking(monkeypatch, KeyboardInterrupt())
    done = run("status")
    assert (done.exit_code, done.output.strip()) == (INTERRUPTED, "")


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (4, 4), (True, 0), ("text", 0), ([1], 0)], ids=repr)
def test_a_command_may_return_its_code(result: object, code: int) -> None:
    """An integer is the code; anything else that a command returns is none."""
    assert ended(lambda: result) == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SystemExit(3), 3),
        (SystemExit(), 0),
        (BrokenPipeError(), 0),
        (click.Abort(), 130),
        (click.UsageError("X is not Y."), 2),
        (OSError(errno.ENOSPC, "No space left on device"), 5),
        (OSError(errno.EMFILE, "Too many open files", "x"), 1),
        (RecursionError("deep"), 1),
        (MemoryError(), 1),
    ],
    ids=repr,
)
def test_every_way_out_has_a_code(error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exits, closed pipes, full disks and faults end with the code that is theirs, and never with an exception."""
    monkeypatch.setattr("spider.cli.ending._let_go", lambda _: None)

    def work() -> object:
        raise error

    assert ended(work) == code


def shell(line: str) -> CompletedProcess[str]:
    """Run a line of bash in which $S is the program."""
    variables = environment() | {"S": f"{sys.executable} -m spider"}
    return subprocess.run(["bash", "-c", line], env=variables, capture_output=True, text=True, check=False)


def test_a_reader_that_leaves_is_no_error() -> None:
    """A closed pipe ends the program quietly with 0, even when much is still to be written."""
    done = shell("set -o pipefail; (yes http://museum.example/ 2>&- || true) | $S url | head -2")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "http://museum.example/\n" * 2


def test_a_full_disk_is_told() -> None:
    """An output that cannot be written is one line and code 5."""
    done = shell("$S url http://museum.example/ > /dev/full")
    assert (done.returncode, done.stderr) == (5, "spider: cannot write the output: no space left on device\n")


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(streams: str) -> None:
    """Started without its streams, the program does its work all the same."""
    done = shell(f"$S url http://museum.example/ {streams}")
    assert (done.returncode, done.stderr) == (0, "")


def test_text_that_the_terminal_cannot_show_is_escaped(spider: Program) -> None:
    """In a locale without the characters of a text, escapes stand for them."""
    done = spider("url", "http://museum.example/", "--base", "影", PYTHONIOENCODING="latin-1")
    assert done.returncode == 2
    assert "\\u5f71" in done.stderr
