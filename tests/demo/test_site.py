"""The sample site's files and the truth about them: neither says more than the other."""

from __future__ import annotations

import re
import struct
import wave
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from spider import page as reader
from spider.demo import TRUTH, server
from spider.model import Confidence, Page
from spider.url import normalize

SITE = Path(server.__file__).parent / "site"
FILES = sorted(path for path in SITE.rglob("*") if path.is_file())
HOST = server.OWN_HOST.decode()


def address(file: Path) -> str:
    """Return the address of a file of the site, from the site's root."""
    path = "/" + file.relative_to(SITE).as_posix()
    return path.removesuffix("index.html") if path.endswith("/index.html") else path


def bare(url: str) -> str:
    """Return an address without its query."""
    return url.partition("?")[0]


def near(url: str) -> str:
    """Return an address as the truth writes it: from the root where it is the site's own."""
    return url.removeprefix(HOST) if url.startswith(f"{HOST}/") else url


HTML = {address(file): file.read_bytes() for file in FILES if file.suffix == ".html"}
MEDIA = {bare(medium.url) for sight in TRUTH.pages.values() for medium in sight.media if medium.url.startswith("/")}


def read(url: str) -> Page:
    """Read a page of the site as the server sends it."""
    kind = "text/html" if url.startswith(server.UNDECLARED) else server.TYPES["html"]
    return reader.read(HTML[bare(url)], HOST + url, content_type=kind)


# --- files -------------------------------------------------------------------


def test_every_page_is_in_the_truth_once() -> None:
    """Each HTML file is a page, a closed one or an unlinked one, and each of these has a file."""
    pages = [bare(url) for url in TRUTH.pages]
    assert len(pages) == len(set(pages))
    assert sorted([*pages, *TRUTH.closed, *TRUTH.unlinked]) == sorted(HTML)


def test_every_medium_is_in_the_truth() -> None:
    """Each media file is on some page (a segment is part of its stream), and each medium of the truth is there."""
    files = {address(file) for file in (SITE / "media").iterdir()}
    assert MEDIA - set(server.ALIASES) - TRUTH.missing == files - {"/media/waves.ts"}
    assert not TRUTH.missing & files
    assert set(server.ALIASES.values()) <= files
    assert "waves.ts" in (SITE / "media/waves.m3u8").read_text().splitlines()


def test_every_other_file_is_used() -> None:
    """Style sheet, pictures and captions are each asked for by some page; robots.txt names the sitemap."""
    text = b"\n".join(HTML.values()).decode("latin-1")
    others = [file for file in FILES if file.suffix != ".html" and file.parent.name != "media"]
    wanted = {file.name for file in others} - {"robots.txt", "sitemap.xml"}
    assert {name for name in wanted if name in text} == wanted
    assert f"{HOST}/sitemap.xml" in (SITE / "robots.txt").read_text()


def test_the_site_is_small_and_of_known_types() -> None:
    """All files together are under 300 kB, and the server has a Content-Type for each."""
    assert sum(file.stat().st_size for file in FILES) < 300_000
    assert {file.suffix[1:] for file in FILES} == set(server.TYPES)


def test_the_sitemap_names_pages_only() -> None:
    """Each address of the sitemap is a page of the truth."""
    named = re.findall(r"<loc>([^<]*)</loc>", (SITE / "sitemap.xml").read_text())
    assert len(named) > 5
    assert {near(url) for url in named} <= set(TRUTH.pages)


def test_robots_closes_what_the_truth_says() -> None:
    """The one closed directory is in robots.txt, and no page of the truth lies in it."""
    closed = re.findall(r"(?m)^Disallow: (\S+)$", (SITE / "robots.txt").read_text())
    assert closed == ["/workshop/"]
    assert {path for path in HTML if path.startswith("/workshop/")} <= TRUTH.closed | TRUTH.unlinked
    assert not [path for path in TRUTH.pages if path.startswith("/workshop/")]


@pytest.mark.parametrize("url", [url for url in HTML if url.startswith("/zh/")])
def test_chinese_pages_are_gb2312(url: str) -> None:
    """They are Chinese, say gb2312, are encoded so, and are no UTF-8 by chance."""
    text = HTML[url].decode("gb2312")
    assert "charset=gb2312" in text
    assert re.search(r"<a [^>]*>[\u4e00-\u9fff]+</a>", text)
    with pytest.raises(UnicodeDecodeError):
        HTML[url].decode("utf-8")


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("a link", r"<a href="),
        ("an image map", r"(?s)usemap=\"#plan\".*<map name=\"plan\">.*<area [^>]*href="),
        ("a form", r"<form method=\"get\" action="),
        ("a form that changes something", r"<form method=\"post\" action="),
        ("a frameset", r"(?s)<frameset .*<frame .*<frame .*<noframes>"),
        ("a base", r"<base href="),
        (
            "an object with params and an embed inside",
            r"(?s)<object classid=.*<param name=\"movie\".*<embed .*</object>",
        ),
        ("an object alone", r"<object type=\"application/x-shockwave-flash\" data="),
        ("an embed alone", r"(?m)^ *<embed src=.*x-shockwave-flash"),
        ("a video", r"<video [^>]*src="),
        ("an audio", r"<audio [^>]*src="),
        ("a source", r"<source src="),
        ("a track", r"<track "),
        ("an iframe", r"<iframe src="),
        ("a meta refresh", r"<meta http-equiv=\"refresh\""),
        ("a canonical", r"<link rel=\"canonical\""),
        ("a link that is no address of the web", r"href=\"mailto:"),
    ],
)
def test_the_site_has_every_tag_that_links_and_plays(what: str, pattern: str) -> None:
    """Whatever the page reader knows, the site shows at least once."""
    assert any(re.search(pattern, body.decode("latin-1")) for body in HTML.values()), what


# --- media -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "offset", "signature"),
    [
        ("wav", 0, b"RIFF"),
        ("ogg", 0, b"OggS"),
        ("ogv", 0, b"OggS"),
        ("webm", 0, b"\x1a\x45\xdf\xa3"),
        ("mp4", 4, b"ftyp"),
        ("m4a", 4, b"ftyp"),
        ("m3u8", 0, b"#EXTM3U"),
        ("ts", 0, b"\x47"),
        ("ts", 188, b"\x47"),
        ("mp3", 0, b"\xff"),
        ("png", 0, b"\x89PNG\r\n\x1a\n"),
        ("svg", 0, b"<svg "),
    ],
)
def test_media_are_what_their_names_say(suffix: str, offset: int, signature: bytes) -> None:
    """Each file begins as its format does."""
    bodies = [file.read_bytes() for file in FILES if file.suffix == f".{suffix}"]
    assert bodies
    assert all(body.startswith(signature, offset) for body in bodies)


def test_the_wave_file_can_be_played() -> None:
    """The standard library reads the organ: one channel, a second and a half."""
    with wave.open(str(SITE / "media/organ.wav"), "rb") as sound:
        assert sound.getnchannels() == 1
        assert sound.getnframes() / sound.getframerate() == pytest.approx(1.5, abs=0.1)


def test_flash_movies_are_whole() -> None:
    """Each SWF tells its true length, has a frame for each ShowFrame tag, and ends with an End tag."""
    files = [file for file in FILES if file.suffix == ".swf"]
    assert len(files) == 4
    for file in files:
        head, rest = file.read_bytes()[:8], file.read_bytes()[8:]
        body = zlib.decompress(rest) if head[:3] == b"CWS" else rest
        assert head[:3] in {b"FWS", b"CWS"}
        assert struct.unpack("<I", head[4:])[0] == 8 + len(body)
        tags = list(swf_tags(body))
        frames = struct.unpack_from("<H", body, swf_rect(body) + 2)[0]
        assert (tags[-1], tags.count(1)) == (0, frames)
        assert {2, 26} <= set(tags)


def swf_rect(body: bytes) -> int:
    """Return the length of the frame's rectangle (SWF file format, basic data types)."""
    return (5 + 4 * (body[0] >> 3) + 7) // 8


def swf_tags(body: bytes) -> Iterator[int]:
    """Yield the codes of the movie's tags."""
    place = swf_rect(body) + 4
    while place < len(body):
        (head,) = struct.unpack_from("<H", body, place)
        place, length = place + 2, head & 63
        if length == 63:
            (length,) = struct.unpack_from("<I", body, place)
            place += 4
        yield head >> 6
        place += length


# --- reading -----------------------------------------------------------------


@pytest.mark.parametrize("url", TRUTH.pages)
def test_reading_a_page_finds_what_the_truth_says(url: str) -> None:
    """Title and media of each page, with the anchor texts of those that are links."""
    page = read(url)
    sight = TRUTH.pages[url]
    assert page.title == sight.title
    sure = [medium for medium in page.media if medium.confidence.rank <= Confidence.LINK.rank]
    expected = {(medium.url, medium.kind) for medium in sight.media if not medium.visited}
    assert {(near(medium.url), medium.kind) for medium in sure} == expected
    assert len(sure) == len(expected)
    texts = {near(medium.url): medium.text for medium in page.media}
    texts |= {near(link.url): link.text for link in page.links}
    for medium in sight.media:
        if medium.text:
            assert texts[medium.url] == medium.text


def test_following_the_links_finds_every_page_at_its_depth() -> None:
    """Breadth first from the home page: the pages, their depths, and what is dead, closed, external and sent on."""
    home, met = "/", {"/": 0}
    queue, pages, others = deque([home]), {}, set()
    while queue:
        url = queue.popleft()
        if bare(url) not in HTML or url in TRUTH.closed:
            others.add(url)
            if (target := TRUTH.redirects.get(url)) and target not in met:
                met[target] = met[url]
                queue.appendleft(target)
            continue
        pages[url] = met[url]
        page = read(url)
        media = {medium.url for medium in page.media}
        for link in page.links:
            if link.url not in media and near(link.url) not in met:
                met[near(link.url)] = met[url] + 1
                queue.append(near(link.url))
    assert pages == {url: sight.depth for url, sight in TRUTH.pages.items()}
    assert others == {*TRUTH.dead, *TRUTH.closed, *TRUTH.external, *TRUTH.redirects, *server.ALIASES}


def test_addresses_of_the_truth_are_normalized() -> None:
    """The truth writes each address as the spider will: nothing in it could be spelt otherwise."""
    told = [*TRUTH.pages, *TRUTH.redirects, *TRUTH.redirects.values(), *TRUTH.dead, *TRUTH.closed, *TRUTH.external]
    told += [medium.url for sight in TRUTH.pages.values() for medium in sight.media]
    for url in told:
        assert near(normalize(urljoin(HOST, url))) == url
    assert all(urlsplit(url).netloc.endswith(".example") for url in TRUTH.external)


def test_the_sitemap_lists_what_the_truth_says() -> None:
    """The sitemap's entries are the pages that the truth has as listed."""
    page = reader.read((SITE / "sitemap.xml").read_bytes(), f"{HOST}/sitemap.xml")
    assert {near(link.url) for link in page.links} == TRUTH.listed
