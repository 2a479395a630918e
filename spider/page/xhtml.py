"""XHTML read as HTML: the one thing that HTML reads otherwise is put right.

``<script src="x"/>`` is whole in XML; in HTML the slash means nothing and the script goes on to the end.
"""

from __future__ import annotations

import re

from spider.page.hostile import REST, VOID

__all__ = ["as_html", "is_xhtml"]

_TAG = re.compile(rf"<([a-zA-Z][^\s/>]*+)({REST})(?:>|\Z)")


def is_xhtml(content_type: str | None) -> bool:
    """Say whether a document was served as XHTML, which browsers read as XML."""
    return content_type is not None and content_type.strip().lower().startswith("application/xhtml+xml")


def as_html(text: str) -> str:
    """Give each element that closes itself an end tag, but for those that have none in HTML."""
    return _TAG.sub(_closed, text)


def _closed(match: re.Match[str]) -> str:
    name, rest = match[1], match[2]
    if not rest.endswith("/") or name.lower() in VOID:
        return match[0]
    return f"<{name}{rest[:-1]}></{name}>"
