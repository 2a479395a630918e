"""Read handlers: does one look at where its event happened, and what does it look for there.

Handlers are read, not run: a handler that has no use for its event cannot tell one target from another,
and one that has names what it looks for in its quoted strings.
"""

from __future__ import annotations

import re

from spider.ajax.dom import Element

__all__ = ["TargetHints", "delegates"]

_LOOKS = re.compile(
    r"target|srcElement|closest|matches|composedPath|\barguments\b|\bthis\b.{0,40}\bapply\b", re.IGNORECASE
)
_PARAMETER = re.compile(
    r"^(?:async\s*)?(?:function\s*\w{0,80}\s*)?\(\s*([A-Za-z_$][\w$]{0,60})|^(?:async\s+)?([A-Za-z_$][\w$]{0,60})\s*=>"
)
_QUOTED = re.compile(r"""(["'`])((?:[^"'`\\\n]){1,120})\1""")
_WORD = re.compile(r"[A-Za-z][\w-]{0,60}")
_DATASET = re.compile(r"dataset\.([A-Za-z]\w{0,60})")
_MOST = 20_000  # characters of a source that are read


def delegates(source: str) -> bool:
    """Say whether a handler, told by its source, may care for the target of its event.

    One whose source is unknown may.
    """
    source = source[:_MOST].strip()
    if not source or _LOOKS.search(source) or "[native code]" in source:
        return True
    found = _PARAMETER.match(source)
    name = next((group for group in found.groups() if group), None) if found else "event"
    rest = source[found.end() :] if found else source
    return name is not None and re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$]|\s*[.?])", rest) is not None


class TargetHints:
    """What a handler's source says of the elements it waits for: the words in its strings, its data sets."""

    def __init__(self, source: str) -> None:
        """Read a source."""
        source = source[:_MOST]
        quoted = " ".join(match[2] for match in _QUOTED.finditer(source))
        self._words = {word.lower() for word in _WORD.findall(quoted)}
        self._data = {f"data-{_dashed(name)}" for name in _DATASET.findall(source)}

    def fit(self, element: Element) -> bool:
        """Say whether an element is one of those that the handler names."""
        if element.name in self._words:
            return True
        for name, value in element.attributes:
            if name in self._data or (name.startswith("data-") and name in self._words):
                return True
            if name in {"class", "id", "role", "name"} and self._words & set(value.lower().split()):
                return True
        return False


def _dashed(name: str) -> str:
    """Return a data set's key as the attribute spells it: userId is user-id."""
    return re.sub(r"([A-Z])", r"-\1", name).lower()
