"""Which state is this?  DOM filtering (paper 4, algorithm 3): a state is the behaviour of a page.

A `Tree` is what a browser shows at one moment, flattened: elements in document order, shadow roots and
frames in their places.  This room opens nothing and knows no browser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Final

__all__ = [
    "NO_MASK",
    "Element",
    "Identity",
    "Mask",
    "Tree",
    "calm",
    "identify",
    "kept",
    "moved",
    "paths",
    "pick",
    "volatile",
]


class Identity(StrEnum):
    """What of a page counts for its identity.

    structure, the paper's: elements, their attributes but for those of presentation, the events they
    carry; ids: values of id, name and their kin too; text: the text as well; strict: all there is.
    """

    STRICT = "strict"
    STRUCTURE = "structure"
    IDS = "ids"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a tree.

    `parent` is the place of its parent in the tree, -1 for the first; `node` the browser's own number
    of it; `text` the text right inside it; `events` the types of events it has handlers for.
    """

    name: str
    attributes: tuple[tuple[str, str], ...] = ()
    parent: int = -1
    node: int = 0
    text: str = ""
    events: frozenset[str] = frozenset()

    def get(self, name: str) -> str | None:
        """Return the value of an attribute, None where it has none."""
        return next((value for key, value in self.attributes if key == name), None)


Tree = Sequence[Element]
"""Elements in document order: each stands behind its parent."""

Mask = frozenset[tuple[str, str]]
"""What changes by itself and so is no behaviour: (path, attribute), or (path, ``*``) for all inside."""

NO_MASK: Final[Mask] = frozenset()

DROPPED = frozenset({"base", "link", "meta", "noscript", "script", "style", "template", "title"})
"""Elements that are no part of what a user can do."""

PRESENTATION = frozenset({
    "align", "alink", "alt", "background", "bgcolor", "border", "cellpadding", "cellspacing", "char", "charoff",
    "class", "clear", "color", "compact", "crossorigin", "decoding", "dir", "face", "fetchpriority", "frame",
    "frameborder", "height", "hspace", "integrity", "lang", "link", "loading", "marginheight", "marginwidth",
    "noshade", "nonce", "nowrap", "placeholder", "referrerpolicy", "rules", "scrolling", "size", "sizes",
    "spellcheck", "style", "tabindex", "text", "title", "valign", "vlink", "vspace", "width",
})  # fmt: skip
"""Attributes that only say how something looks, or reads."""

NAMES = frozenset({
    "aria-activedescendant", "aria-controls", "aria-describedby", "aria-labelledby", "aria-owns", "for", "form", "id",
    "list", "name",
})  # fmt: skip
"""Attributes that name elements, or point to names: in `structure`, names that look made up by chance are alike."""

ADDRESSES = frozenset({"action", "data", "formaction", "href", "ping", "poster", "src", "srcset"})
"""Attributes that hold addresses: only their queries may be chance."""

DECOYS = frozenset({"ad", "ads", "adsbygoogle", "advert", "advertisement", "advertising", "sponsor", "sponsored"})
"""Words in class and id that mark advertisements."""

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_STAMP = re.compile(rf"{_UUID}|\d{{1,3}}\.\d{{6,}}|\d{{10,}}", re.IGNORECASE)
_TOKEN = re.compile(rf"{_UUID}|[A-Za-z0-9]+", re.IGNORECASE)
_LONG = 4096  # characters of a value that are looked at


def calm(name: str, value: str) -> str:
    """Return an attribute's value with what looks like chance or the time of day put as ``*``."""
    value = value[:_LONG]
    if name in NAMES:
        return _TOKEN.sub(_quiet, value)
    if name in ADDRESSES:
        path, mark, query = value.partition("?")
        return path + mark + _TOKEN.sub(_quiet, _STAMP.sub("*", query)) if mark else value
    return _STAMP.sub("*", value)


def _quiet(match: re.Match[str]) -> str:
    """Put ``*`` for a word that is a long number or mixes letters and digits as no one would."""
    word = match[0]
    digits = sum(map(str.isdigit, word))
    if digits == len(word):
        return "*" if digits >= 5 else word  # noqa: PLR2004  # a year is no chance
    mixed = len(re.findall(r"\d+|[^\d]+", word)) > 2  # noqa: PLR2004  # more than a word and its number
    return "*" if digits >= 2 and len(word) >= 5 and (mixed or digits >= 5) else word  # noqa: PLR2004


def identify(
    tree: Tree, identity: Identity = Identity.STRUCTURE, *, mask: Mask = NO_MASK, collapse: bool = False
) -> str:
    """Return the identity of a tree, 32 hexadecimal digits: equal for trees that behave alike.

    `mask` is left out; with `collapse`, neighbours of one shape count as one (near-duplicates).
    """
    digest = blake2b(digest_size=16)
    for depth, token in _tokens(tree, identity, mask, collapse=collapse):
        digest.update(f"{depth}\0{token}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _tokens(tree: Tree, identity: Identity, mask: Mask, *, collapse: bool) -> Iterator[tuple[int, str]]:
    """Yield what counts of each element that counts, with its depth."""
    where = paths(tree, ids=False) if mask else []
    masked: dict[str, set[str]] = {}
    for path, name in mask:
        masked.setdefault(path, set()).add(name)
    depths: list[int] = []
    for element in tree:
        depths.append(depths[element.parent] + 1 if element.parent >= 0 else 0)
    for place in kept(tree, identity, mask=mask, collapse=collapse):
        yield depths[place], _token(tree[place], identity, masked.get(where[place], set()) if mask else set())


def _token(element: Element, identity: Identity, masked: set[str]) -> str:
    """Return what counts of one element, as text."""
    if identity is Identity.STRICT:
        whole = [f"{name}={value}" for name, value in element.attributes if name not in masked]
        return "\0".join([element.name, element.text, *whole])
    counted = sorted(
        f"{name}={value if identity is Identity.IDS and name in NAMES else calm(name, value)}"
        for name, value in element.attributes
        if name not in PRESENTATION and name not in masked
    )
    text = [element.text] if identity is Identity.TEXT else []
    return "\0".join([element.name, *counted, *sorted(element.events), *text])


def _hidden(tree: Tree, identity: Identity, mask: Mask) -> list[bool]:
    """Say of each element whether it is left out with all that it holds."""
    if identity is Identity.STRICT and not mask:
        return [False] * len(tree)
    closed = {path for path, name in mask if name == "*"}
    where = paths(tree, ids=False) if closed else []
    hidden: list[bool] = []
    for element in tree:
        above = element.parent
        out = above >= 0 and (hidden[above] or (bool(closed) and where[above] in closed))
        hidden.append(out or (identity is not Identity.STRICT and (element.name in DROPPED or _is_decoy(element))))
    return hidden


def _is_decoy(element: Element) -> bool:
    """Say whether an element is marked as an advertisement."""
    return any(
        word in DECOYS
        for name, value in element.attributes
        if name in {"class", "id"}
        for word in re.split(r"[\s_-]+", value.lower()[:_LONG])
    )


def _doubles(tree: Tree, hidden: Sequence[bool]) -> set[int]:
    """Return the places of elements that repeat the shape of the neighbour before them."""
    children: list[list[int]] = [[] for _ in tree]
    for place, element in enumerate(tree):
        if element.parent >= 0 and not hidden[place]:
            children[element.parent].append(place)
    shapes: list[int] = [0] * len(tree)
    doubles: set[int] = set()
    for place in range(len(tree) - 1, -1, -1):
        kept: list[int] = []
        for child in children[place]:
            if kept and kept[-1] == shapes[child]:
                doubles.add(child)
            else:
                kept.append(shapes[child])
        names = tuple(sorted(name for name, _ in tree[place].attributes if name not in PRESENTATION))
        shapes[place] = hash((tree[place].name, names, tree[place].events, tuple(kept)))
    return doubles


def kept(tree: Tree, identity: Identity, *, mask: Mask = NO_MASK, collapse: bool = False) -> list[int]:
    """Return the places of the elements that count: in trees of one identity the n-th of each are one element."""
    hidden = _hidden(tree, identity, mask)
    doubles = _doubles(tree, hidden) if collapse else set()
    places: list[int] = []
    for place, element in enumerate(tree):
        if hidden[place]:
            continue
        if place in doubles or (element.parent >= 0 and element.parent in doubles):
            doubles.add(place)
            continue
        places.append(place)
    return places


def pick(tree: Tree, places: Sequence[int]) -> list[Element]:
    """Return the elements at these places as a tree of their own; an element's parent must be among them."""
    new = {place: number for number, place in enumerate(places)}
    return [moved(tree[place], parent=new.get(tree[place].parent, -1)) for place in places]


def moved(element: Element, *, parent: int | None = None, node: int | None = None) -> Element:
    """Return an element with another parent or number; it is done for whole pages, and so not by `replace`."""
    return Element(
        element.name,
        element.attributes,
        element.parent if parent is None else parent,
        element.node if node is None else node,
        element.text,
        element.events,
    )


def paths(tree: Tree, *, ids: bool = True) -> list[str]:
    """Return a path to each element: a CSS selector where nothing but elements stands on the way.

    With `ids` a path begins at the nearest element with an id that does not look like chance.
    """
    found: list[str] = []
    counts: list[dict[str, int]] = []
    for element in tree:
        counts.append({})
        above = counts[element.parent] if element.parent >= 0 else {}
        above[element.name] = above.get(element.name, 0) + 1
        name = element.get("id") if ids else None
        if name and re.fullmatch(r"[A-Za-z][\w-]{0,60}", name) and calm("id", name) == name:
            found.append(f"#{name}")
        elif element.parent < 0:
            found.append(element.name)
        else:
            found.append(f"{found[element.parent]}>{element.name}:nth-of-type({above[element.name]})")
    return found


def volatile(before: Tree, after: Tree) -> Mask:
    """Return what differs between two sights of a page to which nothing was done."""
    return frozenset(_differences(before, after))


def _differences(before: Tree, after: Tree) -> Iterable[tuple[str, str]]:
    """Yield attributes that differ, and elements whose children do."""
    old, new = dict(_described(before)), dict(_described(after))
    for path, (attributes, children) in old.items():
        if path not in new:
            continue
        others, offspring = new[path]
        if children != offspring:
            yield path, "*"
        yield from (
            (path, name) for name in attributes.keys() | others.keys() if attributes.get(name) != others.get(name)
        )


def _described(tree: Tree) -> Iterator[tuple[str, tuple[dict[str, str], list[str]]]]:
    """Yield each element's path with its attributes that count and its children's names."""
    where = paths(tree, ids=False)
    hidden = _hidden(tree, Identity.STRUCTURE, NO_MASK)
    children: list[list[str]] = [[] for _ in tree]
    for place, element in enumerate(tree):
        if element.parent >= 0 and not hidden[place]:
            children[element.parent].append(element.name)
    for place, element in enumerate(tree):
        if not hidden[place]:
            kept = {name: calm(name, value) for name, value in element.attributes if name not in PRESENTATION}
            yield where[place], (kept, children[place])
