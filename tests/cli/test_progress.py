"""Laws of progress: what a crawl looks like, drawn from a snapshot."""

from __future__ import annotations

import pytest

from spider.cli import progress
from spider.crawl import Snapshot
from spider.model import Failed, Fetched, Outcome, Reason, Request, Response, Skipped
from tests.report.test_text import HOSTILE, steers

NOW = Snapshot(
    waiting=12_345,
    running=16,
    complete=400,
    error=2,
    pages=398,
    media={"video": 5, "audio": 0, "flash": 1_000},
    hosts=("a.example", "b.example", "c.example", "d.example"),
    hosts_waiting=7,
    refused={},
    elapsed=187.4,
    pages_per_second=2.12,
    ended=None,
)


def test_a_plain_line_tells_everything() -> None:
    """States, speed, media, hosts and the time stand on one line."""
    assert progress.plain_line(NOW) == (
        "3 m 07 s  W 12345  R 16  C 400  E 2  2.1 pages/s  video 5  audio 0  flash 1,000  "
        "a.example, b.example, c.example and 1 more; 7 waiting"
    )


def test_the_summary_is_one_line() -> None:
    """At the end stand pages, time, media and the states of the links."""
    assert progress.summary(NOW) == (
        "398 pages in 3 m 07 s: video 5  audio 0  flash 1,000.  Links: W 12345  R 16  C 400  E 2"
    )


def test_the_picture_has_the_same_in_a_few_lines() -> None:
    """On a terminal it takes three lines, and one more when there is something to say."""
    text = "".join(part for part, _ in progress.picture(NOW, "stopping"))
    assert text.splitlines() == [
        "W 12,345  R 16      C 400     E 2          2.1 pages/s   3 m 07 s",
        "video 5  audio 0  flash 1,000",
        "a.example, b.example, c.example and 1 more; 7 waiting",
        "stopping",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (10, "10 s"), (60, "1 m 00 s"), (3599, "59 m 59 s"), (7500, "2 h 05 m")],
)
def test_times(seconds: float, text: str) -> None:
    """Times are as exact as one wants to know them."""
    assert progress.clock(seconds) == text


REQUEST = Request("http://museum.example/")


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Fetched(REQUEST, Response(REQUEST, REQUEST.url, 200, {})), "C 200 http://museum.example/"),
        (Failed(REQUEST, Reason.DNS, "no\x1b[2J"), r"E dns http://museum.example/ (no\x1b[2J)"),
        (Skipped(REQUEST, "robots"), "- robots http://museum.example/"),
    ],
    ids=["fetched", "failed", "skipped"],
)
def test_an_outcome_is_a_line(outcome: Outcome, line: str) -> None:
    """With -v each link has a line: what became of it, and its address."""
    assert progress.outcome_line(outcome) == line


def test_nothing_of_a_page_steers_the_terminal() -> None:
    """Whatever an address or a message holds, lines of progress are only text."""
    request = Request(f"http://museum.example/{HOSTILE}")
    for outcome in (Failed(request, Reason.TLS, HOSTILE), Skipped(request, "tree")):
        assert not any(map(steers, progress.outcome_line(outcome)))
