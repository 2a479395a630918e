"""Differences to the kept counters, gathered through a transaction and written once at its end.

Rows are written in sorted order, hosts before counts, so that two writers on PostgreSQL never wait
for each other in a ring.
"""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa

from spider.model import LinkState
from spider.store import dialect
from spider.store.identity import NewLink
from spider.store.schema import Count, Host, table

__all__ = ["LANDED", "Tally"]

LANDED = (0, "landed")
"""The counter (seed, name) that rises whenever scopes change: a seed lands elsewhere, or a target is forgotten."""


class Tally:
    """What a transaction changes in `Count` and in `Host.waiting`; and what links it `met`, as they were written."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.counts: Counter[tuple[int, str]] = Counter()
        self.waiting: Counter[int] = Counter()
        self.met: list[NewLink] = []

    def add(self, seed_id: int, name: str, number: int = 1) -> None:
        """Count `number` more of `name` for a seed."""
        self.counts[seed_id, name] += number

    def counted(self, connection: sa.Connection, seed_id: int, name: str) -> bool:
        """Whether anything of `name` was counted for a seed, in this transaction or before."""
        rows = table(Count)
        kept = sa.select(rows.c.value).where(rows.c.seed_id == seed_id, rows.c.name == name)
        return bool(self.counts[seed_id, name] or connection.scalar(kept))

    def enter(self, seed_id: int, host_id: int, state: LinkState) -> None:
        """Count a link that enters a state."""
        self.counts[seed_id, state.value] += 1
        if state is LinkState.W:
            self.waiting[host_id] += 1

    def leave(self, seed_id: int, host_id: int, state: LinkState) -> None:
        """Count a link that leaves a state."""
        self.counts[seed_id, state.value] -= 1
        if state is LinkState.W:
            self.waiting[host_id] -= 1

    def move(self, seed_id: int, host_id: int, before: LinkState, after: LinkState) -> None:
        """Count a link that goes from one state to another."""
        self.leave(seed_id, host_id, before)
        self.enter(seed_id, host_id, after)

    def flush(self, connection: sa.Connection) -> None:
        """Write the differences and begin anew."""
        hosts = [{"b_id": host, "b_more": more} for host, more in sorted(self.waiting.items()) if more]
        if hosts:
            connection.execute(_WAITING, hosts)
        counts = [
            {"seed_id": seed, "name": name, "value": more} for (seed, name), more in sorted(self.counts.items()) if more
        ]
        if counts:
            connection.execute(_counted(connection), counts)
        self.counts.clear()
        self.waiting.clear()


_HOST = table(Host)
_WAITING = (
    sa.update(_HOST).where(_HOST.c.id == sa.bindparam("b_id")).values(waiting=_HOST.c.waiting + sa.bindparam("b_more"))
)


@dialect.once
def _counted(connection: sa.Connection) -> sa.Insert:
    rows = table(Count)
    insert = dialect.insert(connection, rows)
    return insert.on_conflict_do_update(
        index_elements=[rows.c.seed_id, rows.c.name], set_={"value": rows.c.value + insert.excluded.value}
    )
