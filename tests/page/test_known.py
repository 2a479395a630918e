"""Addresses that are known already: their links are left out, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider.page import read

PAGE = "http://a.test/d/p.html"
HREFS = ["/", "p.html", "q.html", "q.html#x", "/e/r.mp4", "s.mp3?x=1", "http://b.test/", "mailto:x@a.test", "?f"]
RELS = ["", "nofollow", "next", "sitemap"]
ANCHORS = st.lists(st.tuples(st.sampled_from(HREFS), st.sampled_from(RELS), st.sampled_from(["a", "area"])), max_size=9)


def written(anchors: list[tuple[str, str, str]], robots: str) -> bytes:
    """Write a page of anchors."""
    links = "".join(f'<{tag} href="{href}" rel="{rel}">{tag}</{tag}>' for href, rel, tag in anchors)
    return f'<meta name="robots" content="{robots}"><frame src="/f"><video src="v.webm"></video>{links}'.encode()


@settings(max_examples=200, deadline=None)
@given(ANCHORS, st.sets(st.integers(0, 20)), st.sampled_from(["", "index", "nofollow"]))
def test_known_links_are_left_out_and_counted(
    anchors: list[tuple[str, str, str]], chosen: set[int], robots: str
) -> None:
    """What is left out is a plain anchor to a known address, or its like after one; the rest is as ever."""
    body = written(anchors, robots)
    whole = read(body, PAGE)
    urls = [link.url for link in whole.links]
    known = {url for place, url in enumerate(urls) if place in chosen}
    some = read(body, PAGE, known=known)
    assert replace(some, links=whole.links, left=0) == whole
    gone = {link.url for link in whole.links if link.url not in {kept.url for kept in some.links}}
    assert gone <= known - {PAGE}
    assert all(link in whole.links for link in some.links)
    plain = {link.url for link in whole.links if link.source.tag in {"a", "area"} and not link.rel} & known - {PAGE}
    assert some.left == len(plain if "nofollow" not in robots else ())
    assert {link for link in whole.links if link.url not in plain} <= set(some.links)


@pytest.mark.parametrize("alike", [False, True])
def test_a_mark_of_likeness_weighs_all_links(*, alike: bool) -> None:
    """The simhash of a page does not depend on what is known."""
    body = b"<p>" + b" ".join(b"word%d" % n for n in range(200)) + b'<a href="q.html">q</a>'
    known = frozenset({"http://a.test/d/q.html"})
    assert read(body, PAGE, alike=alike, known=known).simhash == read(body, PAGE, alike=alike).simhash
