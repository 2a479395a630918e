"""Laws of what the answer to a question for /robots.txt means, with a real server that gives each."""

from __future__ import annotations

import gzip
import json
import socket
import zlib
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from spider.errors import FetchError
from spider.fetch import Access, Client, Ruling, access, ask, robots_url
from spider.fetch.robots import MAX_BODY
from spider.model import Reason, Request, Response
from tests.server import Content, Raw, Reply, WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]

AGENT = "multimedia-spider"
CLOSED = b"User-agent: *\nDisallow: /x\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
UNCLEAR = {
    "delay_then_retry_or_disallow": {Access.DISALLOW},
    "parse_or_disallow": {Access.DISALLOW, Access.PARSE},
    "allow_all_or_disallow_all": {Access.ALLOW, Access.DISALLOW},
    "allow_all_or_parse": {Access.ALLOW, Access.PARSE},
    "parse_prefix": {Access.PARSE},
    "parse": {Access.PARSE},
    "disallow_all": {Access.DISALLOW},
    "allow_all": {Access.ALLOW, Access.PARSE},  # a file without rules allows all as well
}


def body_of(row: dict[str, Any]) -> bytes:
    """Return the file that a row speaks of."""
    if "body_hex" in row:
        return bytes.fromhex(row["body_hex"])
    if "rule_at" in row:
        rule = b"Disallow: /x\n"
        start = b"User-agent: *\n"
        padding = (b"#" * 99 + b"\n") * (row["rule_at"] // 100)
        body: bytes = start + padding[: row["rule_at"] - len(start) - 1] + b"\n" + rule
        return body + b"#" * (int(row.get("total", 0)) - len(body))
    return str(row.get("body", "")).encode()


def content_of(row: dict[str, Any]) -> Content:
    """Return what a host answers with that behaves as a row says."""
    kind = row.get("content_type", "text/plain")
    headers = tuple(row.get("headers", {}).items())
    final: Reply | Raw = Reply(body_of(row), status=row.get("status", 200), headers=headers, type=kind)
    if row.get("gzip"):
        final = Reply(gzip.compress(body_of(row)), headers=(("Content-Encoding", "gzip"),), type=kind)
    if row.get("gzip_bomb"):
        pump = zlib.compressobj(9, wbits=31)
        bomb = pump.compress(CLOSED) + pump.compress(bytes(50_000_000)) + pump.flush()
        final = Reply(bomb, headers=(("Content-Encoding", "gzip"),), type=kind)
    if row.get("network") == "truncated":
        final = Raw(OK + b"Content-Length: 500\r\n\r\n" + CLOSED)
    if row.get("network") == "timeout":
        final = Reply(CLOSED, delay=5.0)
    hops = row.get("redirects", 0)
    if not hops:
        return {"/robots.txt": final}
    target = row.get("target", "/final")
    names = ["/robots.txt", *(f"/hop{n}" for n in range(1, hops if hops > 0 else 1)), target]
    pages: dict[str, Any] = {target: final}
    pages |= {a: Reply(status=301, headers=(("Location", b),)) for a, b in pairwise(names)}
    return pages | ({target: Reply(status=302, headers=(("Location", "/robots.txt"),))} if hops < 0 else {})


def test_fetch_semantics(shared: Path, web: Web, client: Clients) -> None:
    """Each status, redirect, size and failure of RFC 9309, sections 2.3 to 2.5, means what the rows say."""
    rows = [json.loads(line) for line in (shared / "data/robots/fetch_semantics.jsonl").read_text().splitlines()]
    rows = [row for row in rows if "cache" not in row and "per_authority" not in row]
    assert len(rows) == 33
    for row in rows:
        if row.get("network") == "refused":
            with closing(socket.create_server(("127.0.0.1", 0))) as listener:
                url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        else:
            url = web(content_of(row)).url
        with client(timeout=0.5) as one:
            ruling = ask(one.whole, url)
        assert ruling.access in UNCLEAR[row["expect"]], row["name"]
        assert len(ruling.body) <= MAX_BODY + 1
        verdicts = {path: ruling.allows(AGENT, url + path[1:]) for path in row.get("blocked", [])}
        assert not any(verdicts.values()), row["name"]
        assert all(ruling.allows(AGENT, url + path[1:]) for path in row.get("allowed", [])), row["name"]


def test_each_origin_has_its_own(web: Web, client: Clients) -> None:
    """The file is asked of the address's own scheme, host and port, and speaks of that alone."""
    first, second = web({"/robots.txt": CLOSED}), web({"/robots.txt": Reply(status=404)})
    with client() as one:
        assert not ask(one.whole, f"{first.url}x").allows(AGENT, f"{first.url}x")
        assert ask(one.whole, f"{second.url}x").allows(AGENT, f"{second.url}x")
    assert first.asked() == second.asked() == ["/robots.txt"]


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://h.test/a/b?c", "http://h.test/robots.txt"),
        ("https://h.test:8443", "https://h.test:8443/robots.txt"),
        ("http://u:p@h.test?x/y", "http://h.test/robots.txt"),
        ("http://[::1]:8080/a", "http://[::1]:8080/robots.txt"),
    ],
)
def test_where_the_file_is(url: str, own: str) -> None:
    """robots.txt stands at the top of its origin."""
    assert robots_url(url) == own


def test_a_file_on_another_host_speaks_for_the_first(web: Web, client: Clients) -> None:
    """A redirect may lead elsewhere; the rules are those of the host that was asked first."""
    other = web({"127.0.0.2": {"/r": CLOSED}})
    server = web({"/robots.txt": Reply(status=302, headers=(("Location", f"{other.url}r"),))})
    with client() as one:
        ruling = ask(one.whole, server.url)
    assert (ruling.url, ruling.allows(AGENT, f"{server.url}x")) == (f"{server.url}robots.txt", False)


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_a_refused_hop_ends_the_chain(hops: int) -> None:
    """Who asks may refuse a hop: then the file is unavailable; refused at once, there is no answer at all."""
    asked: list[int] = []

    def get(request: Request) -> Response:
        asked.append(request.hops)
        if request.hops >= hops:
            raise FetchError(Reason.REFUSED, "not this one")
        return Response(request, request.url, 302, {}, location="http://h.test/next")

    ruling = ask(get, "http://h.test/")
    assert ruling.access is (Access.ALLOW if hops else Access.DISALLOW)
    assert ruling.failure is not None
    assert asked == list(range(hops + 1))


def test_a_broken_redirect_is_unavailable(web: Web, client: Clients) -> None:
    """A redirect to nowhere is as good as no file."""
    server = web({"/robots.txt": Reply(status=301, headers=(("Location", "http://["),))})
    with client() as one:
        assert ask(one.whole, server.url).access is Access.ALLOW


def test_at_most_five_hops(client: Clients, web: Web) -> None:
    """The sixth redirect is not followed."""
    pages = {f"/{n}": Reply(status=301, headers=(("Location", f"/{n + 1}"),)) for n in range(20)}
    server = web(pages | {"/robots.txt": Reply(status=301, headers=(("Location", "/0"),))})
    with client() as one:
        assert ask(one.whole, server.url).status == 301
    assert server.asked() == ["/robots.txt", "/0", "/1", "/2", "/3", "/4"]


def test_every_status_means_something() -> None:
    """2xx is read, 3xx and 4xx but 429 allow all, all else closes all."""
    meanings = {2: Access.PARSE, 3: Access.ALLOW, 4: Access.ALLOW}
    for status in (None, *range(100, 1000)):
        expected = meanings.get((status or 0) // 100, Access.DISALLOW)
        assert access(status) is (Access.DISALLOW if status == 429 else expected)


def test_an_older_answer_stands_in(web: Web, client: Clients) -> None:
    """When there is no answer, the last one holds; when there is one, it does."""
    url = "http://h.test/robots.txt"
    old, new, none = Ruling(url, 200, CLOSED), Ruling(url, 404), Ruling(url, 503)
    assert none.or_else(old) is old
    assert new.or_else(old) is new
    assert none.or_else(None) is none
    assert none.or_else(Ruling(url, None)) is none
    server = web({"/robots.txt": Reply(status=503, headers=(("Retry-After", "7"),))})
    with client() as one:
        ruling = ask(one.whole, server.url)
    assert (ruling.retry_after, ruling.or_else(old)) == ("7", old)


def test_a_failed_answer_is_not_read() -> None:
    """The body of an error is no robots.txt: what it says is not what the host says."""
    for status in (404, 500):
        ruling = Ruling("http://h.test/robots.txt", status, b"User-agent: *\nCrawl-delay: 9\nSitemap: http://h/s\n")
        assert (ruling.robots.crawl_delay(AGENT), ruling.robots.sitemaps) == (None, ())
        assert ruling.decide(AGENT, "http://h.test/").line is None
