"""What an answer says of a medium's health: pure rules, from an errand and its answer to the next errand or a verdict.

First HEAD, over its redirects.  Where that names a media type of the medium's own kind it is believed; where it
is refused, or names anything else, a ranged GET of the first kilobyte tells what is there, by its signature.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from spider import page as pages
from spider.errors import FetchError
from spider.model import Health, Reason, Request, Response
from spider.page.kinds import SILENT, by_mime
from spider.store.checks import CheckRow, Due

__all__ = ["FIRST", "MAX_HOPS", "Errand", "Method", "after_answer", "after_failure", "refused"]

FIRST = 1024
"""The bytes of a medium that are asked for."""

MAX_HOPS = 10

PERMANENT = frozenset({301, 308})
CLOSED = frozenset({401, 402, 403, 407, 451})
LATER = frozenset({408, 425, 429})
PARTIAL = 206
HTML = frozenset({"text/html", "application/xhtml+xml"})

# Failures that another method would meet again.
FINAL = frozenset({Reason.DNS, Reason.TLS, Reason.REFUSED, Reason.RATE, Reason.REDIRECT})

_RANGE = re.compile(r"bytes \d{1,19}-\d{1,19}/(\d{1,18})\Z")
_HTML = re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


class Method(StrEnum):
    """How a medium is asked for."""

    HEAD = "HEAD"
    GET = "GET"


@dataclass(frozen=True, slots=True)
class Errand:
    """One request for a medium: at `url`, `hops` redirects behind its own address.

    `moved` is the last address that was reached by permanent redirects alone; `size` what HEAD said.
    """

    medium: Due
    url: str
    method: Method = Method.HEAD
    hops: int = 0
    moved: str | None = None
    size: int | None = None

    @property
    def request(self) -> Request:
        """The request as the client takes it; a body is wanted as it lies there, in no coding."""
        plain = {"Accept": "*/*", "Accept-Encoding": "identity"}
        part = {"Range": f"bytes=0-{FIRST - 1}"} if self.method is Method.GET else {}
        return Request(self.url, hops=self.hops, headers=plain | part, method=self.method.value)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What was found, and how it is written down."""

    errand: Errand
    now: int
    status: int = 0
    mime: str | None = None
    size: int | None = None
    reason: Reason | None = field(default=None)

    def row(self, health: Health) -> CheckRow:
        medium, moved = self.errand.medium, self.errand.moved
        if health is Health.ALIVE and moved is not None:
            health = Health.MOVED
        size = self.size if self.size is not None else self.errand.size
        return CheckRow(
            url_hash=medium.url_hash,
            url=medium.url,
            health=health,
            status=self.status,
            reason=self.reason,
            mime=self.mime,
            size=size,
            moved_to=moved if moved != medium.url else None,
            checked_at=self.now,
        )


def refused(errand: Errand, reason: Reason, *, now: int) -> CheckRow:
    """Return the verdict on a medium that was not asked for: robots.txt or another rule closes it, or does for now."""
    unsure = reason.heals or reason is Reason.INTERNAL
    return _Verdict(errand, now, reason=reason).row(Health.UNSURE if unsure else Health.CLOSED)


def after_failure(errand: Errand, error: FetchError, *, now: int) -> Errand | CheckRow:
    """Return what follows where no answer came: a GET after a HEAD that broke, else a verdict."""
    reason = Reason(error.reason)
    if errand.method is Method.HEAD and reason not in FINAL:
        return replace(errand, method=Method.GET)
    verdict = _Verdict(errand, now, status=error.status or 0, reason=reason)
    if reason is Reason.REFUSED:
        return verdict.row(Health.CLOSED)
    return verdict.row(Health.DEAD if reason is Reason.REDIRECT else Health.UNSURE)


def after_answer(errand: Errand, response: Response, *, now: int) -> Errand | CheckRow:
    """Return what follows an answer: the next request, or the verdict."""
    if response.location is not None:
        return _onward(errand, response, response.location, now)
    status = response.status
    verdict = _Verdict(errand, now, status=status)
    if status in LATER or (status >= 500 and errand.method is Method.GET):  # noqa: PLR2004  # the class of server errors
        reason = Reason.RATE if status in LATER else Reason.SERVER
        return replace(verdict, reason=reason).row(Health.UNSURE)
    good = 200 <= status < 300  # noqa: PLR2004  # the class of success
    if errand.method is Method.HEAD:
        if good and _vouches(errand.medium, response):
            return replace(verdict, mime=response.content_type, size=_length(response)).row(Health.ALIVE)
        return replace(errand, method=Method.GET, size=_length(response) if good else None)
    if not good:
        closed = status in CLOSED
        return replace(verdict, reason=Reason.CLIENT).row(Health.CLOSED if closed else Health.DEAD)
    mime, there = _told(errand.medium, response)
    return replace(verdict, mime=mime, size=_length(response)).row(Health.ALIVE if there else Health.DEAD)


def _onward(errand: Errand, response: Response, location: str, now: int) -> Errand | CheckRow:
    """Follow a redirect; one too many, or to no address of the web, says that the medium is not to be had."""
    if errand.hops >= MAX_HOPS or not location.startswith(("http://", "https://")):
        return _Verdict(errand, now, status=response.status, reason=Reason.REDIRECT).row(Health.DEAD)
    own = errand.hops == 0 or errand.moved == errand.url  # only permanent ones so far
    moved = location if own and response.status in PERMANENT else errand.moved
    return replace(errand, url=location, hops=errand.hops + 1, moved=moved)


def _vouches(medium: Due, response: Response) -> bool:
    """Whether the head of an answer settles it: a type of the medium's kind, or a player's page that is there."""
    if medium.embedded and response.content_type in HTML:
        return True
    told = by_mime(response.content_type, response.url)
    return told is not None and told[0] is medium.kind and response.headers.get("content-length") != "0"


def _told(medium: Due, response: Response) -> tuple[str | None, bool]:
    """Return the type of what came, by its signature before its header, and whether a medium can be in it."""
    declared = response.content_type or None
    found = pages.signature(response.body)
    if found is not None:
        named = by_mime(declared, response.url)
        return (declared if named is not None and named[0] is found[0] else pages.mime_of(*found)), True
    if medium.embedded:
        return declared, True
    if declared in HTML or _HTML.match(response.body):
        return "text/html", False
    there = bool(response.body) and (declared is None or declared in SILENT or by_mime(declared) is not None)
    return declared, there


def _length(response: Response) -> int | None:
    """Return the size of the whole in bytes, where the answer tells it."""
    if response.status == PARTIAL:
        match = _RANGE.match(response.headers.get("content-range", ""))
        return int(match[1]) if match else None
    length = response.headers.get("content-length", "")
    plain = response.headers.get("content-encoding", "identity") == "identity"
    return int(length) if plain and length.isascii() and length.isdigit() and len(length) < 19 else None  # noqa: PLR2004  # 64 bits
