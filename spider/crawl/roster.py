"""The seeds of a crawl in memory: their scopes, kept true while redirects show where they land."""

from __future__ import annotations

from spider.crawl.plan import Plan
from spider.crawl.scope import Judge
from spider.fetch import Homes
from spider.store import Connection, ask, ladder_of, seeds, takedown

__all__ = ["Roster"]


class Roster:
    """Every active seed's scope as one judge, and its home.  Threads read these; only the worker's own thread loads."""

    def __init__(self, plan: Plan) -> None:
        """Know no seed yet."""
        self.judge = Judge(())
        self.homes = Homes()
        self.limits: dict[int, int] = {}
        self.seed_ids: list[int] = []
        self._plan = plan
        self._version: int | None = None

    def load(self, connection: Connection) -> bool:
        """Read the seeds again if any has landed elsewhere, here or in another worker, since they were read.

        Returns whether any had.
        """
        version = ask.landed(connection)
        if version == self._version:
            return False
        rows = seeds.seed_rows(connection)
        forgotten = takedown.forgotten(connection)
        self.judge = Judge(map(self._plan.scope_of, rows), forgotten=forgotten, ladder=ladder_of(connection))
        landings = [(row.url, row.landed_url) for row in rows if row.landed_url is not None]
        self.homes = Homes.of((row.url for row in rows), landings)
        self.limits = self.judge.limits
        self.seed_ids = [row.id for row in rows]
        self._version = version
        return True
