"""What the response's headers link to: Link (RFC 8288), Refresh, Content-Location, X-Robots-Tag."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spider.model import Source
from spider.page.gather import Attributes, Gathering, Reference
from spider.page.links import refresh_target, typed_link, words
from spider.page.media import preload

__all__ = ["gather_headers"]

_LINK = re.compile(r"""[\s,]*+<([^>]*+)>((?:\s*+;\s*+[^\s=;,"]++(?:\s*+=\s*+(?:"(?:[^"\\]|\\.)*+"|[^\s;,"]*+))?+)*+)""")
_PARAMETER = re.compile(r""";\s*+([^\s=;,"]++)(?:\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;,"]*+)))?+""")
_MOST = 200  # links of one header that are looked at
_LONGEST = 65_536  # characters of one header


def gather_headers(found: Gathering, headers: Mapping[str, str]) -> None:
    """Take what the headers link to; names in any case, repeated headers joined by ", "."""
    values = {name.lower(): value[:_LONGEST] for name, value in headers.items()}
    for href, attributes in _links(values.get("link", "")):
        typed_link(found, href, words(attributes.get("rel")), attributes, Source("header", "link"))
        preload(found, {**attributes, "href": href}, Source("header", "link"))
    target = refresh_target(values.get("refresh", ""))
    if target is not None:
        found.references.append(Reference(target, Source("header", "refresh")))
    place = values.get("content-location", "").strip()
    if place:
        found.references.append(Reference(place, Source("header", "content-location")))
    robots = values.get("x-robots-tag", "")
    if robots and ":" not in robots:
        found.robots.update(robots.replace(",", " ").lower().split())


def _links(value: str) -> list[tuple[str, Attributes]]:
    found: list[tuple[str, Attributes]] = []
    place = 0
    while len(found) < _MOST:
        match = _LINK.match(value, place)
        if not match:
            break
        attributes: Attributes = {}
        for name, quoted, token in _PARAMETER.findall(match[2]):
            attributes.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or token)
        if "anchor" not in attributes:
            found.append((match[1].strip(), attributes))
        place = match.end()
    return found
