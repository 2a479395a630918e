"""Ask the database for all that a report for a browser shows, and write it."""

from __future__ import annotations

import itertools
import time
from typing import Any, TextIO

from spider.errors import InputError
from spider.model import Confidence
from spider.report.findings import TREE_LIMIT, Findings
from spider.report.html import write_html
from spider.store import Connection, ask, checks, forest, graphs, survey

__all__ = ["write"]

GRAPHS = 24  # applications that are drawn, the largest
MOST_GRAPHS = 10_000
FAILURES = 50


def write(
    connection: Connection,
    stream: TextIO,
    *,
    name: str,
    options: tuple[str, ...],
    confidence: Confidence,
    seed: str | None,
    gone: bool,
    **narrowed: Any,  # noqa: ANN401
) -> int:
    """Write the page and return how many media it counts; `name` is the database's.

    `narrowed` are arguments of `ask.media_rows`, `options` says them as they were typed.  Media that are gone are
    among the others, to be asked for there, unless `gone` wants them alone.  InputError where the page would go
    to a terminal.
    """
    if stream.isatty():
        raise InputError("a page is no sight for a terminal; name a file: -o report.html")
    trees = forest.Forest(connection, seed=seed, confidence=confidence)
    wanted = trees.nearest(TREE_LIMIT)
    runs = ask.runs(connection)
    pages = graphs.pages_with_graphs(connection, MOST_GRAPHS)
    found = Findings(
        name=name,
        options=options,
        made_at=time.time_ns() // 1000,
        status=ask.status(connection, confidence=confidence),
        media=ask.media_rows(connection, confidence=confidence, seed=seed, gone=gone or None, **narrowed),
        branches=trees.walk(wanted=wanted),
        left_out=len(trees) - len(wanted),
        relations=survey.relations(connection),
        reasons=survey.reasons(connection),
        refused=_refused(connection),
        hosts=survey.slow_hosts(connection),
        runs=runs,
        changes=survey.changed(connection, since=runs[0].began_at if runs else 0),
        health=checks.counts(connection),
        failures=tuple(itertools.islice(ask.error_rows(connection, seed=seed), FAILURES)),
        graphs=[graph for page in pages[:GRAPHS] if (graph := graphs.graph_of(connection, page.page_id)) is not None],
        more_graphs=max(0, len(pages) - GRAPHS),
    )
    return write_html(found, stream)


def _refused(connection: Connection) -> dict[str, int]:
    """Return how many addresses each rule refused, links to other sites among them."""
    outside = ask.outlink_count(connection)
    return ask.skipped_counts(connection) | ({"external": outside} if outside else {})
