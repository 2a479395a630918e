"""Write XML by hand, an element at a time: what a page says is text in it, without characters that XML forbids."""

from __future__ import annotations

import re
from typing import TextIO

from spider.report.text import visible

__all__ = ["Writer"]

# XML 1.0, section 2.2: everything but Char.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAMED = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_MARKUP = re.compile('[&<>"\t\n\r]')


class Writer:
    """Elements on their way to a stream; on a terminal controls are made visible instead of being sent."""

    def __init__(self, stream: TextIO) -> None:
        """Begin the document."""
        self._stream = stream
        self._seen = stream.isatty()
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')

    def escaped(self, text: str) -> str:
        """Return a text fit to stand in an element or an attribute."""
        shown = visible(text) if self._seen else text
        return _MARKUP.sub(lambda found: _NAMED[found[0]], _FORBIDDEN.sub("", shown))

    def raw(self, markup: str) -> None:
        """Write markup of our own, as it is."""
        self._stream.write(markup)

    def open(self, tag: str, **attributes: str) -> None:
        """Begin an element; names of attributes have an underscore for a colon."""
        self._stream.write(f"<{tag}{self._attributes(attributes)}>\n")

    def close(self, tag: str) -> None:
        """End an element."""
        self._stream.write(f"</{tag}>\n")

    def leaf(self, tag: str, text: str | None = None, **attributes: str) -> None:
        """Write an element with a text, or an empty one for None."""
        inner = "/>" if text is None else f">{self.escaped(text)}</{tag}>"
        self._stream.write(f"<{tag}{self._attributes(attributes)}{inner}\n")

    def _attributes(self, given: dict[str, str]) -> str:
        return "".join(f' {name.replace("_", ":")}="{self.escaped(value)}"' for name, value in given.items())
