"""Laws of the quick look: what looks like an application, what says little, and that no page is too odd or too slow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.ajax import PLAIN, looks, poor
from spider.page import read

URL = "http://site.example/a/"
TEXT = "<p>" + "Words that say what there is to see here. " * 10
LINKS = "".join(f'<a href="{name}">{name}</a>' for name in "abc")


def seen(body: str) -> tuple[tuple[str, ...], str | None]:
    """Return what a page looks like, and why its reading is poor."""
    data = body.encode()
    page = read(data, URL, content_type="text/html")
    return looks(page, data), poor(page, data)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (TEXT, ()),
        ('<script src="jquery-3.7.1.min.js?v=2"></script>', ("jQuery",)),
        ('<script src="https://cdn.example/react.production.min.js"></script>', ("React",)),
        ('<script src="/x/vue.global.prod.js"></script><script>fetch("/x")</script>', ("Vue",)),
        ('<body ng-app="films"><script src="main.123abc.js"></script>', ("AngularJS",)),
        ('<div x-data="{}"><script src="own.js"></script>', ("Alpine",)),
        ('<div x-data="{}">no script, so nobody reads it', ()),
        ('<div id="__next"></div><script src="/_next/static/chunks/main-12.js"></script>', ("React",)),
        ("<script>fetch('/api').then(show)</script>", (PLAIN,)),
        ("<script>new XMLHttpRequest()</script>", (PLAIN,)),
        ("<script>/* fetch(it) */ var fetched = 1</script>", ()),
        ('<script type="application/ld+json">{"a": 1}</script>', ()),
    ],
)
def test_what_looks_like_an_application(body: str, names: tuple[str, ...]) -> None:
    """By the names of scripts and by marks, where there are scripts at all; else by what an inline script asks for."""
    assert seen(body)[0] == names


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('<div id="app"></div>', "mount"),
        ("<div class='x' id=root>Loading …</div>", "mount"),
        ("<app-root></app-root>" + LINKS, "mount"),
        (f'<div id="app">{TEXT}{LINKS}</div>', None),
        (TEXT + LINKS, None),
        (TEXT + '<a href="a">a</a> <a href="#b">b</a> <a href="mailto:a@b.example">c</a>', "links"),
        (
            TEXT + '<link rel="stylesheet" href="x.css"><link rel="alternate" href="y"><link rel="next" href="z">',
            "links",
        ),
        (LINKS + "<p>Little.", "text"),
        (LINKS + f"<p>Little.<script>{TEXT}</script><style>{TEXT}</style><noscript>{TEXT}</noscript>", "text"),
        (f"<head><title>{TEXT}</title></head><header>{TEXT}</header>{LINKS}", None),
        ("<p>" + "日本語の文章" * 20 + LINKS, None),
        ('<div id="app"></div><video src="a.mp4"></video>', None),
        ('<div id="app"></div><a href="a.mp3">sound</a>', None),
        ('<div id="app" data-src="a.mp4"></div>', "mount"),
    ],
)
def test_what_says_little(body: str, why: str | None) -> None:
    """By the rows of the table; a medium that is sure is enough."""
    assert seen(body)[1] == why


@given(st.binary(max_size=300) | st.text(alphabet="<>/ =\"'idapproot-scriptdiv\n", max_size=300).map(str.encode))
def test_no_page_is_too_odd(body: bytes) -> None:
    """Any bytes have a look and a verdict."""
    page = read(body, URL, content_type="text/html")
    assert isinstance(looks(page, body), tuple)
    assert poor(page, body) in {None, "mount", "links", "text"}


@pytest.mark.parametrize(
    "unit", ["<div ", "<script", "<div id=", "<script></script", "<!--", "<div id='app", "</head<head"]
)
def test_no_page_is_too_slow(unit: str) -> None:
    """A million bytes made to be slow are looked at as fast as any."""
    body = (unit * (1_000_000 // len(unit))).encode()
    page = read(b"<script src=x.js></script>", URL, content_type="text/html")
    began = time.process_time()
    looks(page, body)
    poor(page, body)
    assert time.process_time() - began < 1
