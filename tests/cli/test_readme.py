"""Laws of the README: its tables are the program's, its commands exist, its session is one that the program prints.

To write the generated parts anew: ``python -m tests.cli.test_readme``.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from spider.cli import main
from spider.cli.options import key, written
from spider.cli.root import COMMANDS
from spider.settings import SETTINGS
from tests.conftest import environment

README = Path(__file__).resolve().parents[2] / "README.md"
PART = re.compile(r"(<!-- (commands|settings|codes|session: demo) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

CODES = (
    (0, "Done; an empty report too, with a line that says so"),
    (1, "An internal error: a fault of the program"),
    (2, "Bad usage or input: an option, a seeds file, an address"),
    (3, "Some seed could not be fetched"),
    (4, "A limit ended the crawl with links still waiting"),
    (5, "The database cannot be opened, read or written"),
    (6, "No browser, or it does not start"),
    (7, "The disk is too full to go on"),
    (8, "Another run holds the database, and this one wants to be alone"),
    ("129, 130, 143", "Stopped by SIGHUP (the terminal went away), Ctrl-C (SIGINT) or SIGTERM"),
)


def table(*rows: tuple[object, ...]) -> str:
    """Return rows as Markdown, the first as headings."""
    head, *rest = [f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *rest]) + "\n"


def parts() -> dict[str, str]:
    """Return the generated parts of the README, but for the session."""
    return {
        "commands": table(
            ("Command", "What it does"), *((f"`spider {command.name}`", command.help) for command in COMMANDS)
        ),
        "settings": table(
            ("Setting", "Default", "What it says"),
            *(
                (
                    f"`--{setting.name}`",
                    "" if setting.default is None else f"`{written(setting, setting.default)}`",
                    setting.help,
                )
                for setting in SETTINGS
            ),
        ),
        "codes": table(("Code", "Meaning"), *CODES),
    }


def found() -> dict[str, str]:
    """Return the parts that stand in the README."""
    return {match[2]: match[3] for match in PART.finditer(README.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", ["commands", "settings", "codes"])
def test_tables_are_the_program_s(name: str) -> None:
    """The commands, the settings and the exit codes are those of the program."""
    assert found()[name] == parts()[name]


def spoken(text: str) -> Iterator[list[str]]:
    """Yield the words of every ``spider`` command line in a text, in blocks and in running text."""
    lines = re.findall(r"^    (?:\$ )?(.*)$", text, re.MULTILINE) + re.findall(r"`(spider [^`]+)`", text)
    for line in lines:
        for piece in re.split(r"&&|\||;", line):
            words = shlex.split(piece.split("#")[0]) if "spider" in piece and "“" not in piece else []
            if words and "spider" in words[:1] + words[5:6] + words[6:7]:
                yield words[words.index("spider") + 1 :]


def test_command_lines_exist() -> None:
    """Every command line that the README shows is understood by the program: command and options."""
    shown = list(spoken(README.read_text(encoding="utf-8")))
    assert len(shown) > 10
    context = click.Context(main)
    roots = {option for parameter in main.params for option in parameter.opts}
    for words in shown:
        name = next(word for word in words if main.get_command(context, word))
        command = main.get_command(context, name)
        assert command is not None
        before, after = words[: words.index(name)], words[words.index(name) + 1 :]
        if isinstance(command, click.Group) and after:
            command = command.commands[after[0]]
        known = {word for option in command.params for word in (*option.opts, *option.secondary_opts)} | {"--help"}
        assert {word for word in before if word.startswith("-")} <= roots, words
        assert {word for word in after if word.startswith("-")} <= known, words


def plain(text: str) -> list[str]:
    """Return a session's lines without what differs each time: ports, times, speeds."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    text = re.sub(r"seen [0-9TZ:-]+( to [0-9TZ:-]+)?", "seen TIME", text)
    return re.sub(r" in [0-9.]+ s:", " in SECONDS:", text).splitlines()


def session() -> str:
    """Return a demo's session: the command, what it says and what it answers, the long report cut in the middle."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "spider", "demo"]
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    said, answered = done.stderr.splitlines(), done.stdout.splitlines()
    blanks = [place for place, line in enumerate(answered) if not line]
    shown = [*answered[: blanks[3]], "", "[…]", "", *answered[blanks[-2] + 1 :]]
    lines = ["$ spider demo", *said[:3], *shown, *said[3:]]
    return "\n" + "\n".join(f"    {line}".rstrip() for line in lines) + "\n\n"


def test_the_session_is_real() -> None:
    """What the README shows of a demo is what the program prints, but for ports, times and speeds."""
    assert plain(found()["session: demo"]) == plain(session())


def test_every_setting_has_its_option() -> None:
    """The settings are options of crawl, all of them."""
    crawl = main.get_command(click.Context(main), "crawl")
    assert crawl is not None
    options = [key(option) for option in crawl.params if isinstance(option, click.Option)]
    assert options == ["dry-run", *(setting.name for setting in SETTINGS)]


def write() -> None:
    """Write the generated parts into the README."""
    made = {**parts(), "session: demo": session()}
    text = PART.sub(lambda match: match[1] + made[match[2]] + match[4], README.read_text(encoding="utf-8"))
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.pop("SPIDER_DB", None)
    write()
