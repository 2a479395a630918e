"""The key: a ladder of named steps, in order, that tell whether two addresses are one.

Each step is a pure function on a normalized address, idempotent by itself, and says what it merges
and why that is safe.  The key only merges: what is fetched is always the address as found.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from spider.errors import SettingError

__all__ = ["KEY_LADDER", "STEPS", "key", "read_ladder"]

# Escapes that are to be written otherwise: with a small digit, or of an unreserved character.
_ESCAPE = re.compile("%(?:[a-f][0-9A-Fa-f]|[0-9A-F][a-f]|2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# A stray % or % and one digit right before an escape: decoding there could make a new escape.
_OPEN_ESCAPE = re.compile("%[0-9A-Fa-f]?$")


def _respelled(match: re.Match[str]) -> str:
    char = chr(int(match[0][1:], 16))
    open_before = _OPEN_ESCAPE.search(match.string, max(0, match.start() - 2), match.start())
    return char if char in _UNRESERVED and not open_before else match[0].upper()


def escapes(url: str) -> str:
    """Decode escapes of unreserved characters, write the others in upper case (RFC 3986, 6.2.2).

    ``/%7Euser`` and ``/~user`` are one, as are ``%c3%a9`` and ``%C3%A9``: the RFC says that they are
    equivalent, so a server that told them apart would break it.
    """
    return _ESCAPE.sub(_respelled, url) if "%" in url else url


# Names of parameters that hold the id of a visit, whatever the value.
SESSIONS = ("jsessionid", "phpsessid", "asp.net_sessionid", "cfid", "cftoken", "oscsid", "zenid")
SESSION_PREFIXES = ("aspsessionid",)
# Names that also mean other things: dropped only before a token of 24 or more letters and digits.
TOKENS = ("sid", "s", "sess", "sessid", "session", "sessionid", "session_id", "session-id")
# Names that advertisers and mailers add to links.
TRACKERS = (
    *("gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "ttclid", "li_fat_id"),
    *("igshid", "igsh", "epik", "srsltid", "s_kwcid", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl", "_hsenc", "_hsmi"),
    *("vero_id", "oly_anon_id", "oly_enc_id", "wickedid"),
)
TRACKER_PREFIXES = ("utm_",)
NAMES = (*SESSIONS, *TOKENS, *TRACKERS)
PREFIXES = (*SESSION_PREFIXES, *TRACKER_PREFIXES)


def _names(names: tuple[str, ...], prefixes: tuple[str, ...] = ()) -> str:
    """Write the expression of a name, from the query's or a parameter's beginning on."""
    words = [*map(re.escape, names), *(f"{re.escape(prefix)}[^=&]*" for prefix in prefixes)]
    return f"(?<![^&])(?:{'|'.join(words)})"


_PATH_SESSION = r";(?:(?:jsessionid|phpsessid)=[^/;?#]*|sid=[0-9a-z]{24,}+(?![^/;?#]))"
_SESSION = rf"{_names(SESSIONS, SESSION_PREFIXES)}(?![^=&])|{_names(TOKENS)}=[0-9a-z]{{24,}}(?![^&])"
_TRACKER = rf"{_names(TRACKERS, TRACKER_PREFIXES)}(?![^=&])"


@lru_cache(maxsize=8)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile an expression when it is first needed."""
    return re.compile(pattern, re.IGNORECASE)


def _filtered(url: str, pattern: str) -> str:
    """Drop parameters of the query; the ? goes with the last one."""
    head, mark, query = url.partition("?")
    dropped = _compiled(pattern)
    if not mark or not dropped.search(query):
        return url
    kept = [param for param in query.split("&") if not dropped.match(param)]
    return f"{head}?{'&'.join(kept)}" if kept else head


def sessions(url: str) -> str:
    """Drop session ids: ``;jsessionid=`` and its like in the path, known names in the query.

    ``/a;jsessionid=1F?b=1`` and ``/a?b=1`` are one, as are ``?PHPSESSID=x&b=1`` and ``?b=1``: the id
    names a visit, not a page.  Names that also mean other things (``sid``, ``session`` …) are dropped
    only before a token of 24 or more letters and digits, which no one gives to a page.
    """
    if ";" in url:
        head, mark, query = url.partition("?")
        url = _compiled(_PATH_SESSION).sub("", head) + mark + query
    return _filtered(url, _SESSION)


def tracking(url: str) -> str:
    """Drop the parameters that advertisers and mailers add to links: ``utm_*``, ``gclid``, ``fbclid`` and their like.

    ``?id=1&utm_source=x`` and ``?id=1`` are one: the names are reserved for measuring where a visitor
    came from, and scripts in the page read them, not the server.
    """
    return _filtered(url, _TRACKER)


def sort(url: str) -> str:
    """Sort the query's parameters by name; parameters of one name stay in their order.

    ``?b=2&a=1`` and ``?a=1&b=2`` are one: a form's fields are looked up by name.
    """
    head, mark, query = url.partition("?")
    return head + mark + "&".join(sorted(query.split("&"), key=_name)) if "&" in query else url


def _name(param: str) -> str:
    return param.partition("=")[0]


def _on_path(url: str, change: Callable[[str], str]) -> str:
    """Change the part before the query."""
    head, mark, query = url.partition("?")
    return change(head) + mark + query


_INDEX = re.compile(r"(?:index|default)\.(?:html?|shtml|xhtml|php[345]?|aspx?|jspx?|cgi)", re.IGNORECASE)


def index(url: str) -> str:
    """Drop ``index.*`` at the path's end; off unless asked for.

    ``/a/index.html`` and ``/a/`` are one where the server serves a directory by that file.
    """
    return _on_path(url, _without_index)


def _without_index(head: str) -> str:
    """Cut index files off the end, with the slashes behind them."""
    end, root = len(head), _root(head)
    while True:
        stop = _slashes(head, root, end)
        start = head.rfind("/", 0, stop) + 1
        if start < root or not _INDEX.fullmatch(head, start, stop):
            return head[:end]
        end = start


def slash(url: str) -> str:
    r"""Drop slashes and backslashes at the path's end (paper 3); off unless asked for.

    ``/a/`` and ``/a`` are one on most servers, which send the one to the other.
    """
    return _on_path(url, lambda head: head[: _slashes(head, _root(head), len(head))])


def _root(head: str) -> int:
    """Find the place behind the path's first slash; the end where there is a host and no path."""
    colon = head.find("://")
    if colon < 0:
        return 0
    return head.find("/", colon + 3) + 1 or len(head)


def _slashes(head: str, root: int, end: int) -> int:
    """Find where the slashes and backslashes before `end` begin, the root's left out."""
    while end > root:
        if head[end - 1] in "/\\":
            end -= 1
        elif head[end - 3 : end].upper() == "%5C":
            end -= 3
        else:
            break
    return max(end, root)


def www(url: str) -> str:
    """Drop ``www.`` before the host; off unless asked for.

    ``http://www.example.com/`` and ``http://example.com/`` are one on most sites.
    """
    return re.sub(r"^([a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?)(?:www\.)+(?=[^./?#:]+\.)", r"\1", url)


def scheme(url: str) -> str:
    """Write ``http`` for ``https``; off unless asked for.

    ``https://example.com/`` and ``http://example.com/`` are one where a site moved to the other.
    """
    return "http" + url[5:] if url.startswith("https://") else url


STEPS: dict[str, Callable[[str], str]] = {
    "escapes": escapes,
    "sessions": sessions,
    "tracking": tracking,
    "sort": sort,
    "index": index,
    "slash": slash,  # behind index, which leaves one
    "www": www,
    "scheme": scheme,
}
KEY_LADDER = "escapes,sessions,tracking,sort"


def read_ladder(text: str) -> str:
    """Write a ladder as `KEY_LADDER` is written: its steps in their own order, each once.

    Raise SettingError for a name that is no step's; no name at all is a ladder too, which merges nothing.
    """
    wanted = {name.strip() for name in text.split(",")} - {""}
    if unknown := sorted(wanted - set(STEPS)):
        raise SettingError(f"the key has no step {unknown[0]!r}; its steps are {', '.join(STEPS)}")
    return ",".join(name for name in STEPS if name in wanted)


@lru_cache(maxsize=64)
def _steps(ladder: str) -> list[Callable[[str], str]]:
    """Look the ladder's steps up, in their own order."""
    return [STEPS[name] for name in read_ladder(ladder).split(",") if name]


def key(url: str, ladder: str = KEY_LADDER) -> str:
    """Climb the ladder: the identity of a normalized address, for telling whether two are one.

    `ladder` names steps of `STEPS`, joined by commas; they are taken in their own order.  Raise
    SettingError for a name that is none of them.
    """
    if ladder == KEY_LADDER and "?" not in url and "%" not in url and ";" not in url:
        return url  # most addresses: none of the four steps has anything to do
    for step in _steps(ladder):
        url = step(url)
    return url
