"""Pages that are nearly the same: a 64-bit simhash of a page's text and of where it leads (Charikar 2002).

The features are the shingles of three words, and the addresses of the links.  What a server writes anew
each time, numbers in the text and long tokens in addresses, counts for nothing.  Two pages are near where
their fingerprints differ in few bits (Manku, Jain and Das Sarma 2007); pages that hold different media never are.

The sums over all features are made for all bits at once, in long integers whose lanes are one feature each:
a page costs a fraction of a millisecond, with nothing compiled.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Final

__all__ = ["BANDS", "NEAR", "bands", "distance", "fingerprint"]

NEAR: Final = 3
"""Bits in which the fingerprints of two near pages may differ."""

BANDS: Final = tuple(range(0, 64, 16))
"""Where the bands begin, 16 bits each: of `NEAR` + 1 bands two near fingerprints have at least one in common."""

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]+")  # Han and Kana have no spaces
_TOKEN = re.compile(r"(?<![0-9a-zA-Z_-])(?=[0-9_-]*[a-zA-Z])(?=[a-zA-Z_-]*\d)[0-9a-zA-Z_-]{20,}")
_LEAST = 8  # features; pages of less are like many others
_WORDS = 10_000  # words of a page that are looked at
_LINKS = 2_000
_KNOWN = 100_000  # words whose hash is remembered
_LANE = 8  # bytes of one feature
_PAIRS = 0x00FF_00FF_00FF_00FF
_ONES = 0x0101_0101_0101_0101


class _Hashes(dict[str, bytes]):
    """The hash of each word met, made once."""

    def __missing__(self, word: str) -> bytes:
        if len(self) >= _KNOWN:
            self.clear()
        made = self[word] = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=_LANE).digest()
        return made


_HASHES: Final = _Hashes()


def fingerprint(text: str, links: Sequence[str], media: Collection[int]) -> int | None:
    """Return the signed 64-bit simhash of a page; None where it says too little to be told from others.

    `text` is what a reader sees, `links` the addresses it leads to, `media` the hashes of those it holds.
    """
    words = _WORD.findall(text.lower())[:_WORDS]
    places = _TOKEN.sub("*", "\n".join(links[:_LINKS])).split("\n") if links else []
    features = _lanes(_shingles(words)) | _lanes(b"".join(map(_HASHES.__getitem__, places)))
    if len(features) < _LEAST:
        return None
    mark = _majority(array("Q", features).tobytes(), len(features))
    if media:
        held = array("q", sorted(media)).tobytes()
        mark ^= int.from_bytes(blake2b(held, digest_size=_LANE).digest(), "little")
    return mark - (1 << 64) if mark >> 63 else mark


def bands(mark: int) -> tuple[int, ...]:
    """Return the parts of a fingerprint by which near ones are looked up."""
    return tuple((mark >> start) & 0xFFFF for start in BANDS)


def distance(one: int, other: int) -> int:
    """Return in how many bits two fingerprints differ."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def _lanes(hashes: bytes) -> set[int]:
    return set(memoryview(hashes).cast("Q"))


def _shingles(words: list[str]) -> bytes:
    """Return the hashes of all three words in a row: each word's own, turned by its place and joined by XOR."""
    count = len(words) - 2
    if count < 1:
        return b""
    hashes = int.from_bytes(b"".join(map(_HASHES.__getitem__, words)), "little")
    whole = (1 << 64 * count) - 1
    first, second, third = hashes & whole, (hashes >> 64) & whole, hashes >> 128
    return (first ^ _turned(second, count, 21) ^ _turned(third, count, 42)).to_bytes(_LANE * count, "little")


def _turned(lanes: int, count: int, by: int) -> int:
    """Rotate each lane to the left."""
    low = _repeated((1 << 64 - by) - 1, count)
    return ((lanes & low) << by) | ((lanes & ~low) >> (64 - by))


def _repeated(lane: int, count: int) -> int:
    return int.from_bytes(lane.to_bytes(_LANE, "little") * count, "little")


def _majority(hashes: bytes, count: int) -> int:
    """Return the 64 bits that are set in more than half of the lanes.

    For each of the eight places within a byte its bits are taken out, and the lanes folded upon each other
    in halves: seven times while sums fit a byte, then in 16 bits, which `_WORDS` and `_LINKS` do not exceed.
    """
    lanes = int.from_bytes(hashes, "little")
    ones = _repeated(_ONES, count)
    mark = 0
    for place in range(8):
        sums, rows = _folded((lanes >> place) & ones, count, 7)
        pairs = _repeated(_PAIRS, rows)
        for odd in range(2):
            total, _ = _folded((sums >> 8 * odd) & pairs, rows, rows.bit_length())
            for pair in range(4):
                if 2 * ((total >> 16 * pair) & 0xFFFF) > count:
                    mark |= 1 << (16 * pair + 8 * odd + place)
    return mark


def _folded(lanes: int, rows: int, times: int) -> tuple[int, int]:
    """Add the upper half of the lanes to the lower one, several times; returns the sums and how many lanes they are."""
    for _ in range(times):
        rows = (rows + 1) // 2
        lanes = (lanes >> 64 * rows) + (lanes & (1 << 64 * rows) - 1)
    return lanes, rows
