"""Every knob of the spider, once: its name, default and help.

The command line makes its options from this table, the documentation its settings page; a value
may also come from a ``SPIDER_*`` variable or a TOML file.  Values flow from there as plain arguments.
This room knows nothing of where a value came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AGENT_TOKEN", "SETTINGS", "Kind", "Setting"]

AGENT_TOKEN = "multimedia-spider"  # noqa: S105  # the product token of RFC 9309, no secret


class Kind(StrEnum):
    """What a setting's value is; the command line has one parser for each."""

    INTEGER = "integer"
    NUMBER = "number"
    SECONDS = "seconds"
    BYTES = "bytes"
    CHOICE = "choice"
    REGEX = "regex"
    TEXT = "text"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Setting:
    """One knob.  Its option is ``--name``, its variable ``SPIDER_NAME``, its TOML key ``name``.

    Dashes of the name become underscores in the variable and may be either in TOML.  `default`
    None means unlimited or unset.  `many` settings may be given more than once.
    """

    name: str
    kind: Kind
    default: int | float | str | None
    help: str
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    many: bool = False

    @property
    def field(self) -> str:
        """The name as a Python identifier, as `crawl.Plan` spells it."""
        return self.name.replace("-", "_")


SETTINGS = (
    Setting("depth", Kind.INTEGER, 5, "Follow links this many steps from a seed.", minimum=0),
    Setting(
        "scope", Kind.CHOICE, "tree", "Which links to visit: under the seed's directory (tree), under the page's own "
        "directory (kin), on the seed's host, on its domain, or any.", choices=("tree", "kin", "host", "domain", "any"),
    ),
    Setting("include", Kind.REGEX, None, "Visit only addresses this regular expression is found in.", many=True),
    Setting("exclude", Kind.REGEX, None, "Never visit addresses this regular expression is found in.", many=True),
    Setting("max-pages", Kind.INTEGER, None, "Stop after this many pages.", minimum=1),
    Setting("max-time", Kind.SECONDS, None, "Stop after this long (90, 10m, 2h).", minimum=0),
    Setting("delay", Kind.SECONDS, 1.0, "Wait this long between two requests to a host; 0 switches all waiting off.", minimum=0),
    Setting("per-host", Kind.INTEGER, 1, "Connections to one host at once.", minimum=1),
    Setting("threads", Kind.INTEGER, 16, "Connections at once in all.", minimum=1),
    Setting("robots", Kind.CHOICE, "obey", "Obey robots.txt or ignore it.", choices=("obey", "ignore")),
    Setting("contact", Kind.TEXT, None, "Your address or page, sent in the User-Agent so that site owners can reach you."),
    Setting("timeout", Kind.SECONDS, 10.0, "Give up when connecting or one read takes longer.", minimum=0.001),
    Setting("deadline", Kind.SECONDS, 60.0, "Give up when a whole response takes longer.", minimum=0.001),
    Setting("max-size", Kind.BYTES, 10_000_000, "Read at most this much of a page, decoded (500k, 10M).", minimum=1),
    Setting("retries", Kind.INTEGER, 3, "Try a link again this often when its failure may heal.", minimum=0),
    Setting("header", Kind.HEADER, None, 'Send this header too ("Name: value").', many=True),
    Setting("order", Kind.CHOICE, "breadth", "Nearest links first or deepest first.", choices=("breadth", "depth")),
)
