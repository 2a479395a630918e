"""The tables of knowledge: extensions, types, signatures, players, sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spider.model import Confidence, MediaKind
from spider.page import media_kind, read, sniff
from spider.page.kinds import EXTENSIONS, MIME_TYPES
from spider.page.links import LINK_SOURCES, LINK_TAGS
from spider.page.media import MEDIA_SOURCES, MEDIA_TAGS
from spider.page.players import PLAYERS, player
from spider.page.signatures import signature

ROOT = Path(__file__).resolve().parents[2]


def test_tables_are_whole() -> None:
    """About seventy extensions and sixty types, spelled as they are looked up, each with a kind."""
    assert len(EXTENSIONS) >= 70
    assert len(MIME_TYPES) >= 60
    for name, (kind, form) in {**EXTENSIONS, **MIME_TYPES}.items():
        assert name == name.lower()
        assert isinstance(kind, MediaKind)
        assert re.fullmatch(r"[a-z0-9]+", form)


def test_source_tables_agree_with_the_handlers() -> None:
    """Each tag of the tables has its handler, and sources stand in order of trust."""
    tags = {tag for tag, _ in LINK_SOURCES} - {"comment", "header", "meta", "object", "embed"}
    assert tags == set(LINK_TAGS)
    assert set(MEDIA_TAGS) <= {tag for tag, _ in MEDIA_SOURCES} | {"link", "frame"}
    codes = [confidence.code for confidence in MEDIA_SOURCES.values()]
    assert codes == sorted(codes)
    assert {*MEDIA_SOURCES.values()} == {*Confidence}


@pytest.mark.parametrize(
    ("url", "mime", "told"),
    [
        ("http://h.test/a.mp4", None, ("video", "mp4")),
        ("http://h.test/a.mp4?x=.mp3#y.ogg", None, ("video", "mp4")),
        ("http://h.test/a.mp3;jsessionid=1", None, ("audio", "mp3")),
        ("http://h.test/a.mp3;x=1.y", None, ("audio", "mp3")),
        ("http://h.test/a;b.mp3", None, ("audio", "mp3")),
        ("http://h.test/A.SWF", None, ("flash", "swf")),
        ("http://h.test/a.mp4", "text/html; charset=utf-8", None),
        ("http://h.test/a.mp4", "application/octet-stream", ("video", "mp4")),
        ("http://h.test/a.m3u8", "text/plain", ("video", "hls")),
        ("http://h.test/a", "Audio/X-Something", ("audio", "something")),
        ("http://h.test/a.ogv", "application/ogg", ("video", "ogv")),
        ("http://h.test/a", "application/ogg", ("audio", "ogg")),
        ("http://h.test/a.m3u8", "audio/mpegurl", ("video", "hls")),
        ("http://h.test/x.ism/manifest", None, ("video", "smooth")),
        ("http://h.test.au", None, None),
        ("http://h.test/name.au", None, None),
        ("http://h.test/s/name.au", None, ("audio", "au")),
        ("http://h.test/main.ts", None, None),
        ("http://a.mp4/", None, None),
        ("http://h.test/a.mp3/", None, None),
        ("http://h.test/?a.mp3", None, None),
        ("http://h.test/mp3", None, None),
        ("http://h.test/quotes/.SPX", None, None),
        ("", None, None),
    ],
)
def test_kind_of_a_name(url: str, mime: str | None, told: tuple[str, str] | None) -> None:
    """A type is believed before a name, and a name only where it is a file's."""
    assert media_kind(url, mime) == told


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"FWS\x09", ("flash", "swf")),
        (b"ZWS\x0d", ("flash", "swf")),
        (b"FLV\x01\x05", ("video", "flv")),
        (b"#EXTM3U\n#EXT-X-VERSION:3\n", ("video", "hls")),
        (b"\xef\xbb\xbf#EXTM3U\n", ("audio", "m3u")),
        (b"<?xml version='1.0'?><!-- x --><MPD>", ("video", "dash")),
        ("\ufeff<smil>".encode("utf-16-le"), ("video", "smil")),
        (b"<asx version='3'>", ("video", "asx")),
        (b"[playlist]\n", ("audio", "pls")),
        (b"OggS" + b"\0" * 24 + b"\x80theora", ("video", "ogv")),
        (b"OggS" + b"\0" * 24 + b"OpusHead", ("audio", "opus")),
        (b"RIFF\0\0\0\0AVI LIST", ("video", "avi")),
        (b"RIFF\0\0\0\0WAVEfmt ", ("audio", "wav")),
        (b"\0\0\0\x20ftypM4A \0\0", ("audio", "mp4")),
        (b"\0\0\0\x20ftypqt  \0\0", ("video", "mov")),
        (b"\0\0\0\x20ftypavif\0\0", None),
        (b"\x1a\x45\xdf\xa3\x01\0webm", ("video", "webm")),
        (b"\xff\xfb\x90\x64", ("audio", "mp3")),
        (b"\xff\xf1\x50\x80", ("audio", "aac")),
        (b"\xff\xfe<\0h\0t\0", None),
        (b"G" + b"\0" * 187 + b"G" + b"\0" * 187 + b"G", ("video", "ts")),
        (b"<!DOCTYPE html><html>", None),
        (b"RIFF\0\0\0\0WEBPVP8 ", None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"GIF89a", None),
        (b"%PDF-1.4", None),
        (b"", None),
    ],
)
def test_kind_of_a_head(head: bytes, told: tuple[str, str] | None) -> None:
    """First bytes name the medium, or none."""
    assert signature(head) == told
    assert sniff(head) == (told[0] if told else None)


def test_type_where_the_head_is_silent() -> None:
    """A container that may hold sound alone is what its type says; other bytes are believed before a type."""
    assert sniff(b"\0\0\0\x20ftypisom\0\0", "audio/mp4") == "audio"
    assert sniff(b"FWS\x09", "audio/mp4") == "flash"
    assert sniff(b"?", "video/mp4") == "video"


@pytest.mark.parametrize(
    "head",
    [
        b"<html>",
        b" \n<!DOCTYPE html>\n<html lang=de>",
        b"\xef\xbb\xbf<!-- not found -->",
        b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
        b"<h1>404</h1>",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        b"RIFF\0\0\0\0WEBPVP8 ",
        b"%PDF-1.7",
        b"PK\x03\x04",
    ],
)
def test_what_is_surely_something_else(head: bytes) -> None:
    """A page or picture that is served as a medium is none: servers say so of their error pages."""
    assert sniff(head, "video/mp4") is None
    assert sniff(head, "application/x-shockwave-flash") is None


def test_a_file_is_a_page_with_itself() -> None:
    """Read as a page, a media file is one medium and no markup; a text that begins like one is a text."""
    body = b"FWS\x09\0\0<a href=x>x</a>"
    page = read(body, "http://h.test/a", content_type="application/octet-stream")
    assert [(medium.kind, medium.format, medium.url) for medium in page.media] == [("flash", "swf", "http://h.test/a")]
    assert page.links == ()
    assert len(read(body, "http://h.test/a", content_type="text/html").links) == 1
    assert len(read(b"ID3 <a href=x>x</a>", "http://h.test/a").links) == 1


def test_players() -> None:
    """A player is its host's or a host's below it, by the beginning of its path; nothing else is."""
    assert player("https://www.youtube.com/embed/x") == ("video", "youtube")
    assert player("https://user@player.vimeo.com:443/video/1") == ("video", "vimeo")
    assert player("https://W.soundcloud.com/player/".lower()) == ("audio", "soundcloud")
    assert player("https://deadspin.com/embed/inset/iframe?id=youtube-video-x") == ("video", "kinja")
    assert player("https://deadspin.com/embed/inset/iframe?id=twitter-x") is None
    assert player("https://tube.example/videos/embed/1-2") == ("video", "embed")
    assert player("https://h.test/news/video/embed?id=1") == ("video", "embed")
    assert player("https://h.test/news/videos/embedded") is None
    assert player("https://notyoutube.com/embed/x") is None
    assert player("https://www.youtube.com/watch?v=/embed/") is None
    assert player("mailto:x") is None
    assert player("") is None


def test_player_table() -> None:
    """Each row of the players has a name, hosts as they are looked up, and paths."""
    for host, rows in PLAYERS.items():
        assert host == host.lower()
        for name, kind, paths in rows:
            assert name
            assert kind in {MediaKind.VIDEO, MediaKind.AUDIO}
            assert all(path.startswith("/") and path == path.lower() for path in paths)


def test_documented_sources() -> None:
    """The document's tables of sources are the code's."""
    lines = (ROOT / "docs" / "pages.md").read_text(encoding="utf-8").splitlines()
    wanted = [f"| `{tag}@{name}` | {why} |" for (tag, name), why in (*LINK_SOURCES.items(), *MEDIA_SOURCES.items())]
    assert [line for line in lines if line.startswith("| `") and "@" in line] == wanted
    text = " ".join(lines)
    assert f"Extensions ({len(EXTENSIONS)}) and types ({len(MIME_TYPES)})" in text
    assert f"{sum(map(len, PLAYERS.values()))} rows in `players`" in text
