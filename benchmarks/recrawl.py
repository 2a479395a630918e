"""What a second crawl of a site that has not changed costs, as a part of what the first one cost.

A site of PAGES pages of 30 kB with eighty links each, and here and there a medium, is served from memory with ETags;
the second crawl is answered with 304 throughout.  Processor time is what counts; that of a crawl that finds nothing to
do, the start of the program, is taken off both.  The middle one of three rounds is shown::

    python benchmarks/recrawl.py [PAGES]
"""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

WORDS = "river stone library signal winter archive music garden lantern copper field station history paper".split()  # noqa: SIM905
LINKS = 80
BYTES = 30_000
ROUNDS = 3
BAR = 0.4


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds of processor time: of the start alone, of the first crawl and of the second."""

    start: float
    first: float
    second: float

    @property
    def part(self) -> float:
        """What the second costs of the first, the start taken off both."""
        return (self.second - self.start) / (self.first - self.start)


def page(number: int, count: int) -> bytes:
    """Return a page; of its links one in a hundred leads where no page before it did."""
    dice = random.Random(number)
    targets = [*range(number * 4 + 1, min(number * 4 + 5, count)), *(dice.randrange(count) for _ in range(LINKS))]
    links = "".join(f'<li><a href="/s{t % 50}/{t}.html">page {t} {dice.choice(WORDS)}</a></li>\n' for t in targets)
    medium = f'<video controls src="/media/{number}.mp4"></video>' if number % 5 == 0 else ""
    filler = "".join(f"<p>{' '.join(dice.choices(WORDS, k=60))}.</p>\n" for _ in range((BYTES - len(links)) // 440))
    head = f"<!DOCTYPE html>\n<html><head><meta charset=utf-8><title>Page {number}</title></head>"
    return f"{head}<body>{medium}<ul>{links}</ul>{filler}</body></html>".encode()


def serve(count: int, ready: Connection, unchanged: Synchronized[int]) -> None:
    """Serve until the process is ended; tell the port when it listens, and count the answers without a body."""
    pages = {f"/s{number % 50}/{number}.html": page(number, count) for number in range(count)}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            body = pages.get(self.path, b"")
            tag = f'"{len(body)}-{self.path}"'
            same = bool(body) and self.headers.get("If-None-Match") == tag
            self.send_response(304 if same else 200 if body else 404)
            self.send_header("ETag", tag)
            if same:
                unchanged.value += 1
                self.end_headers()
                return
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
            """Say nothing: writing would be measured too."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    ready.send(server.server_address[1])
    server.serve_forever()


def crawl(database: Path, *arguments: str) -> float:
    """Crawl and return the processor time it took, that of its worker processes too."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPIDER_")}
    command = [sys.executable, "-m", "spider", "-q", "--db", str(database), "crawl", *arguments]
    process = subprocess.Popen(
        [*command, "--delay", "0", "--scope", "host", "--depth", "50", "--no-sitemaps"], env=kept
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"the crawl ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def measure(seed: str, database: Path) -> Round:
    """Crawl twice into a fresh database, and once for nothing."""
    first = crawl(database, seed)
    start = crawl(database, "--refresh", "never")
    return Round(start, first, crawl(database, "--refresh", "0"))


def main() -> None:
    """Serve, crawl and print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    ours, theirs = multiprocessing.Pipe()
    unchanged: Synchronized[int] = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(count, theirs, unchanged), daemon=True)
    server.start()
    seed = f"http://127.0.0.1:{ours.recv()}/s0/0.html"
    with tempfile.TemporaryDirectory() as name:
        rounds = [measure(seed, Path(name) / f"{time.monotonic_ns()}.db") for _ in range(ROUNDS)]
    server.terminate()
    middle = sorted(rounds, key=lambda one: one.part)[ROUNDS // 2]
    if unchanged.value != ROUNDS * count:
        sys.exit(f"{unchanged.value} answers of 304, not {ROUNDS * count}")
    print("pages  start s  first s  second s  second/first  at most")
    print(f"{count:5}  {middle.start:7.2f}  {middle.first:7.2f}  {middle.second:8.2f}  {middle.part:12.2f}  {BAR:7.2f}")


if __name__ == "__main__":
    main()
