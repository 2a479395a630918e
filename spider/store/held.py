"""The rows of what pages hold: one for each medium of a page, whatever its kind."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from spider.model import Media
from spider.store import dialect
from spider.store.schema import MEDIA, table

__all__ = ["fit", "row", "write"]

_UNFIT = re.compile("[\0\ud800-\udfff]")


def fit(text: str | None) -> str | None:
    """Make what a server says fit for both engines: U+FFFD for NUL and lone surrogates, as the page's own text has."""
    return None if text is None else _UNFIT.sub("\ufffd", text)


def row(medium: Media, page_id: int, now: int) -> dict[str, object]:
    """Return the row of a medium on a page that was read now."""
    return {
        "page_id": page_id,
        "url_hash": medium.h,
        "url": medium.url,
        "text": medium.text or None,
        "title": medium.title or None,
        "source": str(medium.source),
        "confidence": medium.confidence,
        "mime": fit(medium.mime),
        "format": medium.format,
        "poster": medium.poster,
        "duration": medium.duration if medium.duration is not None and math.isfinite(medium.duration) else None,
        "first_seen": now,
        "last_seen": now,
    }


def write(
    connection: sa.Connection, kind: str, rows: Iterable[dict[str, object]], needed: Mapping[tuple[object, object], int]
) -> None:  # fmt: skip
    """Write the rows of one kind.  `needed` gives the state without which a medium is not seen, by page and hash."""
    listed = [one | {"state_id": needed.get((one["page_id"], one["url_hash"]))} for one in rows]
    connection.execute(_upsert(connection, kind, tuple(listed[0])), listed)


@dialect.once
def _upsert(connection: sa.Connection, kind: str, columns: tuple[str, ...]) -> sa.Insert:
    held = table(MEDIA[kind])
    insert = dialect.insert(connection, held)
    fresh: dict[str, sa.ColumnElement[object]] = {
        name: insert.excluded[name] for name in columns if name not in {"page_id", "url_hash", "first_seen"}
    }
    # A medium may be told a second time, by a link of its own, which knows of no state.
    fresh["state_id"] = sa.func.coalesce(insert.excluded.state_id, held.c.state_id)
    return insert.on_conflict_do_update(
        index_elements=[held.c.page_id, held.c.url_hash], set_={**fresh, "gone_at": sa.null()}
    )
