"""From what was gathered to values: addresses resolved at once, kinds decided, doubles made one.

One medium is one address: told by several elements it keeps all its sources, and the surest of them
decides.  The one exception is a Flash movie that is a known player's: it is Flash, and it is a video.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from hashlib import blake2b

from spider.model import Confidence, Link, Media, MediaKind, Relation
from spider.page.charset import clean
from spider.page.gather import Claim, Gathering
from spider.page.kinds import by_mime, by_name, is_any, media_kind
from spider.page.links import told
from spider.page.players import player
from spider.url import InvalidURL, directory, identify_all, normalize, relation

__all__ = ["Addresses", "links", "media", "others"]

_RELATIONS = {str(member): member for member in Relation}
_SCHEME = re.compile(r"\s*+([a-zA-Z][a-zA-Z0-9+.-]*+)[:]")
_LONGEST = 65_536  # characters of an address; no server takes a tenth of it
_WEB = frozenset({"http", "https"})
_ANCHORS = frozenset({"a", "area"})
# What old pages stream; the URL standard has no rules for what comes after their colon.
_STREAMS = frozenset(
    {"mms", "mmsh", "mmst", "mmsu", "pnm", "rtmp", "rtmpe", "rtmps", "rtmpt", "rtsp", "rtspt", "rtspu"}
)

Address = tuple[str, int]
Judgement = tuple[MediaKind, str | None, Confidence]


@dataclass(slots=True)
class Addresses:
    """The resolved addresses of a page's references; None for what is no http or https address."""

    known: dict[str, Address | None]
    base: str
    encoding: str

    @classmethod
    def of(cls, raws: Iterable[str], base: str, encoding: str, ladder: str) -> Addresses:
        """Resolve each of `raws` once."""
        known: dict[str, Address | None] = dict.fromkeys(raws)
        asked = [raw for raw in known if len(raw) <= _LONGEST and _is_web(raw)]
        identified = identify_all(asked, base, encoding=encoding, ladder=ladder)
        for raw, address in zip(asked, identified, strict=True):
            # a scheme with a newline in it was not seen before
            known[raw] = address if address is not None and address[0].startswith("http") else None
        return cls(known, base, encoding)

    def get(self, raw: str) -> Address | None:
        """Return the address and its identity, None if it has none."""
        return self.known.get(raw)

    def medium(self, raw: str) -> Address | None:
        """Return the address of a medium, which may be a stream of an older protocol."""
        found = self.known.get(raw)
        if found is None and _scheme(raw) in _STREAMS:
            text = raw.strip()
            mark = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
            return text, int.from_bytes(mark, "big", signed=True)
        return found


def _scheme(raw: str) -> str:
    match = _SCHEME.match(raw)
    return match[1].lower() if match else ""


def _is_web(raw: str) -> bool:
    scheme = _scheme(raw)
    return not scheme or scheme in _WEB


def links(
    found: Gathering, addresses: Addresses, page: str, known: Container[str] = frozenset()
) -> tuple[tuple[Link, ...], int]:
    """Make the links, one for each reference that has an http or https address, in document order.

    Plain anchors to addresses that are `known` are left out; the number of these addresses is given beside.
    """
    relations = _Relations(page)
    blanket = "nofollow" in found.robots or "none" in found.robots
    left: set[str] = set()
    made = []
    for one in found.references:
        address = addresses.get(one.raw)
        if address is None:
            continue
        url, h = address
        if url in left:
            continue
        if not (blanket or one.rel) and one.source.tag in _ANCHORS and url != page and url in known:
            left.add(url)
            continue
        nofollow = blanket or "nofollow" in one.rel
        made.append(
            Link(url, h, one.source, relations.of(url), told(found, one), one.title, one.rel, nofollow, one.modified)
        )
    return tuple(made), len(left)


class _Relations:
    """The relations of a page's links, each found once: they are a site's, or within it a directory's."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.site = page[: page.find("/", 8) + 1]
        self.here = directory(page)
        self.outside: set[str] = set()
        self.inside: dict[str, Relation] = {}

    def of(self, url: str) -> Relation:
        own = url.startswith(self.site)
        if not own and url[: url.find("/", 8)] in self.outside:
            return Relation.EXTERNAL
        query = url.find("?")
        there = url[: (url.rfind("/") if query < 0 else url.rfind("/", 0, query)) + 1]
        known = self.inside.get(there)
        if known is None:
            known = self.inside[there] = self._within(there) if own else self._beyond(url)
        return known

    def _within(self, there: str) -> Relation:
        """Tell by the directories alone: what comes before them is the same text."""
        if there == self.here:
            return Relation.HORIZONTAL
        if there.startswith(self.here):
            return Relation.DOWNWARD
        return Relation.UPWARD if self.here.startswith(there) else Relation.CROSSWISE

    def _beyond(self, url: str) -> Relation:
        found = _RELATIONS[relation(self.page, url)]
        if found is Relation.EXTERNAL:
            self.outside.add(url[: url.find("/", 8)])
        return found


def others(found: Gathering, addresses: Addresses) -> tuple[Link, ...]:
    """Keep the hyperlinks that lead to no http or https address: mailto, javascript, what is no URL."""
    return tuple(
        Link(_opaque(one.raw), 0, one.source, Relation.EXTERNAL, told(found, one), one.title, one.rel, nofollow=True)
        for one in found.references
        if addresses.get(one.raw) is None
    )


def _opaque(raw: str) -> str:
    """Write an address of another scheme as the URL standard does, or clean what is none."""
    if len(raw) > _LONGEST:
        return clean(raw[:_LONGEST])
    try:
        return normalize(raw)
    except InvalidURL:
        return clean(raw)


def _linked(found: Gathering, addresses: Addresses) -> list[Claim]:
    """Claim the anchors that lead to a medium by their extension or their declared type."""
    places = [(one, addresses.medium(one.raw)) for one in found.references if one.source.tag in _ANCHORS]
    leading = [(one, address[0]) for one, address in places if address is not None]
    claims: list[Claim] = []
    if not (is_any([url for _, url in leading]) or any(one.mime for one, _ in leading)):
        return claims
    seen: dict[str, bool] = {}
    for reference, url in leading:
        if reference.mime:
            known = media_kind(url, reference.mime) is not None
        else:
            known = seen.get(url, False) if url in seen else seen.setdefault(url, media_kind(url) is not None)
        if known:
            claims.append(
                Claim(
                    reference.raw,
                    reference.source,
                    Confidence.LINK,
                    mime=reference.mime,
                    text=told(found, reference),
                    title=reference.title,
                )
            )
    return claims


def _judge(claim: Claim, url: str) -> Judgement | None:
    """Decide what a claim is: declared type, then the element, then the extension, then the player."""
    if claim.confidence is Confidence.PLAYER or claim.frame:
        return _judge_frame(claim, url)
    told = by_mime(claim.mime, url)
    if told is None:
        told = media_kind(url, claim.mime) if claim.confidence is Confidence.LINK else by_name(url)
    kind = claim.kind
    if kind is None or (claim.confidence is Confidence.METADATA and told and told[0] is MediaKind.FLASH):
        # a video that Open Graph names by a movie is that movie
        kind = told[0] if told else None
    if kind is not None:
        return kind, claim.format or _format(kind, url, told), claim.confidence
    host = player(url)
    return (host[0], host[1], _less_sure(claim, Confidence.PLAYER)) if host else None


def _judge_frame(claim: Claim, url: str) -> Judgement | None:
    """Decide what a place that may hold any document holds: a player, a file, or nothing to us."""
    host = player(url)
    if host is not None:
        return host[0], host[1], _less_sure(claim, Confidence.PLAYER)
    if not claim.frame:
        return (claim.kind, None, claim.confidence) if claim.kind else None
    # an object's type has been weighed by then: what was not Flash does not become it by its name
    named = media_kind(url)
    if named is None or named[0] is MediaKind.FLASH:
        return None
    surely = claim.source.tag in {"object", "embed", "param"}
    return named[0], named[1], _less_sure(claim, Confidence.ELEMENT if surely else Confidence.ATTRIBUTE)


def _less_sure(claim: Claim, confidence: Confidence) -> Confidence:
    """Return what a judgement is worth: in a comment, no more than the comment."""
    return Confidence.COMMENT if claim.confidence is Confidence.COMMENT else confidence


def _format(kind: MediaKind, url: str, told: tuple[MediaKind, str] | None) -> str | None:
    if told is not None:
        return told[1]
    return "swf" if kind is MediaKind.FLASH and not player(url) else None


@dataclass(slots=True)
class _Medium:
    kind: MediaKind
    format: str | None
    confidence: Confidence
    claims: list[Claim]


def media(found: Gathering, addresses: Addresses) -> tuple[Media, ...]:
    """Make the media, in the order in which the document first names them."""
    heap: dict[tuple[str, bool], _Medium] = {}
    ids: dict[str, int] = {}
    for claim in (*found.claims, *_linked(found, addresses)):
        address = addresses.medium(claim.raw)
        if address is None:
            continue
        url, ids[url] = address
        told = _judge(claim, url)
        if told is None:
            continue
        _merge(heap, url, claim, told)
        if told[0] is MediaKind.FLASH and claim.confidence is Confidence.ELEMENT:
            host = player(url)
            if host is not None:
                _merge(heap, url, claim, (host[0], host[1], Confidence.PLAYER))
    return tuple(_make(url, ids[url], medium, addresses) for (url, _), medium in heap.items())


def _merge(heap: dict[tuple[str, bool], _Medium], url: str, claim: Claim, told: Judgement) -> None:
    kind, form, confidence = told
    key = (url, kind is not MediaKind.FLASH)
    known = heap.get(key)
    if known is None:
        heap[key] = _Medium(kind, form, confidence, [claim])
        return
    if confidence.code < known.confidence.code:
        known.kind, known.format, known.confidence = kind, form or known.format, confidence
        known.claims.insert(0, claim)
    else:
        known.format = known.format or form
        known.claims.append(claim)


def _make(url: str, h: int, medium: _Medium, addresses: Addresses) -> Media:
    claims = medium.claims
    poster = next((claim.poster for claim in claims if claim.poster), None)
    shown = addresses.get(poster) if poster else None
    place = claims[0].page and addresses.get(claims[0].page)
    return Media(
        url,
        h,
        medium.kind,
        claims[0].source,
        medium.confidence,
        next((claim.text for claim in claims if claim.text), ""),
        next((claim.title for claim in claims if claim.title), ""),
        next((clean(claim.mime) for claim in claims if claim.mime), None),
        medium.format,
        shown[0] if shown else None,
        next((claim.duration for claim in claims if claim.duration is not None), None),
        tuple(dict.fromkeys(source for claim in claims for source in (claim.source, *claim.also))),
        place[0] if place else None,
    )
