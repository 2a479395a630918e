"""BLAKE2b of 8 bytes, compiled (RFC 7693); `hashlib` is the interpreted twin's.

A part of the compiled twin, see `spider.url.engine`: the call of the library alone would take longer
than all the rest that is done to an address.  `digest_eight` does eight texts side by side, in a form that
compilers make vector instructions of: with AVX2 they take the time of three.
"""
# ruff: noqa: F821, PLR0913, PLR0917, PLR2004  # C is C, and the rounds are as many as they are

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
Places = cython.typedef(cython.pointer(cython.Py_ssize_t))
Number = cython.typedef(cython.longlong)
Numbers = cython.typedef(cython.p_longlong)

START = cython.declare(Word[8])  # the initialization vector (2.6)
_START = (
    "6A09E667F3BCC908 BB67AE8584CAA73B 3C6EF372FE94F82B A54FF53A5F1D36F1 "
    "510E527FADE682D1 9B05688C2B3E6C1F 1F83D9ABFB41BD6B 5BE0CD19137E2179"
)


ROUNDS = cython.declare(cython.uchar[192])  # the message schedule (2.7), twelve rounds of sixteen words
_SCHEDULE = (
    "0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19 "
    "c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0 0123456789abcdef ea489fd61c02b753"
)


def fill_tables_of_hash() -> None:
    """Read the initialization vector and the schedule."""
    for place, word in enumerate(_START.split()):
        START[place] = int(word, 16)
    for place, digit in enumerate(_SCHEDULE.replace(" ", "")):
        ROUNDS[place] = int(digit, 16)


fill_tables_of_hash()


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
@cython.exceptval(check=False)
def digest(p: Bytes, n: Place) -> Number:
    """Hash with BLAKE2b of 8 bytes, read as a signed big-endian integer (RFC 7693, 3.3)."""
    h: Word[8]
    v: Word[16]
    m: Word[16]
    i: Place = 0
    r: Place
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
        for r in range(0, 192, 16):
            mix(v, 0, 4, 8, 12, m[ROUNDS[r]], m[ROUNDS[r + 1]])
            mix(v, 1, 5, 9, 13, m[ROUNDS[r + 2]], m[ROUNDS[r + 3]])
            mix(v, 2, 6, 10, 14, m[ROUNDS[r + 4]], m[ROUNDS[r + 5]])
            mix(v, 3, 7, 11, 15, m[ROUNDS[r + 6]], m[ROUNDS[r + 7]])
            mix(v, 0, 5, 10, 15, m[ROUNDS[r + 8]], m[ROUNDS[r + 9]])
            mix(v, 1, 6, 11, 12, m[ROUNDS[r + 10]], m[ROUNDS[r + 11]])
            mix(v, 2, 7, 8, 13, m[ROUNDS[r + 12]], m[ROUNDS[r + 13]])
            mix(v, 3, 4, 9, 14, m[ROUNDS[r + 14]], m[ROUNDS[r + 15]])
        if n - i <= 128:
            return swapped(h[0] ^ v[0] ^ v[8])
        h[0], h[1], h[2], h[3] = h[0] ^ v[0] ^ v[8], h[1] ^ v[1] ^ v[9], h[2] ^ v[2] ^ v[10], h[3] ^ v[3] ^ v[11]
        h[4], h[5], h[6], h[7] = h[4] ^ v[4] ^ v[12], h[5] ^ v[5] ^ v[13], h[6] ^ v[6] ^ v[14], h[7] ^ v[7] ^ v[15]
        i += 128


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def swapped(word: Word) -> Number:
    """Read a word's bytes from the other end."""
    mask: Word = 0x00FF00FF00FF00FF
    word = word >> 8 & mask | (word & mask) << 8
    mask = 0x0000FFFF0000FFFF
    word = word >> 16 & mask | (word & mask) << 16
    return cython.cast(Number, word >> 32 | word << 32)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mix_eight(v: Words, m: Words, a: Place, b: Place, c: Place, d: Place, x: Place, y: Place) -> cython.void:
    """Do as `mix`, for eight texts: the words of one place stand side by side."""
    k: Place
    for k in range(8):
        v[8 * a + k] = v[8 * a + k] + v[8 * b + k] + m[8 * x + k]
        v[8 * d + k] = turn(v[8 * d + k] ^ v[8 * a + k], 32)
        v[8 * c + k] = v[8 * c + k] + v[8 * d + k]
        v[8 * b + k] = turn(v[8 * b + k] ^ v[8 * c + k], 24)
        v[8 * a + k] = v[8 * a + k] + v[8 * b + k] + m[8 * y + k]
        v[8 * d + k] = turn(v[8 * d + k] ^ v[8 * a + k], 16)
        v[8 * c + k] = v[8 * c + k] + v[8 * d + k]
        v[8 * b + k] = turn(v[8 * b + k] ^ v[8 * c + k], 63)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def put_abreast(w: Words, m: Words, step: Place) -> cython.void:
    """Put the words of one place of eight texts side by side; each text begins `step` words behind the one before."""
    i: Place
    k: Place
    for k in range(8):
        for i in range(16):
            w[8 * i + k] = m[step * k + i]


@cython.cfunc
@cython.exceptval(check=False)
def digest_eight(m: Words, blocks: Place, sizes: Places, found: Numbers) -> cython.void:
    """Hash eight texts of as many blocks each, as `digest` does one; their words are in `m`, text by text."""
    h: Word[64]
    v: Word[128]
    w: Word[128]
    block: Place
    i: Place
    k: Place
    r: Place
    for i in range(64):
        h[i] = START[i >> 3]
    for k in range(8):
        h[k] ^= 0x01010008
    for block in range(blocks):
        put_abreast(w, m + 16 * block, 16 * blocks)
        for i in range(64):
            v[i], v[64 + i] = h[i], START[i >> 3]
        for k in range(8):
            v[96 + k] ^= min(128 * (block + 1), sizes[k])
            v[112 + k] ^= cython.cast(Word, 0) - (block == blocks - 1)
        for r in range(0, 192, 16):
            mix_eight(v, w, 0, 4, 8, 12, ROUNDS[r], ROUNDS[r + 1])
            mix_eight(v, w, 1, 5, 9, 13, ROUNDS[r + 2], ROUNDS[r + 3])
            mix_eight(v, w, 2, 6, 10, 14, ROUNDS[r + 4], ROUNDS[r + 5])
            mix_eight(v, w, 3, 7, 11, 15, ROUNDS[r + 6], ROUNDS[r + 7])
            mix_eight(v, w, 0, 5, 10, 15, ROUNDS[r + 8], ROUNDS[r + 9])
            mix_eight(v, w, 1, 6, 11, 12, ROUNDS[r + 10], ROUNDS[r + 11])
            mix_eight(v, w, 2, 7, 8, 13, ROUNDS[r + 12], ROUNDS[r + 13])
            mix_eight(v, w, 3, 4, 9, 14, ROUNDS[r + 14], ROUNDS[r + 15])
        for i in range(64):
            h[i] ^= v[i] ^ v[64 + i]
    for k in range(8):
        found[k] = swapped(h[k])
