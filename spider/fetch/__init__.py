"""The network's door: may I ask (robots, guard), when may I ask (pace), what came back (client).

It knows HTTP, but neither pages nor the database, and decides nothing about where to go.
"""

from __future__ import annotations

from spider.fetch.client import Client, ClientSettings, every_type, page_types
from spider.fetch.guard import Guard
from spider.fetch.pace import Pace, retry_after
from spider.fetch.robots import Decision, Robots
from spider.fetch.ruling import Access, Ruling, access, ask, robots_url

__all__ = [
    "Access",
    "Client",
    "ClientSettings",
    "Decision",
    "Guard",
    "Pace",
    "Robots",
    "Ruling",
    "access",
    "ask",
    "every_type",
    "page_types",
    "retry_after",
    "robots_url",
]
