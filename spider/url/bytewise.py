"""What the fast lane is made of: classes of bytes, the child machine's table, and small functions on bytes.

A part of `spider.url.lane`, and compiled with it.  `p` is a text, `out` what is written; `i`, `n`, `o` are
places in them.  Bytes are numbers here: 35 is #, 37 %, 43 +, 46 a dot, 47 a slash, 48 to 57 digits, 58 a
colon, 63 ?, 92 a backslash, 95 _, 97 to 122 letters.
"""
# ruff: noqa: PLR2004, PLR0917  # see above; and C functions take their places by position

from __future__ import annotations

from typing import TYPE_CHECKING

from spider.url import percent
from spider.url.fields import SPECIAL as SCHEMES
from spider.url.machine import CHILD as MOVES

if TYPE_CHECKING:
    import cython
else:
    from spider.url import uncython as cython

if cython.compiled:
    from cython.cimports.cpython.mem import PyMem_Free, PyMem_Malloc
    from cython.cimports.cpython.unicode import PyUnicode_1BYTE_DATA, PyUnicode_New
    from cython.cimports.libc.string import memcmp, memcpy

__all__ = []

Bytes = cython.typedef(cython.p_uchar)
Place = cython.typedef(cython.Py_ssize_t)
Bits = cython.typedef(cython.uint)

# Bits of a byte's class in path, query and opaque path.
DOT = cython.declare(Bits, 1)
SLASH = cython.declare(Bits, 2)
END = cython.declare(Bits, 4)  # ? #
HASH = cython.declare(Bits, 1024)  # #
SEMICOLON = cython.declare(Bits, 2048)
PERCENT = cython.declare(Bits, 8)
IN_PATH = cython.declare(Bits, 16)  # is in the path percent-encode set, or \
IN_QUERY = cython.declare(Bits, 32)  # is in the special-query percent-encode set
IN_OTHER = cython.declare(Bits, 64)  # is in the query percent-encode set
IN_OPAQUE = cython.declare(Bits, 128)  # is in the C0 control percent-encode set
HIGH = cython.declare(Bits, 256)  # no ASCII
DROPPED = cython.declare(Bits, 512)  # tab or newline: the machine's business
CLASS = cython.declare(Bits[256])

# Classes of a byte in scheme and host.
LOWER = cython.declare(cython.uchar, 0)  # of a host, as it is
UPPER = cython.declare(cython.uchar, 1)
LABEL = cython.declare(cython.uchar, 2)  # a dot
STOP = cython.declare(cython.uchar, 4)  # : / ? #
OTHER = cython.declare(cython.uchar, 8)  # the machine's business
HOST = cython.declare(cython.uchar[256])

CHILD = cython.declare(cython.uchar[18])  # paper 1's child machine: 6 * input + state
HEX = cython.declare(cython.uchar[16])
SPECIAL = cython.declare(cython.ulonglong[6])  # the special schemes, a byte a letter


def fill_tables() -> None:
    """Make the tables of bytes from the encode sets and the child machine's table."""
    bits = {IN_PATH: percent.PATH | {"\\"}, IN_QUERY: percent.SPECIAL_QUERY, IN_OTHER: percent.QUERY}
    bits |= {
        IN_OPAQUE: percent.C0_CONTROL,
        DROPPED: "\t\n\r",
        DOT: ".",
        SLASH: "/",
        END: "?#",
        HASH: "#",
        SEMICOLON: ";",
        PERCENT: "%",
    }
    for byte in range(256):
        char = chr(byte)
        CLASS[byte] = HIGH if byte > 127 else sum([bit for bit, members in bits.items() if char in members])
        HOST[byte] = OTHER
        if char in "-_" or (byte < 128 and char.isalnum()):
            HOST[byte] = UPPER if char.isupper() else LOWER
        elif char == ".":
            HOST[byte] = LABEL
        elif char in ":/?#":
            HOST[byte] = STOP
    for row, moves in enumerate(MOVES.values()):
        for column, following in enumerate(moves.values()):
            CHILD[6 * row + column] = int(following.removeprefix("S5-"))
    for digit, char in enumerate("0123456789ABCDEF"):
        HEX[digit] = ord(char)
    for place, scheme in enumerate(SCHEMES):
        SPECIAL[place] = int.from_bytes(scheme.encode(), "big")


fill_tables()


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def copy_bytes(out: Bytes, o: Place, p: Bytes, i: Place, n: Place) -> Place:
    """Copy the bytes from `i` to `n`; return where the next one goes."""
    if cython.compiled:
        memcpy(out + o, p + i, n - i)
    else:
        out[o : o + n - i] = p[i:n]
    return o + n - i


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def put_byte(out: Bytes, o: Place, byte: cython.uchar, escape: Bits) -> Place:
    """Write a byte, or its escape; return where the next one goes."""
    if escape:
        out[o] = 37
        out[o + 1] = HEX[byte >> 4]
        out[o + 2] = HEX[byte & 15]
        return o + 3
    out[o] = byte
    return o + 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_dot_escape(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether the percent sign at `i` begins ``%2e``."""
    return i + 2 < n and p[i + 1] == 50 and (p[i + 2] | 32) == 101


@cython.cfunc
@cython.exceptval(check=False)
def has_dot_escape(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether there is a ``%2e``."""
    while i < n:
        if p[i] == 37 and is_dot_escape(p, i, n):
            return True
        i += 1
    return False


@cython.cfunc
@cython.exceptval(check=False)
def is_twisted(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether there is a dot segment, or a backslash, which is a slash to some schemes only."""
    if has_dots(p, i, n) or has_dot_escape(p, i, n):
        return True
    while i < n:
        if p[i] == 92:
            return True
        i += 1
    return False


@cython.cfunc
@cython.exceptval(check=False)
def has_dots(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether a segment begins with a dot: only then is it worth running the child machine."""
    found: cython.uchar = p[i] == 46
    while i + 1 < n:
        found |= (p[i] == 47) & (p[i + 1] == 46)
        i += 1
    return found != 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def classes_of_eight(p: Bytes, i: Place) -> Bits:
    """Say which classes are among the eight bytes at `i`."""
    return (
        CLASS[p[i]]
        | CLASS[p[i + 1]]
        | CLASS[p[i + 2]]
        | CLASS[p[i + 3]]
        | CLASS[p[i + 4]]
        | CLASS[p[i + 5]]
        | CLASS[p[i + 6]]
        | CLASS[p[i + 7]]
    )


@cython.cfunc
@cython.exceptval(check=False)
def write_path(out: Bytes, root: Place, o: Place, p: Bytes, i: Place, n: Place) -> Place:
    r"""Run the child machine over a path, from behind a slash at `out[o - 1]`; `root` is behind the first.

    Return where the next byte goes.
    """
    state: Bits = 0
    begin: Place = o
    bits: Bits
    while i < n:
        bits = CLASS[p[i]]
        if bits & SLASH or p[i] == 92:
            if state == 1:
                o = begin
            elif state == 2:
                o = pop_segment(out, root, begin)
            else:
                out[o] = 47
                o += 1
            begin = o
            state = CHILD[6 + state]
        elif bits & DOT:
            out[o] = 46
            o += 1
            state = CHILD[12 + state]
        elif bits & PERCENT and is_dot_escape(p, i, n):
            o = copy_bytes(out, o, p, i, i + 3)
            i += 2
            state = CHILD[12 + state]
        else:
            o = put_byte(out, o, p[i], bits & (IN_PATH | HIGH))
            state = CHILD[state]
        i += 1
    if state == 1:
        return begin
    return pop_segment(out, root, begin) if state == 2 else o


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def pop_segment(out: Bytes, root: Place, o: Place) -> Place:
    """Go back one segment, never past the root."""
    if o > root:
        o -= 1
        while o > root and out[o - 1] != 47:
            o -= 1
    return o


@cython.cfunc
@cython.exceptval(check=False)
def write_escaped(out: Bytes, o: Place, p: Bytes, i: Place, n: Place, escaped: Bits) -> Place:
    """Write a query or an opaque path, escaping the classes given; return where the next byte goes."""
    while i < n:
        o = put_byte(out, o, p[i], CLASS[p[i]] & escaped)
        i += 1
    return o


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def web_scheme(p: Bytes, i: Place, n: Place) -> Place:
    """Return the length of ``http://`` or ``https://`` at `i`, or 0."""
    if n - i < 8 or p[i] != 104 or p[i + 1] != 116 or p[i + 2] != 116 or p[i + 3] != 112:
        return 0
    if p[i + 4] == 58 and p[i + 5] == 47 and p[i + 6] == 47:
        return 7
    return 8 if p[i + 4] == 115 and p[i + 5] == 58 and p[i + 6] == 47 and p[i + 7] == 47 else 0


@cython.cfunc
@cython.exceptval(check=False)
def find_colon(p: Bytes, i: Place, n: Place) -> Place:
    """Find the colon behind a scheme that begins with the letter at `i`; -1 where there is none."""
    while i < n:
        if p[i] == 58:
            return i
        if (HOST[p[i]] > LABEL or p[i] == 95) and p[i] != 43:
            return -1
        i += 1
    return -1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def is_numeric(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether a host may be an IPv4 address that is not written as the standard writes one.

    Then its last label begins with a digit, or is empty.
    """
    if p[n - 1] > 102 and p[n - 1] != 120:  # behind f and not x: no hexadecimal digit, and not 0x
        return False
    k: Place = n
    while k > i and p[k - 1] != 46:
        k -= 1
    return (k == n or p[k] <= 57) and not is_dotted(p, i, n)


@cython.cfunc
@cython.exceptval(check=False)
def is_dotted(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether a host is an IPv4 address as the standard writes one: four numbers below 256, no zero before them."""
    value: Bits = 0
    dots: Bits = 0
    begin: Place = i
    while i < n:
        if p[i] == 46:
            if i == begin:
                return False
            dots += 1
            value = 0
            begin = i + 1
        else:
            if p[i] < 48 or p[i] > 57 or (i > begin and p[begin] == 48):
                return False
            value = value * 10 + p[i] - 48
            if value > 255:
                return False
        i += 1
    return dots == 3 and i > begin


@cython.cfunc
@cython.exceptval(check=False)
def is_special(p: Bytes, i: Place, n: Place) -> cython.bint:
    """Say whether a scheme is special (section 4.2)."""
    packed: cython.ulonglong = 0
    k: Bits
    if n - i > 5:
        return False
    while i < n:
        packed = packed << 8 | p[i] | 32
        i += 1
    for k in range(6):  # noqa: SIM110  # a generator is no C
        if packed == SPECIAL[k]:
            return True
    return False


@cython.cfunc
@cython.exceptval(check=False)
def write_lower(out: Bytes, o: Place, p: Bytes, i: Place, n: Place) -> Place:
    """Write a scheme or host with small letters; return where the next byte goes."""
    while i < n:
        out[o] = p[i] | 32 if HOST[p[i]] == 1 else p[i]
        o += 1
        i += 1
    return o


@cython.cfunc
@cython.inline
def take_room(size: Place) -> Bytes:
    """Take room for so many bytes; `give_string` gives it back."""
    if cython.compiled:
        out = cython.cast(Bytes, PyMem_Malloc(size))
        if out == cython.NULL:
            raise MemoryError
    else:
        out = bytearray(size)
    return out


@cython.cfunc
def give_string(out: Bytes, n: Place) -> str:
    """Make a string of the first `n` bytes, which are ASCII, and give the room back."""
    if cython.compiled:
        try:
            result = PyUnicode_New(n, 127)
            memcpy(PyUnicode_1BYTE_DATA(result), out, n)
        finally:
            PyMem_Free(out)
        return result
    return out[:n].decode("ascii")


@cython.cfunc
def keep_text(out: Bytes, text: str) -> str:
    """Give the room back: the text was written so already."""
    if cython.compiled:
        PyMem_Free(out)
    return text


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def are_equal(a: Bytes, i: Place, b: Bytes, n: Place) -> cython.bint:
    """Say whether the `n` bytes of `a` from `i` on are the first ones of `b`."""
    if cython.compiled:
        return memcmp(a + i, b, n) == 0
    return a[i : i + n] == b[:n]


@cython.cfunc
@cython.exceptval(check=False)
def read_port(p: Bytes, i: Place, n: Place) -> Place:
    """Read a port of one to five digits; return where it ends, -1 where it is the machine's business."""
    value: Bits = 0
    begin: Place = i
    while i < n and i - begin < 6 and 48 <= p[i] <= 57:
        value = value * 10 + p[i] - 48
        i += 1
    if i == begin or value > 65535 or p[begin] == 48:
        return -1
    return i if i == n or CLASS[p[i]] & (SLASH | END) else -1


@cython.cfunc
@cython.exceptval(check=False)
def is_usual_port(p: Bytes, i: Place, n: Place, https: cython.bint) -> cython.bint:
    """Say whether a port is 443 or 80, as the scheme has it."""
    if https:
        return n - i == 3 and p[i] == 52 and p[i + 1] == 52 and p[i + 2] == 51
    return n - i == 2 and p[i] == 56 and p[i + 1] == 48
