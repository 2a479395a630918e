"""How a crawl begins: seeds into the list, pages that are due again into W, in the caller's transaction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spider.crawl import feeds
from spider.crawl.plan import Plan
from spider.crawl.roster import Roster
from spider.crawl.seeds import Seed
from spider.store import Connection, Tally, frontier, runs, seeds

__all__ = ["prepare"]


def prepare(
    connection: Connection, plan: Plan, roster: Roster, given: Sequence[Seed], tally: Tally, *, now: int
) -> None:
    """Let wait what a crawl is to visit: the seeds that are given and those that are known, and what is due again."""
    ids = [seeds.add_seed(connection, seed.url, now=now, options=dict(seed.options), tally=tally) for seed in given]
    roster.load(connection)
    _refresh(connection, plan, tally, now)
    seeds.withdraw_idle(connection, tally)
    seeds.plant_all(connection, roster.limits, tally, given=set(ids))
    tally.flush(connection)


def _refresh(connection: Connection, plan: Plan, tally: Tally, now: int) -> None:
    """Let pages that were read longer ago than the plan's age wait again.

    A crawl takes its time and a timer is never exact: what a crawl that began an age ago read, up to
    its end, is as old as its beginning, and a twentieth of the age does not matter.
    """
    if math.isinf(plan.refresh):
        return
    age = int(plan.refresh * 0.95 * 1e6)
    before = max(now - age, runs.ended(connection, began_by=now - age) or 0)
    frontier.refresh(
        connection,
        tally,
        before=before,
        sooner=max(before, now - age // 2),
        listing=max(before, now - min(age, feeds.AGE)),
        listings=feeds.NAMES,
    )
