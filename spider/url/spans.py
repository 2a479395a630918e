"""The fast lane of the interpreted twin: spans of characters, by regular expressions made from the encode sets.

It answers as `spider.url.lane` does: None for anything out of the ordinary, which is the machine's
business.  Every expression reads forward only; none can take more than linear time.
"""

from __future__ import annotations

import re

from spider.url import percent

__all__ = ["Lane"]


def _all_but(encode_set: frozenset[str] | set[str]) -> str:
    """Write the class of the ASCII characters that are not in the set."""
    return f"[{re.escape(''.join(c for c in map(chr, range(0x80)) if c not in encode_set))}]*"


_PATH = _all_but(percent.PATH | {"\\"})
_QUERY = rf"(?:\?{_all_but(percent.SPECIAL_QUERY)})?"
_NUMBER = "(?:0|1[0-9]{0,2}|2(?:[0-4][0-9]?|5[0-5]?|[6-9])?|[3-9][0-9]?)"
_DOTTED = rf"{_NUMBER}(?:\.{_NUMBER}){{3}}(?![^/?#:])"  # an IPv4 address as the standard writes it
_LABELS = rf"(?:{_DOTTED}|(?>(?:[a-z0-9_-]*\.)*)[a-z_-][a-z0-9_-]*)"  # else the last label begins with no digit
_PORT = r"(?::(?!(?:80|443)(?![0-9]))[1-9][0-9]{0,3})?(?![^/?#])"
_WEB = re.compile(rf"https?://{_LABELS}{_PORT}(/{_PATH})?{_QUERY}")
_NET = re.compile(rf"//{_LABELS}{_PORT}(/{_PATH})?{_QUERY}")
_ROOTED = re.compile(rf"/(?![/\\]){_PATH}{_QUERY}")
_SEARCH = re.compile(_QUERY)
_LOCAL = re.compile(rf"(?![/.?#]|[a-zA-Z][a-zA-Z0-9+.-]*:){_PATH}{_QUERY}")
_OPAQUE = re.compile(
    rf"(?!(?:https?|wss?|ftp|file):)[a-z][a-z0-9+.-]*:(?!/){_all_but(percent.C0_CONTROL | set('?#'))}(?<! )"
    rf"(?:\?{_all_but(percent.QUERY)})?",
)
_DOTS = re.compile(r"/\.|%2[eE]")
_STRIPPED = "".join(map(chr, range(0x21)))
_DROPPED = re.compile("[\t\n\r]")


class Lane:
    """A page's address, made ready to take its links; "" stands for no page."""

    __slots__ = ("directory", "origin", "path", "ready", "scheme", "shifts", "text", "utf8")

    plain = False  # nothing is known of the answer's key

    def __init__(self, text: str, *, codec: str, ready: bool) -> None:
        """Take a page's normalized address, "" for none; `ready` says that it is a web page's."""
        self.text = text
        self.ready = ready
        self.utf8, self.shifts = codec == "utf-8", codec == "iso2022_jp"
        self.scheme = self.origin = self.path = self.directory = ""
        if ready:
            self.scheme, _, rest = text.partition("//")
            self.path = text.partition("?")[0]
            self.origin = f"{self.scheme}//{rest[: rest.index('/')]}"
            self.directory = self.path[: self.path.rindex("/") + 1]

    def address(self, text: str) -> str | None:
        """Normalize `text` as a link of the page; None where that is the machine's business."""
        found = self._clean(text)
        return self._spelled(text) if found is None else found

    ask = address

    def _clean(self, text: str) -> str | None:
        """Take a text that needs no escapes."""
        head = ""
        first = text[:1]
        if first == "h" and (match := _WEB.match(text)):
            pass
        elif not self.ready:
            match = _OPAQUE.match(text)
        elif first == "/":
            match = _ROOTED.match(text)
            head = self.origin
            if not match:
                match = _NET.match(text)
                head = self.scheme
        else:
            return self._relative(text, first)
        return _joined(head, text, match)

    def _relative(self, text: str, first: str) -> str | None:
        """Take a text that is relative to the page's path, or opaque."""
        if first in {"", "#"}:
            return self.text
        if first == "?":
            return _joined(self.path, text, _SEARCH.match(text))
        if match := _LOCAL.match(text):
            return _joined(self.directory, text, match)
        return _joined("", text, _OPAQUE.match(text))

    def _spelled(self, text: str) -> str | None:
        """Take a text that needs stripping, or escapes in its path and query."""
        stripped = text.strip(_STRIPPED)
        if _DROPPED.search(stripped):
            return None
        if stripped != text and (found := self._clean(stripped)) is not None:
            return found
        path, mark, query = stripped.partition("#")[0].partition("?")
        if not self.utf8 and not query.isascii():
            return None
        try:
            path = percent.encode(path, percent.PATH)
            written = percent.encode(query, percent.SPECIAL_QUERY)
        except UnicodeEncodeError:  # a surrogate
            return None
        if self.shifts and written != query:
            return None
        spelled = path + mark + written
        return None if spelled == stripped or _OPAQUE.match(spelled) else self._clean(spelled)


def _joined(head: str, text: str, match: re.Match[str] | None) -> str | None:
    """Put the head before what was matched, if that is all but the fragment and has no dot segments."""
    if match is None:
        return None
    end = match.end()
    if end != len(text) and text[end] != "#":
        return None
    if ("." in text or "%2" in text) and (dots := _DOTS.search(text, 0, end)):
        mark = text.find("?", 0, end)
        if mark < 0 or dots.start() < mark:
            return None
    if match.re.groups and match[1] is None:
        name, sign, query = match[0].partition("?")
        return f"{head}{name}/{sign}{query}"
    return head + text[:end] if head or end != len(text) else text
