"""Look at candidates for the list of seeds, one after another, and show what was seen."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from spider.cli.network import NETWORK, asking
from spider.cli.output import show
from spider.crawl.candidates import Check, Courtesy, Looked, check
from spider.errors import FetchError
from spider.fetch import Client, ClientSettings, Pace
from spider.model import MediaKind, Reason
from spider.report import Line, Span, visible
from spider.store import Database, hosts
from spider.store.seeds import SeedRow

__all__ = ["USED", "checked", "courtesy", "typed"]

_MANNERS = ("delay", "longest-delay", "longer-delay", "robots")
USED = (*NETWORK, *_MANNERS)
"""The settings that looking takes, by their options."""


@contextlib.contextmanager
def courtesy(
    client: ClientSettings, values: Mapping[str, Any], *, ready: Callable[[str], float] = lambda _: 0.0
) -> Iterator[Courtesy]:
    """Give what asks with these settings, politely."""
    pace = Pace(values["delay"], cap=values["longest_delay"])
    obey = values["robots"] == "obey"
    with Client(client) as opened:
        skip = values["longer_delay"] == "skip"
        yield Courtesy(opened, pace, steady=time.monotonic, sleep=time.sleep, obey=obey, skip=skip, ready=ready)


def typed(url: str, values: Mapping[str, Any]) -> ClientSettings:
    """Return the client's settings for an address that was typed; for "" none was."""
    manners = {name.replace("-", "_") for name in _MANNERS}
    return asking(url, **{name: value for name, value in values.items() if name not in manners})


def checked(
    database: Database, rows: Sequence[SeedRow], count: int, values: Mapping[str, Any]
) -> Iterator[tuple[SeedRow, Check]]:
    """Look at one seed after another, show what was seen of each, and yield it.

    Nobody vouches for a candidate's address: it opens no private network, and no password goes there.
    """

    def ready(name: str) -> float:
        """Respect the crawls that are at work on the database, and when they want to ask again."""
        now = time.time_ns() // 1000
        with database.read() as connection:
            moment = hosts.due(connection, name, now)
        if moment is None:
            raise FetchError(Reason.RATE, "a crawl is asking this host now; look again later")
        return max(0.0, (moment - now) / 1e6)

    with courtesy(typed("", values), values, ready=ready) as polite:
        for row in rows:
            found = check(polite, row.url, count=count)
            _remember(database, polite.pauses)
            show(_lines(row.id, found), sys.stdout)
            sys.stdout.flush()
            yield row, found


def _remember(database: Database, pauses: Mapping[str, float]) -> None:
    """Write down how long hosts are to be left alone, for the crawl that may come next."""
    if pauses:
        with database.write() as connection:
            for name, seconds in pauses.items():
                hosts.rest(connection, name, until=time.time_ns() // 1000 + int(seconds * 1e6))


def _lines(number: int, found: Check) -> Iterator[Line]:
    """Yield what a person needs to decide."""
    lead = f"{number}  "
    yield (Span(lead, "number"), Span(visible(found.url), "page"))
    indent = " " * len(lead)
    if found.landed != found.url:
        yield (Span(f"{indent}leads to {visible(found.landed)}"),)
    if found.title:
        yield (Span(f"{indent}“{visible(found.title)}”", "detail"),)
    yield (Span(indent + " · ".join(_facts(found)), "detail"),)
    if found.problem:
        yield (Span(f"{indent}{visible(found.problem)}", "bad"),)
    for looked in found.sample:
        yield (Span(f"{indent}  {_seen(looked)}  {visible(looked.url)}"),)
    if found.sample:
        yield (Span(f"{indent}{_media(found.media)} on {len(found.sample)} of its pages"),)
    yield (Span(f"{indent}{'good' if found.good else 'not good'}", "head"),)


def _facts(found: Check) -> Iterator[str]:
    """Yield the answers to the questions that are asked of every candidate."""
    yield "its name resolves" if found.resolves else "its name does not resolve"
    yield "no answer" if found.status is None else f"status {found.status}"
    yield "HTML" if found.html else "no HTML"
    yield {True: "robots.txt allows it", False: "robots.txt closes it", None: "robots.txt is not known"}[found.allowed]


def _seen(looked: Looked) -> str:
    return visible(looked.problem) if looked.problem is not None else _media(looked.media)


def _media(counts: Mapping[MediaKind, int]) -> str:
    held = [f"{counts[kind]} {kind}" for kind in MediaKind if counts.get(kind)]
    return ", ".join(held) or "no media"
