"""What is worth visiting, in which order, and who does it: the room where all others meet.

`Crawler` runs a `Plan` over a database from its seeds.
"""

from __future__ import annotations

from spider.crawl.crawler import Crawler, Snapshot
from spider.crawl.plan import Plan
from spider.crawl.seeds import Seed, load_seeds, read_seeds

__all__ = ["Crawler", "Plan", "Seed", "Snapshot", "load_seeds", "read_seeds"]
