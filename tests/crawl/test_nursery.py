"""Laws of where worker processes come from: copies of a program loaded once, and new ones where that is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from spider.crawl.nursery import Nursery
from spider.crawl.process import Identity, is_alive
from tests.crawl.test_workers import at_work, children, seeds, sound, wait_for
from tests.server import WebServer

Web = Callable[..., WebServer]
Begin = Callable[..., Popen[str]]
Site = Callable[..., tuple[Path, dict[str, Any]]]

PAGES = 200  # of each host: so many that all are at work until they are told to end

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has nurseries")


def parent(pid: int) -> int:
    """Return the process that began another."""
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


def words(pid: int) -> list[bytes]:
    """Return the words that a process was begun with."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def test_one_that_dies(web: Web, spider_process: Begin, site: Site, tmp_path: Path) -> None:
    """Workers are copies of one process; where that is killed they stay, and the next is begun anew."""
    root, _ = site(pages=PAGES, bytes=2000, links=12)
    server, address = web(root, hosts=4), str(tmp_path / "x.db")
    process = spider_process("--db", address, "crawl", *seeds(server), "--delay", "1", "--workers", "2")
    first, second = (row.pid for row in children(address, process, number=2))
    nursery = parent(first)
    assert (parent(second), parent(nursery)) == (nursery, process.pid)
    assert words(first) == words(process.pid)
    os.kill(nursery, signal.SIGKILL)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: {second} < {row.pid for row in at_work(address) if row.pid != first})
    (new,) = {row.pid for row in at_work(address)} - {first, second}
    assert b"spider.crawl" in words(new)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=110)
    assert process.returncode == 130, said
    sound(address)


def test_it_ends_with_the_crawl(web: Web, spider_process: Begin, site: Site, tmp_path: Path) -> None:
    """However the process that began it ends, the nursery ends too."""
    root, _ = site(pages=PAGES, bytes=2000, links=12)
    server, address = web(root, hosts=4), str(tmp_path / "x.db")
    process = spider_process("--db", address, "crawl", *seeds(server), "--delay", "1", "--workers", "2")
    rows = children(address, process, number=2)
    nursery = parent(rows[0].pid)
    started = Path(f"/proc/{nursery}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    known = Identity(rows[0].machine, rows[0].boot_id, nursery, started)
    assert is_alive(known)
    process.kill()
    wait_for(lambda: not is_alive(known))


def test_not_among_threads() -> None:
    """Where the program has other threads, whose locks no copy could open, there is no nursery."""
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert Nursery.open() is None
    finally:
        stop.set()
        thread.join()
