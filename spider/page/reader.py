"""One document read: bytes in, a `Page` out.  Nothing is opened, nothing but the URL can be refused."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spider.model import Page, Source
from spider.page import found as result
from spider.page.charset import Decoded, clean, decode
from spider.page.flash import OBJECT_TAGS
from spider.page.gather import Attributes, Gathering, Handler, Reference
from spider.page.links import LINK_TAGS, refresh_target
from spider.page.media import MEDIA_TAGS
from spider.url import InvalidURL, normalize

__all__ = ["read"]

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
_REFRESH = Source("meta", "content")


def _base(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    if found.base is None and attributes.get("href") is not None:
        found.base = attributes["href"]


def _title(found: Gathering, node: LexborNode, _attributes: Attributes) -> None:
    if not found.title:
        found.title = clean(node.text_content)


def _html(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    found.language = found.language or clean(attributes.get("lang") or attributes.get("xml:lang")) or None


def _meta(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    content = attributes.get("content")
    if content is None:
        return
    if (attributes.get("http-equiv") or "").strip().lower() == "refresh":
        target = refresh_target(content)
        if target is not None:
            found.references.append(Reference(target, _REFRESH))
        return
    name = (attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or "").strip().lower()
    if name == "robots":
        found.robots.update(content.replace(",", " ").lower().split())
    elif name:
        found.metas.append((name, content))


def _script(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    src = attributes.get("src")
    if src and src.strip():
        found.scripts.append(src)
        return
    text = node.text_content or ""
    if text.strip():
        found.inline.append(((attributes.get("type") or "").strip().lower(), text))


def _both(first: Handler, second: Handler) -> Handler:
    def handle(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
        first(found, node, attributes)
        second(found, node, attributes)

    return handle


def _table() -> dict[str, Handler]:
    table: dict[str, Handler] = {"base": _base, "title": _title, "html": _html, "meta": _meta, "script": _script}
    for tags in (LINK_TAGS, MEDIA_TAGS, OBJECT_TAGS):
        for tag, handler in tags.items():
            table[tag] = _both(table[tag], handler) if tag in table else handler
    return table


_HANDLERS: Final = _table()


def _gather(text: str) -> Gathering:
    found = Gathering()
    root = LexborHTMLParser(text).root
    handlers = _HANDLERS
    if root is not None:
        for node in root.traverse():
            handler = handlers.get(node.tag)  # type: ignore[arg-type]
            if handler is not None:
                handler(found, node, node.attributes)
    return found


def _resolve_base(href: str | None, url: str) -> str:
    """Return the address that references stand against (HTML, 4.2.3): what is no web address is no base."""
    if href is None:
        return url
    try:
        base = normalize(href, url)
    except InvalidURL:
        return url
    return base if base.startswith(("http://", "https://")) else url


def read(body: bytes, url: str, *, content_type: str | None = None, headers: Mapping[str, str] = _NO_HEADERS) -> Page:
    """Read a document: its charset, links, media, feeds, robots directives and scripts.

    `url` is the address it came from, `content_type` the header with its parameters, `headers` the
    response's, names in lower case.  Never raises for the sake of `body`; InvalidURL if `url` is none.
    """
    page = normalize(url)
    decoded = decode(body, content_type or headers.get("content-type"))
    found = _gather(decoded.text)
    return _page(page, decoded, found)


def _page(page: str, decoded: Decoded, found: Gathering) -> Page:
    base = _resolve_base(found.base, page)
    raws = [reference.raw for reference in found.references]
    raws += [claim.raw for claim in found.claims]
    raws += [claim.poster for claim in found.claims if claim.poster]
    raws += [*found.feeds, *found.scripts, *([found.canonical] if found.canonical else [])]
    addresses = result.Addresses.of(raws, base, decoded.charset)
    canonical = addresses.get(found.canonical) if found.canonical else None
    return Page(
        url=page,
        charset=decoded.charset,
        charset_from=decoded.origin,
        base=base,
        title=found.title,
        language=found.language,
        canonical=canonical[0] if canonical else None,
        links=result.links(found, addresses, page),
        media=result.media(found, addresses),
        feeds=_all(found.feeds, addresses),
        robots=frozenset(found.robots),
        scripts=_all(found.scripts, addresses),
        inline_scripts=tuple(text for _, text in found.inline),
    )


def _all(raws: list[str], addresses: result.Addresses) -> tuple[str, ...]:
    return tuple(dict.fromkeys(address[0] for raw in raws if (address := addresses.get(raw)) is not None))
