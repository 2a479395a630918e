"""What people ask of a crawl beside its media: its runs and workers, what it refused, the way to an address, its seeds.

Each has its columns, its record, and its lines.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from spider.report.formats import Record, Value
from spider.report.tables import Line, Span, entry_lines, grid_lines
from spider.report.text import iso, visible

if TYPE_CHECKING:
    from spider.store.ask import RunRow
    from spider.store.seeds import SeedRow
    from spider.store.trace import HeldRow, SkippedRow, Why
    from spider.store.workers import WorkerRow

__all__ = [
    "RUN_COLUMNS",
    "SEED_COLUMNS",
    "SKIPPED_COLUMNS",
    "WHY_COLUMNS",
    "WORKER_COLUMNS",
    "run_lines",
    "run_record",
    "seed_lines",
    "seed_record",
    "skipped_lines",
    "skipped_record",
    "why_lines",
    "why_records",
    "worker_lines",
    "worker_record",
]


def _moment(time: int | None) -> str | None:
    return None if time is None else iso(time)


# --- runs -----------------------------------------------------------------------------------------

_RUN_COUNTS = ("pages", "video", "audio", "flash", "W", "R", "C", "E", "refused")

RUN_COLUMNS = ("run", "began_at", "ended_at", "why", *_RUN_COUNTS)
"""The columns of the list of runs; pages and media are the run's, links and refusals the whole database's."""


def run_record(row: RunRow, *, running: bool) -> dict[str, Value]:
    """Return a crawl as a record; one that never said how it ended was killed, unless it is `running`."""
    counts = json.loads(row.counts or "{}")
    refused = counts.get("refused", {})
    numbers = {"pages": counts.get("pages"), **counts.get("media", {}), **counts.get("links", {})}
    numbers["refused"] = sum(refused.values()) if row.counts else None
    return {
        "run": row.id,
        "began_at": iso(row.began_at),
        "ended_at": _moment(row.ended_at),
        "why": row.why or ("running" if running else "killed"),
        **{name: numbers.get(name, 0 if row.counts else None) for name in _RUN_COUNTS},
    }


def run_lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield the runs under headings; no record gives no line."""
    order = ("run", "began_at", "ended_at", *_RUN_COUNTS, "why")
    rows = [["" if record[name] is None else str(record[name]) for name in order] for record in records]
    if rows:
        yield from grid_lines(order, rows, columns)


# --- workers --------------------------------------------------------------------------------------

WORKER_COLUMNS = (
    "worker",
    "run",
    "machine",
    "pid",
    "began_at",
    "heartbeat_at",
    "hosts",
    "pages",
    "pages_per_second",
    "state",
)
"""The columns of the list of workers."""


def worker_record(row: WorkerRow, *, hosts: int, alive: bool) -> dict[str, Value]:
    """Return a worker as a record; its pace is over all of its time."""
    seconds = (row.heartbeat_at - row.began_at) / 1e6
    return {
        "worker": row.id,
        "run": row.run_id,
        "machine": row.machine.partition("/")[0],
        "pid": row.pid,
        "began_at": iso(row.began_at),
        "heartbeat_at": iso(row.heartbeat_at),
        "hosts": hosts,
        "pages": row.pages,
        "pages_per_second": round(row.pages / seconds, 1) if seconds > 0 else 0.0,
        "state": "at work" if alive else "dead",
    }


def worker_lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield the workers under headings; no record gives no line."""
    headings = ("worker", "run", "pid", "began_at", "heartbeat_at", "hosts", "pages", "pages/s", "state", "machine")
    order = [{"pages/s": "pages_per_second"}.get(name, name) for name in headings]
    rows = [[str(record[name]) for name in order] for record in records]
    if rows:
        yield from grid_lines(headings, rows, columns)


# --- refusals -------------------------------------------------------------------------------------

SKIPPED_COLUMNS = ("url", "rule", "page", "count", "at")
"""The columns of the list of refusals."""


def skipped_record(row: SkippedRow) -> dict[str, Value]:
    """Return a refused address as a record."""
    return {"url": row.url, "rule": row.rule, "page": row.page, "count": row.count, "at": _moment(row.at)}


def skipped_lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield refused addresses, each with its rule, and a last line that counts them by rule."""
    rules = Counter[str]()

    def counted() -> Iterator[Record]:
        for record in records:
            rules[str(record["rule"])] += 1
            yield record

    yield from entry_lines(counted(), columns, details=_skipped_details)
    if rules:
        yield ()
        yield (Span(", ".join(f"{number:,} {visible(rule)}" for rule, number in sorted(rules.items())), "head"),)


def _skipped_details(record: Record) -> list[str]:
    return [f"refused by {record['rule']}", *_times(record), f"on {record['page'] or 'no page that is known'}"]


def _times(record: Record) -> list[str]:
    return [f"{record['count']:,} times"] if record["count"] != 1 else []


# --- the way to an address ------------------------------------------------------------------------

WHY_COLUMNS = ("fact", "url", "text", "source", "state", "depth", "status", "detail", "message", "at", "count")
"""One row for each fact: seed, page and link are the way to the address, the rest what else is known of it."""


def _fact(fact: str, url: str | None, **known: Value) -> dict[str, Value]:
    return {**dict.fromkeys(WHY_COLUMNS), "fact": fact, "url": url, **known}


def why_records(found: Why) -> list[dict[str, Value]]:
    """Return what is known of an address: the links from its seed to itself, then refusals, media, a takedown."""
    records = []
    if found.path and found.seed is not None and found.path[0].url != found.seed:
        records.append(_fact("seed", found.seed, detail=_status(found)))
    for number, step in enumerate(found.path):
        last = number == len(found.path) - 1
        records.append(
            _fact(
                "link" if last else "page",
                step.url,
                text=step.text,
                source=step.source,
                state=str(step.state),
                depth=step.depth,
                status=step.status,
                detail=str(step.reason) if step.reason else None,
                message=step.message,
                at=_moment(step.retry_at if step.reason else step.fetched_at),
            )
        )
    records += [
        _fact("refused", row.page, detail=row.rule, at=_moment(row.at), count=row.count) for row in found.refused
    ]
    records += [
        _fact("medium" if row.gone_at is None else "medium gone", row.page, text=row.text, source=row.source,
              detail=str(row.kind), message=_place(row), at=_moment(row.gone_at or row.first_seen))
        for row in found.held
    ]  # fmt: skip
    return [*records, _fact("forgotten", found.url)] if found.forgotten else records


def _place(row: HeldRow) -> str | None:
    """Say which state of an application shows a medium, and what is done to get there."""
    if row.state is None:
        return None
    done = ", ".join(f"{one.event} on {one.element}" if one.element else one.event for one in row.events)
    return f"in state {row.state}, after {done}" if done else f"in state {row.state}"


def _status(found: Why) -> str | None:
    return None if found.seed_status is None else str(found.seed_status)


def why_lines(records: Sequence[Record], columns: int | None) -> Iterator[Line]:
    """Yield the facts, the way to the address first, a step a line of its own."""
    return entry_lines(records, columns, details=_why_details, label=lambda record: str(record["fact"]))


def _why_details(record: Record) -> list[str]:
    match record["fact"]:
        case "seed":
            return [f"{record['detail'] or 'unknown'} in the list of seeds"]
        case "refused":
            return [f"by rule {record['detail']}", *_times(record), "first on the page above"]
        case "medium" | "medium gone":
            shown = [str(record["message"])] if record["message"] else []
            return [str(record["detail"]), *_told(record), *shown, f"since {record['at']}"]
        case "forgotten":
            return ["taken down: not asked for any more"]
    return [*_told(record), f"depth {record['depth']}", *_stand(record)]


def _told(record: Record) -> list[str]:
    return [*([f"“{record['text']}”"] if record["text"] else []), str(record["source"])]


_STATES = {"W": "waits to be visited", "R": "is being visited", "C": "visited", "E": "failed"}


def _stand(record: Record) -> list[str]:
    """Say how a link stands, and why."""
    told = [f"{record['state']}: {_STATES[str(record['state'])]}"]
    if record["status"]:
        told.append(f"status {record['status']}")
    if record["message"]:
        told.append(f"{record['detail']}: {record['message']}" if record["detail"] else str(record["message"]))
    if record["state"] == "E":
        told.append(f"again {record['at']}" if record["at"] else "not tried again by itself")
    elif record["at"]:
        told.append(f"read {record['at']}")
    return told


# --- seeds ----------------------------------------------------------------------------------------

SEED_COLUMNS = ("id", "url", "status", "origin", "note", "added_at", "decided_at", "landed_url", "options")
"""The columns of the list of seeds."""


def seed_record(row: SeedRow) -> dict[str, Value]:
    """Return a seed as a record; its own options are a JSON object."""
    return {
        "id": row.id,
        "url": row.url,
        "status": str(row.status),
        "origin": str(row.origin),
        "note": row.note,
        "added_at": iso(row.added_at),
        "decided_at": _moment(row.decided_at),
        "landed_url": row.landed_url,
        "options": json.dumps(row.options, sort_keys=True, ensure_ascii=False) if row.options else None,
    }


def seed_lines(records: Iterable[Record], columns: int | None) -> Iterator[Line]:
    """Yield the seeds, each behind its number."""
    return entry_lines(records, columns, details=_seed_details, label=lambda record: str(record["id"]))


def _seed_details(record: Record) -> list[str]:
    came = str(record["origin"]) if record["origin"] == "submitted" else f"by {record['origin']}"
    told = [str(record["status"]), f"{came} {record['added_at']}"]
    if record["decided_at"]:
        told.append(f"decided {record['decided_at']}")
    if record["landed_url"]:
        told.append(f"leads to {record['landed_url']}")
    if record["options"]:
        told.append(str(record["options"]))
    return [*told, f"“{record['note']}”"] if record["note"] else told
