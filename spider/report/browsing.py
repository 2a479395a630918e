"""What Datasette is told of a database: titles, descriptions, facets, labels, and queries that people ask.

Datasette reads the tables as they are, where codes and times are numbers; `shown` gives their words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from spider import model
from spider.report.text import iso

if TYPE_CHECKING:
    from spider.store.dictionary import TableEntry

__all__ = ["QUERIES", "metadata", "shown"]

TITLES = {
    "SeedLink": "Seeds",
    "Host": "Hosts",
    "CrawlerLink": "Links",
    "Page": "Pages",
    "Video": "Videos",
    "Audio": "Sounds",
    "Flash": "Flash movies",
    "MediaCheck": "Health of media",
    "OutLink": "Links to other sites",
    "Skipped": "Refused addresses",
    "Run": "Crawls",
    "State": "States of applications",
    "Transition": "Events of applications",
    "Resource": "What applications ask for",
    "Edge": "Links of pages",
}

_MEDIA = ("format", "mime", "confidence", "source")
FACETS = {
    "SeedLink": ("status", "origin"),
    "CrawlerLink": ("state", "depth", "seed_id", "relation", "reason"),
    "Page": ("status", "content_type", "charset"),
    "Video": _MEDIA,
    "Audio": _MEDIA,
    "Flash": _MEDIA,
    "MediaCheck": ("health", "status", "mime"),
    "Skipped": ("rule",),
    "Run": ("why",),
    "Resource": ("method", "kind", "status", "mime"),
    "Edge": ("relation",),
}
LABELS = {"SeedLink": "url", "Host": "name", "CrawlerLink": "url", "State": "url", "Run": "began_at"}
HIDDEN = frozenset({"Count", "Forgotten", "Likeness", "Meta", "Nearer", "Worker", "alembic_version"})


def _words(column: str, words: type[model.Coded]) -> str:
    """Return an expression that gives the word of a code."""
    return f"CASE {column} {' '.join(f'WHEN {word.code} THEN {chr(39)}{word.value}{chr(39)}' for word in words)} END"


def _moment(column: str) -> str:
    return f"strftime('%Y-%m-%dT%H:%M:%SZ', {column} / 1000000, 'unixepoch')"


_ALL_MEDIA = " UNION ALL ".join(
    f"SELECT '{kind}' AS kind, page_id, url, url_hash, title, text, format, first_seen, gone_at FROM {name}"  # noqa: S608  # names of our own
    for kind, name in (("video", "Video"), ("audio", "Audio"), ("flash", "Flash"))
)

QUERIES: Mapping[str, tuple[str, str, str]] = {
    "media": (
        "Media with their pages",
        "Every medium that is there, where it stands, and what a check found. Search in addresses and titles with q.",
        f"""SELECT m.kind, m.url AS medium, m.title, m.text, m.format, l.url AS page, p.title AS page_title,
       {_words("c.health", model.Health)} AS health, {_moment("m.first_seen")} AS first_seen
FROM ({_ALL_MEDIA}) m JOIN CrawlerLink l ON l.id = m.page_id LEFT JOIN Page p ON p.link_id = l.id
LEFT JOIN MediaCheck c ON c.url_hash = m.url_hash
WHERE m.gone_at IS NULL AND m.url || ' ' || coalesce(m.title, '') || ' ' || l.url LIKE '%' || :q || '%'
ORDER BY m.first_seen DESC""",  # noqa: S608
    ),
    "new": (
        "New since the last crawl began",
        "Media that the last crawl saw first.",
        f"""SELECT m.kind, m.url AS medium, m.title, l.url AS page, {_moment("m.first_seen")} AS first_seen
FROM ({_ALL_MEDIA}) m JOIN CrawlerLink l ON l.id = m.page_id
WHERE m.gone_at IS NULL AND m.first_seen >= (SELECT max(began_at) FROM Run) ORDER BY m.first_seen DESC""",  # noqa: S608
    ),
    "dead": (
        "Dead media",
        "What a check found dead, and the pages that still show it.",
        f"""SELECT c.url AS medium, c.status, {_words("c.reason", model.Reason)} AS reason, l.url AS page,
       {_moment("c.checked_at")} AS checked_at
FROM MediaCheck c JOIN ({_ALL_MEDIA}) m ON m.url_hash = c.url_hash JOIN CrawlerLink l ON l.id = m.page_id
WHERE c.health = {model.Health.DEAD.code} AND m.gone_at IS NULL ORDER BY l.url""",  # noqa: S608
    ),
    "by-host": (
        "Hosts that serve media",
        "How many media each host serves, of each kind.",
        f"""SELECT substr(url, instr(url, '://') + 3,
              instr(substr(url, instr(url, '://') + 3) || '/', '/') - 1) AS host,
       sum(kind = 'video') AS video, sum(kind = 'audio') AS audio, sum(kind = 'flash') AS flash, count(*) AS media
FROM ({_ALL_MEDIA}) WHERE gone_at IS NULL GROUP BY host ORDER BY media DESC""",  # noqa: S608
    ),
    "pages": (
        "Pages with the most media",
        "The pages that hold most.",
        f"""SELECT l.url AS page, p.title, l.depth, count(*) AS media
FROM ({_ALL_MEDIA}) m JOIN CrawlerLink l ON l.id = m.page_id LEFT JOIN Page p ON p.link_id = l.id
WHERE m.gone_at IS NULL GROUP BY l.id ORDER BY media DESC""",  # noqa: S608
    ),
    "way": (
        "The way to a page",
        "The links from a seed to the address given as url, step by step.",
        f"""WITH RECURSIVE way(id, parent_id, url, text, depth, state, step) AS (
  SELECT id, parent_id, url, text, depth, state, 0 FROM CrawlerLink WHERE url = :url
  UNION ALL SELECT l.id, l.parent_id, l.url, l.text, l.depth, l.state, way.step + 1
  FROM CrawlerLink l JOIN way ON l.id = way.parent_id WHERE way.step < 1000)
SELECT depth, url, text, {_words("state", model.LinkState)} AS state FROM way ORDER BY step DESC""",  # noqa: S608
    ),
    "errors": (
        "Why links failed",
        "How many links failed for each reason, on each host.",
        f"""SELECT {_words("l.reason", model.Reason)} AS reason, h.name AS host, count(*) AS links,
       max(l.message) AS example
FROM CrawlerLink l JOIN Host h ON h.id = l.host_id WHERE l.state = {model.LinkState.E.code}
GROUP BY l.reason, h.id ORDER BY links DESC""",  # noqa: S608
    ),
    "slow": (
        "Slow hosts",
        "How long hosts take to answer, and how long they are left alone between two requests.",
        """SELECT name AS host, round(latency / 1e6, 2) AS answers_in_s, round(delay / 1e6, 2) AS pause_s, waiting,
       failures
FROM Host WHERE latency > 0 ORDER BY latency DESC""",
    ),
    "applications": (
        "What applications ask for",
        "The back-end resources of each page that a browser explored.",
        """SELECT l.url AS page, r.method, r.url AS resource, r.kind, r.status, r.mime, r.event, r.element
FROM Resource r JOIN State s ON s.id = r.state_id JOIN CrawlerLink l ON l.id = s.page_id ORDER BY l.id, r.id""",
    ),
}
"""The queries that stand ready: name, title, what it answers, SQL."""


def metadata(database: str, tables: Iterable[TableEntry]) -> dict[str, Any]:
    """Return Datasette's metadata for a database of this name (its file's, without the extension)."""
    return {
        "title": "What the spider found",
        "description": "Pages that hold video, audio or Flash, how they were found, and what became of every link.",
        "databases": {
            database: {
                "tables": {entry.name: _table(entry) for entry in tables},
                "queries": {
                    name: {"title": title, "description": about, "sql": sql}
                    for name, (title, about, sql) in QUERIES.items()
                },
            }
        },
    }


def _table(entry: TableEntry) -> dict[str, Any]:
    found: dict[str, Any] = {
        "title": TITLES.get(entry.name, entry.name),
        "description": " ".join(entry.about.split()),
        "columns": dict(entry.columns),
        "facets": list(FACETS.get(entry.name, ())),
        "size": 50,
    }
    if entry.name in LABELS:
        found["label_column"] = LABELS[entry.name]
    if entry.name in HIDDEN:
        found["hidden"] = True
    if "first_seen" in entry.columns:
        found["sort_desc"] = "first_seen"
    return found


def shown(tables: Mapping[str, TableEntry], table: str | None, column: str, value: object) -> str | None:
    """Return the word of a code or the moment of a time, as a cell shows it; None where the value speaks for itself."""
    entry = tables.get(table or "")
    if entry is None or isinstance(value, bool) or not isinstance(value, int):
        return None
    if column in entry.times:
        return iso(value) if value else None
    return entry.codes.get(column, {}).get(value)
