"""What is worth visiting, in which order, and who does it: the room where all others meet.

`Crawler` runs a `Plan` over a database from its seeds; `Checker` asks whether the media found are still there.
"""

from __future__ import annotations

from spider.crawl.checker import Checker, Choice, Standing
from spider.crawl.crawler import Crawler
from spider.crawl.nursery import nursing
from spider.crawl.plan import Plan
from spider.crawl.seeds import Seed, load_seeds, read_seeds
from spider.crawl.standing import Sight, Snapshot

__all__ = [
    "Checker",
    "Choice",
    "Crawler",
    "Plan",
    "Seed",
    "Sight",
    "Snapshot",
    "Standing",
    "load_seeds",
    "nursing",
    "read_seeds",
]
