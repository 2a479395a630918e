"""Laws of pages that take a worker process down with them: they fail, with what is known of it; all others are read."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from subprocess import Popen

from spider.crawl.marks import Blame, Left, Marks
from spider.model import LinkState, Reason
from tests.conftest import environment
from tests.crawl.conftest import sound
from tests.crawl.test_workers import at_work
from tests.server import Asked, Raw, WebServer

Web = Callable[..., WebServer]
Begin = Callable[..., Popen[str]]

HOSTS, PAGES = 3, 9
EVIL = ("127.0.0.1", "/8")


def asker(sock: socket.socket, pids: Iterable[int]) -> int | None:
    """Return which of these processes is at the other end of a connection."""
    host, port = sock.getpeername()
    near = f"{int.from_bytes(socket.inet_aton(host), 'little'):08X}:{port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inode = next((row[9] for row in rows if row[1] == near), "")
    for pid in pids:
        with contextlib.suppress(OSError):
            if any(file.readlink().name == f"socket:[{inode}]" for file in Path(f"/proc/{pid}/fd").iterdir()):
                return pid
    return None


def test_a_page_that_fells_its_worker(web: Web, spider_process: Begin, tmp_path: Path) -> None:
    """Whoever asks for it is killed: after two workers the page has failed, and the crawl is complete but for it."""
    database = tmp_path / "x.db"
    killed: list[int] = []

    def fell(sock: socket.socket, _stop: threading.Event) -> None:
        pid = asker(sock, [row.pid for row in at_work(str(database)) if row.pid != process.pid])
        if pid is not None:  # else it is the process above, which begins alone: it is told nothing, and tries again
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

    def answer(asked: Asked) -> str | Raw | None:
        if asked.path == "/":
            return "".join(f'<a href="/{number}">x</a>' for number in range(PAGES))
        if (asked.host, asked.path) == EVIL:
            return Raw(fell)
        return "<title>x</title>" if asked.path[1:].isdigit() else None

    server = web(answer, hosts=HOSTS, skip={"overlap": "killed processes cannot close their connections first"})
    process = spider_process(
        *("-q", "--db", database, "crawl", *server.urls, "--delay", "0.1", "--workers", "2", "--threads", "4"),
        *("--no-sitemaps", "--no-traps", "--retries", "9"),
    )
    _, said = process.communicate(timeout=110)
    assert process.returncode == 0, said
    assert len(killed) == 2
    sound(database)
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT url, state, reason, message FROM CrawlerLink").fetchall()
    failed = [(url, reason, message) for url, state, reason, message in rows if state != LinkState.C.code]
    assert len(rows) == HOSTS * (PAGES + 1)
    assert failed == [
        (
            f"{server.urls[0]}8",
            Reason.INTERNAL.code,
            "a worker process died (SIGKILL) while it had this page in hand, more than once",
        )
    ]


BREAK_DOWN = """
import ctypes, sys, threading
from spider.crawl.marks import in_hand, share

def visit(link, after):
    with in_hand(link):
        after()

share(int(sys.argv[1]))
held = threading.Event()
threading.Thread(target=visit, args=(7, lambda: (held.set(), threading.Event().wait())), daemon=True).start()
held.wait()
visit(8, lambda: None)
visit(9, lambda: ctypes.string_at(0))
"""


def test_the_thread_that_breaks_down_is_known() -> None:
    """Of two pages in hand, the one is told whose thread broke down, with its trace; what was done before is not."""
    marks = Marks.open()
    done = subprocess.run(
        [sys.executable, "-c", BREAK_DOWN, str(marks.file)], env=environment(), pass_fds=[marks.file], check=False
    )
    left = marks.left()
    marks.close()
    assert done.returncode == -signal.SIGSEGV
    assert set(left.links) == {7, 9}
    assert left.broke == 9
    assert "string_at" in left.trace


def test_the_second_death_decides() -> None:
    """Links in hand at a death are tried apart; of one that is near a second, it is known; the others go free."""
    blame = Blame()
    first = blame.judge(Left((1, 2, 3)))
    assert first.guilty == ()
    assert first.again.keys() == {1, 2, 3}
    assert len(set(first.again.values())) == 3
    second = blame.judge(Left((4, 2, 5)))
    assert second.guilty == (2,)
    assert second.again == {}
    assert blame.judge(Left((4,))).guilty == ()


def test_no_two_are_taken_for_one() -> None:
    """Where two suspects are near a second death, neither is guilty yet; they are not let off for ever."""
    blame = Blame()
    deaths = [blame.judge(Left((1, 2))) for _ in range(4)]
    assert [verdict.guilty for verdict in deaths] == [(), (), (), (1, 2)]


def test_a_trace_spares_the_others() -> None:
    """Where the thread is known that broke down, nobody else is under suspicion."""
    blame = Blame()
    assert blame.judge(Left((1, 2), broke=2)).again.keys() == {2}
    assert blame.judge(Left((1, 2), broke=2)).guilty == (2,)
    assert blame.judge(Left((1,))).guilty == ()
    assert blame.judge(Left(())).guilty == ()
