"""Trees for tests: HTML in a few words, and random ones."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import strategies as st

from spider.ajax.dom import Element

_VOID = {"input", "br", "img", "source"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.stack: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        place, parent = len(self.elements), self.stack[-1] if self.stack else -1
        attributes = tuple((name, value or "") for name, value in attrs if name not in {"-events", "node"})
        facts = dict(attrs)
        events = frozenset((facts.get("-events") or "").split())
        self.elements.append(Element(tag, attributes, parent, int(facts.get("node") or place + 1), "", events))
        if tag not in _VOID:
            self.stack.append(place)

    def handle_endtag(self, tag: str) -> None:
        while self.stack and self.elements[self.stack.pop()].name != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.stack and data.strip():
            at = self.stack[-1]
            old = self.elements[at]
            text = f"{old.text} {' '.join(data.split())}".strip()
            self.elements[at] = Element(old.name, old.attributes, old.parent, old.node, text, old.events)


def tree(html: str) -> list[Element]:
    """Read HTML into a tree; ``-events="click"`` gives an element listeners, ``node="7"`` its number."""
    reader = _Reader()
    reader.feed(html)
    return reader.elements


NAMES = st.sampled_from(["div", "p", "a", "ul", "li", "button", "section"])
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["href", "data-id", "class", "style", "role", "id"]), st.text("ab/1", max_size=4), max_size=3
)


@st.composite
def trees(draw: st.DrawFn, *, most: int = 14) -> list[Element]:
    """Draw a tree of elements."""
    elements = [Element("html", node=1)]
    for number in range(draw(st.integers(0, most))):
        line = [len(elements) - 1]
        while line[-1] > 0:
            line.append(elements[line[-1]].parent)
        parent = draw(st.sampled_from(line))
        events = draw(st.frozensets(st.sampled_from(["click", "change"]), max_size=1))
        attributes = tuple(draw(ATTRIBUTES).items())
        elements.append(Element(draw(NAMES), attributes, parent, number + 2, draw(st.text("xy ", max_size=3)), events))
    return elements
