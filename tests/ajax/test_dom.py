"""Laws of identity (paper 4, algorithm 3): text, white space and looks do not count, behaviour does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.ajax.dom import PRESENTATION, Element, Identity, calm, identify, kept, paths, pick, volatile
from tests.ajax.trees import tree, trees


@given(trees(), st.text(max_size=5))
def test_text_does_not_count(elements: list[Element], text: str) -> None:
    """Whatever the text says, the structure is the same; to the identity `text` it is another."""
    other = [replace(element, text=text) for element in elements]
    assert identify(elements) == identify(other)
    same = all(element.text == text for element in elements)
    assert (identify(elements, Identity.TEXT) == identify(other, Identity.TEXT)) == same


@given(trees(), st.sampled_from(sorted(PRESENTATION)), st.text(max_size=5), st.integers(0, 20))
def test_presentation_does_not_count(elements: list[Element], name: str, value: str, at: int) -> None:
    """An attribute of presentation more or less makes no state."""
    at %= len(elements)
    other = list(elements)
    other[at] = replace(other[at], attributes=(*other[at].attributes, (name, value)))
    assert identify(elements) == identify(other)
    assert identify(elements, Identity.STRICT) != identify(other, Identity.STRICT)


@given(trees(), st.integers(0, 20), st.sampled_from(["href", "data-new", "open", "hidden"]))
def test_behaviour_counts(elements: list[Element], at: int, name: str) -> None:
    """An attribute that is not of presentation, or an event more, makes a state."""
    at %= len(elements)
    other = list(elements)
    other[at] = replace(other[at], attributes=(*other[at].attributes, (name, "new")))
    assert identify(elements) != identify(other)
    other[at] = replace(elements[at], events=elements[at].events | {"keydown"})
    assert identify(elements) != identify(other)


@given(trees())
def test_identity_depends_on_nothing_else(elements: list[Element]) -> None:
    """The browser's numbers and the order of attributes do not count."""
    other = [replace(one, node=one.node + 100, attributes=tuple(reversed(one.attributes))) for one in elements]
    assert identify(elements) == identify(other)


@given(trees(), trees())
def test_nesting_counts(one: list[Element], other: list[Element]) -> None:
    """Two trees of one identity have the same shape: names and parents."""
    shapes = [[(element.name, element.parent) for element in elements] for elements in (one, other)]
    if identify(one) == identify(other):
        assert shapes[0] == shapes[1]


@given(trees())
def test_nth_kept_is_the_same(elements: list[Element]) -> None:
    """Adding what does not count moves no element that does to another rank."""
    noisy: list[Element] = []
    moved: dict[int, int] = {-1: -1}
    for place, element in enumerate(elements):
        moved[place] = len(noisy)
        noisy.append(replace(element, parent=moved[element.parent]))
        noisy.append(Element("script", (("src", "x.js"),), moved[place]))
    assert identify(elements) == identify(noisy)
    ranks = kept(elements, Identity.STRUCTURE), kept(noisy, Identity.STRUCTURE)
    assert [elements[at].node for at in ranks[0]] == [noisy[at].node for at in ranks[1]]
    assert [one.name for one in pick(noisy, ranks[1])] == [one.name for one in elements]


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("<p id=item-93821></p>", "<p id=item-11247></p>", True),
        ("<p id=page1></p>", "<p id=page2></p>", False),
        ("<p id=k3j9x8q1></p>", "<p id=z9q2w7e4></p>", True),
        ("<a href='/a?r=0.8273645'></a>", "<a href='/a?r=0.1119283'></a>", True),
        ("<a href='/a?page=2'></a>", "<a href='/a?page=3'></a>", False),
        ("<a href='/item/100234'></a>", "<a href='/item/100235'></a>", False),
        ("<p data-t=1701381234567></p>", "<p data-t=1701381234999></p>", True),
        ("<p data-n=1></p>", "<p data-n=2></p>", False),
        ("<div class=ad><img></div>", "<div class=ad><a href=x></a></div>", True),
        ("<div class=loaded></div>", "<div class=x></div>", True),
        ("<p onclick=a(1)></p>", "<p onclick=a(2)></p>", False),
        ("<p>1</p>", "<p>1</p><p>1</p>", False),
    ],
)
def test_cases(one: str, other: str, *, alike: bool) -> None:
    """What looks like chance or the time of day is alike; what may be meant is not."""
    assert (identify(tree(one)) == identify(tree(other))) == alike


def test_ids_count_when_asked() -> None:
    """The identity `ids` tells names apart that look like chance."""
    one, other = tree("<p id=item-93821></p>"), tree("<p id=item-11247></p>")
    assert identify(one, Identity.IDS) != identify(other, Identity.IDS)


@given(st.sampled_from(["id", "href", "data-x", "name"]), st.text(max_size=60))
def test_calm_is_stable(name: str, value: str) -> None:
    """Calming twice is calming once."""
    assert calm(name, calm(name, value)) == calm(name, value)


def test_lists_collapse() -> None:
    """With near-duplicates, rows of one shape count once, however many."""
    short, long = tree("<ul><li><a href=1></a></li></ul>"), tree("<ul>" + "<li><a href=2></a></li>" * 5 + "</ul>")
    assert identify(short) != identify(long)
    assert identify(short, collapse=True) != identify(tree("<ul></ul>"), collapse=True)
    names = [[one[at].name for at in kept(one, Identity.STRUCTURE, collapse=True)] for one in (short, long)]
    assert names[0] == names[1] == ["ul", "li", "a"]


def test_what_changes_by_itself_is_masked() -> None:
    """A part that differs between two sights of an untouched page is left out of every later identity."""
    one = tree("<div><p data-k=a></p><section><i></i></section></div>")
    two = tree("<div><p data-k=b></p><section><i></i><i></i></section></div>")
    mask = volatile(one, two)
    assert identify(one, mask=mask) == identify(two, mask=mask)
    assert identify(one, mask=mask) != identify(tree("<div><p></p></div>"), mask=mask)
    assert volatile(one, one) == frozenset()


@given(trees())
def test_paths_are_unique(elements: list[Element]) -> None:
    """Without ids each element has a path of its own."""
    found = paths(elements, ids=False)
    assert len(set(found)) == len(found)


def test_paths_begin_at_ids() -> None:
    """A path begins at the nearest id that is no chance."""
    assert paths(tree("<body><div id=menu><a></a><a></a></div><p id=x8374920></p></body>")) == [
        "body",
        "#menu",
        "#menu>a:nth-of-type(1)",
        "#menu>a:nth-of-type(2)",
        "body>p:nth-of-type(1)",
    ]
