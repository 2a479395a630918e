"""How a command that asks one address asks it: the settings of a crawl that are about the network."""

from __future__ import annotations

from typing import Any

from spider.fetch import ClientSettings, Guard, Homes

__all__ = ["NETWORK", "asking"]

NETWORK = (
    "contact",
    "timeout",
    "deadline",
    "header",
    "cookies",
    "auth",
    "netrc",
    "proxy",
    "environment-proxies",
    "allow-private",
)
"""The settings that `asking` takes, by their options."""


def asking(
    url: str, *, header: tuple[tuple[str, str], ...], allow_private: bool, **values: Any  # noqa: ANN401  # the settings
) -> ClientSettings:  # fmt: skip
    """Return the client's settings; `url`, normalized, was typed, and counts as a seed does."""
    homes = Homes.of([url])
    return ClientSettings(headers=header, guard=Guard(private=allow_private), homes=lambda: homes, **values)
