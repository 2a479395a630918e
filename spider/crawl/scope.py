"""Which links are worth visiting: the rules, in order, and the name of the one that refuses.

Pure: a judge is made from the seeds and answers for each link of a page.
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spider import url as urls
from spider.model import Accepted, Rejected, Scope, Verdict
from spider.patterns import Pattern

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

__all__ = ["Judge", "SeedScope", "registrable"]


@dataclass(frozen=True, slots=True)
class SeedScope:
    """What one seed wants visited.  `root` is where it landed; the patterns are searched in addresses."""

    seed_id: int
    root: str
    scope: Scope
    depth: int
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()


class Judge:
    """Judges links by the scopes of all seeds: the page's own seed first, then others of the link's host.

    So a link that leaves its own tree for that of another seed is not lost; it joins that seed's tree.
    """

    def __init__(
        self, scopes: Iterable[SeedScope], *, forgotten: frozenset[str] = frozenset(), ladder: str = urls.KEY_LADDER
    ) -> None:
        """Prepare the scopes; `forgotten` holds host names and keys that are never visited."""
        self._rules = {scope.seed_id: _Rule(scope) for scope in scopes}
        self._by_host: dict[str, list[_Rule]] = {}
        self._wide: list[_Rule] = []
        for rule in self._rules.values():
            scope = rule.scope
            if scope.scope in {Scope.TREE, Scope.HOST}:
                self._by_host.setdefault(urls.host(scope.root), []).append(rule)
            elif scope.scope in {Scope.DOMAIN, Scope.ANY}:
                self._wide.append(rule)
        self._forgotten = forgotten
        self.ladder = ladder

    @property
    def limits(self) -> dict[int, int]:
        """The depth limit of each seed."""
        return {seed_id: rule.scope.depth for seed_id, rule in self._rules.items()}

    def limit(self, seed_id: int) -> int:
        """Return the depth limit of a seed; -1 where there is no such seed."""
        rule = self._rules.get(seed_id)
        return -1 if rule is None else rule.scope.depth

    def root(self, seed_id: int) -> str | None:
        """Return the address that a seed's scope is reckoned from; None where there is no such seed."""
        rule = self._rules.get(seed_id)
        return None if rule is None else rule.scope.root

    def judge(self, link: str, page: str, *, seed_id: int, depth: int) -> Verdict:
        """Judge a link to an address at `depth`, met on `page`, of a seed's tree."""
        if self.is_forgotten(link):
            return Rejected("forgotten")
        own = self._rules.get(seed_id)
        refusal = own.refuses(link, page, depth) if own is not None else "no-seed"
        if refusal is None:
            return Accepted(seed_id)
        if len(self._rules) > 1:
            for other in (*self._by_host.get(urls.host(link), ()), *self._wide):
                if other is not own and other.refuses(link, page, depth) is None:
                    return Accepted(other.scope.seed_id)
        return Rejected(refusal)

    def is_forgotten(self, address: str) -> bool:
        """Whether an address, or its host, was taken down."""
        if not self._forgotten:
            return False
        return urls.host(address) in self._forgotten or urls.key(address, self.ladder) in self._forgotten


class _Rule:
    """One seed's scope with what can be worked out once."""

    def __init__(self, scope: SeedScope) -> None:
        self.scope = scope
        self._within = _within(scope)

    def refuses(self, link: str, page: str, depth: int) -> str | None:
        """Return the name of the rule that refuses, or None."""
        scope = self.scope
        if not self._within(link, page):
            return scope.scope.value
        if any(pattern.search(link) for pattern in scope.exclude):
            return "exclude"
        if scope.include and not any(pattern.search(link) for pattern in scope.include):
            return "include"
        if depth > scope.depth:
            return "depth"
        return None


def _within(scope: SeedScope) -> Callable[[str, str], bool]:
    match scope.scope:
        case Scope.TREE:
            prefixes = _both_schemes(urls.directory(scope.root))
            return lambda link, _page: link.startswith(prefixes)
        case Scope.HOST:
            root = urls.parse(scope.root)
            prefixes = _both_schemes(urls.normalize("/", base=root))
            return lambda link, _page: link.startswith(prefixes)
        case Scope.KIN:
            return lambda link, page: urls.is_kin(page, link)
        case Scope.DOMAIN:
            domain = registrable(urls.host(scope.root))
            return lambda link, _page: registrable(urls.host(link)) == domain
        case Scope.ANY:
            return lambda _link, _page: True


def _both_schemes(prefix: str) -> tuple[str, ...]:
    """Return the prefix for http and for https where the port is the scheme's own: they are one site."""
    scheme, _, rest = prefix.partition("://")
    if urls.parse(prefix).port is not None:
        return (prefix,)
    return (f"http://{rest}", f"https://{rest}") if scheme in {"http", "https"} else (prefix,)


@functools.lru_cache(maxsize=4096)
def registrable(host: str) -> str:
    """Return the registrable domain of a host name, by the Public Suffix List; an IP address is its own."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return _suffixes().privatesuffix(host) or host
    return host


@functools.cache
def _suffixes() -> PublicSuffixList:
    # Loaded only for --scope domain: it reads a list of ten thousand lines.
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415

    return PublicSuffixList()
