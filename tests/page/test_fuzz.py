"""Any bytes, and real markup damaged at random: no exception, bounded time, addresses that are addresses."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider.model import Page
from spider.page import read, sniff
from spider.page.kinds import media_kind
from spider.url import normalize

FOLDER = Path(__file__).resolve().parents[1] / "cases" / "pages"
SECONDS = 5.0  # of processor time that the mutations may take in all
URL = "http://h.test/dir/page.html"

CHARACTERS = "<>\"'=/&;-![]{}\\ \n\0\x80\xe9\u4e2d\U0001f600"
WORDS = """<a|href=|<video|src=|<source|<object|<param|<embed|<iframe|srcdoc=|<base|href=|<meta|<script>|</script>
<template>|</template>|<!--|-->|<![CDATA[|]]>|<svg>|<math>|<table>|<td>|</p>|</html>|<form>|<select>|http://|//[
javascript:|data:|.mp4|.swf|%zz|&#0;|&#xd800;|content=|charset=utf-16|url=|type=|classid=|#EXTM3U |<rss>|<feed>|<MPD>
<?xml|<!DOCTYPE|<!ENTITY|<script type=application/ld+json>|{"@type":"VideoObject","contentUrl":""}"""
PIECES = [*CHARACTERS, *re.split(r"[|\n]", WORDS)]


def check(page: Page) -> None:
    """Fail if a page holds what no page may."""
    for link in page.links:
        assert link.url.startswith(("http://", "https://"))
        assert link.url == normalize(link.url)
    for medium in page.media:
        assert medium.source in medium.sources
    for text in (page.title, *(link.text for link in page.links), *(medium.text for medium in page.media)):
        assert "\0" not in text
        assert text == " ".join(text.split())
        text.encode("utf-8")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=40)))
def test_any_bytes(body: bytes, content_type: str | None) -> None:
    """No bytes under any type make it raise."""
    check(read(body, URL, content_type=content_type))
    sniff(body, content_type)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.booleans())
def test_any_markup(text: str, hidden: bool) -> None:  # noqa: FBT001 (drawn, not passed)
    """No pieces of markup in any order make it raise."""
    check(read(text.encode("utf-8", "surrogatepass"), URL, hidden=hidden))


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["link", "refresh", "content-location", "x-robots-tag"]), st.text(max_size=80)))
def test_any_headers(headers: dict[str, str]) -> None:
    """No headers make it raise."""
    check(read(b"<a href=x>x</a>", URL, headers=headers))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.one_of(st.none(), st.text(max_size=30)))
def test_any_name(url: str, mime: str | None) -> None:
    """An address and a type always have a kind or none."""
    told = media_kind(url, mime)
    assert told is None or len(told) == 2


def mutated(body: bytes, dice: random.Random) -> bytes:
    """Damage a document in a few places: cut, repeat, swap, insert."""
    for _ in range(dice.randrange(1, 8)):
        start = dice.randrange(len(body) + 1)
        end = min(len(body), start + dice.choice((1, 5, 50, 2000)))
        piece = dice.choice(PIECES).encode("utf-8") * dice.choice((1, 1, 1, 40))
        cut = body[start:end]
        body = dice.choice(
            (
                body[:start] + body[end:],
                body[:start] + cut * 3 + body[end:],
                body[:start] + piece + body[start:],
                body[:start] + piece + body[end:],
            )
        )
    return body[:300_000]


def test_mutated_pages() -> None:
    """Real markup with random damage, for a bounded time: no exception, and each page in a moment."""
    dice = random.Random(20261130)
    seeds = [path.read_bytes() for path in sorted(FOLDER.glob("*.toml"))]
    began, rounds = time.process_time(), 0
    while time.process_time() - began < SECONDS and rounds < 600:
        body = mutated(dice.choice(seeds), dice)
        before = time.process_time()
        check(read(body, URL, hidden=dice.random() < 0.2))
        assert time.process_time() - before < 5.0
        rounds += 1
    assert rounds > 20


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_mutated_real_pages(shared: Path) -> None:
    """Real pages, feeds, manifests and heads with much damage, for two minutes: no exception, no slow page."""
    files = [path for path in sorted((shared / "corpus" / "pages").glob("*/*")) if path.is_file()]
    seed = int(time.time())
    dice, began = random.Random(seed), time.process_time()
    while time.process_time() - began < 120:
        body = mutated(dice.choice(files).read_bytes(), dice)
        before = time.process_time()
        check(read(body, URL, hidden=dice.random() < 0.2))
        assert time.process_time() - before < 5.0, f"seed {seed}"
