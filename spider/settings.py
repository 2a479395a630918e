"""Every knob of the spider, once: its name, default and help, and how its value is read.

The command line makes its options from this table, the documentation its settings page; a value
may also come from a ``SPIDER_*`` variable or a TOML file.  Values flow from there as plain arguments.
This room knows nothing of where a value came from: what it cannot read is a ValueError, and who
gave it the value adds the place.
"""

from __future__ import annotations

from dataclasses import dataclass

from spider.values import ARTICLES, Kind, Value, read_value

__all__ = ["AGENT_TOKEN", "SETTINGS", "Kind", "Setting", "Value", "find", "read"]

AGENT_TOKEN = "multimedia-spider"  # noqa: S105  # the product token of RFC 9309, no secret


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
        "max-bytes", Kind.BYTES, None, "Stop after this much was read, decoded (500M, 2G).", minimum=1, maximum=2.0**60
    ),
    Setting(
        "max-host-pages",
        Kind.INTEGER,
        None,
        "Leave a host alone after this many of its pages; what waits there is for the next crawl.",
        minimum=1,
        maximum=_MOST,
    ),
    Setting(
        "min-free",
        Kind.BYTES,
        100_000_000,
        "Stop while this much is still free on the disk of the database.",
        minimum=0,
        maximum=2.0**60,
    ),
    Setting(
        "delay",
        Kind.SECONDS,
        1.0,
        "Wait this long between two requests to a host; 0 = no waiting of any kind.",
        minimum=0,
        maximum=_MONTH,
    ),
    Setting("per-host", Kind.INTEGER, 1, "Connections at once to a host.", minimum=1, maximum=1024),
    Setting("threads", Kind.INTEGER, 16, "Connections at once of a worker process.", minimum=1, maximum=1024),
    Setting(
        "workers",
        Kind.INTEGER,
        None,
        "Worker processes, as far as there are hosts for them; unless set, as many as the work keeps busy, up to "
        "the processors.",
        minimum=1,
        maximum=1024,
    ),
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
    Setting(
        "ajax",
        Kind.CHOICE,
        "never",
        "Which pages to explore in a browser: none, applications whose document says little, or all.",
        choices=("never", "auto", "always"),
    ),
    Setting("ajax-depth", Kind.INTEGER, 5, "Go this many events from a page's first state.", minimum=0, maximum=1000),
    Setting("ajax-states", Kind.INTEGER, 100, "Find at most this many states of a page.", minimum=1, maximum=100_000),
    Setting("ajax-time", Kind.SECONDS, 120.0, "Explore a page this long.", minimum=0.1, maximum=_YEAR),
    Setting("browser", Kind.FILE, None, "The browser to use; else one on PATH, else Playwright's."),
    Setting("refresh", Kind.AGE, "1d", "Visit pages again that were read longer ago than this; never = only new ones."),
    Setting(
        "dedup",
        Kind.CHOICE,
        "exact",
        "Which pages are copies, so that what they link to waits behind all else: none, those of equal content, "
        "or those nearly the same too.",
        choices=("off", "exact", "near"),
    ),
    Setting(
        "key",
        Kind.TEXT,
        None,
        "Take addresses for one that differ only in what these steps write alike: escapes, sessions, tracking, sort, "
        "index, slash, www, scheme, joined by commas. By default the first four, or those that the database was made "
        "with; it keeps them.",
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
        "edges",
        Kind.FLAG,
        False,  # noqa: FBT003  # a row of a table
        "Keep every link of every page, for spider export links --edges; else the first to each address alone.",
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
        msg = f"{given!r} is not {ARTICLES[setting.kind]}"
        raise ValueError(msg)  # noqa: TRY004  # one class says all that may be wrong with a value
    text = given if isinstance(given, str) else str(given)
    value = read_value(setting.kind, text)
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
