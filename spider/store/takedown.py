"""Forget a host or an address: what is known of it goes, and it is not visited again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from spider import url as urls
from spider.store import dialect
from spider.store.schema import (
    MEDIA,
    CrawlerLink,
    Edge,
    Forgotten,
    Host,
    MediaCheck,
    Origin,
    OutLink,
    Page,
    Resource,
    Skipped,
    State,
    Transition,
    table,
)
from spider.store.tally import Tally

__all__ = ["Forgot", "forget", "forgotten"]

_LINK = table(CrawlerLink)
_HOST = table(Host)


@dataclass(frozen=True, slots=True)
class Forgot:
    """How many links and media went."""

    target: str
    links: int
    media: int


def forgotten(connection: sa.Connection) -> frozenset[str]:
    """Return every target forgotten: host names, and keys of addresses."""
    return frozenset(connection.scalars(sa.select(Forgotten.target)))


def forget(connection: sa.Connection, target: str, tally: Tally, *, now: int) -> Forgot:
    """Forget a host name, or an address (it has "://"); InvalidURL where it is neither."""
    if "://" in target:
        address = urls.normalize(target)
        name = urls.key(address)
        ids = _links_of(connection, urls.host(address), name)
    else:
        address = None
        name = urls.host(urls.normalize(f"http://{target}/"))
        ids = connection.scalars(
            sa.select(_LINK.c.id).join(_HOST, _HOST.c.id == _LINK.c.host_id).where(_HOST.c.name == name)
        ).all()
    _drop_links(connection, ids, tally)
    media = _drop_told(connection, name, whole_host=address is None)
    if address is None:
        host_id = sa.select(_HOST.c.id).where(_HOST.c.name == name).scalar_subquery()
        connection.execute(sa.delete(Origin).where(Origin.host_id == host_id))
    known = dialect.insert(connection, table(Forgotten)).values(target=name, at=now)
    connection.execute(known.on_conflict_do_nothing())
    return Forgot(name, len(ids), media)


def _links_of(connection: sa.Connection, host: str, key: str) -> Sequence[int]:
    query = sa.select(_LINK.c.id, _LINK.c.url).join(_HOST, _HOST.c.id == _LINK.c.host_id).where(_HOST.c.name == host)
    return [number for number, url in connection.execute(query) if urls.key(url) == key]


def _drop_links(connection: sa.Connection, ids: Sequence[int], tally: Tally) -> None:
    """Delete links with all that hangs on them; a page that they showed first loses that memory only."""
    for part in dialect.chunks(ids):
        states = sa.select(State.id).where(State.page_id.in_(part)).scalar_subquery()
        connection.execute(sa.delete(Resource).where(Resource.state_id.in_(states)))
        connection.execute(sa.delete(Transition).where(Transition.from_id.in_(states)))
        connection.execute(sa.delete(State).where(State.page_id.in_(part)))
        for model in MEDIA.values():
            connection.execute(sa.delete(model).where(model.page_id.in_(part)))
        connection.execute(sa.delete(Edge).where(sa.or_(Edge.page_id.in_(part), Edge.link_id.in_(part))))
        connection.execute(sa.delete(Page).where(Page.link_id.in_(part)))
        connection.execute(sa.update(_LINK).where(_LINK.c.parent_id.in_(part)).values(parent_id=None))
        connection.execute(sa.delete(OutLink).where(OutLink.page_id.in_(part)))
        connection.execute(sa.delete(Skipped).where(Skipped.page_id.in_(part)))
        gone = sa.delete(_LINK).where(_LINK.c.id.in_(part))
        for seed_id, host_id, state in connection.execute(
            gone.returning(_LINK.c.seed_id, _LINK.c.host_id, _LINK.c.state)
        ):
            tally.leave(seed_id, host_id, state)


def _drop_told(connection: sa.Connection, name: str, *, whole_host: bool) -> int:
    """Delete what other pages told of the target: media, checks, links out, refusals.  Returns the media."""
    dropped = 0
    for model in (*MEDIA.values(), MediaCheck, OutLink, Skipped):
        rows = table(model)
        number = rows.c.get("id", rows.c.get("url_hash"))
        assert number is not None  # noqa: S101  # each of these tables has one of the two
        told = connection.execute(sa.select(number, rows.c.url)).all()
        bad = [row[0] for row in told if (urls.host(row[1]) if whole_host else urls.key(row[1])) == name]
        for part in dialect.chunks(bad):
            connection.execute(sa.delete(rows).where(number.in_(part)))
        if model in MEDIA.values():
            dropped += len(bad)
    return dropped
