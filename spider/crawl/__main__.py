"""A worker process of a crawl, begun by `team`: ``python -m spider.crawl LINE``, not for use by hand.

LINE is the number of the open file that leads to the process that began it.
"""

from __future__ import annotations

import sys

from spider.crawl.member import work

if __name__ == "__main__":
    work(int(sys.argv[1]))
