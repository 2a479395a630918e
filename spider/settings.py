"""Every knob of the spider, once: its name, default and help, and how its value is read.

The command line makes its options from this table, the documentation its settings page; a value
may also come from a ``SPIDER_*`` variable or a TOML file.  Values flow from there as plain arguments.
This room knows nothing of where a value came from: what it cannot read is a ValueError, and who
gave it the value adds the place.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AGENT_TOKEN", "SETTINGS", "Kind", "Setting", "Value", "find", "read"]

Value = int | float | str

AGENT_TOKEN = "multimedia-spider"  # noqa: S105  # the product token of RFC 9309, no secret


class Kind(StrEnum):
    """What a setting's value is; `read` has one reader for each."""

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


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob.  Its option is ``--name``, its variable ``SPIDER_NAME``, its TOML key ``name``.

    Dashes of the name become underscores in the variable and may be either in TOML.  `default`
    None means unlimited or unset.  `minimum` and `maximum` are the least and the greatest value
    that is taken, themselves included: what lies beyond would only fail later and less clearly.
    `many` settings may be given more than once.
    """

    name: str
    kind: Kind
    default: Value | None
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    many: bool = False

    @property
    def field(self) -> str:
        """The name as a Python identifier, as `crawl.Plan` spells it."""
        return self.name.replace("-", "_")


_MOST = 2**31 - 1
_MONTH = 31 * 86_400.0
_YEAR = 366 * 86_400.0

SETTINGS = (
    Setting("depth", Kind.INTEGER, 5, "Follow links this many steps from a seed.", minimum=0, maximum=_MOST),
    Setting(
        "scope",
        Kind.CHOICE,
        "tree",
        "Which links to visit: those under the seed's directory (tree), under the directory of the page they "
        "stand on (kin), on the seed's host, on its domain, or any.",
        choices=("tree", "kin", "host", "domain", "any"),
    ),
    Setting(
        "order", Kind.CHOICE, "breadth", "Which links first: the nearest or the deepest.", choices=("breadth", "depth")
    ),
    Setting("include", Kind.REGEX, None, "Visit only addresses that REGEX is found in.", many=True),
    Setting("exclude", Kind.REGEX, None, "Visit no address that REGEX is found in.", many=True),
    Setting("max-pages", Kind.INTEGER, None, "Stop after this many pages.", minimum=1, maximum=_MOST),
    Setting("max-time", Kind.SECONDS, None, "Stop after this long (90, 10m, 2h).", minimum=0.001, maximum=_YEAR),
    Setting(
        "delay",
        Kind.SECONDS,
        1.0,
        "Wait this long between two requests to a host; 0 = no waiting of any kind.",
        minimum=0,
        maximum=_MONTH,
    ),
    Setting("per-host", Kind.INTEGER, 1, "Connections at once to a host.", minimum=1, maximum=1024),
    Setting("threads", Kind.INTEGER, 16, "Connections at once in all.", minimum=1, maximum=1024),
    Setting("robots", Kind.CHOICE, "obey", "What to do about robots.txt.", choices=("obey", "ignore")),
    Setting(
        "contact", Kind.TEXT, None, "Your address or page, sent in the User-Agent so that a site's owner can reach you."
    ),
    Setting(
        "timeout",
        Kind.SECONDS,
        10.0,
        "Give up where connecting, or one read, takes longer.",
        minimum=0.001,
        maximum=_MONTH,
    ),
    Setting(
        "deadline", Kind.SECONDS, 60.0, "Give up where a whole response takes longer.", minimum=0.001, maximum=_MONTH
    ),
    Setting(
        "max-size",
        Kind.BYTES,
        10_000_000,
        "Read at most this much of a page, decoded (500k, 10M).",
        minimum=1,
        maximum=_MOST,
    ),
    Setting(
        "retries",
        Kind.INTEGER,
        3,
        "Try a link again this often where its failure may heal.",
        minimum=0,
        maximum=100,
    ),
    Setting("header", Kind.HEADER, None, 'Send this header too ("Name: value").', many=True),
    Setting(
        "longest-delay",
        Kind.SECONDS,
        30.0,
        "The longest Crawl-delay of a robots.txt that is waited for.",
        minimum=0,
        maximum=_MONTH,
    ),
    Setting(
        "longer-delay",
        Kind.CHOICE,
        "cap",
        "What to do where a Crawl-delay is longer: wait the longest there is, or skip the host.",
        choices=("cap", "skip"),
    ),
    Setting("cookies", Kind.FILE, None, "Send the cookies of this file (Netscape cookies.txt) to their hosts."),
    Setting(
        "auth",
        Kind.LOGIN,
        None,
        "Log in to this host (HOST=USER:PASSWORD): by https alone, unless the seed itself is http.",
        many=True,
    ),
    Setting("netrc", Kind.FLAG, False, "Log in to the hosts that ~/.netrc, or $NETRC, names."),  # noqa: FBT003  # a row of a table
    Setting("proxy", Kind.PROXY, None, "Go by this proxy (http://host:port or https://host:port)."),
    Setting(
        "environment-proxies",
        Kind.FLAG,
        False,  # noqa: FBT003  # a row of a table
        "Go by the proxies that http_proxy, https_proxy and no_proxy name.",
    ),
    Setting(
        "allow-private",
        Kind.FLAG,
        False,  # noqa: FBT003  # a row of a table
        "Ask machines of private networks too; else only those whose host a seed names.",
    ),
    Setting("sitemaps", Kind.FLAG, True, "Follow sitemaps and feeds too."),  # noqa: FBT003  # a row of a table
    Setting("traps", Kind.FLAG, True, "Keep out of spaces without end."),  # noqa: FBT003  # a row of a table
    Setting("refresh", Kind.AGE, "1d", "Visit pages again that were read longer ago than this; never = only new ones."),
    Setting(
        "dedup",
        Kind.CHOICE,
        "exact",
        "What to do about pages of equal content: let what copies link to wait behind all else, or nothing.",
        choices=("off", "exact"),
    ),
    Setting(
        "nofollow",
        Kind.CHOICE,
        "obey",
        "What to do about links marked nofollow, ugc or sponsored.",
        choices=("obey", "ignore"),
    ),
    Setting(
        "meta-robots",
        Kind.CHOICE,
        "obey",
        "What to do about a page's own meta robots and X-Robots-Tag.",
        choices=("obey", "ignore"),
    ),
    Setting(
        "exclusive",
        Kind.FLAG,
        False,  # noqa: FBT003  # a row of a table
        "Leave at once, with code 8, where another crawl is at work on the database; else the two share the work.",
    ),
    Setting(
        "log",
        Kind.FILE,
        None,
        "Write a line for each address to this file; at 10 MB it is renamed FILE.1, and so on up to FILE.5.",
    ),
    Setting("log-format", Kind.CHOICE, "text", "How to write the log's lines.", choices=("text", "json")),
)


def find(name: str) -> Setting:
    """Return the setting of this name, dashes or underscores; KeyError if there is none."""
    wanted = name.replace("_", "-")
    for setting in SETTINGS:
        if setting.name == wanted:
            return setting
    raise KeyError(name)


def read(setting: Setting, given: object) -> Value:
    """Turn what was given, a text or a value of TOML, into the setting's value.

    Seconds and bytes may carry units (``1h30m``, ``500k``); a regular expression, a header and a
    choice come back as the text they were, once they are known to be good ones.  ValueError, with a
    message that goes behind the setting's name, for anything else.
    """
    if isinstance(given, bool) and setting.kind is Kind.FLAG:
        return given
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        msg = f"{given!r} is not {_ARTICLES[setting.kind]}"
        raise ValueError(msg)  # noqa: TRY004  # one class says all that may be wrong with a value
    text = given if isinstance(given, str) else str(given)
    value = _READERS[setting.kind](text)
    if setting.choices and value not in setting.choices:
        msg = f"{text!r} is not one of {', '.join(setting.choices)}"
        raise ValueError(msg)
    if not isinstance(value, str):
        _within(setting, text, value)
    return value


def _within(setting: Setting, text: str, value: float) -> None:
    """Refuse what lies beyond the setting's least and greatest values."""
    if setting.minimum is not None and value < setting.minimum:
        msg = f"{text} is less than {setting.minimum:g}"
        raise ValueError(msg)
    if setting.maximum is not None and value > setting.maximum:
        msg = f"{text} is more than {setting.maximum:.10g}"
        raise ValueError(msg)


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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a later Python may read otherwise
            re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        msg = f"{text!r} is not a regular expression: {str(error) or 'nested too deeply'}"
        raise ValueError(msg) from None
    return text


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
        msg = f"{text!r} is not a header; write 'Name: value'"
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

_ARTICLES = {
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
