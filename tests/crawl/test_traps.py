"""Spaces without end, and archives that only look like one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.crawl import Crawler
from spider.crawl.traps import by_form, date_in, pattern
from spider.model import Outcome
from tests.crawl.pages import page, paths
from tests.server import Asked, WebServer

Web = Callable[..., WebServer]
Crawl = Callable[..., tuple[Crawler, list[Outcome]]]
Rows = Callable[..., list[tuple[Any, ...]]]

H = "http://h.test"
YEAR = 2026
FORMS = [
    # link, page it is met on, rule
    (f"{H}/a/a/a", f"{H}/a/a", "repeated-path"),
    (f"{H}/a/b/a/b/a/b/", f"{H}/", "repeated-path"),
    (f"{H}/x/en/news/en/news/en/news/1", f"{H}/", "repeated-path"),
    (f"{H}/a/a/b", f"{H}/", None),
    (f"{H}/10/10/10/", f"{H}/", None),  # numbers may stand in a row: dates, issues
    (f"{H}/a/b/a/c/a/d", f"{H}/", None),
    (f"{H}/a/b/a/c/a/d/a", f"{H}/", "repeated-path"),
    (f"{H}/" + "x" * 2100, f"{H}/", "too-long"),
    (f"{H}/" + "x/" * 3 + "y", f"{H}/", "repeated-path"),
    (f"{H}" + "".join(f"/{n}" for n in range(60)), f"{H}/", "too-long"),
    (f"{H}/s?a=1&b=1&c=1&d=1&e=1&f=1&g=1", f"{H}/s?a=1&b=1&c=1&d=1&e=1&f=1", "growing-query"),
    (f"{H}/s?" + "&".join(f"f{n}=1" for n in range(7)), f"{H}/", None),  # a long query as such is a form's
    (f"{H}/s?a=1&b=2", f"{H}/s?a=1", None),
    (f"{H}/s?" + "&".join(["q="] * 9), f"{H}/", "growing-query"),
    (f"{H}/s?" + "&".join(f"f[]={n}" for n in range(5)), f"{H}/", None),
    (f"{H}/cal/2028/01", f"{H}/cal/2027/12", "calendar"),
    (f"{H}/cal?year=2028&month=1", f"{H}/cal?year=2027&month=12", "calendar"),
    (f"{H}/cal/2027/06", f"{H}/cal/2027/05", None),  # next year is still planned
    (f"{H}/cal/2028/01", f"{H}/", None),  # named once, it is a page
    (f"{H}/cal/1931/05", f"{H}/cal/1931/06", None),  # old dates are archives
    (f"{H}/items/203112", f"{H}/", None),
]


@pytest.mark.parametrize(("link", "shown", "rule"), FORMS, ids=[link.removeprefix(H)[:40] for link, _, _ in FORMS])
def test_forms_of_addresses(link: str, shown: str, rule: str | None) -> None:
    """An address is refused for its form where no page that people made has one like it."""
    assert by_form(link, shown, year=YEAR) == rule


@pytest.mark.parametrize(
    ("url", "date"),
    [
        (f"{H}/2026/11", (2026, 11)),
        (f"{H}/2026-11-30/x", (2026, 11)),
        (f"{H}/d20261130.html", (2026, 11)),
        (f"{H}/?month=3&year=1999", (1999, 3)),
        (f"{H}/?y=2001", (2001, 0)),
        (f"{H}/2026-W49", (2026, 49)),
        (f"{H}/?d=12/31/2026", (2026, 12)),
        (f"{H}/?d=31.12.2026", (2026, 12)),
        (f"{H}/2026", None),
        (f"{H}/99-99-2026", None),
        (f"{H}/1234567", None),
        (f"{H}/20261399", None),
    ],
)
def test_dates_in_addresses(url: str, date: tuple[int, int] | None) -> None:
    """A year with its month is a date, in the path or as parameters; a number is none."""
    assert date_in(url) == date


@given(st.text(alphabet="a1/-?&=.%", max_size=60))
def test_every_address_has_a_pattern(path: str) -> None:
    """A pattern does not depend on the numbers of a path, and any text has one."""
    url = f"{H}/{path}"
    place, mark, query = url.partition("?")
    assert pattern(place.replace("1", "2") + mark + query) == pattern(url)
    assert by_form(url, H, year=YEAR) in {None, "repeated-path", "growing-query", "too-long", "calendar"}


def test_hostile_paths_cost_little() -> None:
    """The longest address that is looked at is judged in no time."""
    began = time.perf_counter()
    for text in ("a/b" * 600, "/" * 2000, "ab/" * 680, "2026" * 500):
        by_form(f"{H}/{text}", f"{H}/{text[:-1]}", year=YEAR)
        pattern(f"{H}/{text}")
    assert time.perf_counter() - began < 2


def real(number: int) -> str:
    """Write one of forty real pages, in a chain."""
    following = [f"/real/{number + 1}"] if number < 39 else []
    return page(*following, more=f"<p>{number}</p><video src=/v{number}.mp4></video>")


def calendar(year: int, month: int) -> str:
    """Write a month, with the ones before and after it."""
    months = year * 12 + month - 1
    there = [f"/cal/{n // 12}/{n % 12 + 1:02}" for n in (months - 1, months + 1)]
    return page("/", *there, more=f"<h1>{year} {month}</h1>")


class Endless:
    """A site of forty real pages, and five spaces without end beside them."""

    def __init__(self) -> None:
        """Begin to count."""
        self.number = itertools.count()

    def __call__(self, asked: Asked) -> str | None:
        """Answer."""
        path, _, query = asked.path.partition("?")
        first, *rest = path.strip("/").split("/")
        answers: dict[str, Callable[[], str]] = {
            "": lambda: page("/real/0", "/cal/2026/11", "/grow?a=1", "/loop/a", "/shop", "/same?n=0"),
            "real": lambda: real(int(rest[0])),
            "cal": lambda: calendar(int(rest[0]), int(rest[1])),
            "grow": lambda: page(f"/grow?{query}&{'x' * len(query)}=1", more=query),
            "loop": lambda: page("a/", "b/", "c/", more=asked.path),
            "shop": lambda: page(f"/shop?sid={next(self.number):032x}"),
            "same": lambda: page(*(f"/same?n={n}" for n in range(200)), more="<p>the same</p>" * 50),
        }
        return answers[first]() if first in answers else None


def test_a_site_full_of_traps_ends(web: Web, crawl: Crawl, rows: Rows) -> None:
    """The crawl ends by itself after a few fetches, with every real page and medium found, and says what it cut."""
    server = web(Endless())
    crawler, _ = crawl(server.url, depth=10_000, max_pages=2_000, max_time=100)
    assert crawler.why == "done"
    asked = paths(server)
    assert {path for path in asked if path.startswith("/real/")} == {f"/real/{n}" for n in range(40)}
    assert rows("SELECT count(*) FROM Video") == [(40,)]
    assert sum(asked.values()) < 300, asked
    rules = {rule for (rule,) in rows("SELECT DISTINCT rule FROM Skipped")}
    assert {"calendar", "growing-query", "repeated-path", "copies"} <= rules
    assert "copies" in crawler.last_line()


def test_an_archive_is_no_trap(web: Web, crawl: Crawl) -> None:
    """A hundred and twenty months of old pages, each with its own medium or article, are read to the last."""
    months = [f"/archive/{1920 + n // 12}/{n % 12 + 1:02}/" for n in range(120)]
    site: dict[str, str] = {"/": page(months[0])}
    for n, month in enumerate(months):
        more = "<audio src=tape.mp3></audio>" if n % 3 else ""
        site[month] = page(*months[n + 1 : n + 2], f"/article/{n}", more=f"<h1>{month}</h1>{more}")
        site[f"/article/{n}"] = page(more=f"article {n}")
    server = web(site)
    crawl(server.url, depth=1000)
    assert paths(server) == dict.fromkeys(site, 1)


def test_equal_leaves_are_no_trap(web: Web, crawl: Crawl) -> None:
    """Fifty small pages of the same few words, without a link, are fifty pages."""
    site = {"/": page(*(f"/leaf/{n}" for n in range(50)))} | {f"/leaf/{n}": "<p>leaf</p>" for n in range(50)}
    server = web(site)
    crawl(server.url)
    assert paths(server) == dict.fromkeys(site, 1)


def test_traps_can_be_entered(web: Web, crawl: Crawl) -> None:
    """With `traps=False` nothing is refused for its form or its pattern."""
    site = {"/": page("/a/a/a/a"), "/a/a/a/a": page()}
    server = web(site)
    crawl(server.url, traps=False)
    assert paths(server) == dict.fromkeys(site, 1)
