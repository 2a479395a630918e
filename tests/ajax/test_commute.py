"""Laws of independence: what touches nothing in common commutes; footprints survive a load."""

from __future__ import annotations

from hypothesis import given

from spider.ajax.commute import Footprint, commute, footprint
from spider.ajax.dom import Element
from spider.ajax.footprints import Footprints
from tests.ajax.trees import tree, trees


@given(trees(), trees())
def test_commuting_is_symmetric(one: list[Element], other: list[Element]) -> None:
    """Order does not matter to whether order matters."""
    first, second = footprint(one, other), footprint(other, one)
    assert commute(first, second) == commute(second, first)
    assert not footprint(one, one).is_change


def test_panels_commute() -> None:
    """Filling two panels commutes; filling one in two ways does not."""
    empty = tree("<body node=1><p node=2></p><p node=3></p></body>")
    one = footprint(empty, tree("<body node=1><p node=2><b node=9></b></p><p node=3></p></body>"))
    two = footprint(empty, tree("<body node=1><p node=2></p><p node=3><b node=8></b></p></body>"))
    three = footprint(empty, tree("<body node=1><p node=2><i node=7></i></p><p node=3></p></body>"))
    assert commute(one, two)
    assert not commute(one, three)


def test_removal_touches_what_was_inside() -> None:
    """Removing an element does not commute with a change inside it."""
    whole = tree("<body node=1><p node=2><b node=3></b></p></body>")
    gone = footprint(whole, tree("<body node=1></body>"))
    inside = footprint(whole, tree("<body node=1><p node=2><b node=3 data-x=1></b></p></body>"))
    assert not commute(gone, inside)


def test_marks_count() -> None:
    """Two events that ask the network for the same, or both change the address, do not commute."""
    one = Footprint(frozenset({("text", 1, "")}), marks=frozenset({"address"}))
    two = Footprint(frozenset({("text", 2, "")}), marks=frozenset({"address"}))
    assert not commute(one, two)


def _toggled(offset: int, *, left: bool, right: bool) -> list[Element]:
    """Return two buttons with their panels, numbered from `offset` as after another load."""
    panels = [f"<b node={offset + 10 + at}></b>" if on else "" for at, on in enumerate((left, right))]
    return tree(
        f"<body node={offset + 1}><button node={offset + 2}></button><p node={offset + 3}>{panels[0]}</p>"
        f"<button node={offset + 4}></button><p node={offset + 5}>{panels[1]}</p></body>"
    )


def test_products_are_left_out_over_loads() -> None:
    """The other toggle is left out after one, though the page was loaded between; the toggle itself is not."""
    prints = Footprints()
    prints.start(0, _toggled(0, left=False, right=False))
    prints.note(0, 0, _toggled(0, left=False, right=False), _toggled(0, left=True, right=False), ())
    prints.follow(0, _toggled(0, left=False, right=False), 1, _toggled(0, left=True, right=False))
    prints.twin((1, 0), (0, 0), by=(0, 0), place=1)
    prints.twin((1, 1), (0, 1), by=(0, 0), place=4)
    assert not prints.leaves_out(1, 1)
    prints.note(0, 1, _toggled(500, left=False, right=False), _toggled(500, left=False, right=True), ())
    assert prints.leaves_out(1, 1)
    assert not prints.leaves_out(1, 0)
