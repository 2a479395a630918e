"""The sample site's server: what its tables say is what it answers."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
import requests

from spider.demo import TRUTH, serve
from spider.demo.server import ALIASES, GONE, OWN_HOST, QUERIES, REDIRECTS, TYPES

AGES = 10


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    """Serve the site; give its address without the last slash."""
    with serve() as address:
        yield address.removesuffix("/")


@pytest.fixture
def ask() -> Iterator[requests.Session]:
    """Give a session that follows no redirects by itself."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


def test_the_address_is_local_and_whole() -> None:
    """The context gives a base address on 127.0.0.1 that ends in a slash."""
    with serve() as address:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)


def test_another_loopback_address_may_be_chosen(ask: requests.Session) -> None:
    """The address given is the one that is served and named."""
    with serve("127.0.0.2") as address:
        assert address.startswith("http://127.0.0.2:")
        assert ask.get(address, timeout=AGES).status_code == 200


@pytest.mark.parametrize("path", TRUTH.pages)
def test_every_page_is_served_as_html(path: str, base: str, ask: requests.Session) -> None:
    """A page of the truth answers 200 at its own address, as HTML, with the truth's title."""
    answer = ask.get(base + path, allow_redirects=False, timeout=AGES)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    text = answer.content.decode("gb2312" if path.startswith("/zh/") else "utf-8")
    assert f"<title>{TRUTH.pages[path].title}</title>" in text


@pytest.mark.parametrize(("path", "target"), TRUTH.redirects.items())
def test_a_redirect_leads_where_the_truth_says(path: str, target: str, base: str, ask: requests.Session) -> None:
    """Each redirect is a 3xx with a Location, which may be relative."""
    answer = ask.get(base + path, allow_redirects=False, timeout=AGES)
    assert answer.status_code in {301, 302, 307}
    assert requests.compat.urljoin(base + path, answer.headers["Location"]) in {base + target, target}


@pytest.mark.parametrize(("path", "status"), TRUTH.dead.items())
def test_a_dead_link_is_dead(path: str, status: int, base: str, ask: requests.Session) -> None:
    """A dead link has the status that the truth gives it."""
    assert ask.get(base + path, timeout=AGES).status_code == status


@pytest.mark.parametrize("path", sorted(TRUTH.missing))
def test_a_missing_medium_is_missing(path: str, base: str, ask: requests.Session) -> None:
    """What the truth calls missing is not there."""
    assert ask.get(base + path, timeout=AGES).status_code == 404


@pytest.mark.parametrize("path", sorted(TRUTH.closed | TRUTH.unlinked))
def test_what_a_spider_may_not_see_is_there_for_people(path: str, base: str, ask: requests.Session) -> None:
    """Closed and unlinked pages exist: a crawl that asks for one would get it, and so be found out."""
    assert ask.get(base + path, timeout=AGES).status_code == 200


def test_the_tables_and_the_truth_agree() -> None:
    """Every special answer of the server is told in the truth, and the other way round."""
    assert set(REDIRECTS) < set(TRUTH.redirects)
    assert {path for path, status in TRUTH.dead.items() if status == 410} == GONE
    assert {medium.url for sight in TRUTH.pages.values() for medium in sight.media if medium.visited} == set(ALIASES)
    assert {f"{path}?{query}" for path, query in QUERIES.items()} < set(TRUTH.pages)


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/%2e%2e/server.py",
        "/films/../../server.py",
        "//etc/passwd",
        "/site/index.html",
        "/index.html/",
        "/films/lights.html/",
        "/media",
        "/media/",
        "*",
        "/\u00e9",
        "/" + "a" * 5000,
    ],
)
def test_what_is_no_address_of_the_site_is_not_found(path: str, base: str) -> None:
    """No spelling of a path reaches anything but the site's own files."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=AGES)
    connection.putrequest("GET", "/", skip_host=False)
    connection._buffer[0] = f"GET {path} HTTP/1.1".encode("latin-1")  # type: ignore[attr-defined]  # as it stands
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    assert answer.status == 404, body


@pytest.mark.parametrize("query", ["", "?q=%E7%81%AF%E5%BD%B1", "?q="])
def test_the_chinese_card_index_answers_to_its_own_charset_only(query: str, base: str, ask: requests.Session) -> None:
    """A query written in another charset than the page's is a dead link."""
    assert ask.get(f"{base}/zh/find.html{query}", timeout=AGES).status_code == 404


def test_chinese_pages_declare_their_charset_themselves(base: str, ask: requests.Session) -> None:
    """Below /zh/ the Content-Type has no charset; elsewhere a page has one."""
    assert ask.get(f"{base}/zh/", timeout=AGES).headers["Content-Type"] == "text/html"
    assert ask.get(f"{base}/films/", timeout=AGES).headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml"])
def test_the_site_knows_its_own_address(path: str, base: str, ask: requests.Session) -> None:
    """robots.txt and the sitemap name the address that is served, not a stand-in."""
    body = ask.get(base + path, timeout=AGES).content
    assert base.encode() in body
    assert OWN_HOST not in body


def test_a_page_whose_content_is_known_is_not_sent_again(base: str, ask: requests.Session) -> None:
    """If-None-Match with the entity tag gives 304 and no body."""
    tag = ask.get(f"{base}/films/", timeout=AGES).headers["ETag"]
    answer = ask.get(f"{base}/films/", headers={"If-None-Match": tag}, timeout=AGES)
    assert (answer.status_code, answer.content) == (304, b"")
    assert ask.get(f"{base}/sounds/", headers={"If-None-Match": tag}, timeout=AGES).status_code == 200


@pytest.mark.parametrize(
    ("asked", "status", "part", "range_"),
    [
        ("bytes=0-3", 206, slice(0, 4), "bytes 0-3/{}"),
        ("bytes=8-", 206, slice(8, None), None),
        ("bytes=0-999999999", 206, slice(0, None), None),
        ("bytes=999999999-", 200, slice(0, None), None),
        ("bytes=-4", 200, slice(0, None), None),
        ("lines=0-3", 200, slice(0, None), None),
    ],
)
def test_players_may_ask_for_a_part(
    asked: str, status: int, part: slice, range_: str | None, *, base: str, ask: requests.Session
) -> None:
    """One range of bytes is answered as such; what is not understood gives the whole file."""
    whole = ask.get(f"{base}/media/organ.wav", timeout=AGES).content
    answer = ask.get(f"{base}/media/organ.wav", headers={"Range": asked}, timeout=AGES)
    assert (answer.status_code, answer.content) == (status, whole[part])
    if range_ is not None:
        assert answer.headers["Content-Range"] == range_.format(len(whole))


def test_head_is_get_without_a_body(base: str, ask: requests.Session) -> None:
    """HEAD tells the length of what GET sends, on a connection that stays in step."""
    for path in ("/", "/attic/", "/tonight"):
        head = ask.head(base + path, allow_redirects=False, timeout=AGES)
        body = ask.get(base + path, allow_redirects=False, timeout=AGES).content
        assert head.content == b""
        assert int(head.headers["Content-Length"]) == len(body)


def test_a_form_may_be_sent(base: str, ask: requests.Session) -> None:
    """A POST of reasonable size shows the page behind the form; one without bounds is refused."""
    answer = ask.post(f"{base}/catalogue/thanks.html", data={"thing": "a lamp"}, timeout=AGES)
    assert answer.status_code == 200
    assert "Thank you" in answer.text
    refused = ask.post(f"{base}/catalogue/thanks.html", headers={"Content-Length": "9" * 11}, timeout=AGES)
    assert refused.status_code == 413


def test_requests_are_written_down_and_nothing_is_said(
    ask: requests.Session, capfd: pytest.CaptureFixture[str]
) -> None:
    """`log` has the target of each request in order; neither good nor bad visitors make the server speak."""
    log: list[str] = []
    with serve(log=log) as address:
        ask.get(f"{address}films/", timeout=AGES)
        ask.get(f"{address}nothing?x=1", timeout=AGES)
        where = urlsplit(address)
        with socket.create_connection((where.hostname, where.port), timeout=AGES) as rude:
            rude.sendall(b"nonsense\r\n\r\n")
            rude.recv(1000)
    assert log == ["/films/", "/nothing?x=1"]
    assert capfd.readouterr() == ("", "")


def test_the_server_ends_with_its_context() -> None:
    """Behind the context the port is closed and can be had again, and two servers do not disturb each other."""
    before = threading.active_count()
    with serve() as first, serve() as second:
        assert first != second
        port = urlsplit(first).port
    assert port is not None
    with serve(port=port) as again:
        assert again == first
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=AGES)
    assert threading.active_count() <= before + 1


def test_a_port_that_is_taken_is_an_oserror() -> None:
    """The caller learns of a port that cannot be had."""
    with serve() as address, pytest.raises(OSError, match="in use"), serve(port=urlsplit(address).port or 0):
        pytest.fail("two servers on one port")


def test_types_are_lower_case_and_whole() -> None:
    """Each type of the table is a media type."""
    assert all(re.fullmatch(r"[a-z]+/[a-z0-9.+\-]+(; charset=utf-8)?", kind) for kind in TYPES.values())
