"""Playlists and streaming manifests: formats, addresses, patterns."""

from __future__ import annotations

import pytest

from spider.page import read
from spider.page.manifests import Manifest, manifest
from spider.url import normalize

URL = "http://m.test/dir/list"


def read_manifest(text: str) -> Manifest:
    """Read a text that is a manifest."""
    found = manifest(text, URL)
    assert found is not None
    return found


FILES = {
    "m3u": ("#EXTM3U\n#EXTINF:1,t\na.mp3\r\n\nhttp://x.test/b.mp3\na.mp3\n", "a.mp3 http://x.test/b.mp3"),
    "hls": (
        '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,URI="a.m3u8"\n#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF:1\ns.ts',
        "a.m3u8 s.ts",
    ),
    "pls": ("[playlist]\nFile1=a.mp3\nTitle1=x\nFILE2 = b.ogg\n", "a.mp3 b.ogg"),
    "asx": ('<ASX version="3"><Entry><Ref HREF="a.wmv"/><ref href="b.wmv" /></ASX>', "a.wmv b.wmv"),
    "smil": ('<smil><head><meta base="v/"/></head><video src="a.mp4"/><audio src="b.mp3"/></smil>', "v/a.mp4 v/b.mp3"),
    "xspf": ("<playlist><trackList><track><location>a.mp3</location></track></trackList></playlist>", "a.mp3"),
    "hds": (
        '<manifest xmlns="http://ns.adobe.com/f4m/1.0"><media url="a"/><media href="b.f4m"/></manifest>',
        "a b.f4m",
    ),
}
DASH = "<MPD><BaseURL>v/</BaseURL><Period><AdaptationSet>{}</AdaptationSet></Period></MPD>"
REPRESENTATIONS = {
    "<BaseURL>s/</BaseURL><Representation><BaseURL>a.mp4</BaseURL></Representation>": "v/s/a.mp4",
    '<Representation><SegmentList><Initialization sourceURL="i.mp4"/><SegmentURL media="1.m4s"/></SegmentList>'
    "</Representation>": "v/i.mp4 v/1.m4s",
    '<SegmentTemplate media="one.m4s"/><Representation/>': "v/one.m4s",
    "<Representation/>": "",
}


@pytest.mark.parametrize("form", FILES)
def test_addresses(form: str) -> None:
    """Each format's addresses are absolute, in order, each once."""
    text, words = FILES[form]
    assert read_manifest(text) == Manifest(form, tuple(normalize(word, URL) for word in words.split()))


@pytest.mark.parametrize("inner", REPRESENTATIONS)
def test_dash(inner: str) -> None:
    """A representation plays its base, its list of segments, or what its template names without a variable."""
    urls = tuple(normalize(word, URL) for word in REPRESENTATIONS[inner].split())
    assert read_manifest(DASH.format(inner)) == Manifest("dash", urls)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (DASH.format('<SegmentTemplate media="$Number$.m4s"/><Representation/>'), "dash"),
        ('<SmoothStreamingMedia><StreamIndex Url="Q({bitrate})/F(v={start time})"/></SmoothStreamingMedia>', "smooth"),
    ],
)
def test_patterns(text: str, form: str) -> None:
    """A pattern of addresses is none."""
    assert read_manifest(text) == Manifest(form, (), templated=True)


@pytest.mark.parametrize("text", ["", "<html></html>", "plain text", "<rss/>", "#EXT", "{}", "<!-- x -->"])
def test_others(text: str) -> None:
    """What is no manifest is none."""
    assert manifest(text, URL) is None


def test_entities_are_refused() -> None:
    """A manifest that declares entities of its own is refused."""
    found = read_manifest('<!DOCTYPE MPD [<!ENTITY x SYSTEM "file:///etc/passwd">]><MPD><BaseURL>&x;</BaseURL></MPD>')
    assert found == Manifest("dash", notes=("refused: the document declares entities of its own",))


def test_a_manifest_is_a_page() -> None:
    """Read as a page, a manifest is a medium, and so is what it lists, each of its kind."""
    page = read(b"#EXTM3U\n#EXTINF:1\na.mp3\nb.mp4\n", "http://m.test/list.m3u")
    assert [(medium.kind, medium.format, medium.url) for medium in page.media] == [
        ("audio", "m3u", "http://m.test/list.m3u"),
        ("audio", "mp3", "http://m.test/a.mp3"),
        ("video", "mp4", "http://m.test/b.mp4"),
    ]
    assert page.links == ()
