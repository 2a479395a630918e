"""What is known, and what is next?  The one door to the database.

`Database` opens it; the modules are functions on a connection: `frontier` moves links, `hosts` and
`workers` share them out, `seeds` keeps the list, `runs` the record of crawls, `catalog` writes
outcomes, `checks` the health of media, `origins` what robots.txt said, `ask`, `survey`, `forest`, `edges` and `trace`
read, `takedown` forgets, `dictionary` tells what tables hold, `care` whether all is sound, `backup` copies the file,
`copying` all rows.
A `Tally` goes through a writing transaction and is flushed at its end.
"""

from __future__ import annotations

from sqlalchemy import Connection

from spider.store import (
    ask,
    backup,
    care,
    catalog,
    checks,
    copying,
    dictionary,
    edges,
    forest,
    frontier,
    graphs,
    hosts,
    origins,
    runs,
    seeds,
    survey,
    takedown,
    trace,
    workers,
)
from spider.store.database import Database, load_driver
from spider.store.dialect import ladder as ladder_of
from spider.store.tally import Tally

__all__ = [
    "Connection",
    "Database",
    "Tally",
    "ask",
    "backup",
    "care",
    "catalog",
    "checks",
    "copying",
    "dictionary",
    "edges",
    "forest",
    "frontier",
    "graphs",
    "hosts",
    "ladder_of",
    "load_driver",
    "origins",
    "runs",
    "seeds",
    "survey",
    "takedown",
    "trace",
    "workers",
]
