"""Feeds and sitemaps: links, enclosures, and what is refused."""

from __future__ import annotations

import gzip

import pytest

from spider.model import Page
from spider.page import feeds, read


def feed(text: str | bytes) -> Page:
    """Read a feed."""
    return read(text.encode() if isinstance(text, str) else text, "http://f.test/dir/feed.xml")


def told(page: Page) -> list[str]:
    """Return a page's media as words."""
    return [f"{medium.kind} {medium.confidence} {medium.url} {medium.source}" for medium in page.media]


def test_rss() -> None:
    """An item's links and enclosures have its title; a picture's enclosure is no medium."""
    page = feed("""<?xml version="1.0"?>
        <rss xmlns:itunes="i" xmlns:media="m"><channel><title> News </title><link>http://f.test/</link>
        <item><title>One &amp; two</title><link>one.html</link><enclosure url="1.mp3" type="audio/mpeg" length="5"/>
        <itunes:duration>1:02:03</itunes:duration><media:thumbnail url="1.jpg"/></item>
        <item><link>/two</link>
        <enclosure url="2.jpg" type="image/jpeg"/><media:group><media:content url="2" medium="video"/>
        <media:content url="2.webm" duration="7"/></media:group><media:player url="http://p.test/embed/2"/></item>
        </channel></rss>""")
    assert page.title == "News"
    assert [(link.url, link.text) for link in page.links] == [
        ("http://f.test/", "News"),
        ("http://f.test/dir/one.html", "One & two"),
        ("http://f.test/two", ""),
    ]
    assert told(page) == [
        "audio element http://f.test/dir/1.mp3 enclosure@url",
        "video element http://f.test/dir/2 content@url",
        "video element http://f.test/dir/2.webm content@url",
        "video player http://p.test/embed/2 player@url",
    ]
    assert (page.media[0].duration, page.media[0].poster) == (3723, "http://f.test/dir/1.jpg")
    assert page.media[2].duration == 7


def test_atom() -> None:
    """A link with the relation enclosure is a link and a medium; another feed is a feed."""
    page = feed("""<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>
        <link rel="self" type="application/atom+xml" href="feed.xml"/>
        <entry><title>E</title><link href="e.html"/><link rel="enclosure" type="video/mp4" href="e"/></entry></feed>""")
    assert [(link.url, link.rel) for link in page.links] == [
        ("http://f.test/dir/feed.xml", ("self",)),
        ("http://f.test/dir/e.html", ("alternate",)),
        ("http://f.test/dir/e", ("enclosure",)),
    ]
    assert told(page) == ["video element http://f.test/dir/e link@enclosure"]
    assert page.feeds == ("http://f.test/dir/feed.xml",)


def test_podcast() -> None:
    """A podcast's alternative enclosures are media too."""
    page = feed("""<rss xmlns:podcast="p"><channel><item><podcast:alternateEnclosure type="audio/opus">
        <podcast:source uri="a.opus"/><podcast:source uri="a.m4a"/>
        </podcast:alternateEnclosure></item></channel></rss>""")
    assert [medium.url for medium in page.media] == ["http://f.test/dir/a.opus", "http://f.test/dir/a.m4a"]


SITEMAP = """<urlset xmlns="s" xmlns:image="i" xmlns:video="v"><url><loc>http://f.test/a</loc>
    <image:image><image:loc>http://f.test/a.jpg</image:loc></image:image>
    <video:video><video:title>V</video:title><video:content_loc>a.mp4</video:content_loc>
    <video:player_loc>a.swf?x</video:player_loc><video:duration>90</video:duration></video:video></url>
    <url><loc> http://f.test/b </loc></url></urlset>"""


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_sitemap(pack: type[bytes]) -> None:
    """A sitemap lists pages, not their pictures; a video's file and player are media; gzip is opened."""
    page = feed(pack(SITEMAP.encode()))
    assert [link.url for link in page.links] == ["http://f.test/a", "http://f.test/b"]
    assert told(page) == [
        "video element http://f.test/dir/a.mp4 content_loc@text",
        "flash element http://f.test/dir/a.swf?x player_loc@text",
    ]
    assert (page.media[0].title, page.media[0].duration) == ("V", 90)


def test_sitemap_index() -> None:
    """An index lists sitemaps, which are feeds of the page."""
    page = feed("<sitemapindex><sitemap><loc>http://f.test/1.xml.gz</loc></sitemap></sitemapindex>")
    assert page.feeds == ("http://f.test/1.xml.gz",)
    assert page.links[0].rel == ("sitemap",)


@pytest.mark.parametrize(
    "doctype",
    [
        pytest.param('<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>', id="XXE"),
        pytest.param('<!doctype rss [<!ENTITY % x SYSTEM "http://x.test/x.dtd"> %x;]>', id="parameter entity"),
        pytest.param(
            '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY x "&b;&b;&b;&b;">]>',
            id="billion laughs",
        ),
    ],
)
def test_entities_are_refused(doctype: str) -> None:
    """A feed that declares entities of its own is refused whole, and the page says so."""
    page = feed(
        f"<?xml version='1.0'?>{doctype}<rss><channel><title>&x;</title><link>http://f.test/</link></channel></rss>"
    )
    assert (page.title, page.links) == ("", ())
    assert page.notes == ("refused: the document declares entities of its own",)


def test_an_external_document_type_is_not_opened() -> None:
    """A document type without entities is harmless, and its file is never fetched."""
    page = feed(
        '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://127.0.0.1:1/rss.dtd"><rss><channel><link>/x</link>'
    )
    assert [link.url for link in page.links] == ["http://f.test/x"]


def test_broken_feed() -> None:
    """A feed that breaks off, or has wrong characters in it, is read as far as it goes."""
    page = feed("<rss><item><title>a\x0bb&nbsp;&eacute; & c</title><link>/x?a=1&b=2</link></item><item><link>/y</li")
    assert [(link.url, link.text) for link in page.links][:1] == [("http://f.test/x?a=1&b=2", "a\ufffdb é & c")]


def test_character_data() -> None:
    """A section of character data is kept to the letter."""
    page = feed("<rss><item><link><![CDATA[/x?a=1&b=2&amp;c]]></link></item></rss>")
    assert [link.url for link in page.links] == ["http://f.test/x?a=1&b=2&amp;c"]


def test_meta_in_a_description() -> None:
    """The declaration names a feed's charset, not the HTML that is quoted in it."""
    page = feed(
        '<?xml version="1.0" encoding="utf-8"?><rss><title>é</title><x><![CDATA[<meta charset=gbk>]]></x></rss>'
    )
    assert (page.charset, page.charset_from, page.title) == ("utf-8", "xml", "é")


def test_gzip_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a small file that inflates without end only so much is read."""
    monkeypatch.setattr(feeds, "_INFLATED", 1_000_000)
    assert len(feeds.inflate(gzip.compress(b" " * 10_000_000))) == 1_000_000


def test_broken_gzip() -> None:
    """A gzip file that breaks off is read as far as it goes."""
    packed = gzip.compress(SITEMAP.encode())
    assert [link.url for link in feed(packed[:-20]).links][:1] in ([], ["http://f.test/a"])
    assert feed(b"\x1f\x8b\x08garbage").links == ()


def test_a_feed_without_end() -> None:
    """More links than the protocol allows are cut, and the page says so."""
    page = feed("<urlset>" + "".join(f"<url><loc>/{n}</loc></url>" for n in range(50_100)) + "</urlset>")
    assert len(page.links) == 50_000
    assert page.notes == ("links: more than 50000, the first kept",)
