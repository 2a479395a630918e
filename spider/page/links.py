"""Where hyperlinks stand: the table of link sources, and the handlers that read each of them.

What makes a hyperlink is the HTML standard's section 4.6; what is left out on purpose: ``template``
and comments (not in the document), ``cite``, ``longdesc`` and ``ping`` (no navigation), POST forms.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborNode

from spider.model import Source
from spider.page.charset import clean
from spider.page.gather import Attributes, Gathering, Handler, Reference, ancestors

__all__ = ["LINK_SOURCES", "LINK_TAGS", "refresh_target", "told", "words"]

# (tag, attribute): why it leads somewhere.
LINK_SOURCES: Final = MappingProxyType(
    {
        ("a", "href"): "a hyperlink",
        ("a", "xlink:href"): "a hyperlink in SVG",
        ("area", "href"): "a region of an image map",
        ("link", "href"): "a typed link: next, prev, alternate, canonical and what navigates like them",
        ("frame", "src"): "a document in a frameset",
        ("iframe", "src"): "a document inside this one",
        ("iframe", "srcdoc"): "a document written into an attribute",
        ("layer", "src"): "Netscape's frame",
        ("ilayer", "src"): "Netscape's inline frame",
        ("form", "action"): "where a GET form leads",
        ("button", "formaction"): "where a button leads its GET form",
        ("input", "formaction"): "the same for an input",
        ("meta", "content"): "a refresh",
        ("object", "data"): "an object that is an HTML document",
        ("embed", "src"): "an embed that is an HTML document",
        ("comment", "text"): "in a comment or a template, when they are asked for",
        ("header", "link"): "HTTP's form of the link element",
        ("header", "refresh"): "HTTP's form of the refresh",
        ("header", "content-location"): "the document's own address",
    }
)
_SOURCE: Final = {(tag, name): Source(tag, name) for tag, name in LINK_SOURCES}
_ANCHOR: Final = _SOURCE["a", "href"]

# rel values of <link> that lead to a document one may read (link types of HTML, 4.6.7, and older ones).
_NAVIGATION = """alternate amphtml appendix archives author bookmark canonical chapter contents copyright end
    first glossary help home index last license next prev prerender previous search section start
    subsection top up"""
NAVIGATION: Final = frozenset(_NAVIGATION.split())
FEED_TYPES: Final = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "text/rss+xml"})
# Alternates that no one reads: oEmbed, feeds of data, apps, style.
_NO_DOCUMENT = (
    "application/json",
    "application/opensearch",
    "application/wlw",
    "image/",
    "text/css",
    "text/xml+oembed",
)

_REFRESH = re.compile(
    r"""\s*+[0-9.]*+\s*+[;,\s]\s*+(?:url\s*+=\s*+)?("[^"]*+|'[^']*+|[^\s"'].*+)""", re.IGNORECASE | re.DOTALL
)
_IMAGE = 100  # characters that looking at one image counts for
_SPACE = " \t\n\f\r"


def words(value: str | None) -> tuple[str, ...]:
    """Split a space-separated attribute into its lower-case words."""
    return tuple(value.lower().split()) if value else ()


def refresh_target(content: str) -> str | None:
    """Return the address in a refresh (HTML, 4.2.5.3), with or without ``url=``; None where it only reloads."""
    match = _REFRESH.match(content)
    target = match[1] if match else ""
    if target[:1] in {'"', "'"}:
        target = target[1:]
    elif target[:3].lower() == "url" and target[3:].lstrip(_SPACE)[:1] == "=":
        target = target[3:].lstrip(_SPACE)[1:]
    return target.strip(_SPACE) or None


def label(found: Gathering, node: LexborNode, attributes: Attributes) -> str:
    """Return an anchor's text; for one without, its image's alt, its title or its aria-label."""
    raw = node.text() if found.budget > 0 else ""
    found.budget -= len(raw)
    text = clean(raw)
    if text:
        return text
    for image in node.css("img") if found.budget > 0 else ():
        found.budget -= _IMAGE
        text = clean(image.attributes.get("alt"))
        if text:
            return text
    return clean(attributes.get("title")) or clean(attributes.get("aria-label"))


def told(found: Gathering, one: Reference) -> str:
    """Return a reference's text, read when it is first asked for: most links of a page are known, and need none."""
    if one.node is not None:
        one.text, one.node = label(found, one.node, {}), None
    return one.text


def _anchor(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    if len(attributes) == 1 and "href" in attributes:  # most anchors
        found.references.append(Reference(attributes["href"] or "", _ANCHOR, node=node))
        return
    name = "href" if "href" in attributes else "xlink:href"
    if name not in attributes:
        return
    found.references.append(
        Reference(
            attributes[name] or "",
            _SOURCE["a", name],
            label(found, node, attributes),
            clean(attributes.get("title")),
            words(attributes.get("rel")),
            attributes.get("type"),
        )
    )


def _area(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    if "href" not in attributes:
        return
    title = clean(attributes.get("title"))
    text = clean(attributes.get("alt")) or title or clean(attributes.get("aria-label"))
    rel = words(attributes.get("rel"))
    found.references.append(
        Reference(attributes["href"] or "", _SOURCE["area", "href"], text, title, rel, attributes.get("type"))
    )


def _typed(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    href, rel = attributes.get("href"), words(attributes.get("rel"))
    if not href or not rel:
        return
    typed_link(found, href, rel, attributes, _SOURCE["link", "href"])


def typed_link(found: Gathering, href: str, rel: tuple[str, ...], attributes: Attributes, source: Source) -> None:
    """Take a typed link, of an element or of the Link header, if it leads to a document."""
    if "canonical" in rel and found.canonical is None:
        found.canonical = href
    mime = (attributes.get("type") or "").partition(";")[0].strip().lower()
    if mime in FEED_TYPES and "alternate" in rel:
        found.feeds.append(href)
    if "stylesheet" in rel or mime.startswith(_NO_DOCUMENT) or NAVIGATION.isdisjoint(rel):
        return
    title = clean(attributes.get("title"))
    found.references.append(Reference(href, source, title, title, rel, mime or None))


def _frame(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    src = attributes.get("src")
    title = clean(attributes.get("title"))
    if src and src.strip(_SPACE):
        text = title or clean(attributes.get("name")) or clean(attributes.get("aria-label"))
        found.references.append(Reference(src, _SOURCE[node.tag or "iframe", "src"], text, title))


def _form(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    if (attributes.get("method") or "get").strip().lower() == "get":
        _action(found, attributes, "form", "action")


def _button(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    if attributes.get("formaction") and (attributes.get("formmethod") or "get").strip().lower() == "get":
        form = next((above for above in ancestors(node) if above.tag == "form"), None)
        method = attributes.get("formmethod") or (form.attributes.get("method") if form is not None else None)
        if (method or "get").strip().lower() == "get":
            _action(found, attributes, node.tag or "button", "formaction")


def _action(found: Gathering, attributes: Attributes, tag: str, name: str) -> None:
    action = attributes.get(name)
    if action and action.strip(_SPACE):
        text = clean(attributes.get("title")) or clean(attributes.get("aria-label")) or clean(attributes.get("value"))
        found.references.append(Reference(action, _SOURCE[tag, name], text))


LINK_TAGS: Final[MappingProxyType[str, Handler]] = MappingProxyType(
    {
        "a": _anchor,
        "area": _area,
        "link": _typed,
        "frame": _frame,
        "iframe": _frame,
        "layer": _frame,
        "ilayer": _frame,
        "form": _form,
        "button": _button,
        "input": _button,
    }
)
