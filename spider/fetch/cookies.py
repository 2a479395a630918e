"""Cookies in memory, each bound to the one origin that set it: scheme, host and port.

A cookie never goes to another host, to another port of its own, or from https to http, whatever its Domain
says: what a crawl needs of cookies (a consent, a language, a session) works within an origin, and no site can
plant one for another.  Reading is by RFC 6265bis, section 5.6: a cut at ";" and "=", linear in the line.
"""

from __future__ import annotations

import email.utils
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spider.fetch.guard import Origin

__all__ = ["MAX_COOKIES", "MAX_SIZE", "Cookie", "Cookies", "read_cookie"]

MAX_COOKIES = 50  # of one origin; RFC 6265, section 6.1, asks for no fewer
MAX_SIZE = 4096  # characters of name and value together
MAX_HELD = 16_384  # characters of all that one origin may have kept: twice what is ever sent
MAX_ATTRIBUTE = 1024  # characters; longer ones are passed over (RFC 6265bis, section 5.6)
MAX_DATE = 64  # characters
MAX_SENT = 8000  # characters in one request: servers take 8 KiB for a header
MAX_ORIGINS = 2048  # the longest unused is forgotten

CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
SECONDS = re.compile(r"-?[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Cookie:
    """One cookie; `expires` is in seconds since 1970, None for the end of the crawl."""

    name: str
    value: str
    path: str = "/"
    secure: bool = False
    expires: float | None = None

    def fits(self, target: str, *, encrypted: bool, now: float) -> bool:
        """Whether it goes with a request for a target (section 5.8.3)."""
        if (self.secure and not encrypted) or self.over(now):
            return False
        path = target.partition("?")[0]
        return path == self.path or (
            path.startswith(self.path) and (self.path.endswith("/") or path[len(self.path)] == "/")
        )

    def over(self, now: float) -> bool:
        """Whether its time has passed."""
        return self.expires is not None and self.expires <= now

    def __str__(self) -> str:
        """Return it as it is sent."""
        return f"{self.name}={self.value}" if self.name else self.value


def read_cookie(line: str, origin: Origin, target: str, *, now: float) -> Cookie | None:
    """Read a Set-Cookie line that came from `origin` for `target`; None for one that is not to be kept."""
    pair, _, rest = line.partition(";")
    if CONTROL.search(line):
        return None
    left, equals, right = pair.partition("=")
    name, value = (left.strip(), right.strip()) if equals else ("", left.strip())
    if not (name or value) or len(name) + len(value) > MAX_SIZE:
        return None
    attributes = _attributes(rest)
    path = attributes.get("path", "")
    cookie = Cookie(
        name,
        value,
        path if path.startswith("/") else _directory(target),
        "secure" in attributes,
        _expires(attributes, now),
    )
    return cookie if _is_allowed(cookie, attributes, origin) else None


def _attributes(text: str) -> dict[str, str]:
    """Cut the attributes apart; of two alike the last counts."""
    found = {}
    for part in text.split(";"):
        name, _, value = part.partition("=")
        if len(value) <= MAX_ATTRIBUTE:
            found[name.strip().lower()] = value.strip()
    return found


def _directory(target: str) -> str:
    """Return the default path of a cookie (section 5.1.4)."""
    return target.partition("?")[0].rpartition("/")[0] or "/"


def _expires(attributes: dict[str, str], now: float) -> float | None:
    """Return when a cookie ends; Max-Age goes before Expires."""
    age = attributes.get("max-age", "")
    if SECONDS.fullmatch(age):
        return now + int(age)
    date = attributes.get("expires", "")
    if not 0 < len(date) <= MAX_DATE:
        return None
    try:
        parts = email.utils.parsedate_tz(date)
        return None if parts is None else float(email.utils.mktime_tz(parts))
    except (ValueError, OverflowError):
        return None


def _is_allowed(cookie: Cookie, attributes: dict[str, str], origin: Origin) -> bool:
    """Refuse what an origin may not set: for hosts it is not in, secure without https, a prefix it does not keep."""
    scheme, host, _ = origin
    domain = attributes.get("domain", "").lower().removeprefix(".")
    if domain and domain != host and not host.endswith(f".{domain}"):
        return False
    if cookie.secure and scheme != "https":
        return False
    prefix = cookie.name.lower()
    if prefix.startswith("__host-"):
        return cookie.secure and not domain and cookie.path == "/" and "path" in attributes
    return cookie.secure if prefix.startswith("__secure-") else True


def _weight(cookies: Iterable[Cookie]) -> int:
    """Return the characters that cookies take."""
    return sum(len(cookie.name) + len(cookie.value) for cookie in cookies)


class Cookies:
    """The cookies of a crawl; every method may be called from any thread.

    `given` returns those that an origin has before it sets any: from a file.
    """

    def __init__(
        self, given: Callable[[Origin], Iterable[Cookie]] | None = None, *, now: Callable[[], float] = time.time
    ) -> None:
        """Begin with none."""
        self._given = given
        self._now = now
        self._origins: OrderedDict[Origin, dict[tuple[str, str], Cookie]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, origin: Origin, target: str, lines: Iterable[str]) -> None:
        """Keep what a response to a request for `target` sets."""
        now = self._now()
        cookies = [cookie for line in lines if (cookie := read_cookie(line, origin, target, now=now))]
        with self._lock:
            held = self._held(origin) if cookies else {}
            for cookie in cookies:
                held.pop((cookie.name, cookie.path), None)
                if not cookie.over(now):
                    held[cookie.name, cookie.path] = cookie
            while len(held) > MAX_COOKIES or _weight(held.values()) > MAX_HELD:
                del held[next((key for key, cookie in held.items() if cookie.over(now)), next(iter(held)))]

    def header(self, origin: Origin, target: str) -> str | None:
        """Return what goes into the Cookie header of a request, longer paths first; None for nothing."""
        now, encrypted = self._now(), origin[0] == "https"
        with self._lock:
            if self._given is None and origin not in self._origins:
                return None
            held = list(self._held(origin).values())
        fit = [cookie for cookie in held if cookie.fits(target, encrypted=encrypted, now=now)]
        sent: list[str] = []
        room = MAX_SENT
        for cookie in sorted(fit, key=lambda cookie: -len(cookie.path)):
            text = str(cookie)
            room -= len(text) + 2
            if room < 0:
                break
            sent.append(text)
        return "; ".join(sent) or None

    def _held(self, origin: Origin) -> dict[tuple[str, str], Cookie]:
        """Return an origin's cookies, by name and path, the oldest first."""
        held = self._origins.get(origin)
        if held is None:
            given = self._given(origin) if self._given else ()
            held = self._origins[origin] = {(cookie.name, cookie.path): cookie for cookie in given}
            if len(self._origins) > MAX_ORIGINS:
                self._origins.popitem(last=False)
        self._origins.move_to_end(origin)
        return held
