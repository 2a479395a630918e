"""What a page and its headers say to robots: meta robots, X-Robots-Tag, rel; words in, a permission out.

The words are those that search engines agree on (noindex, nofollow, none); other words say nothing
here.  What is said to another agent by name is not said to us.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Permission", "header_words", "link_follows", "meta_words", "permission"]

NO_INDEX = frozenset({"noindex", "none"})
NO_FOLLOW = frozenset({"nofollow", "none"})
WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
SEPARATORS = re.compile(r"[,;\s]+")
ADDRESSED = re.compile(r"\s*([A-Za-z_-]{1,64})\s*:")


@dataclass(frozen=True, slots=True)
class Permission:
    """What may be done with a page: `index` it (record it), `follow` its links."""

    index: bool = True
    follow: bool = True


def permission(words: Iterable[str]) -> Permission:
    """Tell what the words leave allowed; of several, the strictest counts."""
    said = frozenset(words)
    return Permission(index=not said & NO_INDEX, follow=not said & NO_FOLLOW)


def meta_words(metas: Iterable[tuple[str, str]], agent: str) -> frozenset[str]:
    """Return the words, lower case, of the meta elements (name, content) that speak to everybody or to the agent."""
    names = {"robots", agent.lower()}
    return frozenset(
        word for name, content in metas if name.strip().lower() in names for word in _words(content)
    )  # fmt: skip


def header_words(values: Iterable[str], agent: str) -> frozenset[str]:
    """Return the words, lower case, of X-Robots-Tag headers, one value for each header, that speak to the agent.

    An agent's name and a colon address the words that follow, up to the next name.
    """
    found: set[str] = set()
    for value in values:
        speaks = True
        for part in re.split(r"[,;]", value):
            name = ADDRESSED.match(part)
            if name is not None and name[1].lower() not in WITH_VALUE:
                speaks = name[1].lower() == agent.lower()
                part = part[name.end() :]  # noqa: PLW2901  # what is left of it
            if speaks:
                found |= _words(part)
    return frozenset(found)


def link_follows(rel: Iterable[str]) -> bool:
    """Tell whether a link with these rel words may be followed; ugc and sponsored are hints to search engines only."""
    return "nofollow" not in {word.lower() for word in rel}


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in SEPARATORS.split(text.lower()) if word)
