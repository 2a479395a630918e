"""The servers that `crawl.py` measures against, and what they were asked for: nobody's word but theirs counts."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

ROOT = Path(__file__).resolve().parent.parent
MAKE_SITE = ROOT.parent / "shared" / "bench" / "make_site.py"
LATENCY = 0.3
PAGES_OF_SLOW = 20
PATIENCE = 2.0  # seconds that nginx may take to write down its last answers


@dataclass(frozen=True, slots=True)
class Sites:
    """Sites that are served: the first page of each, all pages there are, and what came of requests.

    `answered` returns the addresses that were answered with 200 since it was asked last, `pid` is the server's.
    """

    seeds: list[str]
    pages: list[str]
    answered: Callable[[], list[str]]
    pid: int | None

    def check(self, who: str, *, once: bool = False) -> None:
        """Hold a program to the truth: it got every page there is, or it did not crawl.

        With `once` it got none twice.
        """
        whole, found = set(self.pages), Counter[str]()
        end = time.monotonic() + PATIENCE
        while True:
            found.update(url for url in self.answered() if url in whole)
            if found.keys() == whole or time.monotonic() > end:
                break
            time.sleep(0.05)
        if found.keys() != whole:
            sys.exit(f"{who} got {len(found):,} of {len(whole):,} pages: nothing was measured")
        twice = [url for url, number in found.items() if number > 1]
        if once and twice:
            sys.exit(f"{who} asked twice for {len(twice):,} pages, among them {twice[0]}")


@dataclass(slots=True)
class _Written:
    """The log of nginx, of which each line is a status and an address: what is new in it."""

    path: Path
    _read: int = field(default=0, init=False)

    def __call__(self) -> list[str]:
        """Return the addresses that were answered with 200."""
        with self.path.open("rb") as lines:
            lines.seek(self._read)
            whole, end, _ = lines.read().rpartition(b"\n")
        self._read += len(whole + end)
        asked = (line.partition(" ") for line in whole.decode().splitlines())
        return [url for status, _, url in asked if status == "200"]


@contextlib.contextmanager
def nginx(folder: Path, hosts: int, pages: int) -> Iterator[Sites]:
    """Make sites and have nginx serve them, each on an address of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    servers, urls = [], []
    for host in range(1, hosts + 1):
        words = [sys.executable, str(MAKE_SITE), str(folder / f"s{host}"), "--pages", str(pages), "--seed", str(host)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        servers.append(f"server {{ listen 127.0.0.{host}:{port}; root {folder}/s{host}/site; }}")
        known = json.loads((folder / f"s{host}" / "truth.json").read_text())["pages"]
        urls.append([f"http://127.0.0.{host}:{port}{path}" for path in known])
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors; events {{ worker_connections"
        f" 1024; }} http {{ include /etc/nginx/mime.types; log_format asked '$status http://$server_addr:$server_port$uri';"
        f" access_log {folder}/asked asked; sendfile on; tcp_nopush on;"
        f" keepalive_requests 1000000; open_file_cache max=20000; client_body_temp_path {folder}/b;"
        f" {' '.join(servers)} }}"
    )
    folder.chmod(0o755)  # nginx serves as a user of its own
    server = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
    try:
        _await(port)
        seeds, known_pages = [each[0] for each in urls], [page for each in urls for page in each]
        yield Sites(seeds, known_pages, _Written(folder / "asked"), server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def _await(port: int) -> None:
    """Wait until somebody listens."""
    end = time.monotonic() + 10
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if time.monotonic() > end:
            sys.exit("nginx does not answer")
        time.sleep(0.02)


# --- hosts that take their time ---------------------------------------------------------------------------------


@contextlib.contextmanager
def slow_hosts(hosts: int) -> Iterator[tuple[Sites, Callable[[], int]]]:
    """Serve 20 pages on each of many hosts, each answer after 300 ms; give them, and a count of requests."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()

    def told(what: str) -> object:
        ours.send(what)
        return ours.recv()

    roots = [f"http://127.0.{1 + n // 250}.{1 + n % 250}:{port}" for n in range(hosts)]
    pages = [f"{root}/{number}.html" for root in roots for number in range(PAGES_OF_SLOW)]
    try:
        yield (
            Sites([f"{root}/0.html" for root in roots], pages, lambda: cast("list[str]", told("pages")), server.pid),
            lambda: cast("int", told("number")),
        )
    finally:
        server.terminate()
        server.join()


def _serve(line: Connection) -> None:
    """Answer on all of 127/8 until ended; tell the port at once, and what was asked for when asked."""
    number, answered = 0, list[str]()
    links = "".join(f'<a href="/{n}.html">page {n}</a>' for n in range(PAGES_OF_SLOW))
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"

    def found(url: str) -> bytes:
        body = f"<!doctype html><title>A page</title><p>{url}</p>{links}"  # no page is a copy of another
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        return (head + body).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal number
        host, port = writer.get_extra_info("sockname")
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                _, path, *_ = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)
                number += 1
                await asyncio.sleep(LATENCY)
                if path.endswith(b".html"):
                    answered.append(f"http://{host}:{port}{path.decode()}")
                    writer.write(found(answered[-1]))
                else:
                    writer.write(missing)

    def tell() -> None:
        if line.recv() == "number":
            line.send(number)
        else:
            line.send(answered)
            answered.clear()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(answer, "0.0.0.0", 0, backlog=4096)  # noqa: S104  # all of 127/8
        loop.add_reader(line.fileno(), tell)
        line.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, hard), hard))
    asyncio.run(main())
