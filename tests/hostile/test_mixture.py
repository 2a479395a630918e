"""A long crawl of a web that is hostile in part: no crash, no leak, and every page becomes what it should."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from spider.model import Reason
from tests.crawl.conftest import sound
from tests.hostile.mixture import Mixture
from tests.hostile.soak import record
from tests.server import WebServer

Web = Callable[..., WebServer]
Process = Callable[..., Popen[str]]

OPTIONS = ("--delay", "0", "--timeout", "1.5", "--deadline", "2", "--retries", "1", "--max-size", "500k", "--no-traps")
PATIENT = ("--timeout", "6", "--deadline", "8")  # in half an hour a machine may be busy with other things for a while
KILLS = int(os.environ.get("SPIDER_SOAK_KILLS", "200"))
KILLED = {"overlap": "a killed process cannot close its connection first"}


def begin(process: Process, server: WebServer, folder: Path, *more: str) -> Popen[str]:
    """Start a crawl of every host of a server."""
    (folder / "seeds.txt").write_text("\n".join(server.urls))
    return process("-q", "--db", "x.db", "crawl", "seeds.txt", *OPTIONS, *more)


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that it began, and they began."""
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


def memory(process: Popen[str]) -> int:
    """Return what a crawl has in memory, all its processes together, in KiB; 0 once it has ended."""
    total = 0
    for pid in family(process.pid):
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            total += int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])
    return total


def states(folder: Path, port: int) -> dict[str, str]:
    """Return what became of each link: C, W, R, or its class of failure, by host and path."""
    query = "SELECT url, state, reason FROM CrawlerLink"
    with contextlib.closing(sqlite3.connect(folder / "x.db", timeout=60)) as connection:
        rows = connection.execute(query).fetchall()
    return {
        url.removeprefix("http://").replace(f":{port}", ""): Reason.of(reason).value if state == 4 else " WRC"[state]
        for url, state, reason in rows
    }


def hold(mixture: Mixture, folder: Path, server: WebServer) -> None:
    """Hold a finished crawl to the truth: every good page is complete, every bad one failed with its class."""
    sound(folder / "x.db")
    found, expected = states(folder, server.port), dict(mixture.expected())
    strays = {place for place in set(found) - set(expected) if not place.endswith(("/sitemap.xml", "/nowhere"))}
    wrong = {place: (found.get(place), what) for place, what in expected.items() if found.get(place) != what}
    assert wrong == {}
    assert strays == set()


def watched(process: Popen[str], server: WebServer, pages: int) -> list[int]:
    """Return the memory of a crawl, looked at all along after its first tenth."""
    seen: list[int] = []
    while process.poll() is None:
        if len(server.requests) > pages // 10:
            seen.append(memory(process))
        time.sleep(0.2)
    return [kib for kib in seen if kib]


def test_a_thousand_pages(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """A thousand pages on ten hosts, one in five hostile: each becomes what it should, and memory stays."""
    mixture = Mixture(hosts=10, pages=99)
    server = web(mixture.answer, hosts=10)
    process = begin(spider_process, server, tmp_path, "--workers", "1")
    seen = watched(process, server, 1000)
    assert process.wait() == 0
    hold(mixture, tmp_path, server)
    assert seen
    assert max(seen) - seen[0] <= 50 * 1024


def test_killed_ten_times(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """Killed at ten random moments in a hostile web, and begun again: nothing is lost, nothing becomes wrong."""
    mixture = Mixture(hosts=4, pages=99, slow=400)
    server = web(mixture.answer, hosts=4, skip=KILLED)
    kill(10, mixture, server, spider_process, tmp_path)


def kill(times: int, mixture: Mixture, server: WebServer, process: Process, folder: Path) -> None:
    """Kill a crawl at random moments, so many times, then let it end; what was complete stays so."""
    dice = random.Random(times)
    complete: set[str] = set()
    for _ in range(times):
        crawl = begin(process, server, folder)
        before = len(server.requests)
        patience = time.monotonic() + 30
        share = mixture.hosts * mixture.pages // times
        after = dice.randrange(1, 2 * (2 * mixture.hosts + share))  # robots.txt and the front pages come first
        while crawl.poll() is None and len(server.requests) < before + after and time.monotonic() < patience:
            time.sleep(0.002)
        time.sleep(dice.random() * 0.05)
        crawl.kill()
        crawl.wait()
        if (folder / "x.db").exists():
            found = states(folder, server.port)
            assert complete <= {place for place, state in found.items() if state == "C"}
            complete = {place for place, state in found.items() if state == "C"}
    assert begin(process, server, folder).wait() == 0
    hold(mixture, folder, server)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_pages(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """A hundred thousand pages on two hundred hosts: the same, and memory is flat after the first tenth."""
    mixture = Mixture(hosts=200, pages=499, slow=200)
    server = web(mixture.answer, hosts=200)
    began = time.monotonic()
    process = begin(spider_process, server, tmp_path, *PATIENT)
    seen = watched(process, server, 100_000)
    assert process.wait() == 0
    hold(mixture, tmp_path, server)
    tenth = statistics.median(seen[: max(1, len(seen) // 10)])
    last = statistics.median(seen[-max(1, len(seen) // 10) :])
    failed = sum(what != "C" for _, what in mixture.expected())
    record(pages=100_000, hosts=200, failed=failed, seconds=round(time.monotonic() - began))
    record(first=round(tenth / 1024), last=round(last / 1024), most=round(max(seen) / 1024))
    assert last <= tenth * 1.1


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_two_hundred_times(web: Web, spider_process: Process, tmp_path: Path) -> None:
    """Two hundred kills, or as many as are asked for, at random moments: nothing is lost."""
    mixture = Mixture(hosts=20, pages=499, slow=2000)
    server = web(mixture.answer, hosts=20, skip=KILLED)
    kill(KILLS, mixture, server, spider_process, tmp_path)
    record(kills=KILLS)
