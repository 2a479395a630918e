"""The key: a ladder of named steps, in order, that tell whether two addresses are one.

Each step is a pure function on a normalized address, idempotent by itself, and says what it merges
and why that is safe.  The key only merges: what is fetched is always the address as found.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["KEY_LADDER", "STEPS", "key"]

_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _decode_unreserved(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    if char not in _UNRESERVED:
        return match[0].upper()
    return char if not _OPEN_ESCAPE.search(match.string, max(0, match.start() - 2), match.start()) else match[0].upper()


# A stray % or % and one digit right before an escape: decoding there could make a new escape.
_OPEN_ESCAPE = re.compile("%[0-9A-Fa-f]?$")


def escapes(url: str) -> str:
    """Decode escapes of unreserved characters, write the others in upper case (RFC 3986, 6.2.2).

    ``/%7Euser`` and ``/~user`` are one, as are ``%c3%a9`` and ``%C3%A9``: the RFC says that they are
    equivalent, so a server that told them apart would break it.
    """
    return _ESCAPE.sub(_decode_unreserved, url) if "%" in url else url


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


def _names(names: tuple[str, ...], prefixes: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the pattern of a parameter with one of these names."""
    rest = "".join(f"|{re.escape(prefix)}[^=]*" for prefix in prefixes)
    return re.compile(f"(?:{'|'.join(map(re.escape, names))}{rest})(?:=|$)", re.IGNORECASE)


_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;?#]*", re.IGNORECASE)
_SESSION = _names(SESSIONS, SESSION_PREFIXES)
_TOKEN = re.compile(f"(?:{'|'.join(map(re.escape, TOKENS))})=[0-9a-z]{{24,}}", re.IGNORECASE)
_TRACKER = _names(TRACKERS, TRACKER_PREFIXES)


def _filtered(url: str, drop: Callable[[str], object]) -> str:
    """Drop parameters of the query; the ? goes with the last one."""
    head, mark, query = url.partition("?")
    if not mark:
        return url
    params = query.split("&")
    kept = [param for param in params if not drop(param)]
    if len(kept) == len(params):
        return url
    return f"{head}?{'&'.join(kept)}" if kept else head


def sessions(url: str) -> str:
    """Drop session ids: ``;jsessionid=`` in the path, known names in the query.

    ``/a;jsessionid=1F?b=1`` and ``/a?b=1`` are one, as are ``?PHPSESSID=x&b=1`` and ``?b=1``: the id
    names a visit, not a page.  Names that also mean other things (``sid``, ``session`` …) are dropped
    only before a token of 24 or more letters and digits, which no one gives to a page.
    """
    head, mark, query = url.partition("?")
    if ";" in head:
        url = _PATH_SESSION.sub("", head) + mark + query
    return _filtered(url, lambda p: _SESSION.match(p) or _TOKEN.fullmatch(p))


def tracking(url: str) -> str:
    """Drop the parameters that advertisers and mailers add to links: ``utm_*``, ``gclid``, ``fbclid`` and their like.

    ``?id=1&utm_source=x`` and ``?id=1`` are one: the names are reserved for measuring where a visitor
    came from, and scripts in the page read them, not the server.
    """
    return _filtered(url, _TRACKER.match)


def sort(url: str) -> str:
    """Sort the query's parameters by name; parameters of one name stay in their order.

    ``?b=2&a=1`` and ``?a=1&b=2`` are one: a form's fields are looked up by name.
    """
    head, mark, query = url.partition("?")
    if "&" not in query:
        return url
    return head + mark + "&".join(sorted(query.split("&"), key=lambda param: param.partition("=")[0]))


def _on_path(url: str, change: Callable[[str], str]) -> str:
    """Change the part before the query."""
    head, mark, query = url.partition("?")
    return change(head) + mark + query


def slash(url: str) -> str:
    r"""Drop slashes and backslashes at the path's end (paper 3); off unless asked for.

    ``/a/`` and ``/a`` are one on most servers, which send the one to the other.
    """
    return _on_path(url, lambda head: re.sub(r"(?<=[^/\\:])(?:/|\\|%5C)+$", "", head))


_INDEX = re.compile(r"/(?:index|default)\.(?:html?|shtml|xhtml|php[345]?|aspx?|jspx?|cgi)$", re.IGNORECASE)


def index(url: str) -> str:
    """Drop ``index.*`` at the path's end; off unless asked for.

    ``/a/index.html`` and ``/a/`` are one where the server serves a directory by that file.
    """
    return _on_path(url, lambda head: _INDEX.sub("/", head))


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
    "slash": slash,
    "index": index,
    "www": www,
    "scheme": scheme,
}
KEY_LADDER = "escapes,sessions,tracking,sort"


def key(url: str, ladder: str = KEY_LADDER) -> str:
    """Climb the ladder: the identity of a normalized address, for telling whether two are one.

    `ladder` names steps of `STEPS`, joined by commas; they are taken in their own order.
    """
    wanted = ladder.split(",")
    for name, step in STEPS.items():
        if name in wanted:
            url = step(url)
    return url
