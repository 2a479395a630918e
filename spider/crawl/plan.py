"""What a crawl is to do: the settings as one value, and how they make the scopes of seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spider.crawl.scope import SeedScope
from spider.errors import SettingError
from spider.fetch import ClientSettings, Guard, Homes
from spider.model import Scope
from spider.patterns import Pattern
from spider.store.seeds import SeedRow

__all__ = ["Plan"]

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of `spider.settings` by their own names; `visit_media` asks for media like for pages.

    Seconds are floats (`refresh` infinite is never), sizes bytes, patterns and headers text; None is no limit.
    """

    depth: int = 5
    scope: str = Scope.TREE
    order: str = "breadth"
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    max_pages: int | None = None
    max_time: float | None = None
    max_bytes: int | None = None
    max_host_pages: int | None = None
    min_free: int = 100_000_000
    delay: float = 1.0
    per_host: int = 1
    threads: int = 16
    workers: int | None = 1
    robots: str = "obey"
    contact: str | None = None
    timeout: float = 10.0
    deadline: float = 60.0
    max_size: int = 10_000_000
    retries: int = 3
    header: Sequence[str | tuple[str, str]] = ()
    cookies: str | None = None
    auth: Sequence[str] = field(default=(), repr=False)
    netrc: bool = False
    proxy: str | None = field(default=None, repr=False)
    environment_proxies: bool = False
    allow_private: bool = False
    refresh: float = DAY
    dedup: str = "exact"
    nofollow: str = "obey"
    meta_robots: str = "obey"
    longest_delay: float = 30.0
    longer_delay: str = "cap"
    sitemaps: bool = True
    traps: bool = True
    edges: bool = False
    exclusive: bool = False
    ajax: str = "never"
    ajax_depth: int = 5
    ajax_states: int = 100
    ajax_time: float = 120.0
    browser: str | None = None
    visit_media: bool = False
    key: str | None = None

    @property
    def asks_in_turn(self) -> bool:
        """Whether one thread may ask a host for several pages in turn, without a look at pace and limits between."""
        limits = (self.max_pages, self.max_bytes, self.max_host_pages)
        return self.delay <= 0 and self.per_host == 1 and self.ajax == "never" and limits == (None, None, None)

    def scope_of(self, seed: SeedRow) -> SeedScope:
        """Return what one seed wants visited: its own options, else the plan's."""
        own = seed.options
        return SeedScope(
            seed_id=seed.id,
            root=seed.root,
            scope=Scope(str(own.get("scope", self.scope))),
            depth=int(str(own.get("depth", self.depth))),
            include=_patterns("include", _listed(own, "include", self.include)),
            exclude=_patterns("exclude", _listed(own, "exclude", self.exclude)),
        )

    def client(self, homes: Callable[[], Homes]) -> ClientSettings:
        """Return how the network is to be asked; `homes` gives the places that the seeds name."""
        return ClientSettings(
            contact=self.contact,
            timeout=self.timeout,
            deadline=self.deadline,
            max_size=self.max_size,
            headers=tuple(_header(header) for header in self.header),
            per_host=self.per_host,
            cookies=self.cookies,
            auth=tuple(self.auth),
            netrc=self.netrc,
            proxy=self.proxy,
            environment_proxies=self.environment_proxies,
            guard=Guard(private=self.allow_private),
            homes=homes,
        )


def _listed(own: Mapping[str, object], name: str, default: Sequence[str]) -> Sequence[str]:
    value = own.get(name)
    if value is None:
        return default
    return [value] if isinstance(value, str) else [str(item) for item in value] if isinstance(value, Iterable) else ()


def _patterns(name: str, texts: Iterable[str]) -> tuple[Pattern, ...]:
    try:
        return tuple(Pattern.of(text) for text in texts)
    except ValueError as error:
        msg = f"{name}: {error}"
        raise SettingError(msg) from error


def _header(header: str | tuple[str, str]) -> tuple[str, str]:
    if not isinstance(header, str):
        return header
    name, _, value = header.partition(":")
    return name.strip(), value.strip()
