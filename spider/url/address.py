"""What a crawler asks for: the address to fetch, of one link or of a page's links at once, and its identity.

A part of the compiled twin, see `spider.url.engine`: the fast lane first, the machine for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from spider.url.batch import Stamps
from spider.url.fallback import attempt, whole
from spider.url.ladder import KEY_LADDER
from spider.url.spans import Lane  # the compiled twin has `spider.url.lane`'s
from spider.url.stamp import Text, identify
from spider.url.value import URL, codec_of

if TYPE_CHECKING:
    import cython
else:
    from spider.url import uncython as cython

__all__ = ["identify", "identify_all", "is_compiled", "normalize", "normalize_all"]


def is_compiled() -> bool:
    """Say whether the compiled twin answers."""
    return bool(cython.compiled)


@lru_cache(maxsize=64)
def _page(base: str | None, codec: str) -> Lane:
    """Make a page's lane; raise InvalidURL if its address is none."""
    address = "" if base is None else normalize(base)
    return Lane(address, codec=codec, ready=address.startswith(("http://", "https://")))


_NOWHERE = cython.declare(Lane)
_NOWHERE = _page(None, "utf-8")


def normalize(text: Text, base: URL | Text | None = None, *, encoding: Text = "utf-8") -> str:
    """Write the address to fetch: the standard's serialization without fragment (section 4.5).

    `encoding` is as in `parse`.  An address that is written so already comes back as the same
    object.  Raise InvalidURL for a text that is no URL.
    """
    result: str | None
    if base is None and type(text) is str and encoding == "utf-8":
        result = _NOWHERE.address(text)
        return whole(text, None, "utf-8") if result is None else result
    text = str(text)
    codec = codec_of(encoding)
    page = None if base is None else str(base)
    lane: Lane = _page(page, codec)
    result = lane.address(text)
    return whole(text, page, codec) if result is None else result


def normalize_all(hrefs: Iterable[Text], base: URL | Text, *, encoding: Text = "utf-8") -> list[str | None]:
    """Normalize a page's links at once, each relative to `base`; None for one that is no URL.

    Raise InvalidURL if `base` is none.
    """
    codec = codec_of(encoding)
    page = str(base)
    lane: Lane = _page(page, codec)
    texts: list[Text] = list(hrefs)
    results: list[str | None] = [None] * len(texts)
    place: cython.Py_ssize_t = 0
    for text in texts:
        text = text if type(text) is str else str(text)  # noqa: PLW2901
        result: str | None = lane.address(text)
        results[place] = attempt(text, page, codec) if result is None else result
        place += 1  # noqa: SIM113  # a C integer
    return results


def identify_all(
    hrefs: Iterable[Text], base: URL | Text, *, encoding: Text = "utf-8", ladder: Text = KEY_LADDER
) -> list[tuple[str, int] | None]:
    """Normalize a page's links at once, each with the hash of its key; see `normalize_all` and `identify`."""
    if ladder != KEY_LADDER:
        addresses = normalize_all(hrefs, base, encoding=encoding)
        return [None if address is None else (address, identify(address, ladder=ladder)) for address in addresses]
    codec = codec_of(encoding)
    page = str(base)
    lane: Lane = _page(page, codec)
    texts: list[Text] = list(hrefs)
    results: list[Any] = [None] * len(texts)
    stamps: Stamps = Stamps(results)
    place: cython.Py_ssize_t = 0
    for text in texts:
        text = text if type(text) is str else str(text)  # noqa: PLW2901
        address: str | None = lane.address(text)
        if address is None:
            address = attempt(text, page, codec)
        if address is not None:
            stamps.put(place, address, lane.plain)
        place += 1  # noqa: SIM113  # a C integer
    stamps.end()
    return results
