"""From the browser's snapshot of a page (CDP DOMSnapshot.captureSnapshot) to a tree, and back to HTML.

Pure: a snapshot is a value.  It holds what scripts cannot see, closed shadow roots, and the frames too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from spider.ajax.dom import Element

__all__ = ["Document", "Snapshot"]

_ELEMENT, _TEXT, _FRAGMENT = 1, 3, 11
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
_RAW = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"})
_MAX_DEPTH = 1000  # of elements in each other; a browser stops nesting at 512


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a page as HTML: its address, the base of its references, its bytes."""

    url: str
    base: str
    html: str


class Snapshot:
    """One sight of a page."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        """Take the answer of the browser as it is."""
        self._strings: list[str] = raw["strings"]
        self._documents: list[dict[str, Any]] = raw["documents"]
        self._children = [_children(document["nodes"]["parentIndex"]) for document in self._documents]
        self._frames = [_sparse(document["nodes"].get("contentDocumentIndex")) for document in self._documents]
        self._shadows = [_sparse(document["nodes"].get("shadowRootType")) for document in self._documents]

    @property
    def url(self) -> str:
        """The address of the page, as it stands now."""
        return self._string(self._documents[0]["documentURL"])

    def _string(self, index: int) -> str:
        return self._strings[index] if 0 <= index < len(self._strings) else ""

    # -- tree --------------------------------------------------------------------------------------

    def tree(self, events: Mapping[int, frozenset[str]] | None = None) -> list[Element]:
        """Return the elements of all documents; `events` are the types each node has handlers for."""
        known = events or {}
        elements: list[Element] = []
        stack = [(0, 0, -1, 0)]
        while stack:
            document, index, parent, depth = stack.pop()
            nodes, children = self._documents[document]["nodes"], self._children[document]
            place, kind = parent, nodes["nodeType"][index]
            if kind == _FRAGMENT and self._is_own(document, index):
                continue
            if kind in {_ELEMENT, _FRAGMENT}:
                place = len(elements)
                elements.append(self._element(document, index, parent, known))
            if depth > _MAX_DEPTH:
                continue
            frame = self._frames[document].get(index)
            if frame is not None and 0 < frame < len(self._documents):
                stack.append((frame, 0, place, depth + 1))
            stack.extend((document, child, place, depth + 1) for child in reversed(children.get(index, ())))
        return elements

    def _is_own(self, document: int, index: int) -> bool:
        """Say whether a shadow root is the browser's own, as that of an input."""
        return self._string(self._shadows[document].get(index, -1)) == "user-agent"

    def _element(self, document: int, index: int, parent: int, events: Mapping[int, frozenset[str]]) -> Element:
        nodes, children = self._documents[document]["nodes"], self._children[document]
        node = nodes["backendNodeId"][index]
        texts = (
            self._string(nodes["nodeValue"][child])
            for child in children.get(index, ())
            if nodes["nodeType"][child] == _TEXT
        )
        return Element(
            self._name(document, index),
            self._attributes(document, index),
            parent,
            node,
            " ".join(" ".join(texts).split()),
            events.get(node, frozenset()),
        )

    def _name(self, document: int, index: int) -> str:
        if self._documents[document]["nodes"]["nodeType"][index] == _FRAGMENT:
            return "shadow-root"
        return self._string(self._documents[document]["nodes"]["nodeName"][index]).lower()

    def _attributes(self, document: int, index: int) -> tuple[tuple[str, str], ...]:
        flat = self._documents[document]["nodes"]["attributes"][index]
        return tuple((self._string(flat[at]), self._string(flat[at + 1])) for at in range(0, len(flat) - 1, 2))

    # -- HTML --------------------------------------------------------------------------------------

    def documents(self) -> Iterator[Document]:
        """Yield each document as HTML, shadow roots written where their hosts stand."""
        for number, document in enumerate(self._documents):
            url, base = self._string(document["documentURL"]), self._string(document["baseURL"])
            yield Document(url, base or url, "".join(self._html(number)))

    def _html(self, document: int) -> Iterator[str]:
        nodes, children = self._documents[document]["nodes"], self._children[document]
        stack: list[int | str] = [0]
        raw: set[int] = set()
        yield "<!DOCTYPE html>"
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
                continue
            kind = nodes["nodeType"][item]
            if kind == _TEXT:
                text = self._string(nodes["nodeValue"][item])
                yield text if nodes["parentIndex"][item] in raw else escape(text, quote=False)
                continue
            if kind == _ELEMENT:
                name = self._string(nodes["nodeName"][item]).lower()
                yield f"<{name}{''.join(self._written(document, item))}>"
                if name in _VOID:
                    continue
                if name in _RAW:
                    raw.add(item)
                stack.append(f"</{name}>")
            elif kind == _FRAGMENT and self._is_own(document, item):
                continue
            stack.extend(reversed(children.get(item, ())))

    def _written(self, document: int, index: int) -> Iterator[str]:
        for name, value in self._attributes(document, index):
            if not set(name) & set(" \t\n\f\r\"'<>/="):
                yield f' {name}="{escape(value)}"'


def _children(parents: Sequence[int]) -> dict[int, list[int]]:
    """Turn parents into children, in document order."""
    children: dict[int, list[int]] = {}
    for index, parent in enumerate(parents):
        if parent >= 0:
            children.setdefault(parent, []).append(index)
    return children


def _sparse(data: Mapping[str, Sequence[int]] | None) -> dict[int, int]:
    """Turn the snapshot's lists of indexes and values into a dict."""
    return dict(zip(data["index"], data["value"], strict=False)) if data else {}
