"""Laws of ``spider browse``: a real Datasette serves the tables with their meaning, answers, and writes nothing."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import pytest

from spider.report.browsing import QUERIES, metadata, shown
from spider.store import dictionary
from tests.cli.conftest import Run, run
from tests.report.dressed import dress
from tests.report.large import grow

__all__ = ["run"]

Get = Callable[[str], Any]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database with media, checks and an application."""
    return dress(grow(tmp_path_factory.mktemp("browse") / "found.db", media=120))


@pytest.fixture
def served(database: Path, spider_process: Callable[..., subprocess.Popen[str]]) -> Iterator[str]:
    """Serve it, and end that as a person would; give the address."""
    if importlib.util.find_spec("datasette") is None:
        pytest.skip("Datasette is not here: pip install '.[browse]'")
    process = spider_process("--db", database, "browse", "--port", "0")
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode in {0, 130, -signal.SIGINT}


def asked(address: str) -> Any:  # noqa: ANN401  # JSON
    """Return the JSON at an address."""
    with urlopen(address, timeout=30) as answer:
        return json.load(answer)


def test_the_database_is_served(served: str, database: Path) -> None:
    """Tables, facets, labels of foreign keys, words of codes and the queries stand ready; the file stays as it was."""
    assert urlsplit(served).hostname == "127.0.0.1"
    before = hashlib.sha256(database.read_bytes()).digest()
    names = {table["name"]: table for table in asked(f"{served}found.json")["tables"]}
    assert {"Video", "CrawlerLink", "SeedLink", "MediaCheck"} <= {n for n, t in names.items() if not t["hidden"]}
    assert names["Meta"]["hidden"]
    video = asked(f"{served}found/Video.json?_size=2&_labels=on&_facet=format")
    assert video["rows"][0]["page_id"]["label"].startswith("http://site")
    assert {"mp4", "webm", "hls"} == {row["value"] for row in video["facet_results"]["format"]["results"]}
    health = asked(f"{served}found/MediaCheck.json?_size=0")
    assert {"health", "status", "mime"} <= set(health["facet_results"])
    with urlopen(f"{served}found/CrawlerLink?_size=3", timeout=30) as answer:
        page = answer.read().decode("utf-8")
    assert "In exactly one of W, R, C, E" in page.replace("in exactly", "In exactly")
    assert re.search(r'<td class="col-state[^>]*>\s*C\s*</td>', page)
    assert re.search(r'<td class="col-relation[^>]*>\s*downward\s*</td>', page)
    with urlopen(f"{served}found/Video?_size=3", timeout=30) as answer:
        assert re.search(r"col-first_seen[^>]*>\s*2026-1[12]-\d\dT", answer.read().decode("utf-8"))
    for name in QUERIES:
        rows = asked(f"{served}found/{name}.json?_shape=array&q=&url={quote('http://site1.example/')}")
        assert isinstance(rows, list), name
        assert rows, name
    dead = asked(f"{served}found/dead.json?_shape=array")
    assert {(row["status"], row["reason"]) for row in dead} == {(404, "client")}
    assert hashlib.sha256(database.read_bytes()).digest() == before


def test_every_query_is_sound(database: Path) -> None:
    """Each runs as it is on a database of this schema, with empty parameters too."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        for name, (_, about, sql) in QUERIES.items():
            assert about.endswith("."), name
            connection.execute(sql, {"q": "", "url": ""}).fetchall()


def test_the_metadata_is_the_models() -> None:
    """Every table has its description, every column its line, and what facets and labels name is there."""
    entries = dictionary.tables()
    (tables,) = (known["tables"] for known in metadata("x", entries)["databases"].values())
    assert set(tables) == {entry.name for entry in entries}
    for entry in entries:
        told = tables[entry.name]
        assert told["description"]
        assert all(told["columns"].values()), entry.name
        named = {*told["facets"], *filter(None, [told.get("label_column"), told.get("sort_desc")])}
        assert named <= set(told["columns"]), entry.name


def test_cells_show_words() -> None:
    """A code is its word, a time its moment; anything else is left to speak for itself."""
    entries = {entry.name: entry for entry in dictionary.tables()}
    assert shown(entries, "CrawlerLink", "state", 3) == "C"
    assert shown(entries, "MediaCheck", "health", 3) == "dead"
    assert shown(entries, "Video", "first_seen", 1_796_072_163_000_000) == "2026-11-30T20:56:03Z"
    assert shown(entries, "CrawlerLink", "depth", 3) is None
    assert shown(entries, "CrawlerLink", "url", "http://a.example/") is None
    assert shown(entries, None, "state", 3) is None


def test_what_cannot_be_browsed(run: Run, tmp_path: Path) -> None:
    """A database that is not there, or a port that is taken, is one line and its code."""
    assert run("browse").exit_code == 5
    grow(tmp_path / "spider.db", media=2)
    done = run("browse", "--host", "192.0.2.1", "--port", "0")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
