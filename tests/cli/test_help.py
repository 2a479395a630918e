"""Laws of help: it fits 80 columns, breaks no word, and the table of commands is true."""

from __future__ import annotations

import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from spider import settings
from spider.cli import main
from spider.cli.options import key
from spider.cli.root import COMMANDS

NAMES = [command.name for command in COMMANDS]
MAX_START = 0.110


def help_of(*args: str) -> str:
    """Return the help of the program or a command, as a terminal of 80 columns shows it."""
    done = CliRunner().invoke(main, [*args, "--help"], terminal_width=80)
    assert done.exit_code == 0, done.output
    return done.output


def loaded(name: str) -> click.Command:
    """Return a command."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return command


@pytest.mark.parametrize("args", [[], *([name] for name in NAMES)], ids=lambda args: " ".join(args) or "spider")
def test_help_fits_eighty_columns(args: list[str]) -> None:
    """No line is wider than 80 columns, none ends in blanks or in the middle of a name, and no markup is left."""
    lines = help_of(*args).split("\n")
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if line != line.rstrip() or re.search(r"\w-$", line)] == []
    assert [line for line in lines if "\\" in line or not line.isprintable()] == []


@pytest.mark.parametrize("name", NAMES)
def test_help_breaks_no_word(name: str) -> None:
    """Every word that help is made of stands in it whole."""
    command = loaded(name)
    texts = [command.help or "", *(option.help or "" for option in command.params if isinstance(option, click.Option))]
    shown = set(help_of(name).split())
    words = {word for text in texts for word in text.replace("\b", "").split()}
    assert words - shown == set()


@pytest.mark.parametrize("name", NAMES)
def test_the_table_repeats_the_first_sentence(name: str) -> None:
    """What ``spider --help`` says of a command is the first line of the command's own help."""
    said = next(command.help for command in COMMANDS if command.name == name)
    assert (loaded(name).help or "").splitlines()[0] == said
    assert loaded(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_every_option_explains_itself(name: str) -> None:
    """Each option has a help text that begins with a capital and ends with a full stop."""
    options = [option for option in loaded(name).params if isinstance(option, click.Option)]
    bad = [option.name for option in options if not re.fullmatch(r"[A-Z(].*[.)\]]", option.help or "", re.DOTALL)]
    assert bad == []


def test_help_lists_every_command_once() -> None:
    """``spider --help`` has a line for each command under one of the headings."""
    text = help_of()
    assert re.findall(r"^  ([a-z]+) +[A-Z]", text, re.MULTILINE) == NAMES
    assert [heading for heading in ("Crawl:", "Ask:", "Tools:") if f"\n{heading}\n" not in text] == []


def test_crawl_has_an_option_for_each_setting() -> None:
    """The settings table and the options of crawl are one, but for the one that asks nobody."""
    names = [key(option) for option in loaded("crawl").params if isinstance(option, click.Option)]
    assert names == ["dry-run", *(setting.name for setting in settings.SETTINGS)]


def test_help_loads_no_command() -> None:
    """Asking for help, or mistyping a command, imports neither the database nor the network."""
    code = (
        "import sys, contextlib, io\nfrom spider.cli import main\n"
        "for args in (['--help'], ['crwl'], ['--version']):\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):\n"
        "        with contextlib.suppress(SystemExit): main(args)\n"
        "heavy = {'sqlalchemy', 'requests', 'lxml', 'rich', 'alembic', 'spider.store', 'spider.crawl'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
