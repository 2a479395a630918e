"""Where a value came from: an option, a ``SPIDER_*`` variable, the TOML file, or the default, in this order.

click asks in that order by itself once it is told the names; this file tells it, reads the file,
and finds the place again when a value turns out to be a bad one.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click
from click.core import ParameterSource

from spider.cli.options import key, variable
from spider.errors import SettingError

__all__ = ["DEFAULT_CONFIG", "Config", "check_names", "defaults", "name_variables", "nearest", "place", "read_config"]

DEFAULT_CONFIG = "spider.toml"


@dataclass(frozen=True, slots=True)
class Config:
    """A TOML file's values.  A table named like a command holds for that command alone."""

    path: str
    values: Mapping[str, object] = field(default_factory=dict)


def read_config(path: str, *, named_by: str | None = None) -> Config:
    """Read a TOML file; SettingError says what is wrong with it, and in which line.

    `named_by` is who asked for it; None means that it is only read if it is there.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
        return Config(path, tomllib.loads(text))
    except FileNotFoundError:
        if named_by is None:
            return Config(path)
        reason = "no such file"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except UnicodeDecodeError as error:
        reason = f"not a TOML file: byte {error.start + 1} is not UTF-8"
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        reason = f"not a TOML file: {error}"
    raise SettingError(f"{named_by}: {path}: {reason}" if named_by else f"{path}: {reason}")


def name_variables(command: click.Command) -> None:
    """Let each option of a command be given by its ``SPIDER_*`` variable too."""
    for option in _options(command):
        option.envvar = option.envvar or variable(option)


def defaults(config: Config, name: str | None, command: click.Command) -> dict[str, object]:
    """Return what the file says about a command's options, by parameter name, fit for click.

    `name` is the command's table; its values go before those of the whole file.
    """
    table = config.values.get(name) if name else None
    given = {**_flat(config.values), **(_flat(table) if isinstance(table, dict) else {})}
    found: dict[str, object] = {}
    for option in _options(command):
        if option.name and key(option) in given:
            found[option.name] = _shaped(option, given[key(option)], f"{config.path}, {key(option)}")
    return found


def check_names(config: Config, known: Iterable[str], commands: Callable[[], Mapping[str, click.Command]]) -> None:
    """Refuse a key that no option has; SettingError names the nearest that one has.

    `known` are names that need no look at `commands`, which is slow: it loads every command.
    """
    strange = [name for name in config.values if name.replace("_", "-") not in set(known)]
    if not strange:
        return
    every = {name: {key(option) for option in _options(command)} for name, command in commands().items()}
    names = set(known).union(*every.values())
    for name in strange:
        value = config.values[name]
        if isinstance(value, dict) and name in every:
            _refuse_strangers(f"{config.path}, [{name}]", value, every[name])
        else:
            _refuse_strangers(config.path, {name: value}, names | set(every))


def place(parameter: click.Parameter, ctx: click.Context) -> str:
    """Return the place that a parameter's value came from, as the user knows it."""
    if not isinstance(parameter, click.Option):
        return parameter.make_metavar(ctx).strip("[].")
    source = ctx.get_parameter_source(parameter.name) if parameter.name else None
    if source is ParameterSource.ENVIRONMENT:
        return variable(parameter)
    if source is ParameterSource.DEFAULT_MAP and isinstance(config := ctx.find_root().meta.get(__name__), Config):
        return f"{config.path}, {key(parameter)}"
    return max(parameter.opts, key=len)


def nearest(word: str, words: Iterable[str]) -> str:
    """Return a hint at the nearest of `words`, or nothing when none is near."""
    near = difflib.get_close_matches(word[:80], list(words), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _options(command: click.Command) -> list[click.Option]:
    """Return the options that a variable or a file may give, also those of a group's commands; help is no setting."""
    never = {"help", "version", "config"}
    parts = command.commands.values() if isinstance(command, click.Group) else ()
    own = [option for option in command.params if isinstance(option, click.Option) and key(option) not in never]
    return [*own, *(option for part in parts for option in _options(part))]


def _flat(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values that are no tables, dashes for underscores in their names."""
    return {name.replace("_", "-"): value for name, value in values.items() if not isinstance(value, dict)}


def _shaped(option: click.Option, value: object, where: str) -> object:
    """Return a value as click wants it: a list for an option that may be repeated, else a bare one."""
    if isinstance(value, list) and option.multiple and all(isinstance(one, str | int | float) for one in value):
        return value
    if not isinstance(value, str | int | float):
        wanted = "a value or a list of values" if option.multiple else "one value"
        raise SettingError(f"{where}: this takes {wanted}")
    return [value] if option.multiple else value


def _refuse_strangers(where: str, values: Iterable[str], known: Iterable[str]) -> None:
    """Raise for the first name that is not known."""
    for name in values:
        if name.replace("_", "-") not in known:
            raise SettingError(f"{where}: unknown key {name!r}{nearest(name.replace('_', '-'), sorted(known))}")
