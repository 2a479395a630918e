"""Laws of the pace: never faster than asked, slower when told, and off when switched off."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.fetch import Pace
from spider.fetch.pace import MAX_BACKOFF, MAX_CRAWL_DELAY, MAX_RETRY_AFTER

SECONDS = st.floats(0, 1e6)
PACES = st.builds(
    Pace,
    setting=st.floats(0.001, 100),
    crawl_delay=st.none() | SECONDS,
    latency=SECONDS,
    backoff=st.floats(0, MAX_BACKOFF),
)
ANSWERS = st.lists(st.tuples(st.sampled_from([200, 301, 404, 429, 500, 503]), SECONDS), max_size=30)


@pytest.mark.parametrize(
    ("pace", "delay"),
    [
        (Pace(1.0), 1.0),
        (Pace(1.0, crawl_delay=5.0), 5.0),
        (Pace(7.0, crawl_delay=5.0), 7.0),
        (Pace(1.0, crawl_delay=86400.0), MAX_CRAWL_DELAY),
        (Pace(60.0, crawl_delay=86400.0), 60.0),
        (Pace(1.0, crawl_delay=86400.0, cap=120.0), 120.0),
        (Pace(1.0, latency=3.0), 3.0),
        (Pace(1.0, latency=3.0, factor=0.0), 1.0),
        (Pace(1.0, backoff=16.0), 16.0),
        (Pace(0.0, crawl_delay=5.0, latency=3.0, backoff=16.0), 0.0),
    ],
)
def test_the_delay_is_the_longest_of_its_parts(pace: Pace, delay: float) -> None:
    """The setting, the capped Crawl-delay, the latency and the backoff: the longest counts; 0 switches all off."""
    assert pace.delay == delay


@given(PACES, ANSWERS)
def test_never_faster_than_asked(pace: Pace, answers: list[tuple[int, float]]) -> None:
    """Whatever is answered, the delay stays at the setting, the Crawl-delay's cap and above, and below its bound."""
    floor = max(pace.setting, min(pace.crawl_delay or 0, MAX_CRAWL_DELAY))
    for status, latency in answers:
        pace = pace.after(status, latency)
        assert floor <= pace.delay <= max(floor, MAX_BACKOFF)


@given(PACES, st.sampled_from([429, 503]), SECONDS)
def test_slower_when_told(pace: Pace, status: int, latency: float) -> None:
    """After 429 and 503 the delay doubles, up to its bound."""
    assert pace.after(status, latency).delay >= min(MAX_BACKOFF, 2 * pace.delay)


@given(PACES, st.integers(1, 8))
def test_gently_back(pace: Pace, refusals: int) -> None:
    """Good answers bring the delay back step by step, never up, and at last to where it began."""
    pace = replace(pace, latency=0.0, backoff=0.0, factor=0.0)
    began = pace.delay
    for _ in range(refusals):
        pace = pace.after(429, 0.0)
    for _ in range(30):
        before = pace.delay
        pace = pace.after(200, 0.0)
        assert before / 2 <= pace.delay <= before
    assert pace.delay == began


@given(PACES, st.none() | SECONDS)
def test_retry_after_is_kept_up_to_a_cap(pace: Pace, asked: float | None) -> None:
    """The wait is what the server asks, up to an hour, and never less than the delay."""
    assert pace.wait(asked) == max(pace.delay, min(asked or 0, MAX_RETRY_AFTER))


@given(PACES, ANSWERS, SECONDS)
def test_zero_switches_all_waiting_off(pace: Pace, answers: list[tuple[int, float]], asked: float) -> None:
    """With a setting of 0 nothing is waited for, whatever anybody asks."""
    pace = replace(pace, setting=0.0)
    for status, latency in answers:
        pace = pace.after(status, latency)
    assert (pace.delay, pace.wait(asked)) == (0.0, 0.0)


def test_the_latency_follows_the_host() -> None:
    """The latency is smoothed: one slow answer moves it a little, many move it all the way."""
    pace = Pace(0.1).after(200, 1.0)
    assert pace.latency == 1.0
    assert 1.0 < pace.after(200, 5.0).latency < 3.0
    for _ in range(40):
        pace = pace.after(200, 5.0)
    assert pace.latency == pytest.approx(5.0, abs=0.01)
