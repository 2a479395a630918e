"""One response read: bytes in, a `Page` out.  Nothing is opened, and only the URL can be refused."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from spider.model import Confidence, Page, Source
from spider.page.alike import fingerprint
from spider.page.charset import Decoded, clean, decode
from spider.page.document import gather
from spider.page.feeds import FEED_ROOTS, gather_feed, inflate
from spider.page.found import Addresses, links, media, others
from spider.page.gather import Claim, Gathering
from spider.page.headers import gather_headers
from spider.page.manifests import gather_manifest, manifest
from spider.page.pieces import CLAIMS, gather_pieces, is_large
from spider.page.scripts import is_code
from spider.page.signatures import root_name, signature
from spider.page.xhtml import as_html, is_xhtml
from spider.url import KEY_LADDER, InvalidURL, normalize

__all__ = ["read"]

_XML = re.compile(rb"\s*+(?:\xef\xbb\xbf)?<\?xml\s|\s*+<(?:rss|feed|urlset|sitemapindex|rdf:RDF)[\s>]")
_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
_HEAD = 4096  # bytes that a file is told by


def read(  # noqa: PLR0913  # each says one thing, and all but two have a default
    body: bytes,
    url: str,
    *,
    content_type: str | None = None,
    headers: Mapping[str, str] = _NO_HEADERS,
    hidden: bool = False,
    alike: bool = False,
    ladder: str = KEY_LADDER,
    known: Container[str] = frozenset(),
) -> Page:
    """Read a document: its charset, links, media, feeds, robots directives and scripts.

    HTML, RSS, Atom, sitemaps (gzip too), playlists and media files are told apart by what is in them.

    `url` is the address it came from, `content_type` the header's value with its parameters (by default
    the one in `headers`).  `hidden` reads comments and templates too, with the confidence "comment".
    `alike` reckons the simhash of an HTML page; `ladder` is as in `spider.url.key`.  Plain anchors that lead
    to addresses which are `known` are not among its links, only counted (without `alike`, which weighs them
    all): most links of a site's page are old.
    No `body` makes it raise; InvalidURL if `url` is no URL.
    """
    page = normalize(url)
    body = inflate(body)
    declared = content_type or next((value for name, value in headers.items() if name.lower() == "content-type"), None)
    decoded = decode(body, declared, xml=_XML.match(body) is not None)
    text = as_html(decoded.text) if is_xhtml(declared) else decoded.text
    found = _itself(body, page, declared) or _gathered(text, page, hidden=hidden, alike=alike)
    if headers:
        gather_headers(found, headers)
    _cap(found)
    read = _page(page, decoded, found, ladder, frozenset() if alike else known)
    return replace(read, simhash=_mark(read, found.text)) if found.text else read


def _itself(body: bytes, page: str, declared: str | None) -> Gathering | None:
    """Take bytes that are no text, and a medium's, as that medium: no markup is looked for in them."""
    head = body[:_HEAD]
    if b"\0" not in head or (declared or "").strip().lower().startswith("text/"):
        return None
    told = signature(head)
    if told is None:
        return None
    claim = Claim(page, Source("document", "body"), Confidence.ELEMENT, told[0], format=told[1])
    return Gathering(claims=[claim])


def _mark(page: Page, text: str) -> int | None:
    return fingerprint(text, [link.url for link in page.links], {medium.h for medium in page.media})


def _gathered(text: str, page: str, *, hidden: bool, alike: bool) -> Gathering:
    """Read a text as what its first element says it is: a feed, a manifest, or HTML."""
    root = root_name(text)
    if root in FEED_ROOTS:
        return gather_feed(text)
    if root != "html":
        read_manifest = manifest(text, page)
        if read_manifest is not None:
            return gather_manifest(read_manifest, page)
    read_document = gather_pieces if is_large(text) else gather
    return read_document(text, hidden=hidden, alike=alike)


def _cap(found: Gathering) -> None:
    if len(found.claims) > CLAIMS + 1:  # a manifest's own, and those that it names
        found.notes.append(f"media: more than {CLAIMS}, the first weighed")
        del found.claims[CLAIMS:]


def _base(href: str | None, url: str) -> str:
    """Return the address that references stand against (HTML, 4.2.3): what is no web address is no base."""
    if href is None:
        return url
    try:
        base = normalize(href, url)
    except InvalidURL:
        return url
    return base if base.startswith(("http://", "https://")) else url


def _page(page: str, decoded: Decoded, found: Gathering, ladder: str, known: Container[str]) -> Page:
    base = _base(found.base, page)
    raws = [reference.raw for reference in found.references]
    raws += [claim.raw for claim in found.claims]
    raws += [claim.poster for claim in found.claims if claim.poster]
    raws += [*found.feeds, *found.scripts, *([found.canonical] if found.canonical else [])]
    addresses = Addresses.of(raws, base, decoded.charset, ladder)
    canonical = addresses.get(found.canonical) if found.canonical else None
    kept, left = links(found, addresses, page, known)
    return Page(
        url=page,
        charset=decoded.charset,
        charset_from=decoded.origin,
        base=base,
        title=found.title,
        language=found.language,
        canonical=canonical[0] if canonical else None,
        links=kept,
        left=left,
        others=others(found, addresses),
        media=media(found, addresses),
        feeds=_all(found.feeds, addresses),
        robots=frozenset(found.robots),
        scripts=_all(found.scripts, addresses),
        inline_scripts=tuple(text for mime, text in found.inline if is_code(mime)),
        notes=tuple(clean(note) for note in found.notes),
    )


def _all(raws: list[str], addresses: Addresses) -> tuple[str, ...]:
    return tuple(dict.fromkeys(address[0] for raw in raws if (address := addresses.get(raw)) is not None))
