"""One document walked: text in, what stands in it out.

The tree is the one that browsers build (lexbor, by way of selectolax): misnested anchors, what follows
``</html>``, ``template``, NUL, unclosed quotes are as the HTML standard has them, with scripting off, so
that ``noscript`` counts.  This file owns the order of the walk; what each tag means stands in the tables
of its neighbours.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from spider.model import Confidence, Source
from spider.page.attributes import ATTRIBUTE_TAGS, gather_attributes, gather_variables, is_worth_while
from spider.page.charset import clean
from spider.page.flash import OBJECT_TAGS
from spider.page.gather import Attributes, Claim, Gathering, Handler, Reference
from spider.page.hostile import tame
from spider.page.links import LINK_TAGS, refresh_target, told
from spider.page.media import MEDIA_TAGS
from spider.page.metadata import gather_json, gather_metas, gather_microdata
from spider.page.scripts import gather_scripts, is_hint

__all__ = ["LINKS", "MANY", "gather"]

# Players that are embedded by a script of their own, one for each medium.
_SCRIPTED = ("jwplatform.com/players/", "jwplayer.com/players/", "wistia.com/embed/medias/", "wistia.net/embed/medias/")
_SCRIPT_SRC = Source("script", "src")
_REFRESH, _SRCDOC, _COMMENT = Source("meta", "content"), Source("iframe", "srcdoc"), Source("comment", "text")
LINKS = 20_000
"""Hyperlinks of one page that are kept."""

MANY = f"links: more than {LINKS}, the first kept"
"""What a page says that has more."""

_FRAMES = 20  # documents written into attributes that are read, each one deep
_FRAME = 500_000  # characters of one that are read
_HIDDEN = 2_000_000  # characters of comments that are read
_TEMPLATES = 1000  # templates that are read
_COMMENTS = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)


def _base(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    if found.base is None and attributes.get("href") is not None:
        found.base = attributes["href"]


def _title(found: Gathering, node: LexborNode, _attributes: Attributes) -> None:
    above = node.parent
    if not found.title and (above is None or above.tag != "svg"):
        found.title = clean(node.text())


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
    name = (attributes.get("property") or attributes.get("name") or "").strip().lower()
    if name in {"robots", "multimedia-spider"}:
        found.robots.update(content.replace(",", " ").lower().split())
    elif name:
        found.metas.append((name, content))


def _script(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    src = attributes.get("src")
    if src and src.strip():
        found.scripts.append(src)
        if any(player in src for player in _SCRIPTED):
            found.claims.append(Claim(src, _SCRIPT_SRC, Confidence.PLAYER, frame=True))
        return
    text = node.text()
    if text.strip():
        found.inline.append(((attributes.get("type") or "").strip().lower(), text))


def _written(found: Gathering, _node: LexborNode, attributes: Attributes) -> None:
    """Keep the document that is written into an iframe's attribute; it is read after this one."""
    text = attributes.get("srcdoc")
    if text and text.strip() and len(found.frames) < _FRAMES:
        found.frames.append(text[:_FRAME])


def _template(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
    """Read a template that is a shadow root (HTML, 4.12.3): its content is shown, others' is not."""
    if attributes.get("shadowrootmode") or attributes.get("shadowroot"):
        for fragment in node.template_fragments()[:1]:
            _walk(found, fragment)
    else:
        found.templates.append(node)


def _both(first: Handler, second: Handler) -> Handler:
    def handle(found: Gathering, node: LexborNode, attributes: Attributes) -> None:
        first(found, node, attributes)
        second(found, node, attributes)

    return handle


_DOCUMENT_TAGS: Final[MappingProxyType[str, Handler]] = MappingProxyType(
    {
        "base": _base,
        "html": _html,
        "iframe": _written,
        "meta": _meta,
        "script": _script,
        "template": _template,
        "title": _title,
    }
)


def _table() -> dict[str | None, Handler]:
    table: dict[str | None, Handler] = {}
    for tags in (_DOCUMENT_TAGS, LINK_TAGS, MEDIA_TAGS, OBJECT_TAGS, ATTRIBUTE_TAGS):
        for tag, handler in tags.items():
            table[tag] = _both(table[tag], handler) if tag in table else handler
    return table


_HANDLERS: Final = _table()
_WITHOUT_LINKS: Final = {tag: handler for tag, handler in _HANDLERS.items() if tag not in {"a", "area", "form"}}
_READ: Final = frozenset(tag for tag in _HANDLERS if tag)


def _walk(found: Gathering, root: LexborNode) -> None:
    handlers = _HANDLERS
    for node in root.traverse():
        handler = handlers.get(node.tag)
        if handler is not None:
            handler(found, node, node.attributes)
            if len(found.references) >= LINKS and handlers is _HANDLERS:
                handlers = _WITHOUT_LINKS
                found.notes.append(MANY)


def gather(text: str, *, hidden: bool = False, alike: bool = False) -> Gathering:
    """Walk a document once and gather what it holds; `hidden` reads its comments and templates too.

    With `alike` what a reader sees is kept as one text.
    """
    found = Gathering(budget=2 * len(text) + 100_000)
    tree = _read(found, text)
    if alike and tree.body is not None:
        for one in found.references:
            told(found, one)
        tree.strip_tags(["script", "style"], recursive=True)
        found.text = tree.body.text(separator=" ")
    for inner in found.frames[:_FRAMES]:
        _read_frame(found, inner)
    gather_metas(found)
    gather_json(found)
    if hidden:
        _read_hidden(found, text)
    return found


def _read(found: Gathering, text: str) -> LexborHTMLParser:
    tamed, notes = tame(text, _READ)
    found.notes += notes
    tree = LexborHTMLParser(tamed)
    if tree.root is not None:
        _walk(found, tree.root)
    if "itemprop" in tamed:
        gather_microdata(found, tree)
    gather_variables(found)
    hinted = is_hint(tamed)
    gather_scripts(found, hinted=hinted)
    if hinted and is_worth_while(tamed):
        gather_attributes(found, tree)
    return tree


def _read_frame(found: Gathering, text: str) -> None:
    """Read a document written into an attribute: its own head says nothing of the page around it."""
    inner = Gathering(budget=2 * len(text))
    _read(inner, text)
    for reference in inner.references:
        reference.source = _SRCDOC
    found.references += inner.references[: max(0, LINKS - len(found.references))]
    found.claims += inner.claims
    found.scripts += inner.scripts
    found.inline += inner.inline


def _read_hidden(found: Gathering, text: str) -> None:
    """Read comments and templates: their links with a source of their own, their media as the least sure there is."""
    comments = "\n".join(match[1] for match in _COMMENTS.finditer(text) if "<" in match[1])
    inner = Gathering()
    _read(inner, comments[:_HIDDEN])
    for node in found.templates[:_TEMPLATES]:
        for fragment in node.template_fragments()[:1]:
            _walk(inner, fragment)
    for claim in inner.claims:
        claim.confidence, claim.source, claim.also = Confidence.COMMENT, _COMMENT, []
    found.claims += inner.claims
    for reference in inner.references:
        reference.source = _COMMENT
    found.references += inner.references
