"""Spaces without end: addresses that a server makes up for ever, told by their form or learned from what they gave.

By form: addresses too long, paths that repeat themselves, queries that grow with each step, calendars
that run past next year.  Learned, for each host and pattern of address: patterns whose last pages were
all copies, or nearly, calendars that go on and show nothing new.  What is nearly a copy and yet leads to
something new is none here.  Old dates as such are no trap: archives have them.

Pure: an address and what was read in, the name of a rule out.  What was learned is a worker's own and is
forgotten with it.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from spider import url as urls
from spider.model import Fetched, Link, Page

Value = TypeVar("Value")

__all__ = ["COPIES", "STEPS", "Traps", "by_form", "date_in", "pattern"]

LONGEST = 2048  # characters of an address
DEEPEST = 50  # segments of a path
LONGEST_PART = 8  # segments of a part of a path that is looked for again
REPEATS = 3  # times in a row that a part of a path is there
GROWN = 6  # parameters from which a query that grew by one is refused
SAME_KEY = 8  # times that one parameter is given
COPIES = 20  # pages in a row that were copies, after which their pattern is closed
STEPS = 30  # steps of a calendar that showed nothing new, after which it is closed
PATTERNS = 2_000  # patterns that are remembered; the one not met for longest is forgotten
MARKS = 5_000  # addresses and contents that are remembered of one pattern or host
MONTHS = 12
TRIVIAL = 512  # bytes: a page of less, without a link, is like many others and no evidence

_NUMBER = re.compile(r"\d+")
_TOKEN = re.compile(r"(?<![0-9a-zA-Z_-])(?=[0-9_-]*[a-zA-Z])(?=[a-zA-Z_-]*\d)[0-9a-zA-Z_-]{20,}")
_DATE = re.compile(r"(?<!\d)(?P<year>(?:1[89]|2\d)\d\d)[-/_.]?(?P<month>0[1-9]|1[0-2]|W\d\d)(?![0-9]{3})")
_DAY_FIRST = re.compile(r"(?<!\d)(?P<one>[0-3]\d)[-/_.](?P<other>[0-3]\d)[-/_.](?P<year>(?:1[89]|2\d)\d\d)(?!\d)")
_YEAR = re.compile(r"(?:^|[?&;])(?:year|yr|y|jahr|annee)=(?P<year>(?:1[89]|2\d)\d\d)(?!\d)", re.IGNORECASE)
_MONTH = re.compile(r"[?&;](?:month|mon|m|monat|mois)=(?P<month>\d{1,2})(?!\d)", re.IGNORECASE)


def pattern(url: str) -> str:
    """Return the form of an address: host and path with numbers and long tokens as one sign, the query's names.

    A path in which segments stand more than once is the set of them: relative links that lead nowhere
    make all their sequences.
    """
    place, _, query = url.partition("?")
    host, *segments = _NUMBER.sub("0", _TOKEN.sub("*", place.partition("://")[2])).split("/")
    words = [segment for segment in segments if segment not in {"", "0"}]
    distinct = sorted(set(words))
    form = f"{host}/{{{','.join(distinct)}}}" if len(distinct) < len(words) else "/".join([host, *segments])
    names = sorted({part.partition("=")[0] for part in query.split("&")}) if query else []
    return f"{form}?{'&'.join(names)}" if names else form


def date_in(url: str) -> tuple[int, int] | None:
    """Return the year and month that an address names, in its path or as parameters; None where it names none."""
    found = _DATE.search(url)
    if found:
        return int(found["year"]), int(found["month"].removeprefix("W"))
    found = _DAY_FIRST.search(url)
    if found:  # or the month first, as in America
        one, other = int(found["one"]), int(found["other"])
        return int(found["year"]), other if one > MONTHS else one
    year = _YEAR.search(url)
    if year:
        month = _MONTH.search(url)
        return int(year["year"]), int(month["month"]) if month else 0
    return None


def by_form(link: str, page: str, *, year: int) -> str | None:
    """Name the rule by which a link, met on a page, leads into a space without end; `year` is this one."""
    place, _, query = link.partition("?")
    segments = place.partition("://")[2].split("/")[1:]
    if len(link) > LONGEST or len(segments) > DEEPEST:
        return "too-long"
    if _repeats(segments):
        return "repeated-path"
    if query and _grows(place, query, page):
        return "growing-query"
    if _runs_ahead(link, page, year):
        return "calendar"
    return None


def _repeats(segments: list[str]) -> bool:
    """Tell whether a part of the path stands three times in a row, or a segment four times; numbers may."""
    words = Counter(segment for segment in segments if not _is_number(segment))
    if words and max(words.values()) > REPEATS:
        return True
    for length in range(1, min(LONGEST_PART, len(segments) // REPEATS) + 1):
        for start in range(len(segments) - REPEATS * length + 1):
            part = segments[start : start + length]
            if part * REPEATS == segments[start : start + REPEATS * length] and not all(map(_is_number, part)):
                return True
    return False


def _is_number(segment: str) -> bool:
    return not segment or segment.isdigit()


def _grows(place: str, query: str, page: str) -> bool:
    """Tell whether a query has all that its page's own has and more, for the sixth time, or one name many times."""
    names = Counter(part.partition("=")[0] for part in query.split("&"))
    if max(names.values()) > SAME_KEY:
        return True
    own_place, _, own_query = page.partition("?")
    if own_place != place or not own_query or names.total() < GROWN:
        return False
    own = Counter(part.partition("=")[0] for part in own_query.split("&"))
    return own.total() < names.total() and own <= names


def _runs_ahead(link: str, page: str, year: int) -> bool:
    """Tell whether a link goes on with its page's own sequence of dates to beyond next year."""
    there = date_in(link)
    if there is None or there[0] <= year + 1:
        return False
    here = date_in(page)
    return here is not None and here < there and pattern(link) == pattern(page)


@dataclass(slots=True)
class _Seen:
    """What pages of one pattern have shown."""

    copies: int = 0
    barren: int = 0
    links: set[int] = field(default_factory=set)


class Traps:
    """What a worker has learned of the hosts it visits.

    Only one thread calls `learn`; any may ask `refuses` and `closed`.  `year` gives the present year.
    """

    def __init__(self, year: Callable[[], int], *, copies: bool = True) -> None:
        """Know nothing yet; with `copies` False, equal pages teach nothing."""
        self._year = year
        self._copies = copies
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._contents: OrderedDict[str, set[int]] = OrderedDict()
        self._media: OrderedDict[str, set[int]] = OrderedDict()
        self._closed: dict[str, str] = {}

    def refuses(self, link: str, page: str) -> str | None:
        """Name the rule that refuses a link met on a page; None where none does."""
        return by_form(link, page, year=self._year()) or self.closed(link)

    def closed(self, url: str) -> str | None:
        """Name the rule by which an address's pattern was closed; None where it is open."""
        return self._closed.get(pattern(url)) if self._closed else None

    def learn(self, outcome: Fetched) -> None:
        """Take note of a page that was read."""
        page, url = outcome.page, outcome.request.url
        if page is None or outcome.request.depth == 0:
            return
        form, host = pattern(url), urls.host(url)
        seen = _kept(self._seen, form, _Seen)
        copied = self._copies and _is_known(self._contents, host, _content(outcome))
        repeats, near = "/{" in form, outcome.copy and not copied
        endless = repeats or date_in(url) is not None
        barren = (endless or near) and self._is_barren(page, [link for link, _ in outcome.links], seen, form)
        if self._copies and (page.links or page.left or len(outcome.response.body) > TRIVIAL):
            seen.copies = seen.copies + 1 if copied or (near and barren) else 0
            if seen.copies >= COPIES:
                self._close(form, "copies")
        if endless:
            seen.barren = seen.barren + 1 if barren else 0
            if seen.barren >= STEPS:
                self._close(form, "repeated-path" if repeats else "calendar")

    def _is_barren(self, page: Page, links: Iterable[Link], seen: _Seen, form: str) -> bool:
        """Tell whether a page shows no medium that is new to its host, and no link that is new to its pattern."""
        host, repeats = urls.host(page.url), "/{" in form
        media = [_is_known(self._media, host, medium.h) for medium in page.media]
        others = {link.h: pattern(link.url) for link in links}
        fresh = {h for h, other in others.items() if other != form and not (repeats and "/{" in other)} - seen.links
        if len(seen.links) < MARKS:
            seen.links |= fresh
        return not fresh and all(media)

    def _close(self, form: str, rule: str) -> None:
        if len(self._closed) < PATTERNS:
            self._closed[form] = rule


def _content(outcome: Fetched) -> int:
    """Return the mark of a page's content, without the number of a session that all its links carry."""
    own = set(_TOKEN.findall(outcome.request.url))
    if not own:
        return outcome.content_hash
    shown = {token for link, _ in outcome.links for token in _TOKEN.findall(link.url)}
    if len(shown - own) > 1:
        return outcome.content_hash
    body = outcome.response.body
    for token in own | shown:
        body = body.replace(token.encode(), b"*")
    return hash(body)


def _kept(store: OrderedDict[str, Value], name: str, make: Callable[[], Value]) -> Value:
    """Return what is remembered under a name, and forget what was not asked for in the longest time."""
    value = store.pop(name, None)
    store[name] = value = make() if value is None else value
    if len(store) > PATTERNS:
        store.popitem(last=False)
    return value


def _is_known(store: OrderedDict[str, set[int]], host: str, mark: int) -> bool:
    """Tell whether a mark was met before on a host, and remember it."""
    marks = _kept(store, host, set[int])
    if mark in marks:
        return True
    if len(marks) < MARKS:
        marks.add(mark)
    return False
