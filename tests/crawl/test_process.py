"""Where a process keeps to: one processor while it works alone, all of them before and after."""

from __future__ import annotations

import os
import threading

import pytest

from spider.crawl.process import bind, cores, stay

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system binds no threads")


def test_a_thread_keeps_to_one_processor_until_it_is_let_go() -> None:
    """It and those that it begins; what it was free to use comes back, and nothing it was not."""
    before = cores()
    inherited: list[list[int]] = []
    free = stay()
    try:
        assert free == before
        assert len(cores()) == 1
        assert set(cores()) <= set(before)
        thread = threading.Thread(target=lambda: inherited.append(cores()))
        thread.start()
        thread.join()
        assert inherited == [cores()]
    finally:
        bind(free)
    assert cores() == before


def test_a_processor_that_is_none_binds_nobody() -> None:
    """One that was taken away meanwhile leaves the thread as it was; none at all is no wish."""
    before = cores()
    bind([100_000])
    bind([])
    assert cores() == before
