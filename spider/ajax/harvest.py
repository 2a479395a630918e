"""What each sight of an application adds: links, media, resources, in the words of the other rooms.

A state's documents are read as any page is (`spider.page.read`); what its scripts asked for and where they
wanted to go is added.  Pure but for the `Application` it fills.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterable
from hashlib import blake2b

from spider.ajax.application import Application, Document, Resource
from spider.ajax.dom import ADDRESSES, Tree
from spider.ajax.graph import START
from spider.ajax.tab import Sight
from spider.ajax.traffic import Asked, Left, Traffic
from spider.errors import InvalidURL
from spider.model import Confidence, Link, Media, Relation, Source
from spider.page import media_kind, read
from spider.url import identify, normalize, relation

__all__ = ["Harvest"]

_WEB = ("http://", "https://")
_HTML = "text/html; charset=utf-8"


class Harvest:
    """Fills an application with what its states show and ask for."""

    def __init__(self, application: Application) -> None:
        """Begin with an application that may hold something already."""
        self._application = application
        self._seen: set[bytes] = set()

    def anew(self) -> None:
        """Forget which state showed what: they are numbered anew.  Links and resources stay."""
        self._seen.clear()
        self._application.pages.clear()
        self._application.media.clear()
        self._application.state_of.clear()
        self._application.documents.clear()

    def sight(self, sight: Sight, state: int) -> None:
        """Read what a state shows, unless the same addresses were read before; keep the HTML of a new state."""
        if state not in self._application.pages:
            self._application.pages[state] = next(iter(sight.snapshot.documents())).html
        digest = _addresses(sight.tree)
        if digest in self._seen:
            return
        self._seen.add(digest)
        for number, document in enumerate(sight.snapshot.documents()):
            url = document.url if document.url.startswith(_WEB) else document.base
            if url.startswith(_WEB):
                robots = self._document(document.html, url, state)
                if number == 0 and state == START:
                    self._application.robots.update(dict.fromkeys(robots))
        self._routes(sight)

    def _document(self, html: str, url: str, state: int) -> Iterable[str]:
        """Read one document of a state; return its directives for robots."""
        body, target = html.encode("utf-8", "replace"), self._application
        page = read(body, url, content_type=_HTML)
        for link in page.links:
            target.found.setdefault(link.url, link)
            if not target.links.get(link.url):
                target.links[link.url] = link.text
        for medium in page.media:
            self._medium(medium, state)
        target.feeds.update(dict.fromkeys(page.feeds))
        target.scripts.update(dict.fromkeys(page.scripts))
        target.documents.append(Document(body, url, _HTML, {}))
        return page.robots

    def named(self, traffic: Traffic) -> None:
        """Record what the answers that came name, and what scripts put together."""
        for url, answer in traffic.answers.items():
            headers = dict(answer.headers)
            if url.startswith(_WEB):
                document = Document(base64.b64decode(answer.body), url, headers.get("content-type"), headers)
                self._application.documents.append(document)
        for url, kind in traffic.unasked.items():
            self._route(url, self._application.url, Source("request", kind))
        for text in traffic.strings:
            self._route(text, self._application.url, Source("script", "variable"))

    def _routes(self, sight: Sight) -> None:
        """Record what reading a state's HTML does not tell: routes in fragments, frames where none may stand."""
        for element in sight.tree:
            if element.name == "frame" and element.get("src"):
                self._framed(element.get("src") or "", sight.url)
            href = (element.get("href") or "") if element.name == "a" else ""
            if "#/" in href or "#!" in href:
                self._route(href, sight.url, Source("a", "href"))

    def _framed(self, src: str, base: str) -> None:
        with contextlib.suppress(InvalidURL):
            url = normalize(src, base)
            link = Link(url, identify(url), Source("frame", "src"), Relation(relation(base, url)))
            if url.startswith(_WEB):
                self._application.found.setdefault(url, link)
                self._application.links.setdefault(url, "")

    def _route(self, href: str, base: str, source: Source) -> None:
        """Record an address with its fragment, where that is a route."""
        text, mark, fragment = href.partition("#")
        try:
            plain = normalize(text, base)
        except InvalidURL:
            return
        if plain.startswith(_WEB):
            url = plain + mark + fragment if fragment.startswith(("/", "!")) else plain
            link = Link(url, identify(plain), source, Relation(relation(self._application.url, plain)))
            self._application.routes.setdefault(url, link)

    def _medium(self, medium: Media, state: int) -> None:
        """Record a medium, with the first state that shows it as surely as any."""
        known = self._application.media.get(medium.url)
        if known is None or medium.confidence.rank < known.confidence.rank:
            self._application.media[medium.url] = medium
            self._application.state_of[medium.url] = state

    def asked(self, asked: Iterable[Asked], state: int, transition: tuple[str, str] | None) -> tuple[str, ...]:
        """Record requests; return the addresses, which mark what an event did."""
        marks: list[str] = []
        for one in asked:
            marks.append(f"{one.method} {one.url}")
            key = (one.method, one.url)
            if key not in self._application.resources:
                self._application.resources[key] = Resource(
                    one.method, one.url, one.kind, state, transition, one.body_shape, one.status, one.mime, one.refused
                )
            self._played(one.url, one.mime, state, Source("request", one.kind))
        return tuple(marks)

    def left(self, left: Iterable[Left], state: int, transition: tuple[str, str] | None, text: str) -> tuple[str, ...]:
        """Record tries to leave the page: a GET is a link, anything else a resource."""
        marks: list[str] = []
        for one in left:
            url = _plain(one.url)
            if "#/" in one.url or "#!" in one.url:
                self._route(one.url, self._application.url, Source("script", one.how))
            marks.append(f"{one.how} {url}")
            if one.method == "GET":
                self._application.links.setdefault(url, text)
                self._played(url, None, state, Source("script", one.how))
            else:
                resource = Resource(one.method, url, one.how, state, transition, refused="navigation")
                self._application.resources.setdefault((one.method, url), resource)
        return tuple(marks)

    def _played(self, url: str, mime: str | None, state: int, source: Source) -> None:
        """Record a medium that was asked for, where it is one."""
        kind = media_kind(url, mime) if url.startswith(_WEB) else None
        if kind is None:
            return
        try:
            plain = normalize(url)
        except InvalidURL:
            return
        self._medium(Media(plain, identify(plain), kind[0], source, Confidence.LINK, mime=mime, format=kind[1]), state)


def _plain(url: str) -> str:
    """Return an address as the url room writes it, where it reads it."""
    try:
        return normalize(url)
    except InvalidURL:
        return url


def _addresses(tree: Tree) -> bytes:
    """Return a digest of what could be a link or a medium."""
    digest = blake2b(digest_size=16)
    for element in tree:
        for name, value in element.attributes:
            if name in ADDRESSES or name.startswith("data-") or "://" in value or "url(" in value:
                digest.update(f"{element.name}\0{name}\0{value}\n".encode("utf-8", "surrogatepass"))
    return digest.digest()
