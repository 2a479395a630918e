"""Pages of ten megabytes, whatever they are made of, cost fifty while they are read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import environment
from tests.hostile.greedy import GREEDY
from tests.hostile.stage import GROWTH

DAILY = ("one script", "scripts", "text and one far character")
SECONDS = 30.0  # of processor time; a page of this size takes up to seven

READ = """
import resource, sys
from spider.crawl.process import settle
from spider.page import read
from tests.hostile.driver import calm, memory
from tests.hostile.greedy import GREEDY

settle()
read(b"<a href=x>x</a><script>x='y.mp4'</script>", "http://h.test/")
body = GREEDY[sys.argv[1]]()
before = calm()
read(body, "http://h.test/")
print((memory("VmHWM") - before) / 1024, resource.getrusage(resource.RUSAGE_SELF).ru_utime)
"""


def what() -> list[object]:
    """Return each page's name; most are for the soak."""
    return [name if name in DAILY else pytest.param(name, marks=pytest.mark.soak) for name in GREEDY]


@pytest.mark.parametrize("name", what())
def test_a_greedy_page(name: str) -> None:
    """No page costs more than its share of memory, beside its own bytes, nor minutes."""
    said = subprocess.run(
        [sys.executable, "-c", READ, name], env=environment(), capture_output=True, text=True, check=True
    )
    growth, seconds = map(float, said.stdout.split())
    assert growth <= GROWTH
    assert seconds <= SECONDS
