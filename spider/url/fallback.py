"""The way round for what the fast lane does not take: through the machine, from the start."""

from __future__ import annotations

from functools import lru_cache

from spider.errors import InvalidURL
from spider.url import reader
from spider.url.fields import Fields, serialize

__all__ = ["attempt", "whole"]


@lru_cache(maxsize=64)
def _fields(base: str) -> Fields:
    return reader.run(base)


def whole(text: str, base: str | None, codec: str) -> str:
    """Normalize by the machine alone; raise InvalidURL."""
    address = serialize(reader.run(text, None if base is None else _fields(base), codec), fragment=False)
    return text if text == address else address


def attempt(text: str, base: str | None, codec: str) -> str | None:
    """Normalize by the machine alone; None for a text that is no URL."""
    try:
        return whole(text, base, codec)
    except InvalidURL:
        return None
