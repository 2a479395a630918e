"""The network's door: may I ask (robots, guard), when may I ask (pace), what came back (client).

It knows HTTP, but neither pages nor the database, and decides nothing about where to go.
"""

from __future__ import annotations

from spider.fetch.client import Client, ClientSettings, every_type, page_types
from spider.fetch.guard import Guard
from spider.fetch.homes import Homes
from spider.fetch.meta import Permission, header_words, link_follows, meta_words, permission
from spider.fetch.pace import Pace, retry_after
from spider.fetch.proxy import GuardedProxy
from spider.fetch.robots import MAX_BODY, Decision, Robots
from spider.fetch.ruling import Access, Ruling, access, ask, robots_url

__all__ = [
    "MAX_BODY",
    "Access",
    "Client",
    "ClientSettings",
    "Decision",
    "Guard",
    "GuardedProxy",
    "Homes",
    "Pace",
    "Permission",
    "Robots",
    "Ruling",
    "access",
    "ask",
    "every_type",
    "header_words",
    "link_follows",
    "meta_words",
    "page_types",
    "permission",
    "retry_after",
    "robots_url",
]
