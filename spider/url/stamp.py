"""The hash of an address's key, for telling at once whether it is known.

A part of the compiled twin, see `spider.url.engine`.  Most addresses are their own keys, or are
so once some parameters are dropped and the rest sorted: `unsettled` sees that in one scan.  Only the
others climb the ladder.
"""
# ruff: noqa: F821, PLR1714, PLR2004  # bytes are numbers, see `spider.url.bytewise`; C is C

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from spider.url.blake import LITTLE, digest
from spider.url.bytewise import (
    CLASS,
    END,
    HEX,
    HIGH,
    IN_OPAQUE,
    PERCENT,
    SEMICOLON,
    Bits,
    Bytes,
    Place,
    classes_of_eight,
    copy_bytes,
    take_room,
)
from spider.url.ladder import KEY_LADDER, NAMES, PREFIXES, TOKENS, key

if TYPE_CHECKING:
    import cython
else:
    from spider.url import uncython as cython

if cython.compiled:
    from cython.cimports.cpython.mem import PyMem_Free
    from cython.cimports.cpython.unicode import PyUnicode_1BYTE_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND

__all__ = ["hashed", "identify"]

# Marks parameter names that a step of the ladder may drop, by two letters and the length.
MARKED = cython.declare(cython.uchar[4096])

DROPPED_NAMES = frozenset(name.encode() for name in NAMES if name not in TOKENS)
DROPPED_TOKENS = frozenset(name.encode() for name in TOKENS)
DROPPED_PREFIXES = tuple(name.encode() for name in PREFIXES)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mark(first: cython.uchar, second: cython.uchar, length: Place) -> Place:
    """Find the place of a name's mark: its first two letters, small, and its length."""
    return ((first | 32) * 7 + (second | 32) * 13 & 127) << 5 | min(length, 31)


# What ends a run of bytes of a query that mean nothing to its key: & = % and whatever is no ASCII.
BREAKS = cython.declare(cython.uchar[256])


def fill_marks() -> None:
    """Mark the names that `spider.url.ladder` knows, and the bytes that matter in a query."""
    for byte in range(256):
        BREAKS[byte] = byte in b"&=%" or byte > 126
    for name in NAMES:
        MARKED[mark(ord(name[0]), ord(name[1]) if len(name) > 1 else 0, len(name))] = 1
    for name in PREFIXES:
        for length in range(len(name), 32):
            MARKED[mark(ord(name[0]), ord(name[1]), length)] = 1


fill_marks()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_hex(byte: cython.uchar) -> cython.bint:
    """Say whether a byte is a hexadecimal digit."""
    return 48 <= byte <= 57 or 97 <= byte | 32 <= 102


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def value(byte: cython.uchar) -> cython.uint:
    """Return what a hexadecimal digit is worth."""
    return byte - 48 if byte < 65 else (byte | 32) - 87


@cython.cfunc
@cython.exceptval(check=False)
def is_raw_escape(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether the percent sign at `i` begins an escape that the ladder writes otherwise."""
    if i + 2 >= n or not (is_hex(p[i + 1]) and is_hex(p[i + 2])):
        return False
    if p[i + 1] > 96 or p[i + 2] > 96:
        return True
    return is_unreserved(value(p[i + 1]) << 4 | value(p[i + 2]))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_unreserved(byte: cython.uint) -> cython.bint:
    """Say whether a byte is an unreserved character (RFC 3986, 2.3)."""
    return 97 <= byte | 32 <= 122 or 48 <= byte <= 57 or byte == 45 or byte == 46 or byte == 95 or byte == 126


# What has to be done to an address to have its key.
NOTHING = cython.declare(cython.uint, 0)
SORT = cython.declare(cython.uint, 1)  # drop parameters of its query and sort them
RESPELL = cython.declare(cython.uint, 2)  # write its escapes otherwise, and look again
CLIMB = cython.declare(cython.uint, 3)  # ask the ladder


@cython.cfunc
def unsettled(p: Bytes, n: Place) -> cython.uint:
    """Say what is to be done to an address to have its key; CLIMB where that is not sure."""
    i: Place = 0
    bits: Bits
    while i + 8 <= n:
        if classes_of_eight(p, i) & (END | HIGH | PERCENT | SEMICOLON | IN_OPAQUE):
            break
        i += 8
    while i < n:
        bits = CLASS[p[i]]
        if bits & END:
            return unsettled_query(p, i + 1, n) if p[i] == 63 else CLIMB
        if bits & (HIGH | IN_OPAQUE):
            return CLIMB
        if bits & PERCENT and is_raw_escape(p, i, n):
            return RESPELL
        if bits & SEMICOLON and i + 1 < n and p[i + 1] | 32 in (106, 112, 115):  # j p s: of a session's names
            return CLIMB
        i += 1
    return NOTHING


@cython.cfunc
def is_dropped(p: Bytes, i: Place, k: Place, n: Place) -> cython.bint:
    """Say whether the ladder drops the parameter from `i` to `n`, whose name ends at `k`."""
    if k == i or not MARKED[mark(p[i], p[i + 1] if k > i + 1 else 0, k - i)]:
        return False
    name: bytes = p[i:k].lower()
    if name in DROPPED_NAMES or name.startswith(DROPPED_PREFIXES):
        return True
    if name not in DROPPED_TOKENS or n - k < 25:
        return False
    return p[k + 1 : n].isalnum()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def find_break(p: Bytes, i: Place, n: Place) -> Place:
    """Find the next byte of a query that means something to its key."""
    while i < n and not BREAKS[p[i]]:
        i += 1
    return i


@cython.cfunc
def unsettled_query(p: Bytes, i: Place, n: Place) -> cython.uint:
    """Say what is to be done to a query's parameters, from `i` on."""
    begin: Place
    end: Place
    before: Place = 0
    before_end: Place = 0
    found: cython.uint = NOTHING
    while i <= n:
        begin = i
        end = -1
        while True:
            i = find_break(p, i, n)
            if i == n or p[i] == 38:
                break
            if p[i] > 126:
                return CLIMB
            if p[i] == 37 and is_raw_escape(p, i, n):
                return RESPELL
            if p[i] == 61 and end < 0:
                end = i
            i += 1
        if end < 0:
            end = i
        if is_dropped(p, begin, end, i):
            found = SORT
        if before and is_behind(p, before, before_end, begin, end):
            found = SORT
        before, before_end = begin, end
        i += 1
    return found


@cython.cfunc
@cython.exceptval(check=False)
def is_behind(p: Bytes, a: Place, a_end: Place, b: Place, b_end: Place) -> cython.bint:
    """Say whether the first name sorts behind the second."""
    while a < a_end and b < b_end:
        if p[a] != p[b]:
            return p[a] > p[b]
        a += 1
        b += 1
    return a < a_end


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def name_end(p: Bytes, i: Place, n: Place) -> Place:
    """Find where a parameter's name ends."""
    while i < n and p[i] != 61:
        i += 1
    return i


@cython.cfunc
def write_sorted(out: Bytes, p: Bytes, n: Place) -> Place:
    """Write an address without what the ladder drops of its query, and the rest sorted by name, stably.

    Return its length; -1 where its parameters are too many.
    """
    begins: Place[64]
    ends: Place[64]
    count: Place = 0
    i: Place = 0
    k: Place
    o: Place
    while p[i] != 63:
        i += 1
    o = i + 1
    while i < n and count < 64:
        k = i + 1
        i = k
        while i < n and p[i] != 38:
            i += 1
        if is_dropped(p, k, name_end(p, k, i), i):
            continue
        o = count  # insertion: most queries are short, and almost sorted
        while o > 0 and is_behind(p, begins[o - 1], name_end(p, begins[o - 1], ends[o - 1]), k, name_end(p, k, i)):
            begins[o], ends[o] = begins[o - 1], ends[o - 1]
            o -= 1
        begins[o], ends[o] = k, i
        count += 1
    if i < n:
        return -1
    o = 0
    while p[o] != 63:
        out[o] = p[o]
        o += 1
    for k in range(count):
        out[o] = 38 if k else 63
        o = copy_bytes(out, o + 1, p, begins[k], ends[k])
    return o


@cython.cfunc
def sorted_digest(p: Bytes, n: Place) -> object:
    """Hash what `write_sorted` writes."""
    out = take_room(n)
    o = write_sorted(out, p, n)
    result: object = hashed(key(p[:n].decode("ascii"))) if o < 0 else digest(out, o)
    PyMem_Free(out)
    return result


@cython.cfunc
def respelled_digest(url: str, p: Bytes, n: Place) -> object:
    """Hash the key of an address whose escapes are to be written otherwise, as `spider.url.ladder.escapes` does."""
    i: Place = 0
    o: Place = 0
    byte: cython.uint
    out = take_room(n)
    while i < n:
        if p[i] != 37 or not is_raw_escape(p, i, n):
            out[o] = p[i]
            o += 1
            i += 1
            continue
        byte = value(p[i + 1]) << 4 | value(p[i + 2])
        if is_unreserved(byte) and not is_in_escape(p, i):
            out[o] = byte
            o += 1
        else:
            out[o] = 37
            out[o + 1] = HEX[byte >> 4]
            out[o + 2] = HEX[byte & 15]
            o += 3
        i += 3
    todo = unsettled(out, o)
    result: object
    if todo == NOTHING:
        result = digest(out, o)
    elif todo == SORT:
        result = sorted_digest(out, o)
    else:
        result = hashed(key(url))
    PyMem_Free(out)
    return result


@cython.cfunc
@cython.exceptval(check=False)
def is_in_escape(p: Bytes, i: Place) -> cython.bint:
    """Say whether a percent sign with at most one digit stands right before: decoding could make a new escape."""
    return i > 0 and (p[i - 1] == 37 or (i > 1 and p[i - 2] == 37 and is_hex(p[i - 1])))


def hashed(text: str) -> int:
    """Hash a text in UTF-8 with BLAKE2b of 8 bytes, read as a signed big-endian integer."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


@cython.cfunc
@cython.inline
def stamp(url: str) -> object:
    """Hash an address's key."""
    if cython.compiled:  # noqa: SIM102  # what is left out where this runs must be a block of its own
        if LITTLE and PyUnicode_KIND(url) == 1:
            p = cython.cast(Bytes, PyUnicode_1BYTE_DATA(url))
            todo = unsettled(p, PyUnicode_GET_LENGTH(url))
            if todo == NOTHING:
                return digest(p, PyUnicode_GET_LENGTH(url))
            if todo == SORT:
                return sorted_digest(p, PyUnicode_GET_LENGTH(url))
            if todo == RESPELL:
                return respelled_digest(url, p, PyUnicode_GET_LENGTH(url))
    return hashed(key(url))


Text = str  # to Cython a name like any other, so that it does not refuse subclasses of str


def identify(url: Text, *, ladder: Text = KEY_LADDER) -> int:
    """Hash the key of a normalized address: BLAKE2b of 8 bytes, read as a signed big-endian integer.

    `ladder` is as in `key`.
    """
    return stamp(str(url)) if ladder == KEY_LADDER else hashed(key(str(url), ladder))
