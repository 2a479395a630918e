"""Which row is this link?  Links are one where their keys are one; their hashes only find the place to look."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import sqlalchemy as sa

from spider import url as urls
from spider.model import LinkState, Relation
from spider.store import dialect
from spider.store.schema import CrawlerLink, Host, table

__all__ = ["Known", "NewLink", "distinct", "find", "hash_of", "key_of", "known", "same"]

_LINK = table(CrawlerLink)
_HOST = table(Host)


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link as it was met, on its way to W.

    `late` says that it was found on a copy of another page.  `limit` is the depth limit that holds for
    its tree: a complete page that stood at it and is met nearer is read again, since its own links were cut.
    One that was fetched before `changed` (UTC microseconds) waits again.
    """

    url: str
    h: int
    host: str
    depth: int
    seed_id: int
    limit: int
    source: str
    relation: Relation
    parent_id: int | None = None
    text: str = ""
    hops: int = 0
    late: bool = False
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What `add` asks of a link that is there."""

    id: int
    url: str
    state: LinkState
    depth: int
    seed_id: int
    late: bool


def key_of(connection: sa.Connection, url: str) -> str:
    """Return the key of a normalized address, by the ladder of the database."""
    return urls.key(url, dialect.ladder(connection))


def hash_of(connection: sa.Connection, url: str) -> int:
    """Return the hash of a normalized address's key, by the ladder of the database."""
    return urls.identify(url, ladder=dialect.ladder(connection))


def distinct(
    links: Iterable[NewLink], hosts: dict[str, int], salt: int, ladder: str
) -> dict[tuple[int, int], list[NewLink]]:
    """Gather links by host and hash: of each link once, the nearest; several only where hashes meet."""
    wanted: dict[tuple[int, int], list[NewLink]] = {}
    for link in links:
        identity = hosts[link.host], link.h if not salt else _salted(link.url, salt, ladder)
        there = wanted.setdefault(identity, [])
        for place, other in enumerate(there):
            if same(other.url, link.url, ladder):
                there[place] = _nearest(other, link)
                break
        else:
            there.append(link)
    return wanted


def _nearest(one: NewLink, other: NewLink) -> NewLink:
    """Return the nearer of two that are one link; it is late only if both are."""
    nearest = other if other.depth < one.depth else one
    return replace(nearest, late=False) if nearest.late and not (one.late and other.late) else nearest


def same(one: str, other: str, ladder: str) -> bool:
    """Tell whether two addresses are one link: equal, or of one key."""
    return one == other or urls.key(one, ladder) == urls.key(other, ladder)


def _salted(url: str, salt: int, ladder: str) -> int:
    data = f"{urls.key(url, ladder)}\0{salt}".encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big", signed=True)


_COLUMNS = ("id", "h", "url", "state", "depth", "seed_id", "late")
_KNOWN = sa.select(*(_LINK.c[name] for name in _COLUMNS)).where(
    _LINK.c.host_id == sa.bindparam("host_id"), _LINK.c.h.in_(sa.bindparam("hashes", expanding=True))
)


def known(connection: sa.Connection, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Known]:
    """Return the links that are there of those wanted, by host and hash."""
    by_host: dict[int, list[int]] = {}
    for host_id, h in wanted:
        by_host.setdefault(host_id, []).append(h)
    there: dict[tuple[int, int], Known] = {}
    for host_id, hashes in by_host.items():
        for part in dialect.chunks(hashes):
            for row in connection.execute(_KNOWN, {"host_id": host_id, "hashes": part}):
                there[host_id, row.h] = Known(row.id, row.url, row.state, row.depth, row.seed_id, row.late)
    return there


def find(connection: sa.Connection, url: str) -> Known | None:
    """Return the link of a normalized address, however it was spelled when it was met; None where it never was."""
    host_id = connection.scalar(sa.select(_HOST.c.id).where(_HOST.c.name == urls.host(url)))
    ladder = dialect.ladder(connection)
    salt, h = 0, urls.identify(url, ladder=ladder)
    while host_id is not None:
        row = known(connection, [(host_id, h)]).get((host_id, h))
        if row is None or same(row.url, url, ladder):
            return row
        salt += 1
        h = _salted(url, salt, ladder)
    return None
