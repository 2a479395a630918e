"""What scripts and attributes name: guesses, each marked as one.

A script is not run here.  A quoted string whose path has a media extension is a guess; a string that
is glued to another one is none, nor is what a template leaves open.  SWFObject's and Adobe's calls say
more: their first argument is a movie, and the Express Install they name is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from spider.model import Confidence, MediaKind, Source
from spider.page.gather import Claim, Gathering
from spider.page.kinds import EXTENSIONS, media_kind

__all__ = ["gather_scripts", "hints", "is_code", "is_hint", "strings"]


def _by_letter(words: Iterable[str]) -> str:
    """Write an alternation that is decided by its first letter: the engine tries a third of it."""
    heads: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        heads.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{head}(?:{'|'.join(tails)})" for head, tails in sorted(heads.items()))


_HINT = re.compile(rf"\.(?:{_by_letter(set(EXTENSIONS) - {'it', 'mod', 'au', 'xm'})})\b", re.IGNORECASE)
_MOST = 10_000  # addresses of one script
_REACH = 600  # characters to either side that a string's quotes are looked for in
_FORBIDDEN = re.compile(r"[\s<>{}|^`\"']|\$\{|\\(?!/)|%s")
_TOOLS = re.compile(
    r"express_?install|playerproductinstall|plupload|swfupload|uploadify|zeroclipboard|moxie|flashxhr|store\.swf",
    re.IGNORECASE,
)
_QUOTES = "\"'`"
_CODE: Final = frozenset(
    {
        "",
        "application/ecmascript",
        "application/javascript",
        "application/json",
        "application/x-javascript",
        "module",
        "text/ecmascript",
        "text/javascript",
        "text/jscript",
        "text/x-javascript",
    }
)
_UNICODE_SLASH = re.compile(r"\\u002f", re.IGNORECASE)
_DATA: Final = frozenset({"application/json"})
_CALLERS = ("swfobject", "SWFObject", "FlashObject", "AC_FL_RunContent")
_TEXT, _CALL = Source("script", "text"), Source("script", "swfobject")

_STRING = r"""(?P<quote>["'])(?P<string>[^"'\\\n]{1,500})(?P=quote)"""
_SWFOBJECT = re.compile(
    rf"(?:swfobject\s*\.\s*embedSWF\s*\(|new\s+(?:SWFObject|FlashObject)\s*\()\s*{_STRING}\s*(?P<after>[,)+])",
    re.IGNORECASE,
)
# The movie that installs a newer player, by its place among the arguments.
_ARG = r"""(?:"[^"\n]{0,500}+"|'[^'\n]{0,500}+'|[^"'(),]){0,500}+,\s*+"""
_INSTALLER = re.compile(
    rf"(?:swfobject\s*\.\s*(?:embedSWF\s*\((?:{_ARG}){{5}}|registerObject\s*\((?:{_ARG}){{2}})"
    rf"|\.\s*useExpressInstall\s*\(\s*){_STRING}",
    re.IGNORECASE,
)
_RUN_CONTENT = re.compile(r"AC_FL_RunContent\s*\(([^)]{0,4000})", re.IGNORECASE)
_ARGUMENT = re.compile(rf"""["'](?:src|movie)["']\s*,\s*{_STRING}(?P<glue>\s*\+)?""", re.IGNORECASE)


def is_code(mime: str) -> bool:
    """Say whether a script element of this type is run (HTML, 4.12.1): not data, not a template."""
    name = mime.partition(";")[0].strip()
    return name in _CODE and name not in _DATA


def hints(text: str) -> Iterator[int]:
    """Yield the places where a media extension stands in a text."""
    for match in _HINT.finditer(text):
        yield match.start()


def is_hint(text: str) -> bool:
    """Say whether a media extension stands anywhere in a text."""
    return _HINT.search(text) is not None


def strings(text: str) -> Iterator[str]:
    """Yield the quoted strings that are addresses of media, in a script or in a JSON text."""
    if "\\u002" in text:
        text = _UNICODE_SLASH.sub("/", text)
    last = -1
    for match in _HINT.finditer(text):
        if match.start() < last:
            continue
        low = max(0, match.start() - _REACH)
        start = max(text.rfind(quote, low, match.start()) for quote in _QUOTES)
        if start < 0:
            continue
        end = text.find(text[start], match.end(), match.end() + _REACH)
        if end < 0:
            continue
        last = end
        if not _is_glued(text, start, end):
            value = text[start + 1 : end].removesuffix("\\").replace("\\/", "/")
            if not _FORBIDDEN.search(value) and not _TOOLS.search(value) and media_kind(value) is not None:
                yield value


def _is_glued(text: str, start: int, end: int) -> bool:
    """Say whether a string is part of a longer one, or of a line that is commented out."""
    before = text[max(0, start - 40) : start].rstrip("\\ \t\r\n")
    if before.endswith("+") or text[end + 1 : end + 40].lstrip().startswith("+"):
        return True
    line = text.rfind("\n", max(0, start - _REACH), start)
    return line >= 0 and text[line:start].lstrip().startswith("//")


def _calls(text: str) -> Iterator[str]:
    """Yield the movies that SWFObject's and Adobe's embedding calls play."""
    for match in _SWFOBJECT.finditer(text):
        if match["after"] != "+":
            yield match["string"]
    for call in _RUN_CONTENT.finditer(text):
        for argument in _ARGUMENT.finditer(call[1]):
            if not argument["glue"]:
                path, mark, query = argument["string"].partition("?")
                yield path + ("" if path.lower().endswith(".swf") else ".swf") + mark + query
                break


def gather_scripts(found: Gathering, *, hinted: bool) -> None:
    """Claim, as guesses, what the inline scripts name; `hinted` says that a media extension stands in the page."""
    for mime, text in found.inline:
        if mime.partition(";")[0].strip() not in _CODE:
            continue
        installers: set[str] = set()
        if any(name in text for name in _CALLERS):
            installers.update(match["string"] for match in _INSTALLER.finditer(text))
            for movie in _calls(text):
                if not _TOOLS.search(movie) and not _FORBIDDEN.search(movie):
                    found.claims.append(Claim(movie, _CALL, Confidence.SCRIPT, MediaKind.FLASH))
        if hinted:
            found.claims += [
                Claim(value, _TEXT, Confidence.SCRIPT)
                for value in islice(strings(text), _MOST)
                if value not in installers
            ]
