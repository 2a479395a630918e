"""Whatever reads what others wrote: real inputs damaged at random raise nothing of their own, and cost linear time."""

from __future__ import annotations

import os
import random
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from spider import url as urls
from spider.cli.config import read_config
from spider.crawl import read_seeds
from spider.errors import InvalidURL, SeedsError, SettingError, SpiderError
from spider.fetch import Robots, header_words, retry_after
from spider.fetch.cookies import read_cookie
from spider.fetch.passes import read_cookie_file
from spider.page import read
from spider.patterns import Pattern
from tests.hostile.soak import record

pytestmark = pytest.mark.no_cover  # watching each line would be timed as well

BASE = "http://h.test/dir/page.html"
SECONDS = 0.7  # of processor time for each reader, every day
LONG = float(os.environ.get("SPIDER_SOAK_SECONDS", "120"))  # the same in a soak
ONCE = 10.0  # seconds of processor time that one input of at most MOST bytes may take
MOST = 300_000
LARGE = 120_000  # bytes of the inputs that time is compared on

Reader = Callable[[bytes, Path], object]


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads what others wrote: its name, how, examples, and the one class that it may raise."""

    name: str
    read: Reader
    examples: tuple[bytes, ...]
    raises: type[SpiderError | ValueError] = SpiderError
    corpus: str = ""

    def try_it(self, body: bytes, place: Path) -> float:
        """Read, and return the seconds of processor time; whatever else is raised goes on."""
        began = time.process_time()
        try:
            self.read(body, place)
        except self.raises as error:
            assert str(error).strip()  # noqa: PT017  # either way is right
            assert len(str(error)) < 100_000 + len(body)  # noqa: PT017
        return time.process_time() - began


def as_page(content_type: str | None) -> Reader:
    """Read as a response of this type."""
    return lambda body, _: read(body, BASE, content_type=content_type)


def as_url(body: bytes, _: Path) -> object:
    """Read as an address, absolute and against a base."""
    text = body.decode("utf-8", "surrogateescape")
    return urls.normalize(urls.normalize(text, BASE)), urls.key(urls.normalize(text, BASE))


def as_robots(body: bytes, _: Path) -> object:
    """Read as robots.txt, and ask it."""
    rules = Robots.parse(body, "http://h.test/robots.txt")
    return [rules.decide("multimedia-spider", f"http://h.test/{path}") for path in ("", "a/b.html?x=1", "a" * 500)]


def as_cookies(body: bytes, place: Path) -> object:
    """Read as a file of cookies."""
    place.write_bytes(body)
    return read_cookie_file(str(place))


def as_config(body: bytes, place: Path) -> object:
    """Read as a configuration."""
    place.write_bytes(body)
    return read_config(str(place))


def as_headers(body: bytes, _: Path) -> object:
    """Read as the values of headers."""
    text = body.decode("latin-1")
    cookie = read_cookie(text, ("https", "h.test", 443), "/", now=0.0)
    page = read(b"<p>", BASE, headers={"link": text, "refresh": text, "content-type": text, "content-location": text})
    return cookie, header_words([text], "multimedia-spider"), retry_after(text, 0.0), page


def as_pattern(body: bytes, _: Path) -> object:
    """Read as a regular expression, and search."""
    return Pattern.of(body.decode("utf-8", "surrogateescape")).search("http://h.test/" + "a" * 3000 + "!")


RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>t</title>
<item><title>a</title><link>http://h.test/a</link><enclosure url="a.mp3" type="audio/mpeg" length="1"/>
<media:content url="a.mp4" type="video/mp4" duration="3"/><pubDate>Tue, 01 Dec 2026 00:00:00 GMT</pubDate>
</item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry><link rel="enclosure" href="a.ogg" type="audio/ogg"/>
<updated>2026-12-01T00:00:00Z</updated><content type="html">&lt;video src="b.mp4"&gt;</content></entry></feed>"""
SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"><url><loc>http://h.test/a</loc><lastmod>2026-12-01</lastmod>
<video:video><video:content_loc>http://h.test/a.mp4</video:content_loc><video:duration>60</video:duration></video:video></url></urlset>"""
HLS = b"""#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1"
low/a.m3u8
#EXT-X-MEDIA:TYPE=AUDIO,URI="b.m3u8"
#EXTINF:3,
c.ts
"""
DASH = b"""<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>v/</BaseURL><Period><AdaptationSet>
<Representation id="1"><SegmentTemplate media="$Number%05d$.m4s" initialization="i.mp4" startNumber="1"/>
</Representation></AdaptationSet></Period></MPD>"""
TAGS = b"\x0c\x02http://h.test/a.mp4\0loadMovie\0http://h.test/b.swf\0"
SWF = b"FWS\x08" + (len(TAGS) + 21).to_bytes(4, "little") + b"\x78\0\x05\x5f\0\0\x0f\xa0\0\0\x0c\x01\0" + TAGS
CWS = b"CWS\x08" + SWF[4:8] + zlib.compress(SWF[8:])
HTML = b"""<!doctype html><meta charset=utf-8><base href=/x/><title>t</title><a href="a.html" rel=nofollow>x</a>
<video poster=p.jpg><source src=a.mp4 type=video/mp4></video><object data=a.swf><param name=movie value=a.swf></object>
<script>var s = {file: "b.mp3"}; AC_FL_RunContent("movie", "c");</script><script type=application/ld+json>
{"@type":"VideoObject","contentUrl":"d.mp4"}</script><iframe srcdoc="&lt;a href=b&gt;"></iframe>"""
ROBOTS = b"""User-agent: *
Disallow: /a*b$
Allow: /a
Crawl-delay: 2
Sitemap: http://h.test/s.xml

User-agent: x
Disallow:
"""
COOKIES = b"""# Netscape HTTP Cookie File
.h.test	TRUE	/	FALSE	1900000000	name	value
#HttpOnly_h.test	FALSE	/a	TRUE	0	n	1
"""
CONFIG = b"""depth = 3
include = ["a", "b"]
delay = "500ms"
[crawl]
scope = "tree"
header = ["X-A: b"]
"""
SEEDS = b"""# seeds
https://example.org/sounds/  depth=3 scope=host
example.org/films/ include=/a\\s

http://[::1]:8080/?q#f
"""
ADDRESSES = (
    b"http://user:pw@EXAMPLE.org:80/a/../b;c?d=e&f#g", b"//xn--bcher-kva.example/%7Ea", b"file:///c|/x",
    b"http://0x7f.1/", b"http://[::ffff:1.2.3.4%25eth0]/", "http://bücher.example/ä?ö".encode(), b"\thttp:\\\\a\\b\0",
)  # fmt: skip

TARGETS = (
    Target("an address", as_url, ADDRESSES, InvalidURL),
    Target("a page", as_page("text/html"), (HTML,), corpus="html"),
    Target("a feed", as_page("application/rss+xml"), (RSS, ATOM), corpus="feeds"),
    Target("a sitemap", as_page("application/xml"), (SITEMAP,), corpus="feeds"),
    Target("a manifest", as_page(None), (HLS, DASH), corpus="manifests"),
    Target("a Flash movie", as_page("application/x-shockwave-flash"), (SWF, CWS), corpus="magic"),
    Target("a robots.txt", as_robots, (ROBOTS,)),
    Target("headers", as_headers, (b"k=v; Max-Age=9; Path=/; Secure", b"<a>; rel=next, <b>", b"5; url=x", b"noindex")),
    Target("a file of cookies", as_cookies, (COOKIES,), SettingError),
    Target("a configuration", as_config, (CONFIG,), SettingError),
    Target("a file of seeds", lambda body, _: read_seeds(body, "seeds.txt"), (SEEDS,), SeedsError),
    Target(
        "an expression", as_pattern, (rb"(a+)+$", rb"^http://[^/]+/(?:x|y)*\.php\?", rb"[[:alpha:]]{2,9}\d"), ValueError
    ),
)

PIECES = [
    *(bytes([byte]) for byte in b"\0\n\r \t\xff#<>\"'&=*()\\"),
    b"\xed\xa0\x80", b"&#0;", b"%00", b"../", b"//", b"http://[", b"]]>", b"<![CDATA[", b"<!--", b"&a;", b"a ",
    b"a='b=\"", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"9" * 400, b"a" * 4000, b"{1,9}", b"User-agent:", b"Disallow: /*",
    b"\x1f\x8b\x08", b"PK", b"$Number%99999d$", b"-1", b"depth=", b"[[", b"CWS", b"\xfe\xff", b"\xef\xbb\xbf",
]  # fmt: skip


def damaged(body: bytes, dice: random.Random) -> bytes:
    """Damage an input in a few places: cut, repeat, insert, flip a bit, swap a piece for another's."""
    for _ in range(dice.randrange(1, 8)):
        start = dice.randrange(len(body) + 1)
        end = min(len(body), start + dice.choice((1, 2, 9, 60, 3000)))
        piece = dice.choice(PIECES) * dice.choice((1, 1, 1, 2, 50))
        flipped = bytes([body[start] ^ (1 << dice.randrange(8))]) if start < len(body) else b""
        middle = dice.choice((b"", body[start:end] * dice.choice((2, 3, 40)), piece, piece + body[start:end], flipped))
        body = (body[:start] + middle + body[end:])[:MOST]
    return body


def attack(target: Target, examples: Iterable[bytes], folder: Path, *, seed: int, seconds: float) -> int:
    """Read damaged examples for so many seconds of processor time; return how many."""
    dice, pool = random.Random(f"{target.name} {seed}"), list(examples)
    began, rounds = time.process_time(), 0
    while time.process_time() - began < seconds:
        body = damaged(dice.choice(pool), dice)
        spent = target.try_it(body, folder / "input")
        assert spent < ONCE, f"{target.name}, seed {seed}, round {rounds}"
        rounds += 1
    return rounds


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_damaged_inputs(target: Target, tmp_path: Path) -> None:
    """No damage makes a reader raise anything but its own class, or take long."""
    for example in target.examples:
        target.try_it(example, tmp_path / "input")
    assert attack(target, target.examples, tmp_path, seed=1, seconds=SECONDS) > 20


def repeated(piece: bytes, size: int) -> bytes:
    """Repeat a piece up to a size."""
    return (piece * (size // len(piece) + 1))[:size]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_time_grows_with_length(target: Target, tmp_path: Path) -> None:
    """Four times the input takes no more than about four times as long, whatever is repeated in it."""
    for piece in [*PIECES, *target.examples]:
        short, long = repeated(piece, LARGE // 4), repeated(piece, LARGE)
        spent = target.try_it(long, tmp_path / "input")
        if spent < 0.3:
            continue  # too little to compare
        shorter = min(target.try_it(short, tmp_path / "input") for _ in range(2))
        spent = min(spent, target.try_it(long, tmp_path / "input"))
        assert spent < 9 * shorter + 0.3, (target.name, piece[:40], shorter, spent)
        assert spent < ONCE


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_damaged_real_inputs(target: Target, shared: Path, tmp_path: Path) -> None:
    """The same for two minutes or as long as is asked for, with real inputs, and other damage each time."""
    folder = shared / "corpus" / "pages" / target.corpus
    files = [path for path in sorted(folder.glob("*")) if path.is_file()] if target.corpus else []
    examples = [*target.examples, *(path.read_bytes() for path in files)]
    seed = int(time.time())
    rounds = attack(target, examples, tmp_path, seed=seed, seconds=LONG)
    record(**{f"inputs: {target.name}": rounds})
    assert rounds > 8 * LONG
