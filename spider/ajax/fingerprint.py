"""Which library makes this page an application?  Ajax fingerprinting (paper 4, algorithm 2).

Pure: texts of scripts in, a verdict out.  What tells a library, names, signatures and hashes, is data, built from
the libraries' own files by ``docs/make_fingerprints.py``.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from importlib.resources import files
from typing import Final

__all__ = [
    "Ajax",
    "Fingerprint",
    "Known",
    "Library",
    "Script",
    "Told",
    "asks",
    "bare",
    "digest",
    "fingerprint",
    "known",
]

_MOST = 4_000_000  # characters of a script that are read
_SPACE = re.compile(r"\s+")
_COMMENT = re.compile(r"/\*[\s\S]*?\*/|(?m:^\s*//.*$)")
_XHR: Final = re.compile(
    r"\bXMLHttpRequest\b|Msxml2\.XMLHTTP|Microsoft\.XMLHTTP|(?<![\w$.])fetch\s*\(|(?:window|self|globalThis)\.fetch\s*\(|\bsendBeacon\s*\("
    r"|\bnew\s+EventSource\b|\bnew\s+WebSocket\b"
)
_VERSION = re.compile(r"""["'](\d{1,3}\.\d{1,3}(?:\.\d{1,3})?(?:[.-](?:alpha|beta|rc)[\w.]{0,12})?)["']""")
_LEAST = 4  # words without which a signature tells nothing by itself
_SURE = 0.6  # of a signature's words that have to be there


class Ajax(StrEnum):
    """What kind of Ajax a page does: its own requests (plain), a library's, or none."""

    PLAIN = "plain"
    LIBRARY = "library"
    NONE = "none"


class Told(StrEnum):
    """How a library was told: by name and signature, by its hash under another name, by signature alone."""

    NAME = "name"
    HASH = "hash"
    SIGNATURE = "signature"


@dataclass(frozen=True, slots=True)
class Script:
    """One script of a page: its address ("" for an inline one) and its text."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Library:
    """A library that a page uses: its name, its version where that can be told, the script, how it was told."""

    name: str
    version: str | None
    url: str
    told: Told


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The verdict of algorithm 2, and all libraries that were found, in the order of the page's scripts."""

    ajax: Ajax
    libraries: tuple[Library, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """What tells one library."""

    name: str
    names: re.Pattern[str]
    signature: tuple[str, ...]
    hashes: dict[str, str]

    def signs(self, text: str) -> bool:
        """Say whether a text has enough of the words that only this library has."""
        hits = sum(word in text for word in self.signature)
        return len(self.signature) >= _LEAST and hits >= _SURE * len(self.signature)

    def fits(self, name: str, text: str) -> bool:
        """Say whether a file goes by one of the library's names, and has words of it."""
        return self.names.search(name) is not None and any(word in text for word in self.signature)


@functools.cache
def known() -> tuple[Known, ...]:
    """Return all libraries that can be told."""
    rows = json.loads(files("spider.ajax").joinpath("fingerprints.json").read_text(encoding="utf-8"))
    return tuple(
        Known(row["name"], re.compile(row["names"], re.IGNORECASE), tuple(row["signature"]), row["hashes"])
        for row in rows
    )


def bare(text: str) -> str:
    """Return a script without its comments of several lines, and those that fill a line."""
    return _COMMENT.sub(" ", text)


def digest(text: str) -> str:
    """Return the hash of a script, whatever its white space: 16 hexadecimal digits."""
    return blake2b(_SPACE.sub("", text).encode("utf-8", "replace"), digest_size=8).hexdigest()


def fingerprint(inline: Iterable[str], scripts: Sequence[Script]) -> Fingerprint:
    """Judge a page by its inline scripts and those that it links to, in the paper's order.

    Requests in the page itself make it plain; else the first library that is told by its name and its
    signature, else by its hash, else (which the paper has not) by its signature alone; else requests in
    a linked script make it plain; else there is no Ajax.
    """
    libraries = tuple(_libraries(scripts))
    if any(asks(text) for text in inline):
        return Fingerprint(Ajax.PLAIN, libraries)
    if libraries:
        return Fingerprint(Ajax.LIBRARY, libraries)
    if any(asks(script.text) for script in scripts):
        return Fingerprint(Ajax.PLAIN)
    return Fingerprint(Ajax.NONE)


def asks(text: str) -> bool:
    """Say whether a script asks the network for something."""
    return _XHR.search(bare(text[:_MOST])) is not None


def _libraries(scripts: Iterable[Script]) -> Iterator[Library]:
    """Yield what each script is, each library once."""
    seen: set[str] = set()
    for script in scripts:
        for library in _told(script):
            if library.name not in seen:
                seen.add(library.name)
                yield library


def _told(script: Script) -> list[Library]:
    """Return the libraries in one script: the one it is, or those that a bundle holds."""
    text = script.text[:_MOST]
    name = script.url.partition("?")[0].rpartition("/")[2]
    signed = [one for one in known() if one.signs(text)]
    own = digest(text)
    named = [one for one in known() if one.fits(name, text)]
    hashed = [one for one in known() if own in one.hashes]
    if hashed:
        how = Told.NAME if hashed[0] in named else Told.HASH
        return [Library(hashed[0].name, hashed[0].hashes[own], script.url, how)]
    if named:
        return [Library(named[0].name, _version(named[0], text), script.url, Told.NAME)]
    return [
        Library(one.name, _version(one, text, alone=len(signed) == 1), script.url, Told.SIGNATURE) for one in signed
    ]


def _version(one: Known, text: str, *, alone: bool = True) -> str | None:
    """Return the version that the code itself states, None where it is not sure.

    A comment is no witness, nor a name: only a string of the code is, and only one of the library's own
    major versions; of several the one that is known, else none.
    """
    majors = {version.partition(".")[0] for version in one.hashes.values()}
    stated: dict[str, None] = dict.fromkeys(
        version
        for version in _VERSION.findall(bare(text))
        if version.partition(".")[0] in majors and version.count(".") > 1
    )
    exact = [version for version in stated if version in one.hashes.values()]
    if len(exact) == 1:
        return exact[0]
    return next(iter(stated)) if alone and len(stated) == 1 else None
