"""The loop that runs paper 1's tables over one text (URL standard, section 4.4, basic URL parser).

It reads once, from left to right, takes fields where the tables' states change, and hands each to
its own functions: hosts to `spider.url.hosts`, encode sets to `spider.url.percent`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from spider.errors import InvalidURL
from spider.url import hosts, percent
from spider.url.fields import SPECIAL, Authority, Fields
from spider.url.machine import CHILD, FRONT, PARENT
from spider.url.slashes import misplaced

__all__ = ["Log", "Step", "run"]

_CLASS: Final = {
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "a"),
    **dict.fromkeys("0123456789+-.", "n"),
    **{c: c for c in ":/?#"},
    "": "$",
}
_STRIPPED: Final = "".join(map(chr, range(0x21)))
_DROPPED: Final = re.compile("[\t\n\r]")
_TOKENS: Final = {
    True: re.compile(r"[0-9]+|[:@/?#\[\]\\]|[^0-9:@/?#\[\]\\]+"),
    False: re.compile(r"[0-9]+|[:@/?#\[\]]|[^0-9:@/?#\[\]]+"),
}
_SEGMENT: Final = {
    True: re.compile(r"[/\\]|\.|%2[eE]|(?:[^/\\.%]|%(?!2[eE]))+"),
    False: re.compile(r"/|\.|%2[eE]|(?:[^/.%]|%(?!2[eE]))+"),
}
_DRIVE: Final = re.compile(r"[A-Za-z][:|](?=[/\\?#]|$)")
_NORMAL_DRIVE: Final = re.compile("[A-Za-z]:")
_END: Final = re.compile("[?#]")
_NOT_DIGIT: Final = re.compile("[^0-9]")
_PARENT_CLASS: Final = {**dict.fromkeys("0123456789", "N"), **{c: c for c in ":@/?#[]"}}
_CHILD_CLASS: Final = {"/": "D2", ".": "D3", "%2e": "D3", "%2E": "D3"}
_MOST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Step:
    """One move of the machine: in `state` it read `input` at `position` and went to `next`.

    `next` is ``--`` where the table has no such move.
    """

    state: str
    input: str
    next: str
    position: int


@dataclass(slots=True)
class Log:
    """What a run tells beside its result: its steps and its validation errors, with their places."""

    steps: list[Step] = field(default_factory=list)
    errors: list[tuple[str, int]] = field(default_factory=list)


class _Reader:
    """One text on its way through the machine."""

    def __init__(self, text: str, base: Fields | None, encoding: str, log: Log | None) -> None:
        """Strip what the standard strips, and remember where everything stood."""
        self.original = text
        self.base = base
        self.encoding = encoding
        self.log = log
        clean = text.strip(_STRIPPED)
        if _DROPPED.search(clean):
            clean = _DROPPED.sub("", clean)
        self.text = percent.scalars(clean)
        self.scheme = ""
        self.special = False
        self.begin = 0  # of a file's host
        self.places: list[int] = []  # found when first asked for
        if log:
            self._log_cleaning(log.errors)

    # -- places and errors

    def place(self, index: int) -> int:
        """Find where the character at `index` of the cleaned text stood in the original."""
        if len(self.text) == len(self.original):
            return index
        if not self.places:
            self.places = percent.kept(self.original, len(self.original) - len(self.original.lstrip(_STRIPPED)))
        return self.places[index] if index < len(self.places) else len(self.original)

    def fail(self, reason: str, index: int) -> InvalidURL:
        """Make the error for a text that is no URL."""
        return InvalidURL(self.original, self.place(index), reason)

    def report(self, *errors: tuple[str, int]) -> None:
        """Note validation errors that do not fail."""
        if self.log:
            self.log.errors += [(name, self.place(index)) for name, index in errors]

    def step(self, state: str, token: str, following: str, index: int) -> str:
        """Note a step; return the state it leads to."""
        if self.log:
            self.log.steps.append(Step(state, token, following, self.place(index)))
        return following

    def _leave(self, state: str, index: int) -> None:
        """Note the move over the ? or # that ends a field, unless it was read already; S8 ends as a path does."""
        char = self.text[index : index + 1]
        if self.log and char and self.log.steps[-1].input != char:
            self.step(state, char, PARENT[char]["S5" if state == "S8" else state], index)

    def _rest(self, state: str, raw: str, index: int) -> None:
        """Note what a field from `index` on is made of, if it is not empty."""
        if raw:
            self.step(state, raw, state, index)

    def _log_cleaning(self, errors: list[tuple[str, int]]) -> None:
        """Note what is stripped: once for each end, and each tab and newline between."""
        body = self.original.strip(_STRIPPED)
        first = len(self.original) - len(self.original.lstrip(_STRIPPED))
        places = [m.start() for m in _DROPPED.finditer(self.original, first, first + len(body))]
        if first:
            places.append(0)
        if body and first + len(body) < len(self.original):
            places.append(first + len(body))
        errors.extend(("invalid-URL-unit", place) for place in places)

    def _units(self, start: int, stop: int, *, path: bool = False) -> None:
        """Report what may not stand in a field; a backslash in a special URL's path is reported as what it is."""
        if self.log:
            for place in percent.bad_units(self.text[start:stop]):
                reverse = path and self.special and self.text[start + place] == "\\"
                self.report(("invalid-reverse-solidus" if reverse else "invalid-URL-unit", start + place))

    # -- scheme and slashes

    def run(self) -> Fields:
        """Run the three tables over the text."""
        state, following, index = self._front()
        if following == "S8":
            return self._opaque(index)
        if following == "S0":
            return self._authority(index)
        if state in {"T6", "T7"}:
            return self._relative(state, following, index)
        if state == "T5":
            return self._hierarchy(("", "", None, None), [], index - 1)
        return self._file(state, following, index)

    def _front(self) -> tuple[str, str, int]:
        """Run FRONT; return the last state in it, the one behind it, and the place between them."""
        state, index = "T0", 0
        while True:
            char = self.text[index : index + 1]
            cls = _CLASS.get(char, "x")
            if char == "\\" and self.special:
                cls = "/"
                if self.scheme == "file":  # of other schemes' slashes `misplaced` tells
                    self.report(("invalid-reverse-solidus", index))
            following = FRONT[cls][state]
            if following == "**":
                following = self._after_scheme(index)
            elif following == "T3" and not self.special:
                following = "S0"
            self.step(state, char, following, index)
            if following == "--":
                state, index = self._no_scheme(), 0
                continue
            reads = cls == "/" or state in {"T0", "T1", "TF"}
            if state == "T9":
                self.begin = index + 1
            if following[0] == "S":
                return state, following, index + (reads and following == "S0")
            state, index = following, index + reads

    def _after_scheme(self, colon: int) -> str:
        """Choose the state behind the scheme's colon (section 4.4, scheme state)."""
        self.scheme = self.text[:colon].lower()
        self.special = self.scheme in SPECIAL
        if not self.special:
            return "TC"
        relative = self.base is not None and self.base.scheme == self.scheme
        if self.scheme != "file":
            self.report(*misplaced(self.text, colon + 1, relative=relative))
        elif not self.text.startswith("//", colon + 1):
            self.report(("special-scheme-missing-following-solidus", colon + 1))
        if self.scheme == "file":
            return "T8"
        return "T6" if relative else "T3"

    def _no_scheme(self) -> str:
        """Choose the state for a text without a scheme (section 4.4, no scheme state)."""
        base = self.base
        if base is None or (base.opaque and not self.text.startswith("#")):
            raise self.fail("missing-scheme-non-relative-URL", 0)
        self.scheme = base.scheme
        self.special = self.scheme in SPECIAL
        if self.special and self.scheme != "file":
            self.report(*misplaced(self.text, 0, relative=True))
        return "T8" if self.scheme == "file" else "T6"

    # -- what follows the front

    def _opaque(self, start: int) -> Fields:
        """Read an opaque path (section 4.4, opaque path state)."""
        stop = self._path_end(start)
        self._units(start, stop)
        raw = self.text[start:stop]
        self._rest("S8", raw, start)
        self._leave("S8", stop)
        path = percent.encode(raw, percent.C0_CONTROL)
        if path.endswith(" "):  # only before ? or #: the end of the text is stripped
            path = path[:-1] + "%20"
        return self._tail(("", "", None, None), path, stop)

    def _relative(self, state: str, following: str, index: int) -> Fields:
        """Take from the base what the text leaves out (section 4.4, relative state)."""
        base = self.base
        assert base is not None  # noqa: S101  # T6 is entered with a base only
        authority = (base.username, base.password, base.host, base.port)
        if state == "T7":
            return self._hierarchy(authority, [], index - 1)
        if following == "S5":
            return self._hierarchy(authority, self._directory(base), index)
        return self._tail(authority, base.path, index, base.query)

    def _file(self, state: str, following: str, index: int) -> Fields:
        """Read a file URL's host and the drive letter it may inherit (section 4.4, file states)."""
        base = self.base if self.base and self.base.scheme == "file" else None
        authority = ("", "", base.host if base else "", None)
        if state == "TF":
            return self._file_host(index)
        drive = _DRIVE.match(self.text, index)
        if state == "T9":
            inherited = re.match("/([A-Za-z]:)(?:/|$)", base.path) if base and not drive else None
            return self._hierarchy(authority, [inherited[1]] if inherited else [], index - 1)
        if base and following != "S5":
            return self._tail(authority, base.path, index, base.query)
        if drive and base:
            self.report(("file-invalid-Windows-drive-letter", index))
        return self._hierarchy(authority, self._directory(base) if base and not drive else [], index)

    def _file_host(self, index: int) -> Fields:
        """Read the host between ``file://`` and the path; a drive letter is the path's (file host state)."""
        start = self.begin
        name = self.text[start:index]
        if len(name) == 2 and _DRIVE.match(name):  # noqa: PLR2004
            self.report(("file-invalid-Windows-drive-letter-host", start))
            return self._hierarchy(("", "", "", None), [], start)
        parsed = self._host(start, index) if name else ""
        return self._hierarchy(("", "", "" if parsed == "localhost" else parsed, None), [], index)

    def _authority(self, start: int) -> Fields:
        """Run PARENT from S0 to the path, and cut the authority where its states say."""
        state, at, colon, stop = "S0", -1, -1, len(self.text)
        for match in _TOKENS[self.special].finditer(self.text, start):
            piece, index = match[0], match.start()
            cls = "/" if piece == "\\" and self.special else _PARENT_CLASS.get(piece[0], "A")
            following = self.step(state, piece, PARENT[cls][state], index)
            if following in {"--", "S5", "S6", "S7"}:
                stop = index
                break
            if cls == "@":
                at, colon = index, -1
                self.report(("invalid-credentials", index))
            elif following in {"S1", "S4"} and cls == ":":
                colon = index
            state = following
        authority = self._cut(start, at, colon, stop)
        if stop == self._path_end(stop) and not self.special:
            return self._tail(authority, "", stop)
        return self._hierarchy(authority, [], stop)

    def _cut(self, start: int, at: int, colon: int, stop: int) -> Authority:
        """Cut user, password, host and port out of the authority, and check each."""
        username = password = ""
        if at >= 0:
            username, _, password = self.text[start:at].partition(":")
            start = at + 1
        end = colon if colon >= 0 else stop
        if start == end and (self.special or at >= 0 or colon >= 0):
            raise self.fail("host-missing", start)
        name = self._host(start, end)
        port = self._port(colon + 1, stop) if colon >= 0 else None
        return percent.encode(username, percent.USERINFO), percent.encode(password, percent.USERINFO), name, port

    def _host(self, start: int, stop: int) -> str:
        try:
            return hosts.parse(
                self.text[start:stop], special=self.special, report=lambda n, i: self.report((n, start + i))
            )
        except InvalidURL as error:
            raise self.fail(error.reason, start + error.position) from None

    def _port(self, start: int, stop: int) -> int | None:
        """Read a port (section 4.4, port state): None where it is empty or the scheme's own."""
        digits = self.text[start:stop]
        if not digits:
            return None
        bad = _NOT_DIGIT.search(digits)
        if bad:
            raise self.fail("port-invalid", start + bad.start())
        digits = digits.lstrip("0") or "0"
        if len(digits) > 5 or int(digits) > _MOST_PORT:  # noqa: PLR2004
            raise self.fail("port-out-of-range", start)
        return None if int(digits) == SPECIAL.get(self.scheme) else int(digits)

    # -- path, query, fragment

    def _path_end(self, start: int) -> int:
        match = _END.search(self.text, start)
        return match.start() if match else len(self.text)

    def _directory(self, base: Fields) -> list[str]:
        """Take the segments of the base's path but the last (section 4.4, shorten a URL's path)."""
        segments = base.path.split("/")[1:]
        self._pop(segments)
        return segments

    def _pop(self, segments: list[str]) -> None:
        if segments and not (self.scheme == "file" and len(segments) == 1 and _NORMAL_DRIVE.fullmatch(segments[0])):
            segments.pop()

    def _hierarchy(self, authority: Authority, segments: list[str], start: int) -> Fields:
        """Run CHILD over the path (S5, section 4.4, path state), on top of the base's segments."""
        stop = self._path_end(start)
        self._units(start, stop, path=True)
        if self.text[start : start + 1] == "/" or (self.special and self.text[start : start + 1] == "\\"):
            start += 1
        state, begin = "S5-0", start
        for match in _SEGMENT[self.special].finditer(self.text, start, stop):
            piece, index = match[0], match.start()
            cls = "D2" if piece == "\\" and self.special else _CHILD_CLASS.get(piece, "D1")
            following = self.step(state, piece, CHILD[cls][state], index)
            if cls == "D2":
                self._push(segments, state, self.text[begin:index], last=False)
                begin = index + 1
            state = following
        self._push(segments, state, self.text[begin:stop], last=True)
        self._leave("S5", stop)
        path = percent.encode("/" + "/".join(segments), percent.PATH)
        return self._tail(authority, path, stop)

    def _push(self, segments: list[str], state: str, segment: str, *, last: bool) -> None:
        """End a segment: what it was is the state it ended in."""
        if state == "S5-2":
            self._pop(segments)
        if state in {"S5-1", "S5-2"}:
            segment = ""
            if not last:
                return
        elif self.scheme == "file" and not segments and len(segment) == 2 and _DRIVE.match(segment):  # noqa: PLR2004
            segment = segment[0] + ":"
        segments.append(segment)

    def _tail(self, authority: Authority, path: str, stop: int, query: str | None = None) -> Fields:
        """Read query and fragment (S6, S7) and put all fields together."""
        text, fragment = self.text, None
        cut = text.find("#", stop)
        end = cut if cut >= 0 else len(text)
        if text[stop : stop + 1] == "?":
            query = self._query(stop + 1, end)
            self._leave("S6", end)
        if cut >= 0:
            self._rest("S7", text[cut + 1 :], cut + 1)
            self._units(cut + 1, len(text))
            fragment = percent.encode(text[cut + 1 :], percent.FRAGMENT)
        return Fields(self.scheme, *authority, path, query, fragment)

    def _query(self, start: int, stop: int) -> str:
        raw = self.text[start:stop]
        self._rest("S6", raw, start)
        self._units(start, stop)
        if not self.special:
            return percent.encode(raw, percent.QUERY)
        encoding = "utf-8" if self.scheme in {"ws", "wss"} else self.encoding
        if encoding == "utf-8":
            return percent.encode(raw, percent.SPECIAL_QUERY)
        return percent.encode_text(raw, percent.SPECIAL_QUERY, encoding)


def run(text: str, base: Fields | None = None, encoding: str = "utf-8", log: Log | None = None) -> Fields:
    """Run the machine over `text`, on top of `base` (section 4.4, basic URL parser).

    `encoding` is Python's codec for the query; see `spider.url.charset.codec`.  Raise InvalidURL.
    """
    return _Reader(text, base, encoding, log).run()
