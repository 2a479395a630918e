"""Laws of exports: what other programs read is well-formed, whole, streams, and takes hostile text for text."""

from __future__ import annotations

import io
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.model import LinkState, MediaKind
from spider.page import read, signature
from spider.report import export, network
from spider.report.xml import Writer
from spider.store.ask import MediaRow
from spider.store.forest import LinkRow, PageRow
from spider.store.once import once
from tests.cli.conftest import Run, run
from tests.conftest import environment
from tests.report.filled import NOW, RADIO, ROOT, fill
from tests.report.large import grow
from tests.report.test_text import HOSTILE, steers

__all__ = ["run"]

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
VIDEO = "{http://www.google.com/schemas/sitemap-video/1.1}"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
XSPF = "{http://xspf.org/ns/0/}"
TEXT = st.text(
    alphabet=st.sampled_from([*"ab<>&\"'\\#=,]\t", "影", "\U0001f3ac", "\x85", "\ufffe", *HOSTILE]), max_size=40
)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make a small database."""
    fill(tmp_path / "spider.db")
    return tmp_path / "spider.db"


def parsed(text: str) -> ET.Element:
    """Read XML as strictly as anybody."""
    return ET.fromstring(text)  # noqa: S314  # what the program wrote itself


def medium(text: str = "", **other: Any) -> MediaRow:  # noqa: ANN401  # any of a row's values
    """Return a medium whose page says this."""
    page, media = "http://a.example/page.html", "http://a.example/film.mp4?x=1&y=%22"
    told: dict[str, Any] = {
        "page": page, "title": text, "media": media, "kind": MediaKind.VIDEO, "text": text, "source": "video@src",
        "seed": "http://a.example/", "depth": 1, "first_seen": NOW, "last_seen": NOW, "page_id": 1, "name": text,
        "format": "mp4", "poster": "http://a.example/p.jpg?a&b", "duration": 61.4, "size": 1234,
    }  # fmt: skip
    return MediaRow(**told | other)


def link(number: int = 2, text: str = "") -> LinkRow:
    """Return a link whose page says this."""
    url = f"http://a.example/{number}?a=1&b='"
    above = "http://a.example/"
    return LinkRow(number, 1, url, LinkState.C, 1, above, above, text, "a@href", "downward")


def written(write: Callable[..., Any], *given: Any, **options: Any) -> str:  # noqa: ANN401  # the writers differ
    """Return what a writer writes."""
    stream = io.StringIO()
    write(*given, stream, **options)
    return stream.getvalue()


def test_urls_are_one_a_line_and_each_once(run: Run, filled: Path) -> None:
    """The addresses are those of the report, whatever the pages that show them, narrowed as a report is."""
    rows = json.loads(run("report", "--format", "json").stdout)
    assert run("export", "urls").stdout.splitlines() == list(dict.fromkeys(row["media"] for row in rows))
    assert run("export", "urls", "--media", "flash", "--match", "snake").stdout == f"{ROOT}games/snake.swf\n"
    assert run("export", "urls", "--seed", RADIO, "-o", "urls.txt").output == ""
    assert filled.with_name("urls.txt").read_text() == f"{RADIO}live.m3u8?q=a,b&c=%22\n"
    assert list(once([medium(), medium("again"), medium(media="http://b.example/")])) == [
        medium(),
        medium(media="http://b.example/"),
    ]


def test_players_get_what_plays(run: Run, filled: Path) -> None:
    """Playlists and feeds have video and audio; Flash only when it is asked for."""
    assert filled.exists()
    assert len(parsed(run("export", "xspf").stdout).findall(f".//{XSPF}track")) == 4
    assert len(parsed(run("export", "rss").stdout).findall(".//item")) == 4
    assert run("export", "m3u").stdout.count("#EXTINF") == 4
    assert run("export", "m3u", "--media", "flash").stdout.count("#EXTINF") == 2


@given(TEXT)
def test_xml_is_well_formed_whatever_pages_say(text: str) -> None:
    """Every XML parses and gives the text back, but for what XML cannot hold."""
    whole = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)
    row = medium(text)
    tree = parsed(written(export.write_xspf, [row]))
    assert (tree.findtext(f".//{XSPF}title") or "") == (whole or ("film.mp4" if not text else ""))
    assert tree.findtext(f".//{XSPF}location") == row.media
    item = parsed(written(export.write_rss, [row], title=text, link=text)).find(".//item")
    assert item is not None
    enclosure = item.find("enclosure")
    assert enclosure is not None
    assert enclosure.attrib == {"url": row.media, "length": "1234", "type": "video/mp4"}
    graph = parsed(written(network.write_graphml, [link(2, text)]))
    data = {node.get("key"): node.text for node in graph.iter(f"{GRAPHML}data")}
    assert (data["text"] or "") == whole
    assert data["url"] == link().url
    page = PageRow(1, "http://a.example/page.html?a&b", NOW)
    videos = parsed(written(export.write_sitemap, [page], [row]))
    assert videos.findtext(f"{SITEMAP}url/{SITEMAP}loc") == page.url
    assert videos.findtext(f".//{VIDEO}content_loc") == row.media


@given(TEXT)
def test_lines_hold_one_thing_each(text: str) -> None:
    """No text of a page begins a line of a playlist or ends a string of a graph."""
    lines = written(export.write_m3u, [medium(text)]).split("\n")
    assert [line[:8] for line in lines] == ["#EXTM3U", "#EXTINF:", "http://a", ""]
    dot = written(network.write_dot, [link(2, text)])
    assert not any(map(steers, dot.replace("\n", "")))
    strings = re.findall(r'"(?:[^"\\]|\\["\\])*"', dot)
    assert re.sub(r'"(?:[^"\\]|\\["\\])*"', "S", dot).count('"') == 0
    assert len(strings) == 4


def test_a_sitemap_has_the_pages_that_a_visitor_gets(run: Run, filled: Path) -> None:
    """Pages that were read, with the videos on them; what failed is not in it."""
    assert filled.exists()
    tree = parsed(run("export", "sitemap").stdout)
    assert [url.findtext(f"{SITEMAP}loc") for url in tree] == [ROOT, RADIO, f"{ROOT}films/", f"{ROOT}games/"]
    films = [url for url in tree if url.findtext(f"{SITEMAP}loc") == f"{ROOT}films/"]
    assert [video.findtext(f"{VIDEO}content_loc") for video in films[0].iter(f"{VIDEO}video")] == [
        f"{ROOT}films/train.mp4",
        f"{ROOT}films/train.ogv",
    ]
    assert len(parsed(run("export", "sitemap", "--seed", RADIO).stdout)) == 1
    assert len(parsed(run("export", "sitemap", "--host", "museum.example").stdout)) == 3


def test_players_and_readers_take_them(run: Run, filled: Path) -> None:
    """A reader of podcasts, of playlists and of sitemaps finds in each export what was put there."""
    assert filled.exists()
    rows = json.loads(run("report", "--format", "json").stdout)
    played = list(dict.fromkeys(row["media"] for row in rows if row["kind"] != "flash"))
    feed = feedparser.parse(run("export", "rss").stdout_bytes)
    assert not feed.bozo, feed.get("bozo_exception")
    assert feed.version == "rss20"
    assert [entry.enclosures[0].href for entry in feed.entries] == played
    assert all(entry.published_parsed and entry.title and entry.link for entry in feed.entries)
    assert signature(run("export", "m3u").stdout_bytes) == (MediaKind.AUDIO, "m3u")
    assert [url for url in run("export", "m3u").stdout.splitlines() if not url.startswith("#")] == played
    assert signature(run("export", "xspf").stdout_bytes) == (MediaKind.AUDIO, "xspf")
    page = read(run("export", "sitemap").stdout_bytes, f"{ROOT}sitemap.xml", content_type="application/xml")
    videos = {row["media"] for row in rows if row["kind"] == "video"}
    assert {medium.url for medium in page.media} == videos
    assert {link.url for link in page.links} >= {ROOT, f"{ROOT}films/"}


def test_a_sitemap_holds_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """What finds no room is counted, and the document ends well."""
    monkeypatch.setattr(export, "SITEMAP_LIMIT", 3)
    stream = io.StringIO()
    pages = [PageRow(number, f"http://a.example/{number}", NOW) for number in range(5)]
    assert export.write_sitemap(pages, [medium(page_id=4), medium(page_id=99)], stream) == 2
    assert len(parsed(stream.getvalue())) == 3


def test_links_are_the_forest(run: Run, filled: Path) -> None:
    """Every link with its state and the page above, the same in each format, the columns in their order."""
    assert filled.exists()
    rows = [json.loads(line) for line in run("export", "links").stdout.splitlines()]
    assert [(row["url"], row["parent"], row["state"]) for row in rows] == [
        (ROOT, None, "C"),
        (RADIO, None, "C"),
        (f"{ROOT}films/", ROOT, "C"),
        (f"{ROOT}games/", ROOT, "C"),
        (f"{ROOT}lost.html", ROOT, "E"),
    ]
    assert {tuple(row) for row in rows} == {network.LINK_COLUMNS}
    graph = parsed(run("export", "links", "--format", "graphml").stdout)
    nodes = {node.get("id"): node.findtext(f"{GRAPHML}data[@key='url']") for node in graph.iter(f"{GRAPHML}node")}
    edges = [(nodes[e.get("source")], nodes[e.get("target")]) for e in graph.iter(f"{GRAPHML}edge")]
    assert edges == [(row["parent"], row["url"]) for row in rows if row["parent"]]
    dot = run("export", "links", "--format", "dot").stdout
    assert (dot.count(" -> "), dot.count("fillcolor=")) == (3, 6 - 1)
    assert run("export", "links", "--seed", RADIO, "--format", "csv").stdout.count("\n") == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["urls", "--edges"], "--edges is for links; urls has a format of its own"),
        (["urls", "--format", "csv"], "--format is for links; urls has a format of its own"),
        (["links", "--media", "video"], "--media says nothing to links"),
        (["links", "--new"], "--new says nothing to links"),
        (["sitemap", "--match", "x"], "--match says nothing to sitemap"),
        (["pictures"], "'pictures' is not one of"),
    ],
)
def test_options_that_say_nothing_are_refused(args: list[str], said: str, run: Run, filled: Path) -> None:
    """An option that would be overlooked is an error of one line, code 2."""
    assert filled.exists()
    done = run("export", *args)
    assert done.exit_code == 2
    assert said.lower() in done.stderr.lower()
    assert done.stderr.count("\n") == 1


def test_nothing_is_told(run: Run, filled: Path) -> None:
    """Where there is nothing to export the document is empty and well-formed, and a line says so."""
    assert filled.exists()
    done = run("export", "rss", "--host", "elsewhere.example")
    assert done.exit_code == 0
    assert parsed(done.stdout).findall(".//item") == []
    assert done.stderr == "spider: there is nothing of the kind to export\n"


class Counting(io.StringIO):
    """A stream that counts what it got, and forgets it."""

    total = 0

    def write(self, text: str) -> int:
        """Count a text."""
        self.total += len(text)
        return len(text)


@pytest.mark.parametrize("write", [export.write_urls, export.write_m3u, export.write_xspf])
def test_media_stream(write: Callable[..., Any]) -> None:
    """A medium is written before the next but one is asked for."""
    stream = Counting()

    def rows() -> Iterator[MediaRow]:
        for number in range(500):
            before = stream.total
            yield medium(media=f"http://a.example/{number}")
            assert number == 0 or stream.total > before - 1

    write(rows(), stream)
    assert stream.total > 500 * 20


@pytest.mark.parametrize("write", [network.write_dot, network.write_graphml])
def test_links_stream(write: Callable[..., Any]) -> None:
    """A link is written before the next one is asked for."""
    stream = Counting()
    seen = [0]

    def rows() -> Iterator[LinkRow]:
        for number in itertools.count(1):
            if number > 500:
                return
            yield link(number)
            assert stream.total > seen[0]
            seen[0] = stream.total

    write(rows(), stream)


@pytest.mark.parametrize(
    "command",
    [
        "report --format csv",
        "report",
        "export urls",
        "export xspf",
        "export links --format graphml",
        "export sitemap",
        "tree",
    ],
)
def test_a_closed_pipe_ends_quietly(command: str, large: Path) -> None:
    """Whoever reads one line and goes leaves no trace and no error."""
    line = f"set -o pipefail; {sys.executable} -m spider --db {large} {command} | head -1"
    done = subprocess.run(["bash", "-c", line], env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database whose answers fill a pipe."""
    return grow(tmp_path_factory.mktemp("large") / "large.db", media=3000)


def test_a_terminal_is_not_steered() -> None:
    """On a terminal XML shows controls that it could hold; elsewhere it holds them."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    Writer(stream).leaf("title", f"a\x9b2J{HOSTILE}")
    assert not any(map(steers, stream.getvalue().replace("\n", "")))
    plain = io.StringIO()
    Writer(plain).leaf("title", "a\x9b2J\u202e")
    assert "a\x9b2J\u202e" in plain.getvalue()
