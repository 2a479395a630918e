"""Laws of a medium's health: what each answer says, and what is asked next."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.crawl.health import MAX_HOPS, Errand, Method, after_answer, after_failure, refused
from spider.errors import FetchError
from spider.model import Health, MediaKind, Reason, Response
from spider.store.checks import CheckRow, Due

NOW = 7
FILM = "http://a.example/film.mp4"
HEAD, GET = Method.HEAD, Method.GET
MP4 = b"\0\0\0\x18ftypisom" + b"\0" * 100
MP3 = b"ID3\x04" + b"\0" * 100
PAGE = b"  <!DOCTYPE html><title>Gone</title>"


def errand(method: Method = HEAD, *, kind: MediaKind = MediaKind.VIDEO, embedded: bool = False, **more: Any) -> Errand:  # noqa: ANN401  # an errand's fields
    """Return an errand for a film."""
    return Errand(Due(1, FILM, kind, embedded), **{"url": FILM, "method": method, **more})


def answer(asked: Errand, status: int, body: bytes = b"", **headers: str) -> Errand | CheckRow:
    """Return what follows an answer; an underscore in a header's name is a dash, `location` where it leads."""
    location = headers.pop("location", None)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = Response(asked.request, asked.url, status, named, body, location=location)
    return after_answer(asked, response, now=NOW)


ALIVE, DEAD, CLOSED, UNSURE = Health.ALIVE, Health.DEAD, Health.CLOSED, Health.UNSURE
TABLE = [
    # method, status, content type, body -> health and type
    (HEAD, 200, "video/mp4", b"", ALIVE, "video/mp4"),
    (HEAD, 200, "VIDEO/X-Thing; codecs=a", b"", ALIVE, "video/x-thing"),
    (HEAD, 429, "text/html", b"", UNSURE, None),
    (GET, 206, "video/mp4", MP4, ALIVE, "video/mp4"),
    (GET, 206, "application/octet-stream", MP4, ALIVE, "video/mp4"),
    (GET, 200, "video/mp4", MP3, ALIVE, "audio/mpeg"),
    (GET, 200, "text/plain", b"#EXTM3U\n#EXT-X-VERSION:3", ALIVE, "application/vnd.apple.mpegurl"),
    (GET, 200, "application/octet-stream", b"\1\2\3", ALIVE, "application/octet-stream"),
    (GET, 200, "", b"\1\2\3", ALIVE, None),
    (GET, 200, "text/html", PAGE, DEAD, "text/html"),
    (GET, 200, "video/mp4", PAGE, DEAD, "text/html"),
    (GET, 200, "application/json", b"{}", DEAD, "application/json"),
    (GET, 200, "video/mp4", b"", DEAD, "video/mp4"),
    (GET, 404, "text/html", PAGE, DEAD, None),
    (GET, 410, "", b"", DEAD, None),
    (GET, 416, "", b"", DEAD, None),
    (GET, 401, "", b"", CLOSED, None),
    (GET, 403, "", b"", CLOSED, None),
    (GET, 451, "", b"", CLOSED, None),
    (GET, 429, "", b"", UNSURE, None),
    (GET, 500, "", b"", UNSURE, None),
    (GET, 503, "", b"", UNSURE, None),
]


@pytest.mark.parametrize(("method", "status", "served", "body", "health", "mime"), TABLE)
def test_answers_that_tell(method: Method, status: int, served: str, body: bytes, health: Health, mime: str) -> None:
    """The signature goes before the header; a page is no medium; no answer that tells leaves it unsure."""
    found = answer(errand(method), status, body, content_type=served)
    assert isinstance(found, CheckRow)
    assert (found.health, found.status, found.mime, found.checked_at) == (health, status, mime, NOW)


@pytest.mark.parametrize(
    ("status", "served"),
    [
        (405, ""),
        (501, ""),
        (403, ""),
        (404, "text/html"),
        (500, ""),
        (200, "text/html"),
        (200, ""),
        (200, "audio/mpeg"),
    ],
)
def test_a_head_that_settles_nothing_is_followed_by_a_get(status: int, served: str) -> None:
    """Where HEAD is refused, or names no medium of the kind, the first kilobyte is asked for, in no coding."""
    following = answer(errand(), status, content_type=served)
    assert isinstance(following, Errand)
    assert (following.method, following.url) == (GET, FILM)
    assert following.request.headers["Range"] == "bytes=0-1023"
    assert following.request.headers["Accept-Encoding"] == "identity"
    assert "Range" not in errand().request.headers


def test_a_player_s_page_is_what_it_should_be() -> None:
    """A page is no medium, but where an address is told as a player's own."""
    found = answer(errand(embedded=True), 200, content_type="text/html")
    assert isinstance(found, CheckRow)
    assert found.health is ALIVE
    gone = answer(errand(GET, embedded=True), 404, content_type="text/html")
    assert isinstance(gone, CheckRow)
    assert gone.health is DEAD


@pytest.mark.parametrize(
    ("status", "headers", "size"),
    [
        (200, {"content_length": "1234"}, 1234),
        (206, {"content_range": "bytes 0-1023/99999", "content_length": "1024"}, 99999),
        (206, {"content_range": "bytes 0-1023/*", "content_length": "1024"}, None),
        (200, {"content_length": "99", "content_encoding": "gzip"}, None),
        (200, {"content_length": "9" * 30}, None),
        (200, {"content_length": "-1"}, None),
        (200, {}, None),
    ],
)
def test_sizes(status: int, headers: dict[str, str], size: int | None) -> None:
    """The size is the whole file's, from Content-Range or Content-Length, and none where neither is to be believed."""
    found = answer(errand(GET), status, MP4, content_type="video/mp4", **headers)
    assert isinstance(found, CheckRow)
    assert found.size == size


def test_the_size_that_head_told_is_kept() -> None:
    """Where the GET does not tell the size, that of the HEAD stands."""
    following = answer(errand(), 200, content_type="application/octet-stream", content_length="77")
    assert isinstance(following, Errand)
    found = answer(following, 206, MP4, content_range="bytes 0-1023/*")
    assert isinstance(found, CheckRow)
    assert (found.health, found.size) == (ALIVE, 77)


def test_redirects_are_followed_and_only_permanent_ones_move() -> None:
    """A medium has moved as far as permanent redirects lead from its own address, one after another."""
    b, c, d = (f"http://b.example/{name}" for name in "bcd")
    one = answer(errand(), 301, location=b)
    assert isinstance(one, Errand)
    two = answer(one, 308, location=c)
    assert isinstance(two, Errand)
    three = answer(two, 302, location=d)
    assert isinstance(three, Errand)
    four = answer(three, 301, location="http://e.example/")
    assert isinstance(four, Errand)
    assert (four.hops, four.method) == (4, HEAD)
    found = answer(four, 200, content_type="video/mp4")
    assert isinstance(found, CheckRow)
    assert (found.health, found.moved_to, found.url) == (Health.MOVED, c, FILM)
    passing = answer(errand(), 307, location=b)
    assert isinstance(passing, Errand)
    there = answer(passing, 200, content_type="video/mp4")
    assert isinstance(there, CheckRow)
    assert (there.health, there.moved_to) == (ALIVE, None)


def test_a_redirect_without_end_is_dead() -> None:
    """One hop too many, and a redirect out of the web, end it."""
    for asked, place in ((errand(hops=MAX_HOPS), FILM), (errand(), "ftp://a.example/film.mp4")):
        found = answer(asked, 301, location=place)
        assert isinstance(found, CheckRow)
        assert (found.health, found.reason) == (DEAD, Reason.REDIRECT)


FAILURES = {
    Reason.DNS: UNSURE, Reason.CONNECT: UNSURE, Reason.TLS: UNSURE, Reason.TIMEOUT: UNSURE, Reason.PROTOCOL: UNSURE,
    Reason.REFUSED: CLOSED, Reason.REDIRECT: DEAD, Reason.CONTENT: UNSURE,
}  # fmt: skip


@pytest.mark.parametrize("reason", FAILURES)
def test_where_no_answer_comes(reason: Reason) -> None:
    """Nobody is called dead for a network that is down; what broke a HEAD may not break a GET."""
    error = FetchError(reason, "so")
    found = after_failure(errand(GET), error, now=NOW)
    assert isinstance(found, CheckRow)
    assert (found.health, found.reason, found.status) == (FAILURES[reason], reason, 0)
    final = {Reason.DNS, Reason.TLS, Reason.REFUSED, Reason.REDIRECT}
    assert isinstance(after_failure(errand(), error, now=NOW), CheckRow) == (reason in final)


def test_what_may_not_be_asked() -> None:
    """robots.txt closes; a robots.txt that did not come, and our own fault, leave it open."""
    assert refused(errand(), Reason.ROBOTS, now=NOW).health is CLOSED
    assert refused(errand(), Reason.ROBOTS_UNREACHABLE, now=NOW).health is UNSURE
    assert refused(errand(), Reason.INTERNAL, now=NOW).health is UNSURE


@given(
    st.sampled_from(Method),
    st.integers(200, 599),
    st.dictionaries(
        st.sampled_from(["content_type", "content_length", "content_range", "content_encoding"]), st.text(max_size=30)
    ),
    st.binary(max_size=1024),
)
def test_any_answer_ends_or_goes_on(method: Method, status: int, headers: dict[str, str], body: bytes) -> None:
    """Whatever a server says is a verdict, or a GET behind a HEAD: never an exception, never a circle."""
    following = answer(errand(method), status, body, **headers)
    assert isinstance(following, CheckRow) or (method is HEAD and following.method is GET)
