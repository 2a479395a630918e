"""Pages of ten megabytes, each made of one thing that readers keep much of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Final

__all__ = ["GREEDY", "SIZE"]

SIZE = 10_000_000


def _filled(piece: str | bytes, head: str = "", tail: str = "") -> Callable[[], bytes]:
    data, front, end = (part.encode() if isinstance(part, str) else part for part in (piece, head, tail))
    return lambda: front + data * ((SIZE - len(front) - len(end)) // len(data)) + end


def _numbered(write: Callable[[int], str], head: str = "") -> Callable[[], bytes]:
    def body() -> bytes:
        parts, size = [head], len(head)
        numbers: Iterable[int] = range(SIZE)
        for number in numbers:
            parts.append(write(number))
            size += len(parts[-1])
            if size > SIZE:
                break
        return "".join(parts).encode()[:SIZE]

    return body


GREEDY: Final = MappingProxyType(
    {
        "links to one place": _filled("<a href=x>y</a>"),
        "links": _numbered(lambda n: f"<a href=/{n}>{n}</a>"),
        "cards": _numbered(
            lambda n: f"<div class=card><a href=/x/{n} title=t><img src=/{n}.jpg alt=x>Name</a><p>text</p></div>"
        ),
        "tags": _filled("<a b=c d=e>"),
        "paragraphs": _filled("<p>x</p>\n"),
        "deep": _filled("<div>"),
        "text": _filled("abc "),
        "text and one far character": _filled("abc <b>x</b> ", "\U0001f600"),
        "one long attribute": _filled("x ", "<a href=/x title='", "'>"),
        "one tag of attributes": _numbered(lambda n: f" a{n}=1", "<a"),
        "tags of attributes": _numbered(lambda n: f" a{n}=1" + ("><a" if n % 250 == 0 else ""), "<a"),
        "one script": _filled("'x/y.mp4',", "<script>var a=["),
        "scripts": _numbered(lambda n: f"<script src=/{n}.js></script>"),
        "small scripts": _numbered(lambda n: f"<script>var a='/{n}.mp4'</script>"),
        "JSON, long": _filled('{"a":1},', "<script type=application/ld+json>[", "{}]</script>"),
        "JSON, deep": _filled("[", "<script type=application/ld+json>"),
        "metas": _filled("<meta name=a content=b>"),
        "pictures": _numbered(lambda n: f"<img src=/{n}.jpg>"),
        "films": _numbered(lambda n: f"<video src=/{n}.mp4 poster=/{n}.png></video>"),
        "a document in an attribute": _filled("&lt;a href=x&gt;", "<iframe srcdoc='", "'>"),
        "documents in attributes": _filled("<iframe srcdoc='<a href=x>'></iframe>"),
        "microdata": _filled("<div itemscope itemprop=a itemtype=http://schema.org/VideoObject>"),
        "events": _numbered(lambda n: f"<i onclick=\"x('/{n}.mp4')\">"),
        "styles": _numbered(lambda n: f"<i style='background:url(/{n}.png)'>"),
        "templates": _filled("<template><a href=x></template>"),
        "comments": _filled("<!---->"),
        "references": _filled("&amp;&nbsp;"),
        "a sitemap": _numbered(lambda n: f"<url><loc>http://a.test/{n}</loc></url>", "<?xml version='1.0'?><urlset>"),
        "a feed": _numbered(lambda n: f"<item><link>http://a.test/{n}</link></item>", "<rss><channel>"),
        "a playlist": _numbered(lambda n: f"#EXTINF:1,\nseg{n}.ts\n", "#EXTM3U\n"),
        "a cascade": _numbered(lambda n: f"<a href='mailto:{n}@a.test'>x</a>"),
    }
)
"""What each is made of, and how it is written."""
