"""What opens doors, and to whom it may be shown: cookies of a file, passwords, netrc.

Each is bound to the host that it was given for, and to one origin of that host: its default port, or the
address that the user typed.  A password goes by https alone, but where the typed address itself is http.
Nothing here is ever part of a message, a log or a database.
"""

from __future__ import annotations

import base64
import functools
import netrc
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spider.errors import InvalidURL, SettingError
from spider.fetch.cookies import MAX_COOKIES, MAX_SIZE, Cookie, Cookies
from spider.fetch.guard import Origin, is_literal, split
from spider.fetch.homes import Homes
from spider.url import normalize

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

__all__ = ["Passes", "read_cookie_file", "read_login"]

MAX_FILE = 10_000_000  # bytes of a file of cookies or passwords
FIELDS = 7
HTTP_ONLY = "#HttpOnly_"


class Passes:
    """The headers that some origins get and others do not."""

    def __init__(
        self, homes: Callable[[], Homes], *, cookies: str | None = None, auth: Sequence[str] = (), netrc: bool = False
    ) -> None:
        """Read the files; SettingError where one cannot be, or an `auth` is not HOST=USER:PASSWORD.

        `homes` gives the places that the user typed.
        """
        self._homes = homes
        self._logins: dict[tuple[str, int | None], str] = {}
        if netrc:
            self._logins.update(_read_netrc())
        self._logins.update(read_login(text) for text in auth)
        self._file = read_cookie_file(cookies) if cookies is not None else {}
        self._cookies = Cookies(self._given if self._file else None)

    def headers(self, origin: Origin, target: str) -> dict[str, str]:
        """Return the headers that go with a request for `target` to an origin, and to no other."""
        found = {}
        cookie = self._cookies.header(origin, target)
        if cookie is not None:
            found["Cookie"] = cookie
        if self._logins:
            login = self._logins.get(origin[1:]) or self._logins.get((origin[1], None))
            if login is not None and self._may_have(origin, login):
                found["Authorization"] = login
        return found

    def took(self, origin: Origin, target: str, lines: Sequence[str]) -> None:
        """Keep the cookies that an answer sets, by its Set-Cookie lines."""
        if lines:
            self._cookies.take(origin, target, lines)

    def _may_have(self, origin: Origin, login: str) -> bool:
        if self._logins.get(origin[1:]) == login and origin[0] == "https":
            return True  # given for this very port
        return self._homes().secure(origin)

    def _given(self, origin: Origin) -> Iterator[Cookie]:
        """Yield the file's cookies for an origin, the last ones where they are too many."""
        host = origin[1]
        found = [row.cookie for row in self._file.get(host, ())]
        parent = host
        while "." in parent and not is_literal(host):
            parent = parent.partition(".")[2]
            found += [row.cookie for row in self._file.get(parent, ()) if row.subdomains]
        if found and self._homes().named(origin):
            yield from found[-MAX_COOKIES:]


class FileCookie(NamedTuple):
    """A line of a file of cookies: whether the hosts below its own get it too."""

    cookie: Cookie
    subdomains: bool


def read_cookie_file(name: str) -> dict[str, list[FileCookie]]:
    """Read a Netscape cookies.txt into its cookies by host; SettingError for a file that is none.

    A cookie for a public suffix (co.uk) and all below it goes to that very host alone.
    """
    found: dict[str, list[FileCookie]] = {}
    for number, line in enumerate(_text("cookies", name).splitlines(), start=1):
        row = line.removeprefix(HTTP_ONLY)
        if not row.strip() or row.startswith("#"):
            continue
        host, cookie = _cookie_of(row, f"--cookies: {name}, line {number}")
        found.setdefault(host, []).append(cookie)
    return found


def _cookie_of(row: str, place: str) -> tuple[str, FileCookie]:
    fields = [*row.split("\t"), ""]  # a value of nothing may have lost its tab
    if len(fields) not in {FIELDS, FIELDS + 1}:
        msg = f"{place}: not one of a Netscape cookies file (7 fields with tabs between)"
        raise SettingError(msg)
    domain, wide, path, secure, expires, name, value = fields[:FIELDS]
    try:
        host = split(normalize(f"https://{domain.strip().removeprefix('.')}/"))[1]
        end = float(expires or 0)
    except ValueError as error:
        what = "not a host" if isinstance(error, InvalidURL) else "not a time"
        msg = f"{place}: {what}"
        raise SettingError(msg) from error
    if len(name) + len(value) > MAX_SIZE or not (name + value).isprintable():
        msg = f"{place}: not a cookie (4 KiB of printable text at most)"
        raise SettingError(msg)
    # The bytes of the file, as the header wants them: one character each.
    plain, text = (part.encode().decode("latin-1") for part in (name, value))
    sure = secure.upper() == "TRUE"
    cookie = Cookie(plain, text, path if path.startswith("/") else "/", sure, end if end > 0 else None)
    return host, FileCookie(cookie, wide.upper() == "TRUE" and not _is_public_suffix(host))


def _is_public_suffix(host: str) -> bool:
    return bool(_suffixes().publicsuffix(host) == host)


@functools.cache
def _suffixes() -> PublicSuffixList:
    # Loaded only for cookies of a domain: it reads a list of ten thousand lines.
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415

    return PublicSuffixList()


def read_login(text: str) -> tuple[tuple[str, int | None], str]:
    """Turn HOST[:PORT]=USER:PASSWORD into the place and the Authorization header; SettingError where it is none."""
    place, equals, login = text.partition("=")
    try:
        _, host, port, target = split(normalize(f"https://{place.strip()}/"))
    except ValueError:
        equals = ""
    if not equals or ":" not in login or target != "/":
        msg = "--auth: not HOST=USER:PASSWORD"
        raise SettingError(msg)
    return (host, port if _has_port(place) else None), basic(login)


def _has_port(place: str) -> bool:
    return place.rpartition("]")[2].count(":") == 1


def basic(login: str) -> str:
    """Return the header of RFC 7617 for USER:PASSWORD."""
    return f"Basic {base64.b64encode(login.encode()).decode('ascii')}"


def _read_netrc() -> dict[tuple[str, int | None], str]:
    """Read the user's netrc: its machines by name; its default would go to anybody, and counts for nobody."""
    name = os.environ.get("NETRC") or str(Path("~/.netrc").expanduser())
    _text("netrc", name)  # says what is wrong with it as a file
    try:
        hosts = netrc.netrc(name).hosts
        found = {}
        for host, (user, _, password) in hosts.items():
            if host != "default":
                place, header = read_login(f"{host}={user}:{password}")
                found[place] = header
    except (netrc.NetrcParseError, ValueError, SettingError, OSError) as error:
        msg = f"--netrc: {name} is not a netrc file"
        raise SettingError(msg) from error
    return found


def _text(option: str, name: str) -> str:
    """Read a file of text; SettingError, with the option it was given by, where that cannot be."""
    try:
        with open(name, "rb") as file:  # noqa: PTH123  # Path("") would be the directory we are in
            body = file.read(MAX_FILE + 1)
        if len(body) > MAX_FILE:
            reason = f"more than {MAX_FILE // 1_000_000} MB"
        elif b"\0" in body:
            reason = "not a file of text"
        else:
            return body.decode("utf-8-sig")
    except OSError as error:
        reason = f"cannot be read ({(error.strerror or str(error)).lower()})"
    except ValueError:  # a NUL in the name, or not UTF-8
        reason = "not a file of text"
    msg = f"--{option}: {name}: {reason}"
    raise SettingError(msg)
