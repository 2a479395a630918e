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
    """Two events that ask the network for the same do not commute, and one that changes the address with none."""
    one = Footprint(frozenset({("text", 1, "")}), marks=frozenset({"GET /x"}))
    two = Footprint(frozenset({("text", 2, "")}), marks=frozenset({"GET /x"}))
    assert not commute(one, two)
    moved = Footprint(frozenset({("text", 3, "")}), marks=frozenset({"address"}))
    assert not commute(one, moved)


def test_what_holds_is_touched_by_what_it_holds() -> None:
    """An element that changes its attributes does not commute with a change inside it."""
    whole = tree("<body node=1><p node=2><b node=3></b></p></body>")
    around = footprint(whole, tree("<body node=1><p node=2 data-page=x><b node=3></b></p></body>"))
    inside = footprint(whole, tree("<body node=1><p node=2><b node=3></b><i node=4></i></p></body>"))
    assert not commute(around, inside)


def _toggled(offset: int, *on: int) -> list[Element]:
    """Return three buttons with their panels, those of `on` filled, numbered from `offset` as after another load."""
    parts = [
        f"<button node={offset + 10 * at + 2}></button><p node={offset + 10 * at + 3}>"
        + (f"<b node={offset + 10 * at + 4}></b>" if at in on else "")
        + "</p>"
        for at in range(3)
    ]
    return tree(f"<body node={offset + 1}>{''.join(parts)}</body>")


def test_products_are_left_out_over_loads() -> None:
    """The other toggles are left out after one, though the page was loaded between; the toggle itself is not."""
    prints = Footprints()
    prints.start(0, _toggled(0))
    prints.note(0, 0, _toggled(0), _toggled(0, 0), ())
    prints.follow(0, _toggled(0), 1, _toggled(0, 0))
    for event, place in enumerate((1, 4, 6)):
        prints.twin((1, event), (0, event), by=(0, 0), place=place)
    assert not prints.leaves_out(1, 1)
    prints.note(0, 1, _toggled(500), _toggled(500, 1), ())
    assert not prints.leaves_out(1, 1)
    prints.note(0, 2, _toggled(900), _toggled(900, 2), ())
    assert prints.leaves_out(1, 1)
    assert prints.leaves_out(1, 2)
    assert not prints.leaves_out(1, 0)
