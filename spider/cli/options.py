"""Options made from the settings table, and what the options before the command say to all commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spider import settings
from spider.patterns import Pattern
from spider.report.text import visible
from spider.settings import Kind, Setting

__all__ = [
    "DATABASE",
    "Expression",
    "Globals",
    "SettingType",
    "called",
    "key",
    "setting_options",
    "variable",
    "written",
]

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # a generic class only in newer clicks

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Globals:
    """What stands before the command: the database's address, and how much to say.

    `quiet` and `verbose` hold for everything that goes to the standard error stream, but for errors.
    """

    db: str
    quiet: bool = False
    verbose: int = 0


DATABASE = "spider.db"
"""Where the database stands unless ``--db`` says otherwise."""


def called(name: str) -> str:
    """Return how the program is called for a database, by the name that may be shown."""
    return "spider" if name == DATABASE else visible(f"spider --db {shlex.quote(name)}")


class SettingType(_ParamType):
    """The type of a setting's option: `settings.read` and its messages."""

    def __init__(self, setting: Setting) -> None:
        """Read values of this setting."""
        self.setting = setting
        self.name = setting.kind.value

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002  # click's signature
        """Return what stands for the value in help: the choices, or a word for the kind."""
        if self.setting.choices:
            return f"[{'|'.join(self.setting.choices)}]"
        return _METAVARS[self.setting.kind]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> object:  # noqa: ANN401  # click's signature
        """Return the value, or fail with the reason; a header is a pair of its name and its value."""
        try:
            read = settings.read(self.setting, value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return tuple(str(read).split(": ", 1)) if self.setting.kind is Kind.HEADER else read

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """Take several values from a variable as one a line: a header and an expression may hold blanks."""
        return [line for line in rv.splitlines() if line.strip()]


class Expression(_ParamType):
    """A regular expression, compiled, with the message of the settings' own where it is none."""

    name = "regex"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pattern:  # noqa: ANN401  # click's signature
        """Return the expression, or fail with the reason."""
        if isinstance(value, Pattern):
            return value
        try:
            return Pattern.of(str(settings.read(settings.find("include"), value)))
        except ValueError as error:
            self.fail(str(error), param, ctx)


_METAVARS = {
    Kind.INTEGER: "N",
    Kind.NUMBER: "NUMBER",
    Kind.SECONDS: "SECONDS",
    Kind.BYTES: "BYTES",
    Kind.CHOICE: "WORD",
    Kind.REGEX: "REGEX",
    Kind.TEXT: "TEXT",
    Kind.HEADER: "HEADER",
    Kind.AGE: "AGE",
    Kind.FILE: "FILE",
    Kind.LOGIN: "HOST=USER:PASSWORD",
    Kind.PROXY: "URL",
}


def setting_options(*, without: Sequence[str] = (), **defaults: settings.Value) -> Callable[[_Function], _Function]:
    """Give a command an option for each setting, but for those in `without`.

    `defaults` (by field name) stand in place of the table's.
    """

    def decorate(function: _Function) -> _Function:
        for setting in reversed(settings.SETTINGS):
            if setting.name not in without:
                function = _option(setting, defaults.get(setting.field, setting.default))(function)
        return function

    return decorate


def _option(setting: Setting, default: settings.Value | None) -> Callable[[_Function], _Function]:
    """Make the click option of one setting; its help shows the default as one would write it."""
    if setting.kind is Kind.FLAG:
        return click.option(
            f"--{setting.name}/--no-{setting.name}",
            setting.field,
            default=bool(default),
            show_default=True,
            help=setting.help,
        )
    return click.option(
        f"--{setting.name}",
        setting.field,
        type=SettingType(setting),
        default=None if default is None else written(setting, default),
        multiple=setting.many,
        show_default=default is not None,
        help=setting.help,
    )


def written(setting: Setting, value: settings.Value) -> str:
    """Write a value as one would type it: 10M, not 10000000; 1, not 1.0."""
    if isinstance(value, bool):
        return str(value).lower()
    if setting.kind is Kind.BYTES and isinstance(value, int):
        for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
            if value % size == 0:
                return f"{value // size}{unit}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def key(option: click.Option) -> str:
    """Return an option's name in a TOML file: its longest spelling without the dashes."""
    return max(option.opts, key=len).lstrip("-")


def variable(option: click.Option) -> str:
    """Return the name of the environment variable that stands for an option."""
    return "SPIDER_" + key(option).replace("-", "_").upper()
