"""Do two events touch?  Those that do not can be fired in either order, and their product is no news.

A footprint is all that one event changed: places in the page, in its storage, in its address, and what it
asked the network for.  Pure: two trees in, a value out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spider.ajax.dom import Tree

__all__ = ["ADDRESS", "Footprint", "commute", "footprint"]

Region = tuple[str, int, str]
ADDRESS = "address"


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one event touched: `regions` it changed, `removed` nodes, and `marks` outside the page's tree.

    `above` are the nodes around what was touched.
    """

    regions: frozenset[Region] = frozenset()
    above: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()
    marks: frozenset[str] = frozenset()

    @property
    def own(self) -> frozenset[int]:
        """The nodes that were themselves changed, not only what they hold."""
        return frozenset(node for kind, node, _ in self.regions if kind != "in")

    @property
    def is_change(self) -> bool:
        """Whether anything in the page was touched."""
        return bool(self.regions or self.removed)


def footprint(before: Tree, after: Tree, *, marks: Iterable[str] = ()) -> Footprint:
    """Compare two sights of one living page by the browser's own numbers of its nodes.

    `marks` are what else the event did: requests, keys of storage, a new address.
    """
    old = {element.node: element for element in before}
    new = {element.node: element for element in after}
    regions: set[Region] = set()
    for node in old.keys() & new.keys():
        was, now = old[node], new[node]
        if was.text != now.text:
            regions.add(("text", node, ""))
        if was.attributes != now.attributes:
            differing = set(was.attributes) ^ set(now.attributes)
            regions.update(("attribute", node, name) for name, _ in differing)
        if was.events != now.events:
            regions.add(("events", node, ""))
    kept = old.keys() & new.keys()
    regions.update(_slots(before, kept) ^ _slots(after, kept))
    removed = old.keys() - new.keys()
    above = _above(before, {node for _, node, _ in regions} | removed) | {
        node for kind, node, _ in regions if kind == "in"
    }
    return Footprint(frozenset(regions), above, frozenset(removed), frozenset(marks))


def _above(tree: Tree, touched: set[int]) -> frozenset[int]:
    """Return the nodes that have any of these inside them."""
    above: set[int] = set()
    for element in tree:
        parent = element.parent if element.node in touched else -1
        while parent >= 0 and tree[parent].node not in above:
            above.add(tree[parent].node)
            parent = tree[parent].parent
    return frozenset(above)


def _slots(tree: Tree, kept: Iterable[int]) -> set[Region]:
    """Return where something stands that the other sight does not have: its parent, and what it stands behind."""
    known = set(kept)
    slots: set[Region] = set()
    last: dict[int, int] = {}
    for element in tree:
        parent = tree[element.parent].node if element.parent >= 0 else 0
        if element.node in known:
            last[parent] = element.node
        elif parent in known:
            slots.add(("in", parent, str(last.get(parent, 0))))
    return slots


def commute(one: Footprint, other: Footprint) -> bool:
    """Say whether two events may change places: neither touches what the other does.

    An element whose own attributes change may be another's page altogether, so what is inside it is
    touched too; a new address may change anything.
    """
    if one.regions & other.regions or one.marks & other.marks or ADDRESS in one.marks | other.marks:
        return False
    if one.above & other.own or other.above & one.own:
        return False
    touched = {node for _, node, _ in other.regions} | other.removed
    touching = {node for _, node, _ in one.regions} | one.removed
    return not (one.removed & touched or other.removed & touching)
