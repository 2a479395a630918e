"""Laws of mentions: every address that a document names is told, with its place, and hostile text costs little."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.page import mentions, read
from spider.page.strings import addresses_in_code, is_address

CASES = json.loads((Path(__file__).resolve().parents[1] / "cases" / "page" / "mentions.json").read_text("utf-8"))
URL = "http://example.com/dir/page.html"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["source"])
def test_each_place(case: dict[str, Any]) -> None:
    """One place names /found, and its source says which it was."""
    told = mentions(
        case["text"].encode(), URL, content_type=case.get("type", "text/html"), headers=case.get("headers", {})
    )
    assert [(link.url, str(link.source)) for link in told if "found" in link.url] == [
        (case.get("url", "http://example.com/found"), case["source"])
    ]


def test_mentions_are_not_followed() -> None:
    """What is only named is no link of the page, and no medium."""
    text = b'<img src=/a.png><a ping=/ping href=/link>x</a><!-- <a href=/old>x</a> --><script>f("/api")</script>'
    page = read(text, URL)
    assert [link.url for link in page.links] == ["http://example.com/link"]
    assert page.media == ()
    assert {link.url for link in mentions(text, URL)} == {
        f"http://example.com/{name}" for name in ("a.png", "ping", "link", "old", "api")
    }


def test_rules_name_addresses() -> None:
    """What robots.txt closes is named by it."""
    text = b"User-agent: *\nDisallow: /a/\nAllow: /b.html # yes\nDisallow: /*.gif$\nDisallow:\nSitemap: /map.xml"
    found = mentions(text, "http://example.com/robots.txt", content_type="text/plain")
    assert [link.url.removeprefix("http://example.com") for link in found] == ["/a/", "/b.html", "/", "/map.xml"]


@given(
    st.text(), st.sampled_from(["text/html", "text/css", "text/javascript", "application/json", "image/svg+xml", ""])
)
def test_no_text_makes_it_raise(text: str, kind: str) -> None:
    """Whatever a document says, it is read."""
    for link in mentions(text.encode("utf-8", "replace"), URL, content_type=kind):
        assert link.url.startswith("http")


@pytest.mark.parametrize(
    "piece",
    ['\\"', "\"'", "a+", "../", "a/", "<!--", 'x="a"', "url(", "/*", "`${", "<p srcdoc='", "<?xml-x ", "http://"],
)
def test_time_grows_with_the_size(piece: str) -> None:
    """Repeated pieces that tempt an expression to start over and over are read in a moment."""
    for kind in ("text/html", "text/javascript", "text/css"):
        body = (piece * (200_000 // len(piece))).encode()
        began = time.process_time()
        mentions(body, URL, content_type=kind)
        assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('f("/a" + "/b")', ["/a/b"]),
        ('var host = "http://h/", path = "p/q"; go(host + path);', ["http://h/p/q", "http://h/"]),
        ('f("/a" + unknown)', ["/a"]),
        ('type = "text/html"; x = "a b/c.html"; y = `/${z}`', []),
        (r'f("\/a\u002fb.json")', ["/a/b.json"]),
        ('location = "next.html?x=1"', ["next.html?x=1"]),
    ],
)
def test_strings_of_code(code: str, expected: list[str]) -> None:
    """Strings that are addresses are told, put together where their parts are known; others are not."""
    assert list(dict.fromkeys(addresses_in_code(code)))[: len(expected) or None] == expected


@pytest.mark.parametrize("text", ["/", "./", "a", "a/b", "//", "a b", "data:x", "mailto:a@b.c", "/a b"])
def test_what_is_no_address(text: str) -> None:
    """Words, fragments of paths and other schemes are none."""
    assert not is_address(text)
