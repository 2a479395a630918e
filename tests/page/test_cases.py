"""Every case under tests/cases/pages: a public bug report or one of its kind, and the right answer."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from spider.model import Confidence, Page, Source
from spider.page import read
from spider.page.media import MEDIA_SOURCES

FOLDER = Path(__file__).resolve().parents[1] / "cases" / "pages"
FILLER = "lorem ipsum dolor sit amet " * 250

# What a case may expect: the key, and what the page has for it.
EXPECTED: dict[str, Callable[[Page], object]] = {
    "base": lambda page: page.base,
    "canonical": lambda page: page.canonical,
    "charset": lambda page: page.charset,
    "durations": lambda page: [-1 if medium.duration is None else medium.duration for medium in page.media],
    "feeds": lambda page: list(page.feeds),
    "formats": lambda page: [medium.format for medium in page.media],
    "inline": lambda page: list(page.inline_scripts),
    "kinds": lambda page: [medium.kind for medium in page.media],
    "language": lambda page: page.language,
    "links": lambda page: [link.url for link in page.links],
    "media": lambda page: [f"{medium.kind} {medium.confidence} {medium.url}" for medium in page.media],
    "media_sources": lambda page: [" ".join(map(str, medium.sources)) for medium in page.media],
    "media_texts": lambda page: [medium.text for medium in page.media],
    "nofollow": lambda page: [link.url for link in page.links if link.nofollow],
    "origin": lambda page: page.charset_from,
    "others": lambda page: [link.url for link in page.others],
    "posters": lambda page: [medium.poster or "" for medium in page.media],
    "relations": lambda page: [link.relation for link in page.links],
    "robots": lambda page: sorted(page.robots),
    "scripts": lambda page: list(page.scripts),
    "sources": lambda page: [str(link.source) for link in page.links],
    "texts": lambda page: [link.text for link in page.links],
    "title": lambda page: page.title,
    "titles": lambda page: [medium.title for medium in page.media],
}
GIVEN = {"content_type", "encoding", "headers", "hidden", "html", "latin1", "name", "reason", "report"}


def cases() -> list[Any]:
    """Return the cases of all files, each named by its file and its name."""
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted(FOLDER.glob("*.toml"))
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    ]


def body_of(case: dict[str, Any]) -> bytes:
    """Return the bytes of a case's document."""
    if "latin1" in case:
        return str(case["latin1"]).encode("latin-1")
    return str(case["html"]).replace("{filler}", FILLER).encode(case.get("encoding", "utf-8"))


@pytest.mark.parametrize("case", cases())
def test_case(case: dict[str, Any]) -> None:
    """A page is read as its case says."""
    wanted = {key: value for key, value in case.items() if key not in GIVEN}
    assert wanted, "a case expects something"
    page = read(
        body_of(case),
        "http://h.test/dir/page.html",
        content_type=case.get("content_type"),
        headers=case.get("headers", {}),
        hidden=case.get("hidden", False),
    )
    assert {key: EXPECTED[key](page) for key in wanted} == wanted


def trust_of(source: Source) -> Confidence | None:
    """Return what the table of media sources says of a place."""
    for key in ((source.tag, source.attribute), ("*", "data-*"), ("*", "on*")):
        if key[0] == source.tag or (key[0] == "*" and fnmatch(source.attribute, key[1])):
            found = MEDIA_SOURCES.get(key)
            if found is not None:
                return found
    return None


def test_trust_is_the_tables() -> None:
    """A medium told in one place is as sure as the table says, or an embedded player."""
    for case in (one.values[0] for one in cases()):
        page = read(
            body_of(case), "http://h.test/", content_type=case.get("content_type"), headers=case.get("headers", {})
        )
        for medium in page.media:
            if len(medium.sources) == 1 and medium.confidence is not Confidence.PLAYER:
                assert medium.confidence is trust_of(medium.source), (case["name"], str(medium.source))


def test_threads() -> None:
    """Pages read in many threads at once are what they are when read alone."""
    bodies = [body_of(case.values[0]) for case in cases()]

    def alone(body: bytes) -> Page:
        return read(body, "http://h.test/")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(alone, bodies * 3)) == [alone(body) for body in bodies] * 3


def test_every_report_is_a_case() -> None:
    """Each public report that the reading of pages answers has its case, and its kin have theirs."""
    reports = [case.values[0]["report"] for case in cases()]
    named = {report for report in reports if "#" in report}
    assert len(named) >= 55
    assert reports.count("kind") >= len(named)
