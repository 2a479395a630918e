"""What a setting's value may be, and how each kind is read from a text.

Pure: what cannot be read is a ValueError whose message goes behind the setting's name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum

from spider.patterns import Pattern

__all__ = ["ARTICLES", "Kind", "Value", "read_value"]

Value = int | float | str


class Kind(StrEnum):
    """What a setting's value is; `read_value` has one reader for each."""

    INTEGER = "integer"
    NUMBER = "number"
    SECONDS = "seconds"
    BYTES = "bytes"
    CHOICE = "choice"
    REGEX = "regex"
    TEXT = "text"
    HEADER = "header"
    AGE = "age"
    FLAG = "flag"
    FILE = "file"
    LOGIN = "login"
    PROXY = "proxy"


def read_value(kind: Kind, text: str) -> Value:
    """Read a text as a value of this kind; ValueError where it is none."""
    return _READERS[kind](text)


def _integer(text: str) -> int:
    """Read decimal digits, with a sign or without."""
    if not re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text):
        msg = f"{text!r} is not a whole number"
        raise ValueError(msg)
    return int(text)


def _number(text: str) -> float:
    """Read a decimal fraction; infinity and not-a-number are no numbers here."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"{text!r} is not a number"
        raise ValueError(msg)
    return value


_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def _seconds(text: str) -> float:
    """Read seconds, bare or as a run of numbers with units: ``90``, ``1.5``, ``500ms``, ``1h30m``."""
    parts = re.findall(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(ms|[smhd])", text.strip().lower()[:200])
    if parts and "".join(number + unit for number, unit in parts) == text.strip().lower():
        return math.fsum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return _number(text)
    except ValueError:
        msg = f"{text!r} is not a time; write seconds, or 500ms, 90s, 10m, 1h30m, 2d"
        raise ValueError(msg) from None


def _age(text: str) -> float:
    """Read a time, or the word never, which is infinite."""
    if text.strip().lower() in {"never", "inf"}:
        return math.inf
    seconds = _seconds(text)
    if seconds < 0:
        msg = f"{text} is less than 0"
        raise ValueError(msg)
    return seconds


_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}


def _bytes(text: str) -> int:
    """Read bytes, bare or with a unit: ``500k`` and ``10M`` are powers of ten, ``10MiB`` of two."""
    found = re.fullmatch(r"([+-]?[0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kmg]i?)?b?", text.strip().lower())
    if found is None:
        msg = f"{text!r} is not a size; write bytes, or 500k, 10M, 1G"
        raise ValueError(msg)
    return round(float(found[1]) * _BYTES[found[2] or ""])


def _choice(text: str) -> str:
    """Take a word as it is; `read` looks it up."""
    return text


def _regex(text: str) -> str:
    """Take a text that compiles as a regular expression."""
    return Pattern.of(text).text


def _text(text: str) -> str:
    """Take one line of visible ASCII: it goes into a header."""
    if not text.strip() or not (text.isascii() and text.isprintable()):
        msg = f"{text!r} is not a line of plain ASCII"
        raise ValueError(msg)
    return text.strip()


def _flag(text: str) -> bool:
    """Read a yes or no, as click does."""
    word = text.strip().lower()
    if word in {"1", "true", "t", "yes", "y", "on"}:
        return True
    if word in {"0", "false", "f", "no", "n", "off"}:
        return False
    msg = f"{text!r} is not true or false"
    raise ValueError(msg)


def _file(text: str) -> str:
    """Take what may be a file's name."""
    if not text or "\0" in text:
        msg = f"{text!r} is not the name of a file"
        raise ValueError(msg)
    return text


def _login(text: str) -> str:
    """Take ``HOST=USER:PASSWORD``; the message never quotes it."""
    host, equals, login = text.partition("=")
    if not (host.strip() and equals and ":" in login):
        msg = "what is given is not a login; write HOST=USER:PASSWORD"
        raise ValueError(msg)
    return text


def _proxy(text: str) -> str:
    """Take what may be the address of a proxy; the message quotes no password."""
    if not re.match(r"(?i:https?)://[^\s/]", text):
        msg = "what is given is not the address of a proxy; write http://host:port or https://host:port"
        raise ValueError(msg)
    return text


_BOUND = {"authorization": "--auth", "cookie": "--cookies", "proxy-authorization": "--proxy"}


def _header(text: str) -> str:
    """Take ``Name: value``: a token of RFC 9110 5.6.2 and a value of one Latin-1 line.

    What opens a door would go to every host as a header: its own option binds it to one.
    """
    name, colon, value = text.partition(":")
    good = re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) and not re.search(r"[^\t\x20-\x7e\xa0-\xff]", value)
    if not colon or not good:
        msg = "what is given is not a header; write 'Name: value'"  # it may be a secret: it is not quoted
        raise ValueError(msg)
    if name.lower() in _BOUND:
        msg = f"a header {name} would go to every host; use {_BOUND[name.lower()]}"
        raise ValueError(msg)
    return f"{name}: {value.strip()}"


_READERS: dict[Kind, Callable[[str], Value]] = {
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.SECONDS: _seconds,
    Kind.BYTES: _bytes,
    Kind.CHOICE: _choice,
    Kind.REGEX: _regex,
    Kind.TEXT: _text,
    Kind.HEADER: _header,
    Kind.AGE: _age,
    Kind.FLAG: _flag,
    Kind.FILE: _file,
    Kind.LOGIN: _login,
    Kind.PROXY: _proxy,
}

ARTICLES = {
    Kind.INTEGER: "a whole number",
    Kind.NUMBER: "a number",
    Kind.SECONDS: "a time",
    Kind.BYTES: "a size",
    Kind.CHOICE: "a word",
    Kind.REGEX: "a regular expression",
    Kind.TEXT: "a text",
    Kind.HEADER: "a header",
    Kind.AGE: "a time",
    Kind.FLAG: "true or false",
    Kind.FILE: "the name of a file",
    Kind.LOGIN: "a login",
    Kind.PROXY: "the address of a proxy",
}
