"""Tell whether a page, as a server sent it, looks like an application, and whether it says little without a browser.

Cheap enough for each page of a crawl: names of scripts, inline scripts and a few words in the text, no request.
The verdict of algorithm 2, which reads the scripts themselves, is `fingerprint`'s.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from spider.ajax.fingerprint import asks, known
from spider.model import Confidence, Page

__all__ = ["PLAIN", "looks", "poor"]

PLAIN = "plain"
"""The name under which a page goes that asks for things by itself, without a library that is known."""

MARKS: dict[str, tuple[bytes, ...]] = {
    "Angular": (b"<app-root", b" ng-version="),
    "AngularJS": (b" ng-app", b" data-ng-app"),
    "Alpine": (b" x-data",),
    "htmx": (b" hx-get=", b" hx-post=", b" hx-trigger="),
    "React": (b" data-reactroot", b'id="__next"', b'id="___gatsby"'),
    "Svelte": (b"__sveltekit",),
    "Vue": (b" v-cloak", b' id="__nuxt"', b" data-v-app"),
}
"""What only pages of an application say, by the library that makes them say it."""

MOUNT = re.compile(
    rb"<(?:div|main|section|body)\b[^<>]{0,300}?\bid\s*=\s*[\"']?(?:app|root|react-root|application|main-app|"
    rb"__next|__nuxt|___gatsby|svelte|ember-app|spa|mount|container-app|vue-app|react-app)[\"'\s>]|<app-root\b",
    re.IGNORECASE,
)
"""The element that an application fills."""

SHOWN = ("a", "area", "iframe", "frame")
FEW_LINKS = 3
LITTLE_TEXT = 250  # letters and digits
ALMOST_NONE = 60  # of an application's "loading …"
READ = 200_000  # bytes of a page that are looked at
HEAD = 20_000  # bytes in which an application makes itself known
ASKING = ("XMLHttpRequest", "XMLHTTP", "fetch", "sendBeacon", "EventSource", "WebSocket")
_UNSEEN = (b"script", b"style", b"template", b"noscript", b"head")
_TAG = re.compile(rb"<[^<>]*>")
_SIGNS = re.compile(rb"[0-9A-Za-z\x80-\xff]")  # of other scripts each byte


@functools.lru_cache(maxsize=4096)
def _named(file: str) -> str | None:
    """Return the library that goes by a file's name."""
    return min((one.name for one in known() if one.names.search(file)), key=len, default=None)


def looks(page: Page, body: bytes) -> tuple[str, ...]:
    """Return the names of the libraries that a page seems to be made with.

    Told by the names of its scripts and by marks in its text; `PLAIN` where there are none, but an inline script asks
    the network for something.  Nothing at all is a page that does not look like an application.
    """
    files = (script.partition("?")[0].rpartition("/")[2] for script in page.scripts)
    names = {name: None for file in files if (name := _named(file)) is not None}
    if not (page.scripts or page.inline_scripts):
        return ()
    text = body[:HEAD]
    names |= {name: None for name, marks in MARKS.items() if any(mark in text for mark in marks)}
    if not names and any(_asks(script) for script in page.inline_scripts):
        return (PLAIN,)
    return tuple(names)


def _asks(script: str) -> bool:
    """Say whether a script asks the network for something; most have none of the words, and are told at once."""
    return any(word in script for word in ASKING) and asks(script)


def poor(page: Page, body: bytes) -> str | None:
    """Say why the reading of a page is poor, None where it is not.

    Media that are sure make no reading poor.  Without any, the first of these rows that holds:

    * mount: an element that an application fills, and less than a line of text;
    * links: fewer than three links to other addresses;
    * text: less than a few lines of text.
    """
    if any(medium.confidence.rank <= Confidence.LINK.rank for medium in page.media):
        return None
    letters = _letters(body[:READ])
    if letters < ALMOST_NONE and MOUNT.search(body, 0, READ):
        return "mount"
    if page.left + len({link.url for link in page.links if link.source.tag in SHOWN} - {page.url}) < FEW_LINKS:
        return "links"
    return "text" if letters < LITTLE_TEXT else None


def _letters(body: bytes) -> int:
    """Count the letters and digits that a page shows, as well as that can be told without reading it."""
    lower, parts, place = body.lower(), [], 0
    for start, end in _hidden(lower):
        if start >= place:
            parts.append(body[place:start])
            place = end
        elif end > place:
            place = end
    parts.append(body[place:])
    return len(_SIGNS.findall(_TAG.sub(b" ", b" ".join(parts))))


def _hidden(lower: bytes) -> Iterable[tuple[int, int]]:
    """Return from where to where a text is not shown, in order."""
    found = []
    for name in _UNSEEN:
        place = 0
        while (start := lower.find(b"<" + name, place)) >= 0:
            place = start + len(name) + 1
            if lower[place : place + 1].isalnum():
                continue  # another element, such as header
            end = lower.find(b"</" + name, place)
            place = len(lower) if end < 0 else end + len(name) + 3
            found.append((start, place))
    return sorted(found)
