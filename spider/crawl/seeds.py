r"""Seeds as people write them: a file, standard input or an address on the command line, into values.

A seeds file is UTF-8 text with one seed a line::

    # sound archives                                  a comment, to the end of the line
    https://example.org/sounds/                       an address
    example.org/films/  depth=3 scope=host            options for this seed alone; https:// is understood

White space ends an address and an option, so that a blank within one is written ``%20`` (address)
or ``\s`` (regular expression).  ``#`` begins a comment at the start of a line or after white space;
elsewhere it is part of the address.  Seeds that are the same address by its key are one seed: it stands
where it was met first, and of two values for one option the later one holds.

This room knows no database and no network, and opens nothing but the files it was given the names of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from spider.errors import InvalidURL, SeedsError, masked
from spider.settings import SETTINGS, Setting, Value, find, read
from spider.url import has_login, key, names_port, names_scheme, normalize

__all__ = ["PER_SEED", "OptionValue", "Seed", "load_seeds", "read_seeds"]

OptionValue = Value | tuple[Value, ...]

PER_SEED = ("depth", "scope", "include", "exclude")
"""The settings that a line of a seeds file may give for its own seed."""

_NAMES = frozenset(setting.name for setting in SETTINGS)

_MAX_BYTES = 64_000_000  # half a million long lines; what is bigger is not a list somebody keeps
_STDIN = "standard input"
_DEFAULT_SCHEME = "https://"

_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_TOKEN = re.compile(r"\S+")
_HOST_END = re.compile(r"[/?#\\]")
_TYPED_LOGIN = re.compile(r"(?!mailto:)[^/?#@:\s]+:[^/\s][^\s]*@", re.IGNORECASE)
_LOGIN = "a login is no part of an address, which is kept and shown; give it as --auth HOST=USER:PASSWORD"


@dataclass(frozen=True, slots=True)
class Seed:
    """One place to start from: its address to fetch, the line it stood on, its own options.

    `url` is normalized (http or https, no fragment).  `line` counts from 1; 0 is the command line.
    `options` maps names of `PER_SEED` to values: depth an int, scope a word, include and exclude tuples
    of regular expressions.
    """

    url: str
    line: int = 0
    options: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a seeds file, so that whatever is wrong in it can be shown in its place."""

    name: str
    number: int
    text: str

    def error(self, reason: str, position: int) -> SeedsError:
        """Return the error that points at `position` of this line."""
        return SeedsError(self.name, reason, line=self.number, text=self.text, position=position)


def load_seeds(arguments: Sequence[str], stdin: IO[bytes]) -> list[Seed]:
    """Read the seeds that a command line names, in their order, each address once.

    An argument is ``-`` (standard input), an address (it has ``://``) or the name of a seeds file.
    Raises `SeedsError` where one cannot be read or holds something else than seeds.
    """
    found: list[Seed] = []
    for argument in dict.fromkeys(arguments):
        if argument == "-":
            found += read_seeds(_read(stdin, _STDIN), _STDIN)
        elif "://" in argument:
            found.append(_seed_of_argument(argument))
        else:
            found += read_seeds(_contents(argument), _shown(argument))
    return _merge(found)


def read_seeds(text: str | bytes, name: str) -> list[Seed]:
    """Read the text of a seeds file; `name` is what errors call it.

    Raises `SeedsError` for bytes that are not text, for the first line that is no seed, and where
    there is no seed at all.
    """
    decoded = text.removeprefix("\ufeff") if isinstance(text, str) else _decode(text, name)
    lines = (_Line(name, number, line) for number, line in enumerate(_LINE_END.split(decoded), start=1))
    seeds = _merge([seed for line in lines if (seed := _seed_of_line(line)) is not None])
    if not seeds:
        raise SeedsError(name, "no seed in it (one address a line, # begins a comment)")
    return seeds


# --- files -------------------------------------------------------------------


def _shown(name: str) -> str:
    """Return a file's name as it may be printed: control characters and undecodable bytes as escapes."""
    return masked(name if name.isprintable() and name else ascii(name))


def _contents(argument: str) -> bytes:
    name = _shown(argument)
    try:
        if argument and Path(argument).is_dir():
            raise SeedsError(name, "is a directory, not a seeds file")
        with open(argument, "rb") as file:  # noqa: PTH123  # Path("") would be the directory we are in
            return _read(file, name)
    except FileNotFoundError as error:
        raise SeedsError(name, f"no such file{_hint(argument, name)}") from error
    except ValueError as error:  # a NUL in the name
        raise SeedsError(name, "not the name of a file") from error
    except OSError as error:
        raise SeedsError(name, f"cannot be read ({error.strerror or error})") from error


def _hint(argument: str, name: str) -> str:
    """Say what else the name of a file that is not there may have been meant for."""
    if _TYPED_LOGIN.match(argument):
        return f"; as an address, {_LOGIN}"
    if names_scheme(argument):
        return f"; as an address, {_not_web(name)}"
    return f"; if it is a site, write {_DEFAULT_SCHEME}{name}" if _is_host(argument) else ""


def _read(file: IO[bytes], name: str) -> bytes:
    try:
        body = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise SeedsError(name, f"cannot be read ({error.strerror or error})") from error
    if len(body) > _MAX_BYTES:
        raise SeedsError(name, f"more than {_MAX_BYTES // 1_000_000} MB: not a seeds file")
    return body


def _decode(body: bytes, name: str) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SeedsError(name, "is UTF-16 text; save it as UTF-8")
    if b"\0" in body:
        raise SeedsError(name, "is binary (it has NUL bytes), not a seeds file")
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = _LINE_END.split(error.object[: error.start].decode("utf-8-sig"))
        after = error.object[error.start :].decode("utf-8", "replace")
        line = _Line(name, len(before), before[-1] + _LINE_END.split(after)[0])
        raise line.error(f"not UTF-8 text (byte {error.object[error.start]:#04x})", len(before[-1])) from error


# --- lines -------------------------------------------------------------------


def _seed_of_line(line: _Line) -> Seed | None:
    comment = _COMMENT.search(line.text)
    tokens = _TOKEN.finditer(line.text, 0, comment.start() if comment else len(line.text))
    first = next(tokens, None)
    if first is None:
        return None
    return Seed(_address(first[0], line, first.start()), line.number, dict(_options(tokens, line)))


def _seed_of_argument(argument: str) -> Seed:
    url = normalize(argument)
    if not _is_web(url):
        raise SeedsError(argument, _not_web(url))
    if has_login(url):
        raise SeedsError(masked(argument), _LOGIN)
    return Seed(url)


def _address(text: str, line: _Line, column: int) -> str:
    if _TYPED_LOGIN.match(text):
        raise line.error(_LOGIN, column)
    prefix = _prefix(text, line, column)
    try:
        url = normalize(prefix + text)
    except InvalidURL as error:
        position = max(0, min(error.position - len(prefix), len(text)))
        raise line.error(f"not a valid address ({error.reason})", column + position) from error
    if not _is_web(url):
        raise line.error(_not_web(url), column)
    if has_login(url):
        raise line.error(_LOGIN, column)
    return url


def _prefix(text: str, line: _Line, column: int) -> str:
    """Return what the address lacks in front: nothing, ``https:`` or ``https://``."""
    if text.startswith("//"):
        return _DEFAULT_SCHEME.removesuffix("//")
    if names_scheme(text):
        return ""
    if _is_host(text) or names_port(text):
        return _DEFAULT_SCHEME
    raise line.error("not an address (expected https://host/path or host.name/path)", column)


def _is_host(text: str) -> bool:
    """Tell whether an address without a scheme begins with what is a host and hardly a word of prose."""
    host = _HOST_END.split(text, maxsplit=1)[0].rpartition("@")[2]
    return "." in host.strip(".") or host.startswith("[") or host.partition(":")[0].lower() == "localhost"


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _not_web(url: str) -> str:
    return f"only http and https addresses can be crawled, not {url.partition(':')[0]}"


def _options(tokens: Iterator[re.Match[str]], line: _Line) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {}
    for token in tokens:
        name, equals, text = token[0].partition("=")
        if not equals:
            raise line.error("expected name=value after the address (a blank in an address is %20)", token.start())
        setting = _setting(name, line, token.start())
        value = _value(setting, text, line, token.start() + len(name) + 1)
        known = options.get(name)
        if setting.many:
            options[name] = (*known, value) if isinstance(known, tuple) else (value,)
        elif known is None:
            options[name] = value
        else:
            raise line.error(f"option {name} is given twice", token.start())
    return options


def _setting(name: str, line: _Line, column: int) -> Setting:
    if name in PER_SEED:
        return find(name)
    if name in _NAMES:
        raise line.error(f"{name} holds for a whole crawl, not for one seed (use --{name})", column)
    raise line.error(f"unknown option {name!a} (a seed may have {', '.join(PER_SEED)})", column)


def _value(setting: Setting, text: str, line: _Line, column: int) -> Value:
    if not text:
        raise line.error(f"{setting.name} has no value", column)
    try:
        return read(setting, text)
    except ValueError as error:
        raise line.error(f"{setting.name}: {error}", column) from error


def _merge(seeds: Sequence[Seed]) -> list[Seed]:
    """Make seeds with one key one seed: the first's place, the later one's options."""
    merged: dict[str, Seed] = {}
    for seed in seeds:
        known = merged.setdefault(key(seed.url), seed)
        if known is not seed:
            merged[key(seed.url)] = replace(known, options={**known.options, **seed.options})
    return list(merged.values())
