"""Text of pages, made fit to be shown: it is data, and must not steer the terminal it is shown on."""

from __future__ import annotations

import re

__all__ = ["visible"]

# What a terminal acts on instead of showing it: C0 and DEL, C1 (ECMA-48), the line and paragraph
# separators, the marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX 9),
# invisible operators and tags, half a surrogate pair.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return the text with every character that steers instead of showing written as an escape (``\x1b``)."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode-escape", "surrogatepass").decode("ascii"), text)
