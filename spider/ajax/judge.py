"""Tells which state a sight is, by what of it counts: `dom` with one exploration's way of looking, each sight once."""

from __future__ import annotations

from spider.ajax.dom import NO_MASK, Element, Identity, Mask, identify, kept, pick
from spider.ajax.tab import Sight

__all__ = ["Judge"]

_LATEST = 3  # sights whose judgements are kept: before an event, after it, and at rest


class Judge:
    """Judges sights by an identity, leaving out what changes by itself."""

    def __init__(self, identity: Identity, *, collapse: bool, mask: Mask = NO_MASK) -> None:
        """With `collapse` neighbours of one shape count as one; `mask` is left out."""
        self._identity, self._collapse, self._mask = identity, collapse, mask
        self._judged: list[tuple[Sight, str, list[int]]] = []

    def masked(self, mask: Mask) -> Judge:
        """Return one that leaves this out."""
        return Judge(self._identity, collapse=self._collapse, mask=mask)

    def identity(self, sight: Sight) -> str:
        """Return the identity of a sight."""
        return self._judge(sight)[0]

    def kept(self, sight: Sight) -> list[int]:
        """Return the places of the elements that count."""
        return self._judge(sight)[1]

    def picked(self, sight: Sight) -> list[Element]:
        """Return the elements that count, as a tree."""
        return pick(sight.tree, self.kept(sight))

    def _judge(self, sight: Sight) -> tuple[str, list[int]]:
        for one, identity, places in self._judged:
            if one is sight:
                return identity, places
        identity = identify(sight.tree, self._identity, mask=self._mask, collapse=self._collapse)
        places = kept(sight.tree, self._identity, mask=self._mask, collapse=self._collapse)
        self._judged = [(sight, identity, places), *self._judged[: _LATEST - 1]]
        return identity, places
