"""Laws of long answers: every format that is written as rows come takes the same memory for however many rows."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment
from tests.report.large import grow

FEW, MANY, MILLION = 500, 20_000, 1_000_000
ROOM = 12_000_000  # bytes that two runs may differ by
COMMANDS = (
    *(f"report --format {form}" for form in ("table", "json", "jsonl", "csv", "markdown")),
    *(f"export {what}" for what in ("urls", "m3u", "xspf", "rss", "sitemap")),
    *(f"export links --format {form}" for form in ("jsonl", "json", "csv", "markdown", "dot", "graphml")),
    "export links --edges",
    "skipped --format jsonl",
    "errors --format jsonl",
)
EVERY_DAY = ("report --format jsonl", "export urls", "export links --format graphml")

MEDIA = """
INSERT INTO Video (page_id, url_hash, url, text, source, confidence, format, first_seen, last_seen)
WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < :rows)
SELECT 1 + k % 400, 1000000000 + k, 'http://media.example/reel-' || k || '.mp4', 'Reel ' || k, 'video@src', 1,
       'mp4', 1, 1
FROM n
"""
LINKS = """
INSERT INTO CrawlerLink (id, host_id, h, url, state, depth, seed_id, parent_id, text, source, relation, hops,
                         late, attempt, reason, message)
WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < :rows)
SELECT 1000000 + k, 1, 1000000000 + k, 'http://site1.example/more/' || k, 3 + k % 2, 2, 1, 1,
       'More ' || k, 'a@href', 1, 0, 0, 1, iif(k % 2, 8, NULL), iif(k % 2, '404', NULL)
FROM n
"""
REST = (
    """INSERT INTO Page (link_id, status, content_type, content_hash, size, fetched_at, changed_at, ajax)
       SELECT id, 200, 'text/html', 1, 1, 1, 1, 0 FROM CrawlerLink WHERE id > 1000000 AND state = 3""",
    """INSERT INTO Edge (page_id, link_id, source, relation)
       SELECT 1, id, 'a@href', 1 FROM CrawlerLink WHERE id > 1000000""",
    """INSERT INTO Skipped (url_hash, url, rule, at, count)
       SELECT h, url, 'robots', 1, 1 FROM CrawlerLink WHERE id > 1000000""",
)


def filled(path: Path, rows: int) -> Path:
    """Make a database with this many media, links, edges and refusals more than a small one has."""
    grow(path, media=800)
    with sqlite3.connect(path) as connection:
        connection.execute(MEDIA, {"rows": rows})
        connection.execute(LINKS, {"rows": rows})
        for statement in REST:
            connection.execute(statement)
    return path


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak(database: Path, command: str) -> int:
    """Return the bytes of memory that a command held at its height."""
    words = [sys.executable, "-m", "spider", "-q", "--db", str(database), *command.split()]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *words], env=environment(), capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a small database."""
    return filled(tmp_path_factory.mktemp("few") / "few.db", FEW)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a large one."""
    return filled(tmp_path_factory.mktemp("many") / "many.db", MANY)


@pytest.mark.parametrize("command", EVERY_DAY)
def test_memory_does_not_grow_with_the_answer(command: str, few: Path, many: Path) -> None:
    """Forty times the rows are written in the same memory."""
    assert peak(many, command) - peak(few, command) < ROOM


@pytest.mark.soak
@pytest.mark.parametrize("command", COMMANDS)
def test_a_million_rows_take_no_more(command: str, few: Path, million: Path) -> None:
    """A million rows of each format that is written as rows come are written in the memory of a few."""
    assert peak(million, command) - peak(few, command) < ROOM


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a very large one."""
    return filled(tmp_path_factory.mktemp("million") / "million.db", MILLION)
