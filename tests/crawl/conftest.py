"""What the crawl's tests share: generated sites against their truth, and crawls within the test's own process."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.model import Outcome
from spider.store import Database, care
from tests.postgres import address, common, new_postgres, postgres_address, sqlite_template
from tests.server import WebServer

__all__ = ["address", "common", "new_postgres", "postgres_address", "sqlite_template"]

KINDS = ("video", "audio", "flash")


def found(report: str, base: str) -> dict[str, list[str]]:
    """Return a JSON report as the generator's truth is written: site-relative, media by page."""
    pages: dict[str, list[str]] = {}
    for row in json.loads(report):
        pages.setdefault(row["page"].removeprefix(base), []).append(row["media"].removeprefix(base))
    return pages


def sound(database: Path) -> None:
    """Hold a database to what must be true of it after any crawl, however it ended."""
    with sqlite3.connect(database) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        states = dict(connection.execute("SELECT state, count(*) FROM CrawlerLink GROUP BY state"))
        counted = dict(
            connection.execute("SELECT name, sum(value) FROM Count WHERE name IN ('W','R','C','E') GROUP BY name")
        )
        assert {"W": 1, "R": 2, "C": 3, "E": 4}.keys() >= counted.keys()
        for name, code in (("W", 1), ("R", 2), ("C", 3), ("E", 4)):
            assert counted.get(name, 0) == states.get(code, 0), (name, counted, states)
        miscounted = """
            SELECT name FROM Host
            WHERE waiting <> (SELECT count(*) FROM CrawlerLink WHERE host_id = Host.id AND state = 1)
        """
        assert connection.execute(miscounted).fetchall() == []
    with Database.open(str(database)) as opened:
        assert list(care.faults(opened)) == []


@pytest.fixture
def crawl(tmp_path: Path) -> Callable[..., tuple[Crawler, list[Outcome]]]:
    """Give a function that crawls seeds into ``x.db`` with a plan's fields as keywords.

    It does not wait, looks for no sitemaps and may ask every machine (all are this one) unless told otherwise.
    """

    def run(*seeds: str, options: Mapping[str, Any] | None = None, **fields: Any) -> tuple[Crawler, list[Outcome]]:  # noqa: ANN401  # the plan's own types
        plan = Plan(**{"delay": 0.0, "sitemaps": False, "allow_private": True, **fields})
        with Database.open(str(tmp_path / "x.db")) as database:
            crawler = Crawler(database, plan, seeds=[Seed(seed, options=dict(options or {})) for seed in seeds])
            outcomes = list(crawler.run())
        sound(tmp_path / "x.db")
        return crawler, outcomes

    return run


@pytest.fixture
def rows(tmp_path: Path) -> Callable[..., list[tuple[Any, ...]]]:
    """Give a function that asks ``x.db`` in SQL."""

    def ask(query: str, *values: object) -> list[tuple[Any, ...]]:
        with sqlite3.connect(tmp_path / "x.db") as connection:
            return connection.execute(query, values).fetchall()

    return ask


def times(server: WebServer) -> Counter[str]:
    """Count how often each page was asked for, over all hosts; a sitemap that is looked for is no page."""
    return Counter(page for page in server.pages() if not page.endswith("/sitemap.xml"))
