"""Laws of cookies: each goes back to the origin that set it and nowhere else, few and small, whatever is set."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.fetch import Client
from spider.fetch.cookies import MAX_COOKIES, MAX_HELD, MAX_ORIGINS, MAX_SENT, MAX_SIZE, Cookies, read_cookie
from spider.model import Request
from tests.server import Asked, Reply, WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]

HTTP = ("http", "www.example.co.uk", 80)
HTTPS = ("https", "www.example.co.uk", 443)
NOW = 1_000_000_000.0


def sent(*lines: str, origin: tuple[str, str, int] = HTTPS, target: str = "/", at: str = "/") -> str | None:
    """Return what is sent for `target` after an answer for `at` set `lines`."""
    jar = Cookies(now=lambda: NOW)
    jar.take(origin, at, lines)
    return jar.header(origin, target)


@pytest.mark.parametrize(
    ("line", "back"),
    [
        ("a=b", "a=b"),
        (" a = b c ; Path=/", "a=b c"),
        ("a=", "a="),
        ("a=b=c", "a=b=c"),
        ('a="b; c"', 'a="b'),
        ("b", "b"),
        ("=b", "b"),
        ("=", None),
        ("", None),
        (";", None),
        ("a=b\x00c", None),
        ("a=b\x7f", None),
        ("a=b; Max-Age=0", None),
        ("a=b; Max-Age=-1", None),
        ("a=b; Max-Age=1", "a=b"),
        ("a=b; max-age=x", "a=b"),
        ("a=b; Max-Age=99999999999999999999", "a=b"),
        ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("a=b; Expires=Mon, 01-Jan-1601 00:00:00 GMT", None),
        ("a=b; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "a=b"),
        ("a=b; Expires=soon", "a=b"),
        ("a=b; Expires=" + "9" * 5000, "a=b"),
        ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9", "a=b"),
        ("a=b; Path=/x", None),
        ("a=b; Path=x", "a=b"),
        ("a=b; Domain=example.co.uk", "a=b"),
        ("a=b; Domain=.WWW.example.co.uk", "a=b"),
        ("a=b; Domain=other.example", None),
        ("a=b; Domain=xample.co.uk", None),
        ("a=b; Domain=mail.www.example.co.uk", None),
        ("a=b; Secure; HttpOnly; SameSite=Lax", "a=b"),
        ("__Secure-a=b", None),
        ("__Secure-a=b; Secure", "__Secure-a=b"),
        ("__Host-a=b; Secure; Path=/", "__Host-a=b"),
        ("__host-a=b; Secure", None),
        ("__Host-a=b; Secure; Path=/; Domain=www.example.co.uk", None),
        ("a=" + "b" * (MAX_SIZE - 1), "a=" + "b" * (MAX_SIZE - 1)),
        ("a=" + "b" * MAX_SIZE, None),
    ],
)
def test_what_is_kept(line: str, back: str | None) -> None:
    """A line is read as RFC 6265bis says; what may not be set, or is over, is not kept."""
    assert sent(line) == back


def test_secure_cookies_are_of_https() -> None:
    """A cookie that is marked secure is neither taken from plain http nor sent by it."""
    assert sent("a=b; Secure", "c=d", origin=HTTP) == "c=d"


@pytest.mark.parametrize(
    ("path", "target", "goes"),
    [
        ("/", "/a/b", True), ("/a", "/a", True), ("/a", "/a?q", True), ("/a", "/a/b", True), ("/a", "/ab", False),
        ("/a/", "/a", False), ("/a/", "/a/b", True), ("/a/b", "/a", False),
    ],
)  # fmt: skip
def test_paths(path: str, target: str, goes: bool) -> None:  # noqa: FBT001
    """A cookie goes with what lies under its path, by whole segments."""
    assert sent(f"a=b; Path={path}", target=target) == ("a=b" if goes else None)


def test_the_path_by_default_and_the_order() -> None:
    """Without a path a cookie is of the directory it came from; the longer paths go first."""
    jar = Cookies(now=lambda: NOW)
    jar.take(HTTP, "/a/b?c/d", ["x=1"])
    jar.take(HTTP, "/", ["y=2"])
    assert jar.header(HTTP, "/a/z") == "x=1; y=2"
    assert jar.header(HTTP, "/z") == "y=2"


def test_set_again_and_taken_back() -> None:
    """The same name and path is one cookie: the last counts, and one that is over takes it away."""
    jar = Cookies(now=lambda: NOW)
    jar.take(HTTP, "/", ["a=1; Path=/", "a=2; Path=/"])
    assert jar.header(HTTP, "/") == "a=2"
    jar.take(HTTP, "/", ["a=; Path=/; Max-Age=0"])
    assert jar.header(HTTP, "/") is None


def test_time_passes() -> None:
    """A cookie is sent until its time."""
    clock = [NOW]
    jar = Cookies(now=lambda: clock[0])
    jar.take(HTTP, "/", ["a=b; Max-Age=10"])
    clock[0] += 9
    assert jar.header(HTTP, "/") == "a=b"
    clock[0] += 1
    assert jar.header(HTTP, "/") is None


@pytest.mark.parametrize(
    "other", [("https", HTTP[1], 80), ("http", HTTP[1], 8080), ("http", "example.co.uk", 80), ("http", "b.test", 80)]
)
def test_no_other_origin_sees_them(other: tuple[str, str, int]) -> None:
    """Another scheme, port or host gets nothing, whatever domain a cookie claims: its parents, a public suffix."""
    jar = Cookies(now=lambda: NOW)
    jar.take(HTTP, "/", ["a=b", "c=d; Domain=example.co.uk", "e=f; Domain=co.uk", "g=h; Domain=test"])
    assert jar.header(other, "/") is None


def test_bombs() -> None:
    """Of an origin the newest fifty are kept, no more is sent than a server takes, and origins are bounded."""
    jar = Cookies(now=lambda: NOW)
    jar.take(HTTP, "/", [f"n{number}={'v' * 10}" for number in range(500)])
    kept = (jar.header(HTTP, "/") or "").split("; ")
    assert [cookie.partition("=")[0] for cookie in kept] == [f"n{n}" for n in range(500 - MAX_COOKIES, 500)]
    jar.take(HTTPS, "/", [f"n{number}={'v' * 4000}" for number in range(90)])
    assert 4000 < len(jar.header(HTTPS, "/") or "") <= MAX_SENT
    held = jar._origins[HTTPS].values()
    assert 4000 < sum(len(cookie.name) + len(cookie.value) for cookie in held) <= MAX_HELD
    for port in range(MAX_ORIGINS + 1):
        jar.take(("http", "many.example", port), "/", ["a=b"])
    assert jar.header(("http", "many.example", 0), "/") is None
    assert jar.header(("http", "many.example", MAX_ORIGINS), "/") == "a=b"


@pytest.mark.parametrize(
    "bomb", ['a="' + "\\" * 60_000, "a=b" + ";" * 60_000, "a" + "=" * 60_000, 'a="' + '\\"' * 30_000]
)
def test_reading_is_linear(bomb: str) -> None:
    """A line as long as headers may be is read in no time (http.cookies takes quadratic time: CVE-2024-7592)."""
    began = time.perf_counter()
    read_cookie(bomb, HTTP, "/", now=NOW)
    assert time.perf_counter() - began < 2


@given(
    st.text()
    | st.lists(st.sampled_from(["a", "=", ";", "Path", "/", "Max-Age", "Expires", "1", "GMT", " "])).map("".join)
)
def test_no_line_is_too_odd(line: str) -> None:
    """Whatever is set, nothing is raised, and what is sent has neither line ends nor more than was set."""
    back = sent(line)
    assert back is None or (back.isprintable() or not {"\r", "\n", "\0"} & set(back))
    assert len(back or "") <= len(line) + 2


def test_over_the_wire(web: Web, client: Clients) -> None:
    """A client sends cookies back to their origin, redirects' own too, and to no other port or host."""

    def answer(asked: Asked) -> Reply:
        if asked.path == "/set":
            headers = (
                ("Set-Cookie", "a=1; Path=/"),
                ("Set-Cookie", "b=2; Path=/; Domain=127.0.0.1"),
                ("Location", "/"),
            )
            return Reply(status=302, headers=headers)
        return Reply("<p>")

    first, second = web(answer, hosts=2), web(answer)
    one = client()
    one.get(Request(f"{first.url}set"))
    for url in (first.url, first.urls[1], second.url):
        one.get(Request(url))
    assert first.requests[1].headers["cookie"] == "a=1; b=2"
    assert "cookie" not in first.requests[2].headers
    assert "cookie" not in second.requests[0].headers
