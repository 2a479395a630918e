"""Laws of docs/commands.md: every command has its section, and every example runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from spider.cli import main
from spider.cli.root import COMMANDS
from spider.demo import serve
from tests.cli.conftest import Run, run

__all__ = ["run"]

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "commands.md").read_text(encoding="utf-8")
SERVED = "http://127.0.0.1:8000/"
STARTS = re.compile(r"^    (\$ )?(spider .*)$", re.MULTILINE)
NAMED = re.compile(r"^### `spider ([a-z]+)`$", re.MULTILINE)


def test_every_command_has_its_section() -> None:
    """Each once, in the order of the program's help."""
    assert NAMED.findall(TEXT) == [
        command.name for heading in ("Crawl", "Ask", "Tools") for command in COMMANDS if command.heading == heading
    ]


def test_every_example_runs(run: Run, tmp_path: Path) -> None:
    """The lines that begin with a dollar sign, one after the other, end well and complain of nothing."""
    examples = [line for dollar, line in STARTS.findall(TEXT) if dollar]
    assert len(examples) > 40
    with serve() as base:
        for line in examples:
            words = shlex.split(line.replace(SERVED, base))[1:]
            done = run(*words)
            expected = {0, 3, 4} if words[0] in {"crawl", "check"} else {0}
            assert done.exit_code in expected, (line, done.output)
            assert "internal error" not in done.output, line
    made = {path.name for path in tmp_path.iterdir()}
    assert {"audio.csv", "report.html", "found.m3u", "links.graphml", "copy.db", "demo"} <= made


@pytest.mark.parametrize("line", [line for dollar, line in STARTS.findall(TEXT) if not dollar])
def test_other_examples_are_understood(line: str) -> None:
    """Lines that need a terminal, a browser or the web have commands and options that there are."""
    words = shlex.split(line.partition("|")[0])[1:]
    context = click.Context(main)
    command = main.get_command(context, words[0])
    assert command is not None, line
    if isinstance(command, click.Group):
        command = command.commands[words[1]]
    known = {word for option in command.params for word in (*option.opts, *option.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known, line
