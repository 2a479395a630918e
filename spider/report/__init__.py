"""What was found?  Rows of the catalog turned into tables and files.

The room knows nothing of how the rows were asked for; every text in them came from a page and is data.
"""

from __future__ import annotations

from spider.report.text import visible

__all__ = ["visible"]
