"""Laws of what is passed over: a link that is known makes no difference, and what is remembered is bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spider import url as urls
from spider.crawl import memory
from spider.crawl.lane import Lane
from spider.fetch import Pace
from spider.model import Relation
from spider.store.frontier import NewLink
from spider.store.hosts import Leased
from tests.server import WebServer

URL = "http://a.test/page"


def a_lane(name: str = "a.test") -> Lane:
    """Return a host in hand."""
    return Lane(Leased(1, name, 0, 0, 0, 0), Pace(0.0), 0.0)


def met(depth: int, *, late: bool = False, url: str = URL) -> NewLink:
    """Return a link as it was written down."""
    return NewLink(url, 1, urls.host(url), depth, 1, 9, "a@href", Relation.DOWNWARD, late=late)


@pytest.mark.parametrize(
    ("links", "depth", "late", "old"),
    [
        ([met(2)], 2, False, True),
        ([met(2)], 3, True, True),
        ([met(2)], 1, False, False),  # it comes nearer
        ([met(2)], 1, True, False),
        ([met(2, late=True)], 2, True, True),
        ([met(2, late=True)], 2, False, False),  # it need not wait behind the others any more
        ([met(2, late=True), met(3)], 3, False, True),
        ([met(3), met(2, late=True)], 2, True, False),  # not sure: the database is asked
        ([], 2, False, False),
    ],
)
def test_what_is_news_to_nobody(links: list[NewLink], depth: int, *, late: bool, old: bool) -> None:
    """A link is passed over only where the database would do nothing about it."""
    lane = a_lane()
    memory.learn({"a.test": lane}, links)
    assert (URL in memory.Old(lane.known, depth, late)) is old


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many links are met, so many are remembered and no more; the largest host forgets, its oldest first."""
    monkeypatch.setattr(memory, "MOST", 1000)
    lanes = {name: a_lane(name) for name in ("a.test", "b.test")}
    memory.learn(lanes, [met(1, url=f"http://b.test/{number}") for number in range(100)])
    memory.learn(lanes, [met(1, url=f"http://a.test/{number}") for number in range(5000)])
    assert sum(len(lane.known) for lane in lanes.values()) <= 1000
    assert len(lanes["b.test"].known) == 100
    assert "http://a.test/4999" in memory.Old(lanes["a.test"].known, 1)
    assert "http://a.test/0" not in memory.Old(lanes["a.test"].known, 1)


def test_the_forest_is_the_same(
    web: Callable[..., WebServer],
    crawl: Callable[..., Any],
    rows: Callable[..., list[tuple[Any, ...]]],
    site: Callable[..., tuple[Path, dict[str, Any]]],
    tmp_path: Path,
) -> None:
    """A crawl that passes over what it knows finds the forest of one that writes every link down."""
    root, _ = site(pages=50, bytes=2000, links=12)
    seed = f"{web(root).url}index.html"
    found = []
    for keep in (True, False):
        crawl(seed, edges=keep)
        found.append(rows("SELECT url, depth, late, state, relation FROM CrawlerLink ORDER BY url"))
        (tmp_path / "x.db").unlink()
    assert found[0] == found[1]
