"""robots.txt of the hosts in hand: asked for before anything else, kept a day, written down.

An answer that did not come closes the origin for a while and is asked for again; an older answer
goes on holding meanwhile (RFC 9309, sections 2.3.1 and 2.4).
"""

from __future__ import annotations

from dataclasses import replace

from spider import url as urls
from spider.crawl.lane import Done, Errand, Lane
from spider.errors import FetchError
from spider.fetch import MAX_BODY, Access, Client, Ruling, access, every_type
from spider.model import Reason, Request
from spider.settings import AGENT_TOKEN
from spider.store.origins import OriginRow

__all__ = ["MAX_HOPS", "as_row", "as_ruling", "hold", "known", "run_errand"]

MAX_HOPS = 5  # RFC 9309, section 2.3.1.2
DAY = 24 * 3600.0
UNREACHABLE_FOR = 60.0
PORTS = {"http": 80, "https": 443}
FOUND = 302  # stands for a redirect whose own status is not kept


def run_errand(client: Client, lane: Lane, errand: Errand) -> Done:
    """Ask for robots.txt, one hop; the answer is a ruling, or where to ask next."""
    try:
        response = client.get(Request(errand.url, hops=errand.hops), reads=every_type, max_size=MAX_BODY + 1)
    except FetchError as error:
        ended = error.reason in {Reason.REDIRECT, Reason.REFUSED} and (errand.hops or error.status)
        ruling = Ruling(errand.origin, FOUND if ended else None, failure=error)
        return Done(lane, errand, ruling=ruling, asked=error.retry_after)
    asked = response.headers.get("retry-after")
    location = response.location
    if location is not None and errand.hops < MAX_HOPS and location.startswith(("http://", "https://")):
        return Done(lane, errand, onward=location, status=response.status, latency=response.latency)
    ruling = Ruling(errand.origin, response.status, response.body[: MAX_BODY + 1], retry_after=asked)
    return Done(lane, errand, ruling=ruling, status=response.status, latency=response.latency)


def hold(lane: Lane, ruling: Ruling, *, steady: float, age: float = 0.0, patient: bool = True) -> None:
    """Let a ruling `age` seconds old hold for its origin; `patient` False asks an unreachable one again soon."""
    older = lane.rulings.get(ruling.url)
    best = ruling.or_else(older[0] if older is not None else None)
    lasts = DAY if ruling.access is not Access.DISALLOW else (UNREACHABLE_FOR if patient else 1.0)
    lane.rulings[ruling.url] = (best, steady + lasts - age)
    delay = best.robots.crawl_delay(AGENT_TOKEN)
    if delay is not None:
        lane.pace = replace(lane.pace, crawl_delay=max(delay, lane.pace.crawl_delay or 0.0))


def known(lane: Lane, row: OriginRow, *, now: int, steady: float) -> None:
    """Take a ruling over from the database, if it still holds; that no answer came is asked anew."""
    if access(row.robots_status or None) is Access.DISALLOW:
        return
    port = "" if row.port == PORTS[row.scheme] else f":{row.port}"
    url = f"{row.scheme}://{lane.host.name}{port}/robots.txt"
    hold(lane, as_ruling(row, url), steady=steady, age=max(0.0, (now - row.robots_at) / 1e6))


def as_ruling(row: OriginRow, url: str) -> Ruling:
    """Return what a row says of the origin whose robots.txt is at `url`."""
    return Ruling(url, row.robots_status or None, row.robots_body or b"")


def as_row(lane_host_id: int, ruling: Ruling, *, now: int) -> OriginRow:
    """Return the row that keeps a ruling; times in microseconds."""
    parts = urls.parse(ruling.url)
    delay = ruling.robots.crawl_delay(AGENT_TOKEN)
    return OriginRow(
        host_id=lane_host_id,
        scheme=parts.scheme,
        port=parts.port or PORTS[parts.scheme],
        robots_body=ruling.body if ruling.access is Access.PARSE else None,
        robots_status=ruling.status or 0,
        robots_at=now,
        crawl_delay=None if delay is None else int(delay * 1e6),
    )
