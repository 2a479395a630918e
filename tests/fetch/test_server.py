"""Laws of the tests' own web server: it serves what it is given, logs what it sees, and misses no bad manners."""

from __future__ import annotations

import http.client
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server import Asked, Raw, Reply, WebServer


def get(server: WebServer, path: str = "/", host: int = 0) -> tuple[int, bytes]:
    """Ask over a connection of its own."""
    with closing(http.client.HTTPConnection(f"127.0.0.{host + 1}", server.port, timeout=5)) as connection:
        connection.request("GET", path, headers={"User-Agent": "multimedia-spider"})
        answer = connection.getresponse()
        return answer.status, answer.read()


@pytest.fixture
def serve() -> Iterator[Callable[..., WebServer]]:
    """Give a function that starts a server whose violations fail nothing."""
    servers: list[WebServer] = []

    def start(content: Any, **options: Any) -> WebServer:  # noqa: ANN401  # the server's
        servers.append(WebServer(content, **options).start())
        return servers[-1]

    yield start
    for server in servers:
        server.close()


Serve = Callable[..., WebServer]


def checks(server: WebServer) -> list[str]:
    """Return the names of the checks that found something."""
    return [violation.check for violation in server.violations]


def test_a_directory_is_served(serve: Serve, tmp_path: Path) -> None:
    """Files have their type and bytes, a directory its index.html; nothing outside is served."""
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (root / "d" / "index.html").write_text("<p>index")
    (root / "a b.mp3").write_bytes(b"sound")
    (tmp_path / "secret").write_text("no")
    server = serve(root)
    assert get(server, "/d/") == get(server, "/d/index.html?x=y") == (200, b"<p>index")
    assert get(server, "/a%20b.mp3") == (200, b"sound")
    assert get(server, "/missing")[0] == get(server, "/../secret")[0] == get(server, "/%2e%2e/secret")[0] == 404


def test_hosts_differ_by_name_only(serve: Serve) -> None:
    """Several addresses share a port; each may have its own content."""
    server = serve({"127.0.0.1": {"/": "one"}, "127.0.0.2": {"/": "two"}})
    assert [get(server, host=n)[1] for n in (0, 1)] == [b"one", b"two"]
    assert server.urls == [f"http://127.0.0.{n}:{server.port}/" for n in (1, 2)]
    assert [get(serve({"/": "same"}, hosts=3), host=n)[1] for n in (0, 1, 2)] == [b"same"] * 3


def test_everything_is_logged(serve: Serve) -> None:
    """Requests have their time, host, path, headers and connection; connections their begin and end."""
    server = serve({"/a": "x", "/b": Reply("y", status=503, headers=(("Retry-After", "5"),))})
    assert get(server, "/a?q") == (200, b"x")
    assert get(server, "/b") == (503, b"y")
    time.sleep(0.02)
    assert [(r.host, r.method, r.path, r.connection) for r in server.requests] == [
        ("127.0.0.1", "GET", "/a?q", 1),
        ("127.0.0.1", "GET", "/b", 2),
    ]
    assert server.requests[0].headers["user-agent"] == "multimedia-spider"
    assert server.requests[0].time <= server.requests[1].time
    assert [c.requests for c in server.connections] == [1, 1]
    assert all(c.closed is not None and c.closed >= c.opened for c in server.connections)
    assert server.asked() == ["/a?q", "/b"]
    assert server.pages() == [f"{server.url}a?q", f"{server.url}b"]


def test_raw_and_computed_answers(serve: Serve) -> None:
    """A function may answer, with bytes as they are and with delays."""

    def answer(asked: Asked) -> Reply | Raw | None:
        answers: dict[str, Reply | Raw] = {
            "/raw": Raw(b"HTTP/1.0 299 Odd\r\n\r\nraw"),
            "/slow": Reply("slow", delay=0.1),
        }
        return answers.get(asked.path)

    server = serve(answer)
    assert get(server, "/raw") == (299, b"raw")
    began = time.monotonic()
    assert get(server, "/slow") == (200, b"slow")
    assert time.monotonic() - began >= 0.1
    assert get(server, "/else")[0] == 404


def test_overlapping_connections_are_seen(serve: Serve) -> None:
    """A second connection to a host while the first is open is a violation, idle or not; another host's is none."""
    server = serve({"/": "x"}, hosts=2)
    with closing(socket.create_connection(("127.0.0.1", server.port))):
        get(server, host=1)
        assert checks(server) == []
        get(server)
        assert checks(server) == ["overlap"]
    get(server)
    assert checks(server) == ["overlap"]


def test_overlapping_requests_are_seen(serve: Serve) -> None:
    """Two requests at once to a host are a violation, as many as may be are none."""
    for per_host, expected in ((1, ["overlap"]), (2, [])):
        server = serve({"/": Reply("x", delay=0.3)}, per_host=per_host)
        threads = [threading.Thread(target=get, args=(server,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert checks(server) == expected


def test_one_connection_after_another_is_fine(serve: Serve) -> None:
    """A connection that is closed before the next is opened is never taken for an overlap."""
    server = serve({"/": "x"})
    for _ in range(100):
        get(server)
    assert checks(server) == []


def test_a_killed_visitor_leaves_nothing_behind(serve: Serve) -> None:
    """The connection of a process that was killed in the middle of an answer does not count as open."""
    server = serve({"/": Reply("x", delay=30)})
    code = f"""
        import http.client
        connection = http.client.HTTPConnection("127.0.0.1", {server.port})
        connection.request("GET", "/")
        connection.getresponse()
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]) as process:
        while not server.requests:
            time.sleep(0.01)
        process.kill()
    with closing(socket.create_connection(("127.0.0.1", server.port))):
        time.sleep(0.2)
    assert checks(server) == []


ROBOTS = "User-agent: *\nDisallow: /private\n\nUser-agent: multimedia-spider\nDisallow: /closed\nDisallow: /*.cgi$\n"


def test_closed_paths_are_seen(serve: Serve) -> None:
    """A request that the spider's group of robots.txt closes is a violation, unless it is excused."""
    server = serve({"/robots.txt": ROBOTS})
    for path in ("/robots.txt", "/private", "/open", "/closed/x", "/a.cgi?x", "/a.cgi"):
        get(server, path)
    assert [violation.text.split()[0] for violation in server.violations] == ["/closed/x", "/a.cgi"]
    server.excuse("/closed/y", reason="the test wants to see what comes")
    get(server, "/closed/y")
    assert len(server.violations) == 2


def test_a_robots_txt_that_changes(serve: Serve) -> None:
    """Where a function answers, the robots.txt that was served last counts; one with 5xx closes all."""
    answers = iter([Reply(status=503), "User-agent: *\nDisallow: /a", Reply(status=404)])
    server = serve(lambda asked: next(answers) if asked.path == "/robots.txt" else "x")
    seen = []
    for path in ("/a", "/robots.txt", "/b", "/robots.txt", "/b", "/a", "/robots.txt", "/a"):
        get(server, path)
        seen.append(len(server.violations))
    assert seen == [0, 0, 1, 1, 1, 2, 2, 2]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database with the table that leases stand in."""
    with closing(sqlite3.connect(tmp_path / "leases.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE Host (name TEXT UNIQUE, lease_worker INTEGER, lease_until INTEGER)")
        yield connection


def test_requests_without_a_lease_are_seen(serve: Serve, database: sqlite3.Connection, tmp_path: Path) -> None:
    """A request while nobody holds the host's lease is a violation: no row, no worker, or one from the past."""
    server = serve({"/": "x"}, hosts=2, database=tmp_path / "leases.db")
    later = int((time.time() + 60) * 1e6)
    get(server)
    assert checks(server) == ["lease"]
    database.execute("INSERT INTO Host VALUES ('127.0.0.1', NULL, ?), ('127.0.0.2', 1, ?)", (later, later))
    get(server, host=1)
    assert checks(server) == ["lease"]
    get(server)
    assert checks(server) == ["lease"] * 2
    database.execute("UPDATE Host SET lease_worker = 7")
    get(server)
    get(server, "/robots.txt")
    assert checks(server) == ["lease"] * 2
    database.execute("UPDATE Host SET lease_until = ?", (int((time.time() - 1) * 1e6),))
    get(server, "/robots.txt")
    assert checks(server) == ["lease"] * 3


def test_a_database_that_is_not_there(serve: Serve, tmp_path: Path) -> None:
    """Without a database nobody can hold a lease."""
    server = serve({"/": "x"})
    server.watch(tmp_path / "missing.db")
    get(server)
    assert checks(server) == ["lease"]


def test_a_check_is_switched_off_with_a_reason(serve: Serve, tmp_path: Path) -> None:
    """Each check can be off, by its name and with a reason; without one it cannot."""
    reasons = dict.fromkeys(("overlap", "robots", "lease"), "the test is about something else")
    pages = {"/robots.txt": "User-agent: *\nDisallow: /"}
    server = serve(pages, skip=reasons, database=tmp_path / "missing.db")
    with closing(socket.create_connection(("127.0.0.1", server.port))):
        get(server)
    assert checks(server) == []
    for wrong in ({"overlap": " "}, {"manners": "none"}):
        with pytest.raises(ValueError, match="reason"):
            WebServer(pages, skip=wrong)
    with pytest.raises(ValueError, match="reason"):
        server.excuse("/", reason="")


def test_a_generated_site_is_built_once(serve: Serve, site: Callable[..., tuple[Path, dict[str, Any]]]) -> None:
    """The fixture ``site`` gives a folder that holds every page of its truth, the same one when asked again."""
    root, truth = site(pages=12, links=4, bytes=500)
    server = serve(root, hosts=2)
    assert len(truth["pages"]) == 12
    assert {get(server, page)[0] for page in truth["pages"]} == {200}
    assert site(bytes=500, links=4, pages=12) == (root, truth)


def test_the_program_runs_alone(
    spider: Callable[..., subprocess.CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fixture ``spider`` runs the program in a folder of its own, without variables that steer it."""
    monkeypatch.setenv("SPIDER_CONFIG", "/nowhere/spider.toml")
    done = spider("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("multimedia-spider ")


RUDE = """
    import socket

    def test_rude(web):
        server = web({"/": "x"})
        first = socket.create_connection(("127.0.0.1", server.port))
        second = socket.create_connection(("127.0.0.1", server.port))
        second.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
        assert second.recv(100)
        first.close()
        second.close()
"""


def test_the_fixture_fails_a_test(tmp_path: Path) -> None:
    """A test that passes but for bad manners fails at its end, with a line for each."""
    (tmp_path / "test_rude.py").write_text(textwrap.dedent(RUDE))
    (tmp_path / "conftest.py").write_text("from tests.conftest import *")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(root)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "1 passed, 1 error" in done.stdout) == (1, True)
    assert "overlap: connection 2 to 127.0.0.1 opened while 1 was open" in done.stdout
