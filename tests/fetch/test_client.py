"""Laws of the client where the server is honest."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from spider import __version__
from spider.errors import FetchError
from spider.fetch import Client, ClientSettings, every_type, retry_after
from spider.model import Reason, Request, Response
from tests.server import Asked, Raw, Reply, WebServer

Get = Callable[..., Response]
Web = Callable[..., WebServer]


def test_a_page_comes_whole(web: Web, get: Get) -> None:
    """A response has its status, its headers in lower case, its body and its times."""
    server = web({"/": Reply("<p>日本", headers=(("X-Odd", "a"), ("X-Odd", "b")))})
    response = get(server.url)
    assert (response.status, response.body, response.url) == (200, "<p>日本".encode(), server.url)
    assert response.content_type == "text/html"
    assert response.headers["x-odd"] == "a, b"
    assert response.size == len(response.body)
    assert 0 < response.latency <= response.elapsed
    assert (response.location, response.truncated) == (None, False)


@pytest.mark.parametrize("status", [200, 203, 226, 299, 300, 304, 400, 401, 404, 410, 418, 429, 500, 503, 599, 999])
def test_any_status_is_a_response(web: Web, get: Get, status: int) -> None:
    """The client judges no status: it returns what came."""
    response = get(web({"/": Reply("body", status=status)}).url)
    assert (response.status, response.body) == (status, b"" if status == 304 else b"body")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "{root}x"),
        ("x/../y", "{root}d/y"),
        ("?q", "{root}d/p?q"),
        ("#there", "{root}d/p"),
        ("", "{root}d/p"),
        ("//127.0.0.2:1234/a b", "http://127.0.0.2:1234/a%20b"),
        ("HTTPS://EXAMPLE.com:443/%7e#f", "https://example.com/%7e"),
        ("/caf\xe9", "{root}caf%C3%A9"),
        ("\\x", "{root}x"),
    ],
)
def test_a_redirect_is_not_followed_but_told(web: Web, get: Get, location: str, target: str) -> None:
    """A redirect's target is absolute and without fragment; it is not asked for, and the body not read."""
    server = web({"/d/p": Reply("<p>moved", status=302, headers=(("Location", location),))})
    response = get(f"{server.url}d/p")
    assert response.location == target.format(root=server.url)
    assert response.body == b""
    assert server.asked() == ["/d/p"]


def test_only_redirects_have_a_location(web: Web, get: Get) -> None:
    """A Location beside another status, or none beside a redirect, is no target."""
    created = Reply("", status=201, headers=(("Location", "/x"),))
    server = web({"/made": created, "/nowhere": Reply("", status=302)})
    assert get(f"{server.url}made").location is None
    assert get(f"{server.url}nowhere").location is None


@pytest.mark.parametrize("location", ["http://[::1", "http://", "https://a b/", "http://h:99999/", "http://%zz/"])
def test_a_redirect_to_nowhere_is_a_failure(web: Web, get: Get, location: str) -> None:
    """A Location that is no address fails with the class redirect, and the status that came."""
    server = web({"/": Reply("", status=301, headers=(("Location", location),))})
    with pytest.raises(FetchError) as caught:
        get(server.url)
    assert (caught.value.reason, caught.value.status) == (Reason.REDIRECT, 301)


@pytest.mark.parametrize("kind", ["video/mp4", "image/png", "text/plain", "application/pdf", "application/xml"])
def test_what_is_no_page_is_not_read(web: Web, get: Get, kind: str) -> None:
    """The body of another type than a page's stays where it is; its declared size is told."""
    response = get(web({"/": Reply(b"x" * 5_000_000, type=kind)}).url)
    assert (response.body, response.size, response.content_type) == (b"", 5_000_000, kind)
    assert response.elapsed < 1


@pytest.mark.parametrize("kind", ["TEXT/HTML; charset=x", "application/xhtml+xml", None])
def test_pages_are_read(web: Web, get: Get, kind: str | None) -> None:
    """HTML in any casing is read, and so is what has no type."""
    assert get(web({"/": Reply("<p>", type=kind)}).url).body == b"<p>"


def test_the_last_type_counts(web: Web, get: Get) -> None:
    """Of several Content-Type headers the last is the response's."""
    types = (("Content-Type", "text/plain"), ("Content-Type", "text/html;charset=x"))
    response = get(web({"/": Reply("<p>", headers=types)}).url)
    assert (response.content_type, response.body) == ("text/html", b"<p>")


def test_ipv6(get: Get) -> None:
    """A host in brackets is asked like any other, and named in brackets."""
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    heard = []

    def answer() -> None:
        sock, _ = listener.accept()
        with sock:
            heard.append(sock.recv(4096))
            sock.sendall(b"HTTP/1.0 200 OK\r\n\r\n<p>")

    with listener:
        thread = threading.Thread(target=answer)
        thread.start()
        port = listener.getsockname()[1]
        assert get(f"http://[::1]:{port}/").body == b"<p>"
        thread.join()
    assert f"Host: [::1]:{port}\r\n".encode() in heard[0]


def test_what_is_read_can_be_said(web: Web, client: Callable[..., Client]) -> None:
    """The settings, or one request, may want other types and sizes."""
    server = web({"/": Reply("x" * 100, type="text/plain")})
    request = Request(server.url)
    with client() as one:
        assert one.get(request, reads=every_type, max_size=10).body == b"x" * 10
    assert len(client(reads=lambda _, kind: kind == "text/plain").get(request).body) == 100


@pytest.mark.parametrize(("limit", "cut"), [(99, True), (100, False), (101, False)])
def test_the_size_cap_is_exact(web: Web, get: Get, limit: int, *, cut: bool) -> None:
    """A body of exactly the cap is whole; one byte more and it is cut there, and said so."""
    response = get(web({"/": "x" * 100}).url, max_size=limit)
    assert (len(response.body), response.truncated) == (min(100, limit), cut)


def chunked(*chunks: bytes) -> bytes:
    """Return a chunked answer."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


RAW_DEFLATE = zlib.compressobj(wbits=-15)


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"<p>x", mtime=0)),
        ("x-gzip", gzip.compress(b"<p>x", mtime=0)),
        ("deflate", zlib.compress(b"<p>x")),
        ("deflate", RAW_DEFLATE.compress(b"<p>x") + RAW_DEFLATE.flush()),
        ("gzip, gzip", gzip.compress(gzip.compress(b"<p>x", mtime=0), mtime=0)),
        ("GZip", gzip.compress(b"<p>", mtime=0) + gzip.compress(b"x", mtime=0)),
        ("identity", b"<p>x"),
        ("utf-8", b"<p>x"),
    ],
)
def test_codings_are_undone(web: Web, get: Get, coding: str, body: bytes) -> None:
    """Content codings that were asked for are decoded, words that are no coding passed over."""
    response = get(web({"/": Reply(body, headers=(("Content-Encoding", coding),))}).url)
    assert response.body == b"<p>x"


def test_framings(web: Web, get: Get) -> None:
    """A body may come in chunks, or end with the connection."""
    server = web({"/chunks": Raw(chunked(b"<p>", b"x" * 70_000)), "/end": Reply("<p>x", length=False)})
    assert get(f"{server.url}chunks").body == b"<p>" + b"x" * 70_000
    assert get(f"{server.url}end").body == b"<p>x"


def test_who_asks(web: Web, get: Get) -> None:
    """The User-Agent names the spider, its version and the contact."""
    heard: list[Asked] = []
    server = web(lambda asked: heard.append(asked) or "<p>")
    get(server.url, contact="https://example.org/bot")
    agents = [asked.headers["user-agent"] for asked in heard]
    assert agents == [f"multimedia-spider/{__version__} (+https://example.org/bot)"]


def test_headers_replace(web: Web, client: Callable[..., Client]) -> None:
    """A request's headers replace the settings', those the client's own, whatever their casing."""
    heard: list[Asked] = []
    server = web(lambda asked: heard.append(asked) or "<p>")
    one = client(headers=(("user-AGENT", "mine"), ("X-A", "1")))
    one.get(Request(server.url, headers={"x-a": "2", "If-None-Match": '"e"'}))
    one.get(Request(server.url))
    asked = [(h["user-agent"], h["x-a"], h.get("if-none-match")) for h in (a.headers for a in heard)]
    assert asked == [("mine", "2", '"e"'), ("mine", "1", None)]


def test_nothing_is_added_unasked(
    web: Web, client: Callable[..., Client], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No password of a netrc file goes along, no proxy of the environment counts, no referrer is told."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server = web({"/": Reply("<p>", headers=(("Set-Cookie", "a=b, c; Path=/"), ("Set-Cookie", "d=e")))})
    one = client()
    assert one.get(Request(server.url)).headers["set-cookie"] == "a=b, c; Path=/\nd=e"
    one.get(Request(server.url))
    assert not {"authorization", "proxy-authorization", "referer"} & set(server.requests[1].headers)


def test_interim_answers_are_passed_over(web: Web, get: Get) -> None:
    """What comes before the answer (100, 103) is not taken for it."""
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </s>; rel=preload\r\n\r\n"
    final = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n<p>"
    response = get(web({"/": Raw(early + final)}).url)
    assert (response.status, response.body, "link" in response.headers) == (200, b"<p>", False)


def test_settings_by_default() -> None:
    """The defaults are those that the documents name."""
    settings = ClientSettings()
    assert (settings.timeout, settings.deadline, settings.max_size, settings.per_host) == (10, 60, 10_000_000, 1)
    assert settings.user_agent == f"multimedia-spider/{__version__}"


NOON = 1_800_000_000.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Fri, 15 Jan 2027 08:00:10 GMT", 10),
        ("Friday, 15-Jan-27 08:00:10 GMT", 10),
        ("Fri Jan 15 08:00:10 2027", 10),
        ("Fri, 15 Jan 1999 08:00:10 GMT", 0),
        (None, None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("Fri, 99 Jan 2027 08:00:10 GMT", None),
        ("Fri, 15 Jan 99999999999 08:00:10 GMT", None),
        ("٣", None),
        ("9" * 5000, 999_999_999_999),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    """Retry-After is seconds or a date in any of HTTP's three forms; what is neither says nothing."""
    assert retry_after(value, NOON) == seconds
