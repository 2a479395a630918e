"""A database as large as asked for, made in one go: seeds, pages in a tree, media on every page, two crawls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from spider import url as urls
from spider.model import Confidence, LinkState, MediaKind, Reason, Relation, SeedOrigin, SeedStatus
from spider.store import Database
from spider.store.schema import MEDIA, Count, CrawlerLink, Host, Page, Run, SeedLink, table

__all__ = ["grow"]

BEGAN = 1_796_000_000_000_000
HOUR = 3_600_000_000
FORMATS = {
    MediaKind.VIDEO: ("mp4", "webm", "hls"),
    MediaKind.AUDIO: ("mp3", "ogg", "m4a"),
    MediaKind.FLASH: ("swf",),
}


def grow(path: Path, *, media: int, a_page: int = 2, seeds: int = 4) -> Path:
    """Make a database with this many media and return its path; every eighth link failed, every ninth medium went."""
    pages = media // a_page
    with Database.open(str(path)) as database, database.write() as connection:
        for number in range(1, seeds + 1):
            _put(connection, SeedLink, [_seed(number)])
            _put(connection, Host, [_host(number)])
        _put(connection, CrawlerLink, [_link(number, seeds) for number in range(1, pages + 1)])
        _put(connection, Page, [_page(number) for number in range(1, pages + 1) if _state(number) is LinkState.C])
        rows: dict[MediaKind, list[dict[str, Any]]] = {kind: [] for kind in MediaKind}
        for number in range(media):
            kind = MediaKind.of(1 + number % 7 % 3)
            rows[kind].append(_medium(number, kind, 1 + number % pages, seeds))
        for kind, listed in rows.items():
            _put(connection, MEDIA[kind], listed)
        for state in LinkState:
            found = sum(_state(number) is state for number in range(1, pages + 1))
            _put(connection, Count, [{"seed_id": 1, "name": state.value, "value": found}])
        counts = '{"pages": 9, "links": {"W": 1, "R": 0, "C": 5, "E": 0}, "media": {"video": 3}, "refused": {}}'
        for number in (0, 24):
            began = BEGAN + number * HOUR
            run = {"began_at": began, "ended_at": began + HOUR, "why": "done", "counts": counts}
            _put(connection, Run, [run])
    return path


def _put(connection: sa.Connection, model: Any, rows: list[dict[str, Any]]) -> None:  # noqa: ANN401  # any of the models
    if rows:
        connection.execute(sa.insert(table(model)), rows)


def _root(seed: int) -> str:
    return f"http://site{seed}.example/"


def _seed(number: int) -> dict[str, Any]:
    root = _root(number)
    return {
        "url": root,
        "key": urls.key(root),
        "origin": SeedOrigin.HAND,
        "status": SeedStatus.ACTIVE,
        "added_at": BEGAN,
    }


def _host(number: int) -> dict[str, Any]:
    pace = {"next_at": 0, "waiting": 0, "delay": 1_000_000, "latency": 90_000 * number, "failures": 0}
    return {"name": f"site{number}.example", **pace}


def _state(number: int) -> LinkState:
    return LinkState.E if number % 8 == 7 else LinkState.C


def _link(number: int, seeds: int) -> dict[str, Any]:
    """Return a link: the first are the seeds, each other hangs below one of a tenth of its number."""
    seed = (number - 1) % seeds + 1
    above = (number - 1) // seeds // 10 * seeds + seed if number > seeds else None
    url = _root(seed) if above is None else f"{_root(seed)}shelf{number % 50}/page-{number}.html"
    failed = _state(number) is LinkState.E
    return {
        "id": number,
        "host_id": seed,
        "h": urls.identify(url),
        "url": url,
        "state": _state(number),
        "depth": 0 if above is None else len(str(number)),
        "seed_id": seed,
        "parent_id": above if above != number else None,
        "text": f"Shelf {number % 50}, page {number}",
        "source": "a@href" if above else "seed@url",
        "relation": Relation.DOWNWARD,
        "hops": 0,
        "late": False,
        "attempt": 1,
        "reason": Reason.CLIENT if failed else None,
        "message": "404 Not Found" if failed else None,
    }


def _page(number: int) -> dict[str, Any]:
    return {
        "link_id": number,
        "status": 200,
        "content_type": "text/html",
        "title": f"Page {number} of the collection",
        "content_hash": number,
        "size": 1000,
        "fetched_at": BEGAN,
        "changed_at": BEGAN,
    }


def _medium(number: int, kind: MediaKind, page: int, seeds: int) -> dict[str, Any]:
    form = FORMATS[kind][number % len(FORMATS[kind])]
    url = f"http://media{number % seeds + 1}.example/{kind}/item-{number}.{form}"
    first = BEGAN + (25 * HOUR if number % 5 == 0 else 0)
    return {
        "page_id": page,
        "url_hash": urls.identify(url),
        "url": url,
        "text": f"Recording {number}" if number % 3 else None,
        "title": f"{('Waves', 'Birds', 'Engines', 'Voices')[number % 4]}, reel {number}" if number % 2 else None,
        "source": "video@src",
        "confidence": Confidence.ELEMENT,
        "mime": None,
        "format": form,
        "poster": f"http://media.example/poster-{number}.jpg" if kind is MediaKind.VIDEO else None,
        "duration": float(number % 4000) if number % 2 else None,
        "first_seen": first,
        "last_seen": first,
        "gone_at": BEGAN + 25 * HOUR if number % 9 == 8 else None,
    }
