"""Pages for tests to crawl, written in a word or two, and what was asked of their server."""

from __future__ import annotations

from collections import Counter

from tests.server import Reply, WebServer

__all__ = ["moved", "page", "paths"]


def page(*hrefs: str, more: str = "") -> str:
    """Write a page with links, the anchor text of each being its address."""
    links = "".join(f'<a href="{href}">{href}</a> ' for href in hrefs)
    return f"<!doctype html><title>page</title>{links}{more}"


def moved(to: str, status: int = 302) -> Reply:
    """Answer with a redirect."""
    return Reply("moved", status=status, headers=(("Location", to),))


def paths(server: WebServer) -> Counter[str]:
    """Count the paths asked for, robots.txt apart."""
    return Counter(path for path in server.asked() if path != "/robots.txt")
