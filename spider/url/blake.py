"""BLAKE2b of 8 bytes, compiled (RFC 7693); `hashlib` is the interpreted twin's.

A part of the compiled twin, see `spider.url.engine`: the call of the library alone would take longer
than all the rest that is done to an address.  The rounds are written out, so that no word of the
schedule has to be looked up.
"""
# ruff: noqa: F821, PLR0915, PLR0917, PLR2004  # C is C, and the rounds are as many as they are

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from spider.url.bytewise import Bytes, Place

if TYPE_CHECKING:
    import cython
else:
    from spider.url import uncython as cython

if cython.compiled:
    from cython.cimports.libc.string import memcpy, memset

__all__ = []

LITTLE = cython.declare(cython.bint, sys.byteorder == "little")  # how `digest` reads words

Word = cython.typedef(cython.ulonglong)
Words = cython.typedef(cython.p_ulonglong)

START = cython.declare(Word[8])  # the initialization vector (2.6)
_START = (
    "6A09E667F3BCC908 BB67AE8584CAA73B 3C6EF372FE94F82B A54FF53A5F1D36F1 "
    "510E527FADE682D1 9B05688C2B3E6C1F 1F83D9ABFB41BD6B 5BE0CD19137E2179"
)


def fill_start() -> None:
    """Read the initialization vector."""
    for place, word in enumerate(_START.split()):
        START[place] = int(word, 16)


fill_start()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def turn(word: Word, bits: cython.uint) -> Word:
    """Rotate a word of 64 bits to the right."""
    return word >> bits | word << (64 - bits)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mix(v: Words, a: cython.uint, b: cython.uint, c: cython.uint, d: cython.uint, x: Word, y: Word) -> cython.void:
    """Mix two words of the message into four of the state (RFC 7693, 3.1)."""
    v[a] = v[a] + v[b] + x
    v[d] = turn(v[d] ^ v[a], 32)
    v[c] = v[c] + v[d]
    v[b] = turn(v[b] ^ v[c], 24)
    v[a] = v[a] + v[b] + y
    v[d] = turn(v[d] ^ v[a], 16)
    v[c] = v[c] + v[d]
    v[b] = turn(v[b] ^ v[c], 63)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def run_rounds(v: Words, m: Words) -> cython.void:
    """Mix the message into the state twelve times (RFC 7693, 3.2; the schedule, 2.7, is written out)."""
    mix(v, 0, 4, 8, 12, m[0], m[1])
    mix(v, 1, 5, 9, 13, m[2], m[3])
    mix(v, 2, 6, 10, 14, m[4], m[5])
    mix(v, 3, 7, 11, 15, m[6], m[7])
    mix(v, 0, 5, 10, 15, m[8], m[9])
    mix(v, 1, 6, 11, 12, m[10], m[11])
    mix(v, 2, 7, 8, 13, m[12], m[13])
    mix(v, 3, 4, 9, 14, m[14], m[15])
    mix(v, 0, 4, 8, 12, m[14], m[10])
    mix(v, 1, 5, 9, 13, m[4], m[8])
    mix(v, 2, 6, 10, 14, m[9], m[15])
    mix(v, 3, 7, 11, 15, m[13], m[6])
    mix(v, 0, 5, 10, 15, m[1], m[12])
    mix(v, 1, 6, 11, 12, m[0], m[2])
    mix(v, 2, 7, 8, 13, m[11], m[7])
    mix(v, 3, 4, 9, 14, m[5], m[3])
    mix(v, 0, 4, 8, 12, m[11], m[8])
    mix(v, 1, 5, 9, 13, m[12], m[0])
    mix(v, 2, 6, 10, 14, m[5], m[2])
    mix(v, 3, 7, 11, 15, m[15], m[13])
    mix(v, 0, 5, 10, 15, m[10], m[14])
    mix(v, 1, 6, 11, 12, m[3], m[6])
    mix(v, 2, 7, 8, 13, m[7], m[1])
    mix(v, 3, 4, 9, 14, m[9], m[4])
    mix(v, 0, 4, 8, 12, m[7], m[9])
    mix(v, 1, 5, 9, 13, m[3], m[1])
    mix(v, 2, 6, 10, 14, m[13], m[12])
    mix(v, 3, 7, 11, 15, m[11], m[14])
    mix(v, 0, 5, 10, 15, m[2], m[6])
    mix(v, 1, 6, 11, 12, m[5], m[10])
    mix(v, 2, 7, 8, 13, m[4], m[0])
    mix(v, 3, 4, 9, 14, m[15], m[8])
    mix(v, 0, 4, 8, 12, m[9], m[0])
    mix(v, 1, 5, 9, 13, m[5], m[7])
    mix(v, 2, 6, 10, 14, m[2], m[4])
    mix(v, 3, 7, 11, 15, m[10], m[15])
    mix(v, 0, 5, 10, 15, m[14], m[1])
    mix(v, 1, 6, 11, 12, m[11], m[12])
    mix(v, 2, 7, 8, 13, m[6], m[8])
    mix(v, 3, 4, 9, 14, m[3], m[13])
    mix(v, 0, 4, 8, 12, m[2], m[12])
    mix(v, 1, 5, 9, 13, m[6], m[10])
    mix(v, 2, 6, 10, 14, m[0], m[11])
    mix(v, 3, 7, 11, 15, m[8], m[3])
    mix(v, 0, 5, 10, 15, m[4], m[13])
    mix(v, 1, 6, 11, 12, m[7], m[5])
    mix(v, 2, 7, 8, 13, m[15], m[14])
    mix(v, 3, 4, 9, 14, m[1], m[9])
    mix(v, 0, 4, 8, 12, m[12], m[5])
    mix(v, 1, 5, 9, 13, m[1], m[15])
    mix(v, 2, 6, 10, 14, m[14], m[13])
    mix(v, 3, 7, 11, 15, m[4], m[10])
    mix(v, 0, 5, 10, 15, m[0], m[7])
    mix(v, 1, 6, 11, 12, m[6], m[3])
    mix(v, 2, 7, 8, 13, m[9], m[2])
    mix(v, 3, 4, 9, 14, m[8], m[11])
    mix(v, 0, 4, 8, 12, m[13], m[11])
    mix(v, 1, 5, 9, 13, m[7], m[14])
    mix(v, 2, 6, 10, 14, m[12], m[1])
    mix(v, 3, 7, 11, 15, m[3], m[9])
    mix(v, 0, 5, 10, 15, m[5], m[0])
    mix(v, 1, 6, 11, 12, m[15], m[4])
    mix(v, 2, 7, 8, 13, m[8], m[6])
    mix(v, 3, 4, 9, 14, m[2], m[10])
    mix(v, 0, 4, 8, 12, m[6], m[15])
    mix(v, 1, 5, 9, 13, m[14], m[9])
    mix(v, 2, 6, 10, 14, m[11], m[3])
    mix(v, 3, 7, 11, 15, m[0], m[8])
    mix(v, 0, 5, 10, 15, m[12], m[2])
    mix(v, 1, 6, 11, 12, m[13], m[7])
    mix(v, 2, 7, 8, 13, m[1], m[4])
    mix(v, 3, 4, 9, 14, m[10], m[5])
    mix(v, 0, 4, 8, 12, m[10], m[2])
    mix(v, 1, 5, 9, 13, m[8], m[4])
    mix(v, 2, 6, 10, 14, m[7], m[6])
    mix(v, 3, 7, 11, 15, m[1], m[5])
    mix(v, 0, 5, 10, 15, m[15], m[11])
    mix(v, 1, 6, 11, 12, m[9], m[14])
    mix(v, 2, 7, 8, 13, m[3], m[12])
    mix(v, 3, 4, 9, 14, m[13], m[0])
    mix(v, 0, 4, 8, 12, m[0], m[1])
    mix(v, 1, 5, 9, 13, m[2], m[3])
    mix(v, 2, 6, 10, 14, m[4], m[5])
    mix(v, 3, 7, 11, 15, m[6], m[7])
    mix(v, 0, 5, 10, 15, m[8], m[9])
    mix(v, 1, 6, 11, 12, m[10], m[11])
    mix(v, 2, 7, 8, 13, m[12], m[13])
    mix(v, 3, 4, 9, 14, m[14], m[15])
    mix(v, 0, 4, 8, 12, m[14], m[10])
    mix(v, 1, 5, 9, 13, m[4], m[8])
    mix(v, 2, 6, 10, 14, m[9], m[15])
    mix(v, 3, 7, 11, 15, m[13], m[6])
    mix(v, 0, 5, 10, 15, m[1], m[12])
    mix(v, 1, 6, 11, 12, m[0], m[2])
    mix(v, 2, 7, 8, 13, m[11], m[7])
    mix(v, 3, 4, 9, 14, m[5], m[3])


@cython.cfunc
@cython.exceptval(check=False)
def digest(p: Bytes, n: Place) -> cython.longlong:
    """Hash with BLAKE2b of 8 bytes, read as a signed big-endian integer (RFC 7693, 3.3)."""
    h: Word[8]
    v: Word[16]
    m: Word[16]
    i: Place = 0
    memcpy(h, START, 64)
    h[0] ^= 0x01010008
    while True:
        v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7] = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
        v[8], v[9], v[10], v[11] = START[0], START[1], START[2], START[3]
        v[12], v[13], v[14], v[15] = START[4] ^ min(i + 128, n), START[5], START[6], START[7]
        if n - i > 128:
            memcpy(m, p + i, 128)
        else:
            v[14] = ~v[14]
            memset(m, 0, 128)
            memcpy(m, p + i, n - i)
        run_rounds(v, m)
        if n - i <= 128:
            return swapped(h[0] ^ v[0] ^ v[8])
        h[0], h[1], h[2], h[3] = h[0] ^ v[0] ^ v[8], h[1] ^ v[1] ^ v[9], h[2] ^ v[2] ^ v[10], h[3] ^ v[3] ^ v[11]
        h[4], h[5], h[6], h[7] = h[4] ^ v[4] ^ v[12], h[5] ^ v[5] ^ v[13], h[6] ^ v[6] ^ v[14], h[7] ^ v[7] ^ v[15]
        i += 128


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def swapped(word: Word) -> cython.longlong:
    """Read a word's bytes from the other end."""
    mask: Word = 0x00FF00FF00FF00FF
    word = word >> 8 & mask | (word & mask) << 8
    mask = 0x0000FFFF0000FFFF
    word = word >> 16 & mask | (word & mask) << 16
    return cython.cast(cython.longlong, word >> 32 | word << 32)
