"""Laws of private networks: only what the user typed leads into one; no page, redirect or name of the web does."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from spider.crawl import Crawler
from spider.fetch import Homes
from spider.model import Failed, Outcome, Reason
from tests.server import Asked, Reply, WebServer

Web = Callable[..., WebServer]
Spider = Callable[..., CompletedProcess[str]]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

MESSAGE = "private-address: 127.0.0.2 is none of the public internet (--allow-private asks it all the same)"


def moved(url: str) -> Reply:
    """Return a redirect."""
    return Reply(status=302, headers=(("Location", url),))


def two(web: Web, **first: Callable[[WebServer], str | Reply]) -> WebServer:
    """Serve pages of 127.0.0.1 that know the server, and one page on every path of 127.0.0.2."""
    server: WebServer

    def one(asked: Asked) -> str | Reply:
        name = asked.path.strip("/").replace(".", "_") or "root"
        return first[name](server) if name in first else Reply(status=404)

    server = web({"127.0.0.1": one, "127.0.0.2": lambda _: "<p>inside"}, skip={"robots": "asks the other host's"})
    return server


def test_a_typed_seed_may_be_private_and_nothing_beside_it(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A private seed and its own links are visited; a link to another private host is refused, at once and once."""
    server = two(
        web,
        root=lambda s: f"<a href=/in>in</a><a href={s.urls[1]}out>out</a><a href={s.urls[1]}too>too</a>",
        **{"in": lambda _: "<p>in"},
    )
    began = time.monotonic()
    crawler, outcomes = crawl(server.url, scope="any", allow_private=False, delay=0.01)
    assert time.monotonic() - began < 10
    failed = {(f.request.url, f.reason, f.message) for f in outcomes if isinstance(f, Failed)}
    assert failed == {(f"{server.urls[1]}{name}", Reason.REFUSED, MESSAGE) for name in ("out", "too")}
    assert rows("SELECT count(*), max(attempt) FROM CrawlerLink WHERE state = 4 AND retry_at IS NULL") == [(2, 1)]
    assert server.asked() == ["/robots.txt", "/", "/in"]
    assert crawler.exit_code == 0


def test_a_redirect_leads_into_no_other_private_host(web: Web, crawl: Crawl) -> None:
    """A link that redirects to another private host fails, as a robots.txt may; nothing is asked there."""
    server = two(
        web,
        root=lambda _: "<a href=/away>away</a>",
        away=lambda s: moved(f"{s.urls[1]}x"),
        robots_txt=lambda s: moved(f"{s.urls[1]}robots.txt"),
    )
    crawler, outcomes = crawl(server.url, scope="any", allow_private=False)
    (failed,) = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert (failed.reason, failed.message) == (Reason.REFUSED, MESSAGE)
    assert server.asked("127.0.0.2") == []
    assert crawler.exit_code == 0


def test_a_private_seed_may_move_within_its_network(web: Web, crawl: Crawl, rows: Rows) -> None:
    """A typed private seed takes its scope along to another private host; one of the web could not lead there."""
    server = two(web, root=lambda s: moved(f"{s.urls[1]}x"))
    crawler, _ = crawl(server.url, allow_private=False)
    assert crawler.exit_code == 0
    assert server.asked("127.0.0.2") == ["/robots.txt", "/x"]
    assert rows("SELECT landed_url FROM SeedLink") == [(f"{server.urls[1]}x",)]
    public, typed = "http://museum.example/", "http://127.0.0.1/"
    assert Homes.of([public], [(public, typed)]).hosts == {"museum.example"}
    assert Homes.of([typed], [(typed, "http://10.0.0.7/")]).hosts == {"127.0.0.1", "10.0.0.7"}


def test_hosts_of_other_seeds_count(web: Web, crawl: Crawl) -> None:
    """Where a seed names the other host too, links and redirects lead there; --allow-private allows it anyhow."""
    server = two(web, root=lambda s: moved(f"{s.urls[1]}x"))
    crawler, _ = crawl(server.url, f"{server.urls[1]}typed", allow_private=False)
    assert crawler.exit_code == 0
    assert sorted(server.asked("127.0.0.2")) == ["/robots.txt", "/typed", "/x"]


def test_private_hosts_may_be_allowed(web: Web, crawl: Crawl) -> None:
    """With --allow-private a redirect leads to any machine."""
    server = two(web, root=lambda s: moved(f"{s.urls[1]}x"))
    crawler, _ = crawl(server.url, allow_private=True)
    assert crawler.exit_code == 0
    assert server.asked("127.0.0.2") == ["/robots.txt", "/x"]


@pytest.mark.parametrize("spelling", ["0x7f000002", "2130706434", "0177.0.0.2", "[::ffff:127.0.0.2]", "127.0.0.2."])
def test_other_spellings(web: Web, crawl: Crawl, spelling: str) -> None:
    """However a page writes the address of a private machine, it is refused, and nothing is asked there."""
    server = two(web, root=lambda s: f"<a href=http://{spelling}:{s.port}/>x</a>")
    _, outcomes = crawl(server.url, scope="any", allow_private=False)
    (failed,) = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert failed.reason == Reason.REFUSED
    assert failed.message.startswith("private-address: ")
    assert server.asked("127.0.0.2") == []


def test_a_name_of_the_web_that_leads_inside(web: Web, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that a page links to may resolve to what it likes: the machine that answers is what counts."""
    server = two(web, root=lambda s: f"<a href=http://rebound.example:{s.port}/>x</a>")
    known = socket.getaddrinfo

    def look_up(host: bytes, port: int, *args: Any, **names: Any) -> Any:  # noqa: ANN401  # the real one's
        if host == b"rebound.example" and not names.get("flags"):
            host = b"127.0.0.2"
        return known(host, port, *args, **names)

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    _, outcomes = crawl(server.url, scope="any", allow_private=False)
    (failed,) = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    assert (failed.reason, failed.message) == (Reason.REFUSED, MESSAGE)
    assert server.asked("127.0.0.2") == []


def test_the_commands(web: Web, spider: Spider) -> None:
    """Each command takes the address it is given for a seed, and allows nothing else unless told to."""
    server = two(web, root=lambda _: "<a href=/away>away</a>", away=lambda s: moved(f"{s.urls[1]}x"))
    for words, path, code in (
        (("crawl", "--delay", "0", "--no-sitemaps", "--scope", "any"), "", 0),
        (("map", "--delay", "0", "--dead"), "", 0),
        (("links",), "away", 3),
        (("robots",), "", 0),
    ):
        done = spider(*words, f"{server.url}{path}")
        assert done.returncode == code, done.stderr
        if code:
            assert MESSAGE in done.stderr + done.stdout, words
            assert len(done.stderr.splitlines()) <= 5
    assert server.asked("127.0.0.2") == []
    done = spider("links", "--allow-private", f"{server.url}away")
    assert (done.returncode, done.stderr) == (0, "")


LOGIN = "127.0.0.1=me:hush-hush"


def test_logins_leave_no_trace(web: Web, spider: Spider, tmp_path: Path) -> None:
    """A login, a cookie and a proxy's password reach their host and stand in no output, log or database."""
    server = two(web, root=lambda s: f"<a href=/in>in</a><a href={s.urls[1]}out>out</a>", **{"in": lambda _: "<p>in"})
    (tmp_path / "cookies.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tc\tcrumbs\n")
    words = ("--auth", LOGIN, "--cookies", "cookies.txt", "--allow-private", "--scope", "any", "--delay", "0")
    done = spider("-v", "crawl", server.url, *words, "--log", "log.txt")
    assert done.returncode == 0, done.stderr
    shown = {asked.host: set() for asked in server.requests}  # type: dict[str, set[tuple[str | None, str | None]]]
    for asked in server.requests:
        shown[asked.host].add((asked.headers.get("authorization"), asked.headers.get("cookie")))
    assert shown == {"127.0.0.1": {("Basic bWU6aHVzaC1odXNo", "c=crumbs")}, "127.0.0.2": {(None, None)}}
    for file in tmp_path.iterdir():
        if file.name != "cookies.txt":
            assert not any(word in file.read_bytes() for word in (b"hush", b"aHVzaC", b"crumbs")), file
    assert "hush" not in done.stdout + done.stderr
