"""The hashes of a page's addresses, eight at a time.

A part of the compiled twin, see `spider.url.engine`.  Most addresses are their own keys, and the lane
has seen it in passing; they wait until eight of about one length can be hashed side by side.
"""
# ruff: noqa: F821, PLR2004  # C is C; bytes are numbers, see `spider.url.bytewise`

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spider.url.blake import LITTLE, Number, Word, digest_eight
from spider.url.bytewise import Bytes, Place
from spider.url.stamp import NOTHING, SORT, stamp, unsettled, write_sorted

if TYPE_CHECKING:
    import cython
else:
    from spider.url import uncython as cython

if cython.compiled:
    from cython.cimports.cpython.unicode import PyUnicode_1BYTE_DATA, PyUnicode_GET_LENGTH
    from cython.cimports.libc.string import memcpy, memset

__all__ = ["Stamps"]


@cython.final
@cython.cclass
class Batch:
    """Up to eight texts of so many blocks of 128 bytes each, and the places where their hashes go."""

    blocks: Place
    count: Place
    words: Word[256]
    places: Place[8]
    sizes: Place[8]

    def __init__(self, blocks: Place) -> None:
        """Begin empty."""
        self.blocks = blocks
        self.count = 0

    @cython.cfunc
    @cython.inline
    def room(self) -> Bytes:
        """Point to where the next text goes; all behind it must be zeros."""
        place = cython.cast(Bytes, self.words + 16 * self.blocks * self.count)
        memset(place, 0, 128 * self.blocks)
        return place

    @cython.cfunc
    @cython.inline
    def add(self, place: Place, n: Place, results: list[Any]) -> cython.void:
        """Take in the text that was written there; hash all when there are eight."""
        self.places[self.count], self.sizes[self.count] = place, n
        self.count += 1
        if self.count == 8:
            self.give(results)

    @cython.cfunc
    def give(self, results: list[Any]) -> cython.void:
        """Put the hash beside each address in `results`, and begin anew."""
        k: Place
        hashes: Number[8]
        for k in range(self.count, 8):
            self.sizes[k] = 0
        digest_eight(self.words, self.blocks, self.sizes, hashes)
        for k in range(self.count):
            results[self.places[k]] = (results[self.places[k]], hashes[k])
        self.count = 0


@cython.final
@cython.cclass
class Stamps:
    """What a page's links become: each address with the hash of its key, in `results`."""

    results: list[Any]
    one: Batch
    two: Batch

    def __init__(self, results: list[Any]) -> None:
        """Begin with nothing but the places in `results`."""
        self.results = results
        self.one, self.two = Batch(1), Batch(2)

    @cython.cfunc
    @cython.inline
    def put(self, place: Place, address: str, plain: cython.bint) -> cython.void:
        """Take a normalized address; `plain` says that it surely is its own key."""
        if cython.compiled:
            n: Place = PyUnicode_GET_LENGTH(address)
            p = cython.cast(Bytes, PyUnicode_1BYTE_DATA(address))
            batch: Batch = self.one if n <= 128 else self.two
            todo: cython.uint = NOTHING if plain else unsettled(p, n)
            if LITTLE and n <= 256 and todo == NOTHING:
                memcpy(batch.room(), p, n)
            elif LITTLE and n <= 128 and todo == SORT:
                n = write_sorted(batch.room(), p, n)
            else:
                n = -1
            if n >= 0:
                self.results[place] = address
                batch.add(place, n, self.results)
                return
        self.results[place] = (address, stamp(address))

    @cython.cfunc
    def end(self) -> cython.void:
        """Hash those that still wait."""
        if cython.compiled:
            self.one.give(self.results)
            self.two.give(self.results)
