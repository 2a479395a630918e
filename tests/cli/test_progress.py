"""Laws of progress: what a crawl looks like, drawn from a snapshot."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from spider.cli import progress
from spider.cli.bars import clock
from spider.cli.run import follow
from spider.cli.signals import stopping
from spider.crawl import Sight, Snapshot
from spider.errors import StorageError
from spider.model import Failed, Fetched, MediaKind, Outcome, Reason, Request, Response, Skipped
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
        "asking a.example, b.example, c.example and 1 more; 7 hosts waiting"
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
        "W 12,345   R 16       C 400      E 2        3 m 07 s",
        "398 pages, 2.1/s now, 2.1/s mean, 0 B",
        "video 5  audio 0  flash 1,000",
        "asking a.example, b.example, c.example and 1 more; 7 hosts waiting",
        "stopping",
    ]


def test_the_picture_tells_what_is_known_besides() -> None:
    """What was read, the memory, the speed of the moment, what is left, the last titles, who waits and for how long."""
    latest = (
        Sight(MediaKind.VIDEO, "The train", "http://a.example/1"),
        Sight(MediaKind.AUDIO, "", "http://a.example/\x1b2"),
    )
    now = replace(NOW, bytes=12_345_678, waits=(("e.example", 4.2), ("f.example", 75.0)), latest=latest)
    text = "".join(part for part, _ in progress.picture(now, trend=progress.Trend(3.5, 125.0), memory=98_000_000))
    assert text.splitlines() == [
        "W 12,345   R 16       C 400      E 2        3 m 07 s, about 2 m 05 s left",
        "398 pages, 3.5/s now, 2.1/s mean, 12.3 MB, memory 98.0 MB",
        "video 5  audio 0  flash 1,000",
        "  video The train",
        r"  audio http://a.example/\x1b2",
        "asking a.example, b.example, c.example and 1 more; 7 hosts waiting (e.example 4.2 s, f.example 1 m 15 s)",
    ]


def test_the_trend_is_of_the_last_half_minute() -> None:
    """The speed now forgets what was long ago; how long it takes yet is told only while less and less waits."""
    past = progress.Past()
    trend = past.trend(replace(NOW, elapsed=0.5, pages=0, waiting=1000, running=0))
    assert trend.left is None
    for second in range(1, 100):
        pages = min(second, 50) * 2
        trend = past.trend(replace(NOW, elapsed=0.5 + second, pages=pages, waiting=1000 - second, running=0))
    assert trend.speed == 0
    assert trend.left == pytest.approx(901, rel=0.01)
    assert past.trend(replace(NOW, elapsed=101, pages=100, waiting=5000, running=0)).left is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"waiting": 0, "error": 0}, "next: spider report shows the media"),
        ({"waiting": 3, "error": 0, "media": {}}, "next: spider crawl goes on with the 3 that wait"),
        (
            {"waiting": 1200, "error": 2},
            (
                "next: spider report shows the media; spider crawl goes on with the 1,200 that wait; "
                "spider errors tells why 2 failed"
            ),
        ),
        (
            {"waiting": 0, "error": 0, "media": {}},
            "next: spider status counts what was visited, spider skipped what was refused",
        ),
    ],
)
def test_the_end_says_what_to_do_next(changes: dict[str, Any], told: str) -> None:
    """Behind the counts stands which commands look, go on, and tell what went wrong."""
    assert progress.advice(replace(NOW, **changes)) == told


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (5_400_000_000, "5.4 GB")]
)
def test_sizes(number: int, text: str) -> None:
    """Bytes are told in three digits."""
    assert progress.size(number) == text


def test_memory_is_this_process_s() -> None:
    """It is told where the system has it, in bytes."""
    assert (progress.memory() or 10_000_000) >= 10_000_000


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (10, "10 s"), (60, "1 m 00 s"), (3599, "59 m 59 s"), (7500, "2 h 05 m")],
)
def test_times(seconds: float, text: str) -> None:
    """Times are as exact as one wants to know them."""
    assert clock(seconds) == text


def test_hosts_between_two_requests() -> None:
    """While every host waits for its delay, only their number is told."""
    assert progress.hosts(replace(NOW, hosts=(), hosts_waiting=1)) == "1 host waiting"


class Crawl:
    """A crawl that stands still."""

    def snapshot(self) -> Snapshot:
        """Return how it stands."""
        return NOW


def test_plain_progress_comes_by_itself(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Elsewhere than on a terminal a line comes now and then, without an outcome too, and none after the end."""
    monkeypatch.setattr(progress, "EVERY", 0.02)
    with progress.progress(Crawl(), quiet=False, verbose=True) as shown:
        shown.outcome(Skipped(REQUEST, "robots"))
        time.sleep(0.3)
    err = capsys.readouterr().err
    assert "- robots http://museum.example/\n" in err
    assert err.count(progress.plain_line(NOW)) > 1
    time.sleep(0.1)
    assert capsys.readouterr() == ("", "")


def test_silence(capfd: pytest.CaptureFixture[str]) -> None:
    """When asked to, progress says nothing but what a signal does."""
    with progress.progress(Crawl(), quiet=True, verbose=True) as shown:
        shown.outcome(Skipped(REQUEST, "robots"))
        shown.note("stopping")
    assert capfd.readouterr() == ("", "spider: stopping\n")


class Stopped:
    """Work that can be stopped, and remembers how it was."""

    def __init__(self) -> None:
        """Run."""
        self.asked: list[bool] = []

    def stop(self, *, now: bool = False) -> None:
        """Remember."""
        self.asked.append(now)


def test_two_signals_stop_twice_and_a_third_kills() -> None:
    """The first asks for an end, the second for one at once, and then the signals are what they were."""
    work, notes = Stopped(), list[str]()
    before = signal.getsignal(signal.SIGINT)
    with stopping(work, notes.append) as caught:
        assert caught.exit_code is None
        os.kill(os.getpid(), signal.SIGTERM)
        assert (work.asked, caught.exit_code) == ([False], 143)
        os.kill(os.getpid(), signal.SIGINT)
        assert (work.asked, caught.exit_code) == ([False, True], 143)
        assert signal.getsignal(signal.SIGINT) is before
    assert signal.getsignal(signal.SIGINT) is before
    assert len(notes) == 2


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


class Breaking(Stopped):
    """A crawl that gets a signal and then breaks."""

    exit_code = 0

    def __init__(self, *, signalled: bool) -> None:
        """Break, after a signal or without."""
        super().__init__()
        self.signalled = signalled

    def run(self) -> Iterator[Outcome]:
        """Break."""
        if self.signalled:
            os.kill(os.getpid(), signal.SIGINT)
        yield Skipped(REQUEST, "robots")
        raise StorageError("the database is gone")

    def snapshot(self) -> Snapshot:
        """Return how it stands."""
        return NOW

    def last_line(self) -> str:
        """Return something."""
        return "ended"

    def ajax_line(self) -> None:
        """Say nothing."""


def test_a_signal_s_code_goes_first(capsys: pytest.CaptureFixture[str]) -> None:
    """What breaks after a signal is told, and the code is the signal's; without a signal it is the error's."""
    assert follow(Breaking(signalled=True), quiet=True, verbose=False) == 130
    said = capsys.readouterr().err.splitlines()
    assert said == ["spider: the database is gone", "spider: seed http://museum.example/: refused by rule robots"]
    with pytest.raises(StorageError):
        follow(Breaking(signalled=False), quiet=True, verbose=False)
