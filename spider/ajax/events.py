"""Which events can be fired here?  Paper 4: event-bearing nodes, and the framework says how they got theirs.

Pure: a tree, what listens on it, and what frameworks keep become a list of events, grouped by handler and
shape, each with its place in the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from spider.ajax.delegation import TargetHints, delegates
from spider.ajax.dom import DROPPED, Element, Tree, paths
from spider.ajax.wording import KEYS, MODIFIERS, is_logout, value_for

__all__ = ["FIRED", "Event", "Listener", "Sources", "events", "listened"]

FIRED = frozenset({
    "auxclick", "beforeinput", "blur", "change", "click", "contextmenu", "copy", "cut", "dblclick", "drag", "dragend",
    "dragenter", "dragleave", "dragover", "dragstart", "drop", "focus", "focusin", "focusout", "input", "keydown",
    "keypress", "keyup", "mousedown", "mouseenter", "mouseleave", "mousemove", "mouseout", "mouseover", "mouseup",
    "paste", "pointerdown", "pointerenter", "pointerleave", "pointermove", "pointerout", "pointerover", "pointerup",
    "reset", "resize", "scroll", "select", "submit", "touchend", "touchmove", "touchstart", "wheel",
})  # fmt: skip
"""Types that a user can cause; a page's other listeners wait for what no hand does."""

MOVED_BY_HASH = frozenset({"hashchange", "popstate"})
_INTERACTIVE = frozenset({"a", "button", "details", "input", "label", "option", "select", "summary", "textarea"})
_INERT = DROPPED | {"br", "head", "hr", "html", "param", "shadow-root", "source", "track", "wbr", "option", "optgroup"}
_VIEWPORT = 720  # CSS pixels; a page that is higher can be scrolled
_MOST_SHAPES = 40  # kinds of targets tried for one handler that delegates
_MOST_OPTIONS = 12
_SHOWN = 300  # characters of an attribute that tell two members of a group apart
_DOCUMENT = -1


@dataclass(frozen=True, slots=True)
class Listener:
    """One listener of the page: the node it is on (0: the document, -1: the window), type, position, source."""

    node: int
    type: str
    position: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """All that is known of handlers: the page's listeners, frameworks' rows, listeners that only hand on.

    A row is (number of the element among those of the main document outside shadow roots, type,
    library, source); `known` pairs such a number, or -1 for the document, with a type or ``*``.
    """

    listeners: Sequence[Listener] = ()
    rows: Sequence[tuple[int, str, str, str]] = ()
    known: frozenset[tuple[int, str]] = frozenset()
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class Event:
    """One event that can be fired: its type, on the element at `place`, with `value` where one is given.

    Members of one `group` share handler and shape; those that also share `signature` do the same,
    as far as anyone can see.
    """

    place: int
    type: str
    group: str
    signature: str
    path: str
    value: str = ""


@dataclass(slots=True)
class _Board:
    """What is known while events are gathered."""

    tree: Tree
    where: list[str]
    inside: list[int]
    found: dict[tuple[int, str, str], Event] = field(default_factory=dict)

    def add(self, place: int, kind: str, handler: str, value: str | None = None) -> None:
        """Add an event unless it is there, or would log out, or its element is disabled."""
        element = self.tree[place]
        if kind not in FIRED or element.get("disabled") is not None or is_logout(_wording(self.tree, place)):
            return
        for one in _values(self.tree, place, kind, handler) if value is None else (value,):
            event = Event(
                place,
                kind,
                f"{handler} {kind} {_shape(element)}",
                f"{_signature(element)} {one}",
                self.where[place],
                one,
            )
            self.found.setdefault((place, kind, one), event)


def events(tree: Tree, sources: Sources) -> list[Event]:
    """Return the events that can be fired on a tree, in document order."""
    board = _Board(tree, paths(tree), _ends(tree))
    places = {element.node: place for place, element in enumerate(tree)}
    light = _light(tree)
    known = {(light[number].node if number >= 0 else 0, kind) for number, kind in sources.known if number < len(light)}
    for number, kind, library, source in sources.rows:
        if 0 <= number < len(light):
            board.add(places[light[number].node], kind, f"{library}:{source}")
    framed = {(place, kind) for place, kind, _ in board.found}
    for listener in sources.listeners:
        node = listener.node if listener.node in places else 0
        if (node, listener.type) in known or (node, "*") in known:
            continue
        _listen(board, listener, places.get(listener.node, _DOCUMENT), framed)
    _attributes(board)
    _defaults(board, {listener.type for listener in sources.listeners}, sources.height)
    return sorted(board.found.values(), key=lambda event: (event.place, event.type, event.value))


def _listen(board: _Board, listener: Listener, place: int, framed: set[tuple[int, str]]) -> None:
    """Add what one listener waits for: events on its own element, and on those that it watches from above."""
    if listener.type not in FIRED or not board.tree:
        return
    handler = listener.position or listener.source
    root = place == _DOCUMENT or board.tree[place].name in {"html", "body"}
    own = _body(board.tree) if place == _DOCUMENT else place
    if (own, listener.type) in framed and not root:
        return
    source = listener.source or (board.tree[own].get(f"on{listener.type}") or "")
    watches = (root or board.tree[own].name not in _INTERACTIVE) and delegates(source)
    if listener.type == "scroll" and root:
        board.add(0, "scroll", "scroll", "")
        return
    if not root or not watches or listener.type.startswith("key"):
        board.add(own, listener.type, handler + "\0" + source)
    if watches and not listener.type.startswith("key"):
        _watched(board, own if not root else 0, listener.type, handler, TargetHints(source))


def _watched(board: _Board, above: int, kind: str, handler: str, hints: TargetHints) -> None:
    """Add events on the elements below one whose handler looks at where they happened."""
    shapes: dict[str, list[int]] = {}
    for place in range(above + 1, board.inside[above]):
        element = board.tree[place]
        if element.name not in _INERT and kind not in element.events:
            shapes.setdefault(_shape(element), []).append(place)
    hinted = {shape: places for shape, places in shapes.items() if any(hints.fit(board.tree[at]) for at in places)}
    for places in list((hinted or shapes).values())[:_MOST_SHAPES]:
        for place in places:
            if not hinted or hints.fit(board.tree[place]):
                board.add(place, kind, handler)


def _attributes(board: _Board) -> None:
    """Add what attributes say: on* handlers and javascript: addresses."""
    for place, element in enumerate(board.tree):
        for name, value in element.attributes:
            if name.startswith("on") and value.strip():
                board.add(place, name[2:], f"{name}={value[:_SHOWN]}")
            elif name in {"href", "xlink:href"} and value.strip().lower().startswith("javascript:"):
                board.add(place, "click", value[:_SHOWN])
            elif name in {"ng-click", "v-on:click", "@click", "x-on:click"} and not element.events:
                board.add(place, "click", f"{name}={value[:_SHOWN]}")


def _defaults(board: _Board, heard: set[str], height: float) -> None:
    """Add what the browser does by itself: summaries, popovers, routes by fragment, forms, scrolling."""
    routed = bool(heard & MOVED_BY_HASH)
    for place, element in enumerate(board.tree):
        if (
            element.name == "summary"
            or element.get("popovertarget") is not None
            or element.get("commandfor") is not None
        ):
            board.add(place, "click", "default")
        elif element.name == "a" and routed and (element.get("href") or "").startswith("#"):
            board.add(place, "click", "route")
        elif element.name == "form" and "submit" not in element.events:
            board.add(place, "submit", "default")
    if height > _VIEWPORT + 40 and board.tree:
        board.add(0, "scroll", "scroll", "")


def _values(tree: Tree, place: int, kind: str, handler: str) -> Iterator[str]:
    """Yield what to give with an event: an option's number, a text, the keys that the handler asks for."""
    element = tree[place]
    if kind in {"change", "input"} and element.name == "select":
        count = sum(1 for other in tree[place + 1 :] if other.parent == place and other.name == "option")
        yield from map(str, range(min(count, _MOST_OPTIONS)))
    elif kind in {"change", "input"}:
        yield value_for(element.get("type") or "text", " ".join(value for _, value in element.attributes))
    elif kind.startswith("key"):
        named = [key for key in KEYS if re.search(rf"""["'`]{re.escape(key)}["'`]""", handler)]
        held = "".join(f"{key}+" for key in MODIFIERS if f"{key}Key" in handler)
        letters = re.findall(r"""(?:key|code)\W{1,6}["'`](?:Key)?([A-Za-z0-9/?])["'`]""", handler)
        for key in dict.fromkeys([*named, *letters]) or ["Enter"]:
            yield from dict.fromkeys([key, held + key])
    else:
        yield ""


def _wording(tree: Tree, place: int) -> str:
    """Return what an element says of itself: its text, its first child's, its attributes."""
    element = tree[place]
    texts = [element.text]
    texts.extend(other.text for other in tree[place + 1 : place + 4] if other.parent == place)
    if element.name in {"body", "div", "form", "html", "main", "section", "ul"}:
        texts = []
    return " ".join([*texts, *(value[:_SHOWN] for name, value in element.attributes if name != "class")])


def _shape(element: Element) -> str:
    """Return what members of a group share."""
    names = sorted(name for name, _ in element.attributes if name not in {"style", "checked", "selected"})
    return f"{element.name} {' '.join(names)} {element.get('class') or ''} {element.get('type') or ''}"


def _signature(element: Element) -> str:
    """Return what tells members of a group apart, though nobody knows what it is for."""
    skipped = {"class", "style", "checked", "selected", "tabindex"}
    return " ".join(f"{name}={value[:_SHOWN]}" for name, value in element.attributes if name not in skipped)


def _ends(tree: Tree) -> list[int]:
    """Return, for each element, the place behind the last one inside it."""
    ends = list(range(1, len(tree) + 1))
    for place in range(len(tree) - 1, 0, -1):
        parent = tree[place].parent
        if parent >= 0:
            ends[parent] = max(ends[parent], ends[place])
    return ends


def _light(tree: Tree) -> list[Element]:
    """Return the elements of the main document outside shadow roots: those that its scripts count."""
    shaded: list[bool] = []
    light: list[Element] = []
    for element in tree:
        above = element.parent
        framed = above >= 0 and tree[above].name in {"iframe", "frame"}
        shaded.append(element.name == "shadow-root" or framed or (above >= 0 and shaded[above]))
        if not shaded[-1]:
            light.append(element)
    return light


def _body(tree: Tree) -> int:
    """Return the place of the body, or of the first element where there is none."""
    return next((place for place, element in enumerate(tree) if element.name == "body"), 0)


def listened(listeners: Iterable[Listener]) -> Mapping[int, frozenset[str]]:
    """Return the types of events that each node has listeners for."""
    types: dict[int, set[str]] = {}
    for listener in listeners:
        types.setdefault(listener.node, set()).add(listener.type)
    return {node: frozenset(kinds) for node, kinds in types.items()}
