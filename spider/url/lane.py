"""The fast lane: ordinary addresses, normalized without a field being cut out; the machine has all others.

Cython compiles this file.  `Lane` reads bytes, one table look-up each; the interpreted twin has its
like in `spider.url.spans`, made of regular expressions over the same sets.  Both answer None for what
is out of the ordinary, which `spider.url.reader` then reads from the start.
"""
# ruff: noqa: FBT003, PLR2004  # bytes are numbers, see `spider.url.bytewise`; C functions know no keywords

from __future__ import annotations

from typing import TYPE_CHECKING

from spider.url.bytewise import (
    CLASS,
    DOT,
    DROPPED,
    END,
    HASH,
    HIGH,
    HOST,
    IN_OPAQUE,
    IN_OTHER,
    IN_PATH,
    IN_QUERY,
    OTHER,
    PERCENT,
    SEMICOLON,
    STOP,
    UPPER,
    Bits,
    Bytes,
    Place,
    are_equal,
    classes_of_eight,
    copy_bytes,
    find_colon,
    give_string,
    has_dot_escape,
    has_dots,
    is_numeric,
    is_special,
    is_twisted,
    is_usual_port,
    keep_text,
    read_port,
    take_room,
    web_scheme,
    write_escaped,
    write_lower,
    write_path,
)

if TYPE_CHECKING:
    import cython
else:
    from spider.url import uncython as cython

if cython.compiled:
    from cython.cimports.cpython.unicode import (
        PyUnicode_1BYTE_DATA,
        PyUnicode_AsUTF8AndSize,
        PyUnicode_GET_LENGTH,
        PyUnicode_KIND,
        PyUnicode_New,
    )

__all__ = ["Lane"]


@cython.final
@cython.cclass
class Lane:
    """A page's address, made ready to take its links; None stands for no page."""

    text: str
    raw: bytes
    scheme: Place  # the length of https://
    origin: Place  # where the path begins
    path: Place  # where it ends
    directory: Place  # behind its last slash
    ready: cython.bint  # whether relative links can be taken here
    utf8: cython.bint
    shifts: cython.bint  # whether even ASCII is encoded otherwise: ISO-2022-JP
    latin: cython.bint  # whether `p` is Latin-1: read once more in UTF-8 if any of it is `high`
    high: cython.bint
    # The link.  Its answer begins with so much of `head`, then host and port; `root` is behind its path's first slash.
    p: Bytes
    n: Place
    head: Bytes
    head_end: Place
    name: Place
    name_end: Place
    root: Place
    # What the last scan found: where path and address end, and whether either must be rewritten.
    path_end: Place
    end: Place
    bad_path: cython.bint
    bad_query: cython.bint
    seen: Bits
    in_path: Bits
    plain: cython.bint  # whether its key surely is the answer itself: it has no query, and no % or ; at all
    base_plain: cython.bint

    def __init__(self, text: str, *, codec: str, ready: bool) -> None:
        """Take a page's normalized address, "" for none; `ready` says that it is a web page's."""
        self.text = text
        self.raw = text.encode("ascii")
        self.ready = ready
        self.utf8, self.shifts = codec == "utf-8", codec == "iso2022_jp"
        self.latin = self.high = self.plain = False
        self.base_plain = "%" not in text and ";" not in text
        self.scheme = self.origin = self.path = self.directory = 0
        if ready:
            self.scheme = text.index("/") + 2
            self.origin = text.index("/", self.scheme)
            self.path = text.index("?") if "?" in text else len(text)
            self.directory = text.rindex("/", 0, self.path) + 1

    def ask(self, text: str) -> str | None:
        """Answer as `address` does."""
        return self.address(text)

    @cython.cfunc
    def address(self, text: str) -> str | None:
        """Normalize `text` as a link of the page; None where that is the machine's business."""
        self.plain = False
        if cython.compiled and PyUnicode_KIND(text) == 1:
            self.p = cython.cast(Bytes, PyUnicode_1BYTE_DATA(text))
            self.latin = True
            self.high = False
            result = self._read(text, PyUnicode_GET_LENGTH(text))
            if not self.high:
                return result
        self.latin = False
        return self._read(text, self._encode(text))

    @cython.cfunc
    @cython.inline
    def _read(self, text: str, size: Place) -> str | None:
        """Strip the text and see how it begins; `size` is -1 where it cannot be encoded."""
        n: Place = size
        i: Place = 0
        while n > 0 and self.p[n - 1] <= 32:
            n -= 1
        while i < n and self.p[i] <= 32:
            i += 1
        self.n = n
        if i < n and 97 <= self.p[i] | 32 <= 122:
            return self._absolute(text, i, size)
        return self._relative(i) if self.ready and size >= 0 else None

    @cython.cfunc
    @cython.exceptval(check=False)
    def _encode(self, text: str) -> Place:
        """Point to the text in UTF-8; return its length, -1 if it holds a surrogate."""
        n: Place = -1
        try:
            if cython.compiled:
                self.p = cython.cast(Bytes, PyUnicode_AsUTF8AndSize(text, cython.address(n)))
            else:
                self.p = text.encode()
                n = len(self.p)
        except UnicodeEncodeError:
            return -1
        return n

    @cython.cfunc
    @cython.inline
    def _absolute(self, text: str, i: Place, size: Place) -> str | None:
        """Read a text that begins with a letter: a scheme, or a relative path's first."""
        k: Place = i + self.origin
        if self.ready and k < self.n and self.p[k] == 47 and are_equal(self.p, i, self._base(), self.origin):
            self.head, self.head_end = self.p, 0
            self.name, self.name_end = i, k
            self.root = self.origin + 1
            return self._web(text, k, False, False, size)
        k = web_scheme(self.p, i, self.n)
        if k:
            self.head, self.head_end = self.p, 0
            return self._host(text, i, i + k, size)
        k = find_colon(self.p, i, self.n)
        if k > 0:
            return self._opaque(text, i, k, size)
        return self._relative(i) if self.ready else None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _base(self) -> Bytes:
        """Point to the page's address."""
        return cython.cast(Bytes, self.raw) if cython.compiled else self.raw

    @cython.cfunc
    def _relative(self, i: Place) -> str | None:
        """Take what the text leaves out from the page's address."""
        following: cython.uchar
        if i == self.n:
            return self.text
        self.head = self._base()
        self.name = self.name_end = i
        self.root = self.origin + 1
        if self.p[i] == 47:
            following = self.p[i + 1] if i + 1 < self.n else 0
            if following == 47:
                self.head_end = self.scheme
                return self._host(self.text, i + 2, i + 2, -1)
            self.head_end = self.origin
            return None if following == 92 else self._web(self.text, i, False, False, -1)
        if self.p[i] == 35:
            return self.text
        if self.p[i] == 92:
            return None
        self.head_end = self.path if self.p[i] == 63 else self.directory
        return self._web(self.text, i, False, False, -1)

    @cython.cfunc
    def _host(self, text: str, start: Place, i: Place, size: Place) -> str | None:
        """Read host and port from `i`; the answer has what is between `start` and there too.

        `size` is the length of `text` where it may itself be the answer.
        """
        seen: Bits = 0
        cls: Bits
        https: cython.bint = i - start == 8 or self.head_end == 8
        begin: Place = i
        n: Place = self.n
        p = self.p
        while i < n:
            cls = HOST[p[i]]
            if cls & (STOP | OTHER):
                break
            seen |= cls
            i += 1
        if i == begin or (i < n and HOST[p[i]] & OTHER) or is_numeric(p, begin, i):
            return None
        self.name, self.name_end = start, i
        if i < n and p[i] == 58:
            i = read_port(p, i + 1, n)
            if i < 0:
                return None
            if not is_usual_port(p, self.name_end + 1, i, https):
                self.name_end = i
        self.root = self.head_end + self.name_end - start + 1
        return self._web(text, i, (seen & UPPER) != 0, i == n or p[i] != 47, size)

    @cython.cfunc
    @cython.inline
    def _web(self, text: str, i: Place, upper: cython.bint, slash: cython.bint, size: Place) -> str | None:
        """Read path and query from `i`, and answer: with `text` itself where nothing changes.

        `upper` says that the host has capitals, `slash` that the path is left out.
        """
        if not self._scan(i):
            return None
        if upper or self.bad_path or self.bad_query:
            return self._rewrite(text, i, slash, size)
        self.plain = self.base_plain and self.end == self.path_end and not self.in_path & (PERCENT | SEMICOLON)
        same: cython.bint = self.name == 0 and self.head_end == 0 and self.end == size and self.name_end == i
        return text if same and not slash else self._answer(i, slash)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _scan(self, i: Place) -> cython.bint:
        """Read path and query from `i`, note what was found; say whether they are the lane's business."""
        path: Bits
        self.path_end = self._span(i, END)
        self.in_path = path = self.seen
        self.end = self._span(self.path_end, HASH)
        self.bad_query = self.seen & (IN_QUERY | HIGH) != 0
        self.bad_path = path & (IN_PATH | HIGH) != 0 or (path & DOT and has_dots(self.p, i, self.path_end))
        if path & PERCENT and not self.bad_path:
            self.bad_path = has_dot_escape(self.p, i, self.path_end)
        return self._is_ours(path, self.seen)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _span(self, i: Place, stop: Bits) -> Place:
        """Read on to a byte of the classes `stop`, or to the end; note in `seen` the classes that were met."""
        n: Place = self.n
        begin: Place = i
        bits: Bits
        seen: Bits = 0
        p = self.p
        while i + 8 <= n:
            bits = classes_of_eight(p, i)
            if bits & stop:
                break
            seen |= bits
            i += 8
        if i < n < i + 8 and n - begin >= 8:  # the last eight at once, though some were read: branches cost more
            bits = classes_of_eight(p, n - 8)
            if not bits & stop:
                self.seen = seen | bits
                return n
        while i < n:
            bits = CLASS[p[i]]
            if bits & stop:
                break
            seen |= bits
            i += 1
        self.seen = seen
        return i

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_ours(self, path: Bits, query: Bits) -> cython.bint:
        """Say whether bytes of these classes are the lane's business, in this encoding."""
        if (path | query) & HIGH:
            self.high = True
            if self.latin or (query & HIGH and not self.utf8):
                return False
        return (path | query) & DROPPED == 0 and not (self.shifts and query & IN_QUERY)

    @cython.cfunc
    def _answer(self, i: Place, slash: cython.bint) -> str:
        """Put head, name, path and query together; `slash` is a path that the text leaves out."""
        size: Place = self.head_end + self.name_end - self.name + slash + self.end - i
        if cython.compiled:
            result = PyUnicode_New(size, 127)
            out = cython.cast(Bytes, PyUnicode_1BYTE_DATA(result))
        else:
            out = bytearray(size)
        o = copy_bytes(out, 0, self.head, 0, self.head_end)
        o = copy_bytes(out, o, self.p, self.name, self.name_end)
        if slash:
            out[o] = 47
            o += 1
        copy_bytes(out, o, self.p, i, self.end)
        if cython.compiled:
            return result
        return out.decode("ascii")

    @cython.cfunc
    def _rewrite(self, text: str, i: Place, slash: cython.bint, size: Place) -> str:
        """Do as `_answer`, with capitals made small, dots resolved and bytes escaped."""
        o: Place
        out = take_room(self.head_end + self.name_end - self.name + 1 + 3 * (self.end - i))
        o = copy_bytes(out, 0, self.head, 0, self.head_end)
        o = write_lower(out, o, self.p, self.name, self.name_end)
        if slash or (i < self.path_end and self.p[i] == 47):
            out[o] = 47
            o += 1
            i += not slash
        o = write_path(out, self.root, o, self.p, i, self.path_end)
        o = write_escaped(out, o, self.p, self.path_end, self.end, IN_QUERY | HIGH)
        if o == size and are_equal(out, 0, self.p, o):
            return keep_text(out, text)
        return give_string(out, o)

    @cython.cfunc
    def _opaque(self, text: str, i: Place, colon: Place, size: Place) -> str | None:
        """Read an address whose scheme, from `i` to `colon`, is not special: its path is opaque, or has a host."""
        o: Place
        k: Place = colon + 1
        seen: Bits
        query: Bits
        if is_special(self.p, i, colon):
            return None
        if k < self.n and self.p[k] == 47:
            return self._remote(text, i, k, size)
        k = self._span(k, END)
        seen = self.seen
        self.path_end = k
        self.end = self._span(k, HASH)
        query = self.seen
        self.high = (seen | query) & HIGH != 0
        if (self.high and self.latin) or (seen | query) & DROPPED or (k < self.n and self.p[k - 1] == 32):
            return None
        out = take_room(colon + 1 + 3 * (self.end - colon))
        o = write_lower(out, 0, self.p, i, colon + 1)
        o = write_escaped(out, o, self.p, colon + 1, k, IN_OPAQUE | HIGH)
        o = write_escaped(out, o, self.p, k, self.end, IN_OTHER | HIGH)
        if o == size and are_equal(out, 0, self.p, o):
            return keep_text(out, text)
        return give_string(out, o)

    @cython.cfunc
    def _remote(self, text: str, i: Place, k: Place, size: Place) -> str | None:
        """Read ``scheme://host/path`` whose scheme is not special, where nothing but escapes needs writing."""
        o: Place
        begin: Place
        if k + 1 >= self.n or self.p[k + 1] != 47:
            return None
        begin = k + 2
        while begin < self.n and not HOST[self.p[begin]] & (STOP | OTHER):
            begin += 1
        if begin < self.n and (HOST[self.p[begin]] & OTHER or self.p[begin] == 58):
            return None
        if not self._scan(begin) or (self.bad_path and is_twisted(self.p, begin, self.path_end)):
            return None
        out = take_room(begin + 3 * (self.end - begin) + 1)
        o = write_lower(out, 0, self.p, i, k)
        o = copy_bytes(out, o, self.p, k, begin)
        o = write_escaped(out, o, self.p, begin, self.path_end, IN_PATH | HIGH)
        o = write_escaped(out, o, self.p, self.path_end, self.end, IN_OTHER | HIGH)
        if o == size and are_equal(out, 0, self.p, o):
            return keep_text(out, text)
        return give_string(out, o)
