"""Laws of a disk that fills: a crawl stops before, or is stopped by it; either way nothing that was told is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from spider.crawl import Crawler, Plan, Seed
from spider.errors import DiskError
from spider.model import Fetched
from spider.store import Database, backup
from tests.conftest import environment
from tests.crawl.conftest import sound, times
from tests.server import WebServer

Web = Callable[..., WebServer]
Spider = Callable[..., CompletedProcess[str]]
Site = Callable[..., tuple[Path, dict[str, Any]]]


def test_a_floor_stops_a_crawl(web: Web, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where less than the floor is free, what is in flight is written down and the crawl ends with DiskError."""
    root, _ = site(pages=100)
    server, free = web(root), [10**12]
    monkeypatch.setattr(backup, "free_bytes", lambda _: free[0])
    seed, path = Seed(f"{server.url}index.html"), tmp_path / "x.db"
    with Database.open(str(path)) as database:
        crawler = Crawler(database, Plan(delay=0.05, min_free=10**9), seeds=[seed])
        seen = 0

        def follow() -> None:
            nonlocal seen
            for outcome in crawler.run():
                seen += isinstance(outcome, Fetched)
                if seen == 5:
                    free[0] = 10**9 - 1

        with pytest.raises(DiskError) as caught:
            follow()
        assert str(caught.value).startswith(f"less than 1,000 MB is free on the disk of {path}")
        assert caught.value.exit_code == 7
        assert (crawler.why, 5 <= seen < 40) == ("min-free", True)
        with pytest.raises(DiskError):
            list(Crawler(database, Plan(delay=0, min_free=10**9)).run())
        free[0] = 10**9
        list(Crawler(database, Plan(delay=0, min_free=10**9)).run())
    sound(path)
    assert len(times(server)) >= 100


def test_the_floor_by_hand(spider: Spider) -> None:
    """The command ends with code 7 and one line before it asks anybody; 0 is no floor."""
    done = spider("crawl", "--min-free", "900000000G", "http://127.0.0.1:9/")
    assert (done.returncode, done.stdout) == (7, "")
    line = "less than 900,000,000,000 MB is free on the disk of spider.db (--min-free)"
    assert done.stderr == f"spider: {line}; what waits is visited by the next crawl\n"
    assert spider("crawl", "--min-free", "0", "--retries", "0", "--delay", "0", "http://127.0.0.1:9/").returncode == 3


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Give a function that makes a disk of so many KiB, or changes its size; skips where nobody may mount one."""
    place = tmp_path / "disk"

    def size(kib: int) -> Path:
        again = place.exists()
        place.mkdir(exist_ok=True)
        options = f"{'remount,' if again else ''}size={kib}k"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        return place

    yield size
    subprocess.run(
        ["umount", "--lazy", str(place)], capture_output=True, check=False
    )  # who still has it open keeps nobody


def ends_full(done: CompletedProcess[str]) -> None:
    """Hold a command to what it must say when the disk is full."""
    assert done.returncode == 5, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("spider: database ")


def test_a_full_disk(web: Web, spider: Spider, site: Site, small_disk: Callable[[int], Path]) -> None:
    """A disk that fills ends a crawl with code 5 and one line; with room again the next one ends with the truth."""
    root, truth = site(pages=100)
    server = web(root)
    path = small_disk(500) / "x.db"
    words = ("-q", "--db", path, "crawl", f"{server.url}index.html", "--delay", "0", "--min-free", "0")
    ends_full(spider(*words))
    ends_full(spider(*words))
    before = times(server)
    assert 0 < len(before) < 100
    small_disk(40_000)
    complete = _complete(path)
    done = spider(*words)
    assert done.returncode == 0, done.stderr
    assert set(times(server)) == {f"{server.url}{page[1:]}" for page in truth["pages"]}
    assert all(times(server)[url] == before[url] for url in complete)
    sound(path)


def test_a_limit_of_a_file_s_size(web: Web, site: Site, tmp_path: Path) -> None:
    """Where the system lets no file grow, the crawl ends likewise, and goes on when it may."""
    root, _ = site(pages=100)
    server = web(root)
    command = [sys.executable, "-m", "spider", "-q", "--db", "x.db", "crawl", f"{server.url}index.html", "--delay", "0"]

    def run(limit: int | None) -> CompletedProcess[str]:
        def less() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.run(
            command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False, preexec_fn=less
        )  # fmt: skip

    ends_full(run(300_000))
    done = run(None)
    assert done.returncode == 0, done.stderr
    sound(tmp_path / "x.db")
    assert len(times(server)) >= 100


def _complete(path: Path) -> list[str]:
    """Return the addresses that stand as complete."""
    with Database.open(os.fspath(path)) as database, database.read() as connection:
        rows = connection.exec_driver_sql('SELECT url FROM "CrawlerLink" WHERE state = 3')
        return [str(url) for (url,) in rows]
