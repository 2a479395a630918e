"""All that a report for a browser shows, gathered into what its page draws: cards, charts, tables and two data islands.

Every text of a page is made visible and cut here, so that the page has nothing hostile to show.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from spider import url as urls
from spider.model import Health, LinkState, MediaKind, Reason, Relation
from spider.report.listings import run_record
from spider.report.text import cut, iso, json_text, many, visible

if TYPE_CHECKING:
    from spider.store.ask import ErrorRow, MediaRow, RunRow, Status
    from spider.store.forest import Branch
    from spider.store.graphs import PageGraph
    from spider.store.survey import HostRow

__all__ = [
    "GALLERY_LIMIT",
    "TREE_LIMIT",
    "Bar",
    "Card",
    "Findings",
    "Gallery",
    "Tree",
    "cards",
    "island",
    "run_rows",
    "short",
]

GALLERY_LIMIT = 100_000
"""Media that the gallery holds at most; a page with more would be slow to open."""

TREE_LIMIT = 20_000
"""Links that the tree holds at most, but for those with media beneath, which it always holds."""

BARS = 12
TEXT = 300  # columns of a title or an anchor text that anybody reads
STATES = tuple(LinkState)
KINDS = tuple(MediaKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was asked of the database; times are UTC microseconds.

    `options` are what narrows the media, as typed; `media` are all that are there and those that are gone;
    `branches` the links of the tree, `left_out` those that it is too small for.  `changes` counts what the last
    crawl saw first and what it missed, of each kind; `health` what checks found; `failures` are the first links that
    failed; `graphs` are the largest applications, `more_graphs` counts the others.
    """

    name: str
    options: tuple[str, ...]
    made_at: int
    status: Status
    media: Iterable[MediaRow]
    branches: Iterable[Branch]
    left_out: int
    relations: Mapping[str, Mapping[Relation, int]]
    reasons: Mapping[Reason, int]
    refused: Mapping[str, int]
    hosts: Sequence[HostRow]
    runs: Sequence[RunRow]
    changes: Mapping[MediaKind, tuple[int, int]]
    health: Mapping[Health, int] = field(default_factory=dict)
    failures: Sequence[ErrorRow] = ()
    graphs: Sequence[PageGraph] = ()
    more_graphs: int = 0


class Card(NamedTuple):
    """One number at the top: what it counts, how it changed, a word below it, and the filter that it leads to."""

    title: str
    number: int
    change: str
    note: str
    part: str
    link: str


class Bar(NamedTuple):
    """One bar of a chart: its length in hundredths of the longest, and the filter of the gallery that shows it."""

    label: str
    number: int
    length: float
    link: str
    part: str


def _shown(text: str | None) -> str:
    """Return a page's text fit to be shown."""
    return visible(cut(text or "", TEXT))


def island(value: object) -> str:
    """Return a value as JSON that may stand in a script element: nothing in it ends one."""
    return json_text(value).replace("<", "\\u003c").replace(">", "\\u003e")


# --- the gallery ----------------------------------------------------------------------------------


class _Numbers:
    """Numbers for texts that come again and again."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._known: dict[str, int] = {}

    def of(self, text: str) -> int:
        """Return the number of a text, a new one for a new text."""
        number = self._known.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


@dataclass(slots=True)
class Gallery:
    """The media as columns of a data island, and counted in every way that the charts show.

    `new_since` is the moment of the last crawl's beginning; None where there was no other before it.
    """

    new_since: int | None = None
    rows: list[list[Any]] = field(default_factory=list)
    pages: list[list[Any]] = field(default_factory=list)
    flash: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    counts: dict[str, Counter[Any]] = field(
        default_factory=lambda: {name: Counter() for name in ("kind", "site", "depth", "host", "format")}
    )
    days: Counter[tuple[str, str]] = field(default_factory=Counter)
    _sites: _Numbers = field(default_factory=_Numbers)
    _formats: _Numbers = field(default_factory=_Numbers)
    _sources: _Numbers = field(default_factory=_Numbers)
    _page_of: dict[int, int] = field(default_factory=dict)

    def add(self, row: MediaRow) -> None:
        """Take one medium in."""
        self.total += 1
        form = row.format or (row.mime or "").partition("/")[2] or "unknown"
        if row.gone_at is None:
            self._count(row, form)
        if len(self.rows) >= GALLERY_LIMIT:
            return
        new = self.new_since is not None and row.gone_at is None and row.first_seen >= self.new_since
        self.rows.append(
            [
                KINDS.index(row.kind),
                row.media,
                self._page(row),
                _shown(row.text),
                _shown(row.name),
                self._formats.of(_shown(form)),
                _shown(row.served or row.mime),
                row.poster or 0,
                round(row.duration or 0, 1),
                row.size or 0,
                row.first_seen // 1_000_000,
                (row.gone_at or 0) // 1_000_000,
                self._sources.of(_shown(row.source)),
                int(new),
                0 if row.health is None else row.health.code,
                row.status or 0,
                (row.checked_at or 0) // 1_000_000,
                row.moved_to or 0,
            ]
        )

    def _count(self, row: MediaRow, form: str) -> None:
        self.counts["kind"][row.kind.value] += 1
        self.counts["site"][row.seed] += 1
        self.counts["depth"][row.depth] += 1
        self.counts["host"][urls.host(row.media)] += 1
        self.counts["format"][_shown(form)] += 1
        self.days[iso(row.first_seen)[:10], row.kind.value] += 1
        if row.kind is MediaKind.FLASH:
            self.flash.append(
                {
                    "title": _shown(row.name or row.text) or _file(row.media),
                    "media": row.media,
                    "page": row.page,
                    "page_title": _shown(row.title) or row.page,
                    "size": row.size,
                    "seen": iso(row.first_seen)[:10],
                }
            )

    def _page(self, row: MediaRow) -> int:
        """Return the number of a medium's page."""
        number = self._page_of.get(row.page_id)
        if number is None:
            number = self._page_of[row.page_id] = len(self.pages)
            self.pages.append([row.page, _shown(row.title), self._sites.of(row.seed), row.depth, row.page_id])
        return number

    def data(self, places: Mapping[int, int]) -> dict[str, Any]:
        """Return the island's value; `places` are the links of the tree, from number to place."""
        return {
            "kinds": [kind.value for kind in KINDS],
            "health": ["", *(health.value for health in Health)],
            "sites": self._sites.texts,
            "formats": self._formats.texts,
            "sources": self._sources.texts,
            "pages": [[*page[:-1], places.get(page[-1], -1)] for page in self.pages],
            "media": self.rows,
        }

    def bars(self, name: str, *, filtered: str | None = None) -> list[Bar]:
        """Return one of the counts as bars, the longest first and the rest as one; depths in their order."""
        found = self.counts[name]
        ordered = sorted(found.items()) if name == "depth" else found.most_common()
        shown, rest = ordered[:BARS], sum(number for _, number in ordered[BARS:])
        longest = max([number for _, number in shown] + [rest, 1])
        bars = [
            Bar(
                visible(short(label) if name == "site" else str(label)),
                number,
                100 * number / longest,
                f"#media?{filtered}={self._value(filtered, label)}" if filtered else "",
                f"kind-{label}" if name == "kind" else "",
            )
            for label, number in shown
        ]
        if rest:
            bars.append(Bar(f"{len(ordered) - BARS:,} others", rest, 100 * rest / longest, "", "rest"))
        return bars

    def _value(self, filtered: str | None, label: Any) -> str:  # noqa: ANN401  # a counted thing
        """Return how the page's address spells a filter's value."""
        numbers = {"site": self._sites, "format": self._formats}.get(filtered or "")
        return str(label) if numbers is None else str(numbers.of(str(label)))


def short(url: str) -> str:
    """Return a site's address as people say it: without its scheme, and without a last slash."""
    return url.partition("://")[2].rstrip("/") or url


def _file(url: str) -> str:
    """Return what an address would be called where it has no title: its file's name."""
    path = url.partition("?")[0].rstrip("/")
    return visible(path.rpartition("/")[2] or url)


# --- the tree -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tree:
    """The link forest as a data island; `places` tells where each link stands in it."""

    nodes: list[list[Any]] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)

    def add(self, branch: Branch) -> None:
        """Take a branch in; its parent came before."""
        failure = f"{branch.reason}{f' {branch.status}' if branch.status else ''}" if branch.reason else 0
        self.places[branch.id] = len(self.nodes)
        self.nodes.append(
            [
                -1 if branch.parent_id is None else self.places[branch.parent_id],
                branch.url,
                _shown(branch.text) or _shown(branch.title),
                STATES.index(branch.state),
                branch.own,
                branch.beneath,
                failure,
            ]
        )


# --- cards and runs -------------------------------------------------------------------------------


def cards(findings: Findings) -> list[Card]:
    """Return the numbers at the top, with what the last crawl changed where there was one before it."""
    status, before = findings.status, _links_before(findings.runs)
    several = len(findings.runs) > 1
    found = [
        Card(
            kind.value if kind is not MediaKind.FLASH else "Flash",
            status.media[kind],
            _moved(*findings.changes[kind]) if several else "",
            f"on {many(status.pages[kind], 'page')}",
            f"kind-{kind}",
            f"#media?kind={kind}",
        )
        for kind in KINDS
    ]
    notes = {
        LinkState.C: ("links read", f"of {many(len(status.seeds), 'site')}", "#forest"),
        LinkState.W: ("waiting", "to be read" if status.links[LinkState.W] else "nothing left to read", "#forest"),
        LinkState.E: ("failed", "see why" if status.links[LinkState.E] else "no link failed", "#errors"),
    }
    for state, (title, note, link) in notes.items():
        change = "" if before is None else _difference(status.links[state] - before.get(state.value, 0))
        found.append(Card(title, status.links[state], change, note, f"state-{state}", link))
    refused = sum(findings.refused.values())
    found.append(Card("refused", refused, "", f"by {many(len(findings.refused), 'rule')}", "refused", "#skipped"))
    checked = sum(findings.health.values())
    if checked:
        dead = findings.health.get(Health.DEAD, 0)
        found.append(Card("dead", dead, "", f"of {checked:,} checked", "health-dead", "#media?state=dead"))
    return found


def _links_before(runs: Sequence[RunRow]) -> Mapping[str, int] | None:
    """Return the links by state as the crawl before the last left them; None where nobody wrote that down."""
    if len(runs) < 2 or not runs[1].counts:  # noqa: PLR2004  # the last and the one before
        return None
    links: Mapping[str, int] = json.loads(runs[1].counts).get("links", {})
    return links


def _moved(new: int, gone: int) -> str:
    """Say what came and what went."""
    told = [f"+{new:,}"] * bool(new) + [f"−{gone:,} gone"] * bool(gone)
    return ", ".join(told) or "as before"


def _difference(number: int) -> str:
    return "as before" if not number else f"{'+' if number > 0 else '−'}{abs(number):,}"


def run_rows(runs: Sequence[RunRow]) -> list[dict[str, Any]]:
    """Return the crawls as records, the newest first; one without an end still runs, or was killed."""
    return [{**run_record(row, running=False), "why": row.why or "no end"} for row in runs[:BARS]]
