"""Laws of values: an option goes before a variable, a variable before the file, the file before the default."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spider import settings
from spider.cli import crawl
from spider.settings import SETTINGS, Kind, Setting
from tests.cli.conftest import Run

GIVEN: dict[str, tuple[str, ...]] = {
    "integer": ("7", "8", "9"),
    "seconds": ("7", "1m30s", "2h"),
    "bytes": ("7k", "8M", "9MiB"),
    "regex": ("seven", "eight", "nine"),
    "text": ("seven@example.org", "eight@example.org", "nine@example.org"),
    "file": ("seven.log", "eight.log", "nine.log"),
    "flag": ("false", "true", "false"),
    "login": ("a.example=u:7", "b.example=u:8", "c.example=u:9"),
    "proxy": ("http://a.example", "http://b.example:8", "https://c.example"),
    "age": ("7", "90m", "never"),
    "header": ("X-Seven: 7", "X-Eight: 8", "X-Nine: 9"),
}
"""Three values for each kind of setting, as one writes them."""

Seen = Callable[..., dict[str, Any]]


@pytest.fixture
def seen(run: Run, monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Give a function that runs ``spider ARGS crawl MORE`` up to the crawl and returns what it was given."""
    caught: dict[str, Any] = {}

    class Database:
        @staticmethod
        @contextlib.contextmanager
        def open(address: str, *, create: bool, ladder: str) -> Iterator[SimpleNamespace]:
            caught.update(db=address, create=create, ladder=ladder)
            yield SimpleNamespace(name=address)

    monkeypatch.setattr(crawl, "Database", Database)
    monkeypatch.setattr(crawl, "Plan", lambda **values: caught.update(values))
    monkeypatch.setattr(crawl, "nursing", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(crawl, "Crawler", lambda *_, seeds, told, **__: caught.update(seeds=seeds, told=told))
    monkeypatch.setattr(crawl, "follow", lambda _, **how: caught.update(how) or 0)

    def invoke(*args: object, before: tuple[object, ...] = (), **variables: str) -> dict[str, Any]:
        caught.clear()
        done = run(*before, "crawl", "http://museum.example/", *args, **variables)
        assert (done.exit_code, done.stderr) == (0, "")
        return dict(caught)

    return invoke


def values_of(setting: Setting) -> tuple[str, ...]:
    """Return three values of a setting, as many of them different as it has."""
    return (setting.choices * 3)[:3] if setting.choices else GIVEN[setting.kind]


def meant(setting: Setting, text: str) -> Any:  # noqa: ANN401  # whatever the setting holds
    """Return what a text means, as the plan gets it."""
    value = settings.read(setting, text)
    pair = tuple(str(value).split(": ")) if setting.kind is Kind.HEADER else value
    return (pair,) if setting.many else value


def option(setting: Setting, text: str) -> tuple[str, ...]:
    """Return the words that give a setting a value on the command line."""
    if setting.kind == "flag":
        return (f"--{'' if text == 'true' else 'no-'}{setting.name}",)
    return (f"--{setting.name}", text)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_an_option_goes_before_a_variable_before_the_file(setting: Setting, seen: Seen, tmp_path: Path) -> None:
    """Each setting takes its value from the first of the places that give one."""
    first, second, third = values_of(setting)
    variable = f"SPIDER_{setting.field.upper()}"
    default = () if setting.many else None if setting.default is None else settings.read(setting, setting.default)
    assert seen()[setting.field] == default
    (tmp_path / "spider.toml").write_text(f"{setting.name} = '{third}'\n")
    assert seen()[setting.field] == meant(setting, third)
    assert seen(**{variable: second})[setting.field] == meant(setting, second)
    assert seen(*option(setting, first), **{variable: second})[setting.field] == meant(setting, first)
    assert seen(**{variable: ""})[setting.field] == meant(setting, third)


def test_the_options_before_the_command_do_so_too(seen: Seen, tmp_path: Path) -> None:
    """--db, -q and -v are asked of the same places."""
    assert seen()["db"] == "spider.db"
    (tmp_path / "spider.toml").write_text('db = "file.db"\nverbose = 1\nquiet = true\n')
    assert seen() == seen() | {"db": "file.db", "quiet": True, "verbose": True}
    assert seen(SPIDER_DB="variable.db", SPIDER_QUIET="no")["db"] == "variable.db"
    assert not seen(SPIDER_QUIET="no")["quiet"]
    assert seen(before=("--db", "option.db"), SPIDER_DB="variable.db")["db"] == "option.db"


def test_a_file_may_be_named(seen: Seen, tmp_path: Path) -> None:
    """--config, or its variable, names another file, and then spider.toml is not read."""
    (tmp_path / "spider.toml").write_text("depth = 1\n")
    (tmp_path / "other.toml").write_text("depth = 2\n")
    assert seen(before=("--config", "other.toml"))["depth"] == 2
    assert seen(SPIDER_CONFIG="other.toml")["depth"] == 2
    assert seen()["depth"] == 1


def test_a_table_holds_for_its_command(seen: Seen, tmp_path: Path) -> None:
    """A table named like a command goes before the file's other values, for that command alone."""
    (tmp_path / "spider.toml").write_text("depth = 1\n[crawl]\ndepth = 2\n[map]\ndepth = 3\n")
    assert seen()["depth"] == 2


def test_toml_may_be_natural(seen: Seen, tmp_path: Path) -> None:
    """Numbers need no quotes, names may have underscores, what may be repeated is a list or one value."""
    (tmp_path / "spider.toml").write_text('max_pages = 5\ndelay = 0.5\nexclude = ["a b", "c"]\nheader = "X-A: 1"\n')
    found = seen()
    assert (found["max_pages"], found["delay"], found["exclude"]) == (5, 0.5, ("a b", "c"))
    assert found["header"] == (("X-A", "1"),)


def test_a_variable_with_several_values_has_one_a_line(seen: Seen) -> None:
    """Blanks belong to a value: a header and an expression have them."""
    found = seen(SPIDER_HEADER="X-A: 1 2\nX-B: 3\n", SPIDER_INCLUDE="a b\n\nc")
    assert found["header"] == (("X-A", "1 2"), ("X-B", "3"))
    assert found["include"] == ("a b", "c")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max-time", "90", 90.0),
        ("max-time", "1.5", 1.5),
        ("max-time", "500ms", 0.5),
        ("max-time", "1h30m", 5400.0),
        ("max-time", "2D", 172_800.0),
        ("max-size", "1", 1),
        ("max-size", "1.5k", 1500),
        ("max-size", "10MB", 10_000_000),
        ("max-size", "1 GiB", 2**30),
        ("depth", " 0 ", 0),
        ("refresh", "Never", math.inf),
        ("refresh", "12h", 43_200.0),
        ("header", "X-A:b", "X-A: b"),
        ("header", "X-Empty:", "X-Empty: "),
    ],
)
def test_units(name: str, text: str, value: object) -> None:
    """Times and sizes are written as people write them."""
    assert settings.read(settings.find(name), text) == value


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("depth", text) for text in ("", "x", "1.5", "-1", "1e3", "٣", "9" * 30, True, 1.5, None, [1])),
        *(("delay", text) for text in ("", "soon", "-1", "nan", "inf", "1e400", "1 m", "m", "32d", "1h30")),
        *(("refresh", text) for text in ("", "soon", "-1", "nan", "always", True)),
        *(("max-size", text) for text in ("", "0", "-5", "big", "10X", "3G", "1e6")),
        *(("include", text) for text in ("(", "[a", "*", "a(?!b)", "(?<=a+)b", "(" * 5000)),
        *(("header", text) for text in ("", "X", ":v", "X A: v", "X: a\nB: c", "X: \x1b", "X: ☃", "é: v")),
        *(("contact", text) for text in ("", " ", "a\nb", "é@example.org", "\x1b[31m")),
        *(("scope", text) for text in ("", "Tree", "world", 1)),
    ],
)
def test_what_cannot_be_read_is_a_value_error(name: str, given: object) -> None:
    """Anything else is refused with a message of one line."""
    with pytest.raises(ValueError, match=r"\w") as caught:
        settings.read(settings.find(name), given)
    assert "\n" not in str(caught.value)
