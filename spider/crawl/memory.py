"""What is known of the hosts in hand without asking the database: addresses that wait there already, or were visited.

Most links of a page lead to pages that others showed before.  One that was met as near or nearer is news to
nobody, and is passed over before it is judged and looked up.  Bounded: what is forgotten is asked for again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from spider.crawl.lane import Lane
from spider.store.identity import NewLink

__all__ = ["MOST", "Old", "learn"]

LATE = 1 << 40  # is added to the depth of a link that was met on copies alone
MOST = 300_000
"""Addresses that are remembered of all hosts together: some 35 MB."""


@dataclass(frozen=True, slots=True)
class Old:
    """The addresses that are news to nobody, met at a depth and on a copy (`late`) or not."""

    known: Mapping[int, int]
    depth: int
    late: bool = False

    def __contains__(self, url: object) -> bool:
        """Tell whether an address was met as near or nearer."""
        there = self.known.get(hash(url))
        return there is not None and (there <= self.depth or (self.late and LATE <= there <= LATE + self.depth))


def learn(lanes: Mapping[str, Lane], met: Iterable[NewLink]) -> None:
    """Remember links that were written down."""
    for link in met:
        lane = lanes.get(link.host)
        if lane is not None:
            place = hash(link.url)  # Python's own, keyed afresh in each process: nobody can make two meet
            turn = link.depth + LATE * link.late
            if lane.known.get(place, turn) >= turn:
                lane.known[place] = turn
    while sum(len(lane.known) for lane in lanes.values()) > MOST:
        _forget_half(max(lanes.values(), key=lambda lane: len(lane.known)).known)


def _forget_half(known: dict[int, int]) -> None:
    for place in list(islice(known, len(known) // 2 + 1)):
        del known[place]
