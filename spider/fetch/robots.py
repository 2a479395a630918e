"""May I ask?  robots.txt as RFC 9309 has it: which lines speak to an agent, and what they say of an address.

The groups are chosen here, for the libraries get that wrong in one way or another; the rules of the
chosen group are matched by Protego.  Bytes in, values out: nothing is fetched.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from protego import Protego

from spider.errors import InvalidURL
from spider.url import normalize

__all__ = ["MAX_BODY", "MAX_SITEMAPS", "Decision", "Robots", "Rule"]

MAX_BODY = 500 * 1024  # RFC 9309, section 2.5: at least this much is parsed; what follows is not
MAX_SITEMAPS = 1000

# The names of lines, with the misspellings that Google's parser reads too.
AGENT_KEYS = frozenset({b"user-agent", b"useragent", b"user agent"})
ALLOW_KEYS = frozenset({b"allow"})
DISALLOW_KEYS = frozenset({b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"})
RULE_KEYS = ALLOW_KEYS | DISALLOW_KEYS
DELAY_KEYS = frozenset({b"crawl-delay", b"crawl delay"})
SITEMAP_KEYS = frozenset({b"sitemap", b"site-map", b"sitemaps"})
TOKEN = re.compile(rb"[A-Za-z_-]+")  # RFC 9309, section 2.2.1: a product token
NUMBER = re.compile(rb"\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}")
UNSAFE = re.compile(rb"[^\x21-\x7e]")  # what Protego could take for the end of a line, or for something else


@dataclass(frozen=True, slots=True)
class Rule:
    """One allow or disallow line: its number (1-based), which it is, its path in ASCII, the line's own text."""

    line: int
    allow: bool
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an address may be asked, and the line that decided, as it stands there; None where none speaks of it."""

    allowed: bool
    line: str | None = None
    number: int | None = None


@dataclass(slots=True)
class _Block:
    """Lines of agents and the lines that follow them, up to the next agents; delays with their numbers."""

    rules: list[Rule] = field(default_factory=list)
    delays: list[tuple[int, float]] = field(default_factory=list)


class _Group:
    """The lines for one agent, from all of its blocks."""

    def __init__(self, blocks: Iterable[tuple[int, _Block]]) -> None:
        """Put the blocks together, each with the line that names the agent, and let Protego know these rules alone.

        A Crawl-delay does not end the agents' lines: it belongs to those above it.
        """
        parts = list(blocks)
        self.rules = [rule for _, block in parts for rule in block.rules]
        self.delays = [delay for named, block in parts for number, delay in block.delays if number > named]
        self.matcher = _matcher(self.rules)


class Robots:
    """One robots.txt file.  It belongs to a scheme, host and port."""

    def __init__(self, blocks: dict[str, dict[int, tuple[int, _Block]]], sitemaps: tuple[str, ...]) -> None:
        """Keep what was parsed, the blocks of each agent by their numbers; use `parse`."""
        self._blocks = blocks
        self._groups: dict[str, _Group] = {}
        self.sitemaps = sitemaps

    @classmethod
    def parse(cls, body: bytes, base: str | None = None) -> Self:
        """Read a robots.txt file, whatever is in it; `base` is its own address, for sitemaps given without theirs."""
        blocks: dict[str, dict[int, tuple[int, _Block]]] = {}
        sitemaps: dict[bytes, None] = {}
        block, fresh = _Block(), False  # fresh: the next agent's line adds to the block
        count = 0
        for number, key, value, text in _lines(body):
            if key in AGENT_KEYS:
                if not fresh:
                    block, fresh, count = _Block(), True, count + 1
                blocks.setdefault(_token(value), {}).setdefault(count, (number, block))
            elif key in RULE_KEYS:
                fresh = False
                if value:  # a rule without a path says nothing
                    block.rules.append(Rule(number, key in ALLOW_KEYS, _ascii(value), text))
            elif key in DELAY_KEYS and NUMBER.fullmatch(value):
                block.delays.append((number, float(value)))
            elif key in SITEMAP_KEYS and len(sitemaps) < MAX_SITEMAPS:
                sitemaps[value] = None
        blocks.pop("", None)
        return cls(blocks, _sitemaps(sitemaps, base))

    def allows(self, agent: str, url: str) -> bool:
        """Tell whether the agent (a product token) may ask for an address of this host."""
        return bool(self._group(agent).matcher.can_fetch(url, "*"))

    def decide(self, agent: str, url: str) -> Decision:
        """Tell the same, and the line that says so: the longest of those that match."""
        allowed = self.allows(agent, url)
        speaking = [rule for rule in self._group(agent).rules if rule.allow == allowed and _matches(rule, url)]
        if not speaking:
            return Decision(allowed)
        rule = max(speaking, key=lambda rule: len(rule.path))
        return Decision(allowed, rule.text, rule.line)

    def crawl_delay(self, agent: str) -> float | None:
        """Return the seconds that the agent is asked to wait between requests, as they stand there; None if none."""
        return max(self._group(agent).delays, default=None)

    def _group(self, agent: str) -> _Group:
        """Choose the agent's own lines, or else those for everybody (RFC 9309, section 2.2.1)."""
        name = agent.partition("/")[0].lower()
        if name not in self._blocks:
            name = "*"
        if name not in self._groups:
            self._groups[name] = _Group(self._blocks.get(name, {}).values())
        return self._groups[name]


def _lines(body: bytes) -> list[tuple[int, bytes, bytes, str]]:
    """Split into (number, key in lower case, value, text without comment); lines that say nothing are left out."""
    kept = body.removeprefix(b"\xef\xbb\xbf")
    lines = kept[:MAX_BODY].splitlines()  # of bytes: at CR, LF and CRLF, and nowhere else
    if len(kept) > MAX_BODY and not kept[:MAX_BODY].endswith((b"\r", b"\n")):
        lines.pop()  # cut in the middle, it would say something else
    found = []
    for number, line in enumerate(lines, 1):
        text = line.partition(b"#")[0].strip()
        if not text:
            continue
        key, colon, value = text.partition(b":")
        if not colon:
            key, value = _split_at_space(text)
        if key:
            found.append((number, key.strip().lower(), value.strip(), text.decode("utf-8", "replace")))
    return found


def _split_at_space(text: bytes) -> tuple[bytes, bytes]:
    """Split ``disallow /path``: the colon is forgotten often enough."""
    words = text.split()
    return (words[0], words[1]) if len(words) == 2 else (b"", b"")  # noqa: PLR2004  # a key and a value


def _token(value: bytes) -> str:
    """Return the product token of a user-agent line, lower case; ``*`` for everybody, "" for nobody."""
    if value[:1] == b"*" and not value[1:2].strip():
        return "*"
    found = TOKEN.match(value)
    return found.group().decode("ascii").lower() if found else ""


def _ascii(path: bytes) -> str:
    """Percent-encode what is no printable ASCII: it is matched so (RFC 9309, section 2.2.2)."""
    return UNSAFE.sub(lambda found: b"%%%02X" % found.group()[0], path).decode("ascii")


def _sitemaps(values: Iterable[bytes], base: str | None) -> tuple[str, ...]:
    """Resolve the sitemaps' addresses, each once; only http and https count."""
    urls: dict[str, None] = {}
    for value in values:
        with contextlib.suppress(InvalidURL):
            urls[normalize(value.decode("utf-8", "replace"), base)] = None
    return tuple(url for url in urls if url.startswith(("http://", "https://")))


def _matcher(rules: list[Rule]) -> Protego:
    lines = [f"{'Allow' if rule.allow else 'Disallow'}: {rule.path}" for rule in rules]
    return Protego.parse("\n".join(["User-agent: *", *lines]))


def _matches(rule: Rule, url: str) -> bool:
    """Tell whether one rule speaks of an address, by asking Protego with that rule (and ``Disallow: /``) alone."""
    closed = Rule(0, allow=False, path="/", text="")
    verdict: bool = _matcher([closed, rule] if rule.allow else [rule]).can_fetch(url, "*")
    return verdict == rule.allow
