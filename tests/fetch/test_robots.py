"""Laws of robots.txt: the vectors of RFC 9309 and of those who read it before, and that any bytes can be read."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spider.fetch import Decision, Robots, header_words, link_follows, meta_words, permission
from spider.fetch.robots import MAX_BODY, MAX_SITEMAPS

CASES = Path(__file__).parent.parent / "cases" / "robots"
AGENT = "multimedia-spider"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize(
    ("category", "total", "least"),
    [("rfc", 151, 151), ("rfc-conflict", 10, 10), ("protego-agree", 270, 270), ("google", 80, 78)],
)
def test_vectors(shared: Path, category: str, total: int, least: int) -> None:
    """Every verdict of RFC 9309 is met, and Google's lenience past it but for its cap on the length of a line."""
    vectors = [row for row in rows(shared / "data" / "robots" / "vectors.jsonl") if row["cat"] == category]
    wrong = [
        row["id"]
        for row in vectors
        if Robots.parse(row["robots"].encode()).allows(row["agent"], row["url"]) != row["allowed"]
    ]
    assert len(vectors) == total
    assert len(wrong) == total - least, wrong


def test_delays_and_sitemaps(shared: Path) -> None:
    """Crawl-delay and Sitemap lines are read as the 17 rows say."""
    count = 0
    for row in rows(shared / "data" / "robots" / "delay_sitemap.jsonl"):
        robots = Robots.parse(row["robots"].encode(), row.get("base"))
        if "crawl_delay" in row:
            assert robots.crawl_delay(row["agent"]) == row["crawl_delay"], row["note"]
        if "sitemaps" in row:
            assert list(robots.sitemaps) == row["sitemaps"], row["note"]
        count += 1
    assert count == 17


def test_meta_robots(shared: Path) -> None:
    """Meta robots, X-Robots-Tag and rel are read as the 37 rows say."""
    count = 0
    for row in rows(shared / "data" / "robots" / "meta_robots.jsonl"):
        if "link_rel" in row:
            assert link_follows(row["link_rel"].split()) == row["follow"], row
        else:
            words = meta_words(row["meta"], row["agent"]) | header_words(row["x_robots_tag"], row["agent"])
            leave = permission(words)
            assert (leave.index, leave.follow) == (row["index"], row["follow"]), row["note"]
        count += 1
    assert count == 37


@pytest.mark.parametrize("case", list(rows(CASES / "decisions.jsonl")), ids=lambda case: str(case["why"]))
def test_decisions(case: dict[str, Any]) -> None:
    """The line that decides is the one that the case names, by its number and its words."""
    robots = Robots.parse(case["robots"].encode("utf-8", "surrogateescape"))
    decision = robots.decide(case.get("agent", AGENT), f"http://h.test{case['path']}")
    assert decision == Decision(case["allowed"], case.get("line"), case.get("number"))
    assert robots.allows(case.get("agent", AGENT), f"http://h.test{case['path']}") == case["allowed"]


def test_only_the_first_part_counts() -> None:
    """Rules are read up to 500 KiB; a line that is cut there says nothing, for half of it would say something else."""
    rule = b"Disallow: /x\n"
    padding = b"#" * (MAX_BODY - len(b"User-agent: *\n\n" + rule)) + b"\n"
    robots = Robots.parse(b"User-agent: *\n" + padding + rule + b"Disallow: /y\n")
    assert (robots.allows(AGENT, "http://h/x"), robots.allows(AGENT, "http://h/y")) == (False, True)
    cut = Robots.parse(b"User-agent: *\n" + padding + b"#\nDisallow: /xyz\n")
    assert cut.allows(AGENT, "http://h/x")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\n" + b"Disallow: /" + b"a*" * 100_000 + b"b\n",
        b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*a*a*a*a*a*b$\n" * 10_000,
        b"User-agent: *\nDisallow: /a\n" * 20_000,
        b"".join(b"User-agent: a%d\n" % n for n in range(40_000)) + b"Disallow: /\n",
        b"User-agent:*\n" * 18_000 + b"Allow:/\n" * 30_000,
        b"".join(b"User-agent:%c%c%c\n" % (97 + n // 676 % 26, 97 + n // 26 % 26, 97 + n % 26) for n in range(18_000))
        + b"Allow:/\n" * 30_000,
        b"\r" * 600_000,
        b"Sitemap: http://h.test/a\n" * 20_000,
        b"\0" * 600_000,
        b"User-agent: *\nDisallow: /" + b"%" * 500_000,
    ],
    ids=lambda body: f"{body[:30]!r}",
)
def test_hostile_files_cost_little(body: bytes) -> None:
    """No file of any size takes longer than a moment to read and to ask."""
    began = time.process_time()
    robots = Robots.parse(body)
    for _ in range(3):
        robots.allows(AGENT, "http://h.test/" + "a" * 2000)
    assert time.process_time() - began < 4


def test_sitemaps_are_bounded() -> None:
    """Of very many sitemaps the first thousand count, each once."""
    body = b"".join(b"Sitemap: http://h.test/%d\n" % (n // 2) for n in range(5000))
    assert Robots.parse(body).sitemaps == tuple(f"http://h.test/{n}" for n in range(MAX_SITEMAPS))


LINES = st.sampled_from([
    b"User-agent: *", b"user-agent: multimedia-spider", b"Disallow: /", b"Allow: /a", b"Disallow: /*b$", b"Disallow:",
    b"Crawl-delay: 3", b"Sitemap: http://h/s", b"\xef\xbb\xbf", b"Sitemap: http://[", b"# x", b"Disallow /a",
    b":", b"\xff\xfe", b"Disallow: /%zz%E3", "Disallow: /\u2028/日本".encode(),
])  # fmt: skip
FILES = st.lists(LINES | st.binary(max_size=30), max_size=12).flatmap(
    lambda lines: st.sampled_from([b"\n", b"\r\n", b"\r"]).map(lambda end: end.join(lines))
)
PATHS = st.text(st.sampled_from("/abc%*$?#é日 \u2028"), max_size=12)


@given(FILES, PATHS)
@settings(deadline=None)
def test_any_bytes_can_be_read(body: bytes, path: str) -> None:
    """Any bytes are a robots.txt; its verdict and its decision agree; robots.txt itself may always be asked for."""
    robots = Robots.parse(body)
    url = f"http://h/{path}"
    decision = robots.decide(AGENT, url)
    assert decision.allowed == robots.allows(AGENT, url)
    assert (decision.line is None) == (decision.number is None)
    if decision.number is None:
        assert decision.allowed
    delay = robots.crawl_delay(AGENT)
    assert delay is None or delay >= 0
    assert robots.allows(AGENT, "http://h/robots.txt")


@given(FILES, PATHS)
@settings(deadline=None)
def test_line_ends_do_not_matter(body: bytes, path: str) -> None:
    """The three ends of lines are one."""
    plain = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    urls = [f"http://h/{path}", "http://h/a", "http://h/ab"]
    verdicts = [[Robots.parse(one).allows(AGENT, url) for url in urls] for one in (body, plain)]
    assert verdicts[0] == verdicts[1]
