"""How fast a crawl is: pages a second, processor time and memory, on hosts of this machine.

Each of HOSTS hosts (127.0.0.1, 127.0.0.2 …) serves a tree of pages from memory, ten links and one
video a page, 8 kB each.  The server runs in processes of its own, so that the figures are the spider's.
One warm-up, then three runs; the middle one is shown::

    python benchmarks/crawl.py [PAGES] [HOSTS]
"""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

FANOUT = 10
FILLER = "<p>" + "The lantern turns and the pictures walk along the wall. " * 140 + "</p>"
RUNS = 3


@dataclass(frozen=True, slots=True)
class Figures:
    """What one crawl took: seconds, seconds of processor time, megabytes at the most, pages found with media."""

    elapsed: float
    processor: float
    memory: float
    found: int


def page(number: int, count: int) -> bytes:
    """Return the page of a number; its links lead to ten more until there are `count`."""
    children = range(number * FANOUT + 1, min(number * FANOUT + FANOUT + 1, count))
    links = "".join(f'<li><a href="/{child}.html">Reel {child}</a></li>' for child in children)
    medium = f'<video src="/media/{number}.mp4"></video>'
    return f"<!doctype html><meta charset=utf-8><title>Reel {number}</title><ul>{links}</ul>{medium}{FILLER}".encode()


def serve(host: str, count: int, ready: Connection) -> None:
    """Serve one host's pages until the process is ended; tell the port when it listens."""
    pages = {f"/{number}.html": page(number, count) for number in range(count)}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            body = pages.get(self.path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
            """Say nothing: writing would be measured too."""

    server = ThreadingHTTPServer((host, 0), Handler)
    ready.send(server.server_address[1])
    server.serve_forever()


def spider(*arguments: str) -> subprocess.Popen[bytes]:
    """Start the spider of this checkout without what the environment would have it do."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPIDER_")}
    return subprocess.Popen([sys.executable, "-m", "spider", *arguments], env=kept, stdout=subprocess.PIPE)


def crawl(seeds: list[str], folder: Path) -> Figures:
    """Crawl the seeds into a fresh database and measure the process by what the system says of it."""
    database = str(folder / f"{time.monotonic_ns()}.db")
    began = time.perf_counter()
    process = spider("--db", database, "-q", "crawl", "--delay", "0", "--depth", "50", *seeds)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    if status:
        sys.exit(f"the crawl ended with {os.waitstatus_to_exitcode(status)}")
    report = spider("--db", database, "report", "--format", "json").communicate()[0]
    found = len({row["page"] for row in json.loads(report)})
    return Figures(elapsed, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, found)


def main() -> None:
    """Serve, crawl and print the table."""
    given = [int(text) for text in sys.argv[1:]]
    pages, hosts = given + [2000, 8][len(given) :]
    servers, seeds = [], []
    for number in range(1, hosts + 1):
        ours, theirs = multiprocessing.Pipe()
        server = multiprocessing.Process(target=serve, args=(f"127.0.0.{number}", pages // hosts, theirs), daemon=True)
        server.start()
        servers.append(server)
        seeds.append(f"http://127.0.0.{number}:{ours.recv()}/0.html")
    with tempfile.TemporaryDirectory() as name:
        figures = [crawl(seeds, Path(name)) for _ in range(RUNS + 1)][1:]
    for server in servers:
        server.terminate()
    middle = sorted(figures, key=lambda figure: figure.elapsed)[RUNS // 2]
    processor = statistics.median(figure.processor for figure in figures)
    total = pages // hosts * hosts
    if middle.found != total:
        sys.exit(f"found {middle.found} of {total} pages")
    print("pages  hosts  pages/s  processor ms a page  memory MB")
    print(
        f"{total:5}  {hosts:5}  {total / middle.elapsed:7.0f}  {processor / total * 1000:19.2f}  {middle.memory:9.0f}"
    )


if __name__ == "__main__":
    main()
