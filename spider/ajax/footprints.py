"""Tell the events that need no firing, since their product with the event before them is no news.

From a state s, events e and f that touch nothing in common lead to states e and f; f after e is their
product.  Where three or more of a state's events are so, products are left out: n toggles make n + 1 states,
not 2 to the n.  Two alone make four states at most, and are not worth the risk.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spider.ajax.commute import Footprint, commute, footprint
from spider.ajax.dom import Tree, moved

__all__ = ["Footprints"]

Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Twin:
    """An event that was there before the state was: the same on the same `node`, in the state before `by`."""

    before: Key
    by: Key
    node: int


class Footprints:
    """What each fired event touched, and which events of a state were there in the state before.

    The browser numbers its nodes anew with each load, so elements get numbers of our own: an element of
    a new state that was there in the state before keeps its number.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._prints: dict[Key, Footprint] = {}
        self._twins: dict[Key, _Twin] = {}
        self._numbers: dict[int, list[int]] = {}
        self._next = 0

    def start(self, state: int, tree: Tree) -> None:
        """Give numbers to the elements of a state that nothing is known of."""
        self._numbers[state] = [self._fresh() for _ in tree]

    def _fresh(self) -> int:
        self._next += 1
        return self._next

    def _numbered(self, state: int, tree: Tree) -> dict[int, int]:
        """Return our number of each of the browser's nodes, as it shows the state now."""
        return {element.node: number for element, number in zip(tree, self._numbers[state], strict=False)}

    def follow(self, state: int, before: Tree, new: int, after: Tree) -> None:
        """Give numbers to the elements of a new state that came from another while the page lived."""
        known = self._numbered(state, before)
        self._numbers[new] = [known.get(element.node) or self._fresh() for element in after]

    def note(self, state: int, event: int, before: Tree, after: Tree, marks: Iterable[str]) -> None:
        """Note what an event touched: two sights of the living page, before and after it."""
        known = self._numbered(state, before)
        was, now = ([moved(one, node=known.get(one.node, -one.node)) for one in tree] for tree in (before, after))
        self._prints[state, event] = footprint(was, now, marks=marks)

    def twin(self, key: Key, before: Key, *, by: Key, place: int) -> None:
        """Note that an event of a new state, on the element at `place`, is that of the state before `by` led on."""
        if before != by:
            self._twins[key] = _Twin(before, by, self._numbers[key[0]][place])

    def origin(self, state: int, event: int) -> int | None:
        """Return the state whose events have to be known before it can be said whether an event is left out."""
        twin = self._twins.get((state, event))
        return None if twin is None else twin.before[0]

    def leaves_out(self, state: int, event: int) -> bool:
        """Say whether an event commutes with the one that led to its state; its footprint is then known too."""
        twin = self._twins.get((state, event))
        if twin is None:
            return False
        own, other = self._prints.get(twin.before), self._prints.get(twin.by)
        if own is None or other is None or not own.is_change or not other.is_change:
            return False
        if twin.node in other.above | {node for _, node, _ in other.regions} or not commute(own, other):
            return False
        if not any(
            one.is_change and commute(one, own) and commute(one, other)
            for (source, _), one in self._prints.items()
            if source == twin.before[0]
        ):
            return False
        self._prints[state, event] = own
        return True
