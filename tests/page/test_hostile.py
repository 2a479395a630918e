"""Pages made to hurt: they end soon, in little memory, and say what was cut."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from spider.model import Page
from spider.page import read
from spider.page.document import gather
from spider.page.pieces import gather_pieces, is_large

pytestmark = pytest.mark.no_cover  # watching each line would be timed as well

ROOT = Path(__file__).resolve().parents[2]
MEGABYTES = 700  # of memory at the most, the interpreter and all libraries included
SECONDS = 10.0  # of processor time: several times what they take, since machines differ


def many(pattern: str, number: int) -> str:
    """Repeat a pattern, each time with another number in it."""
    return "".join(pattern.replace("#", str(n)) for n in range(number))


def timed(text: str | bytes) -> Page:
    """Read a document, and fail if it takes too long."""
    body = text.encode() if isinstance(text, str) else text
    began = time.process_time()
    page = read(body, "http://h.test/dir/page.html", content_type="text/html")
    assert time.process_time() - began < SECONDS
    return page


END = '<a href="end">end</a><video src="end.mp4"></video>'


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("<div>" * 300_000, id="elements nested in each other"),
        pytest.param("<span>" * 100_000 + "</q>" * 100_000, id="ends that end nothing"),
        pytest.param(many("<font size=#>", 10_000) + "<p>x" * 10_000, id="formatting reopened in every paragraph"),
        pytest.param("<b><p><a href=x>" * 15_000, id="misnested anchors"),
        pytest.param("<table><tr><td>" * 60_000, id="tables in tables"),
        pytest.param("<object><a href=x>" * 15_000, id="anchors nested in objects"),
        pytest.param("<video><audio>" * 100_000, id="players nested in players"),
        pytest.param("<svg><g>" * 100_000, id="drawings"),
        pytest.param(many("<body a#=1>", 100_000), id="attributes gathered on one body"),
        pytest.param("<form><button>" * 50_000, id="forms"),
    ],
)
def test_nesting(start: str) -> None:
    """What stands after any depth of nesting is still found, in linear time."""
    page = timed(start + END)
    assert [medium.url for medium in page.media] == ["http://h.test/dir/end.mp4"]
    assert page.links[-1].url == "http://h.test/dir/end"
    assert any(note.startswith("nesting: ") for note in page.notes)


def test_attributes() -> None:
    """Two hundred thousand attributes on one tag are cut, those that matter kept."""
    page = timed("<a " + many("a#=1 ", 200_000) + " href=x>y</a>" + END)
    assert [link.url for link in page.links] == ["http://h.test/dir/x", "http://h.test/dir/end"]
    assert page.notes == ("attributes: 199744 cut from tags with more than 256",)


def test_attributes_of_many_tags() -> None:
    """Many tags with hundreds of attributes each cost no more than one with all of them."""
    page = timed(("<a " + many("a#=1 ", 400) + "href=x>y</a>") * 2000 + END)
    assert len(page.links) == 2001


def test_links() -> None:
    """Of eight hundred thousand links twenty thousand are kept, and the page says so."""
    page = timed("<a href=x>y</a>" * 800_000)
    assert len(page.links) == 20_000
    assert [note.partition(":")[0] for note in page.notes] == ["tags", "links"]


def test_a_large_page_is_read_in_pieces() -> None:
    """Read in pieces, a page says what it says whole; no piece begins in a script, a comment or a tag."""
    card = (
        "<div class=c><a href=/# title='> <a href=no>'>#</a><script>x='<a href=no>' + '</a>'</script>"
        "<!-- <a href=no></a> --><video src=/#.mp4></video><p>text</p></div>"
    )
    text = "<title>t</title><base href=/b/><h1>x</h1>" + many(card, 6000)
    whole, pieces = gather(text), gather_pieces(text)
    assert is_large(text)
    assert pieces.notes == whole.notes == []
    assert [one.raw for one in pieces.references] == [one.raw for one in whole.references]
    assert [one.raw for one in pieces.claims] == [one.raw for one in whole.claims]
    assert (pieces.title, pieces.base) == (whole.title, whole.base) == ("t", "/b/")
    page = timed(text)
    assert len(page.links) == len(page.media) == 6000


def test_what_is_long_without_a_tag_is_cut() -> None:
    """A script or a text of megabytes is read in part; what stands behind it is read."""
    page = timed("<script>" + "x=1;" * 1_000_000 + "</script>" + END + "text " * 10_000 + END)
    assert [link.url for link in page.links] == ["http://h.test/dir/end"] * 2
    assert page.notes[0] == "size: of 4000017 characters without a tag the first 2000000 read"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<" * 3_000_000, id="less-than signs"),
        pytest.param("<a" * 1_000_000, id="tags never closed"),
        pytest.param('<a "' * 700_000, id="stray quotes"),
        pytest.param('<a b="' * 500_000, id="quotes never closed"),
        pytest.param("<!--" * 700_000, id="comments never closed"),
        pytest.param("<script>" * 300_000, id="scripts never closed"),
        pytest.param("<meta " * 500_000, id="metas never closed"),
        pytest.param("<meta " + "a" * 1_000_000 + ">", id="a long name in a meta"),
        pytest.param("<meta " + "a " * 500_000 + ">", id="names without values in a meta"),
        pytest.param("<meta " + "a=\"b='" * 200_000 + ">", id="quotes in a meta"),
        pytest.param("<template>" * 100_000, id="templates"),
        pytest.param("&lt;&notit;&#x;" * 200_000, id="references"),
        pytest.param("<!DOCTYPE" + " " * 3_000_000, id="a long doctype"),
        pytest.param("<?xml " + " <!-- " * 500_000, id="a long prolog"),
        pytest.param("<script>" + "'a.mp4+" * 200_000, id="strings of scripts"),
        pytest.param("<script>" + "x.mp4" * 300_000, id="names without quotes"),
        pytest.param("<p data-x='" + "a.mp4 " * 200_000 + "'>", id="an attribute full of names"),
        pytest.param("<script type=application/ld+json>" + "[" * 1_000_000, id="deep JSON"),
        pytest.param("<script type=application/ld+json>" + "{} ; " * 300_000, id="JSON values in a row"),
        pytest.param("<script type=application/ld+json>" + '{"a":' * 200_000, id="deep JSON objects"),
        pytest.param("<script type=application/ld+json>" + "9" * 500_000, id="a long number"),
        pytest.param("<meta http-equiv=refresh content='" + "1;" * 500_000 + "'>", id="a long refresh"),
        pytest.param("<script>" + "AC_FL_RunContent(" * 100_000, id="calls"),
        pytest.param("<script type=application/ld+json>{" + " " * 1_000_000 + "}</script>", id="white space in JSON"),
        pytest.param("<meta http-equiv=x content='charset=" + " " * 1_000_000 + "'>", id="white space in a meta"),
        pytest.param("[playlist]" + "\n" * 1_000_000 + "File1=a" + " " * 1_000_000 + "b", id="white space in a list"),
        pytest.param("<!DOCTYPE" * 300_000, id="doctypes"),
        pytest.param("<rss>" + "<!DOCTYPE" * 300_000, id="doctypes in a feed"),
        pytest.param("<div>" * 400 + "<i itemprop=contentUrl>a.mp4</i>" * 30_000, id="deep microdata"),
        pytest.param("<div>" * 400 + "<source src=a.mp4>" * 30_000, id="deep sources"),
        pytest.param("<div>" * 400 + "<embed src=a.swf>" * 30_000, id="deep embeds"),
        pytest.param("<object classid=x><param name=movie value=a>" * 90 + "<embed>" * 20_000, id="objects"),
        pytest.param("<a href=x><object>" * 90 + "<img>" * 50_000, id="anchors around images"),
        pytest.param("#EXTM3U\n#EXT-X-MEDIA:" + ',URI="' * 300_000, id="a long line of a manifest"),
        pytest.param("<title>" + "x" * 3_000_000, id="a long title"),
        pytest.param("<a href='" + "../" * 700_000 + "'>x</a>", id="a long address"),
        pytest.param(many("<div itemscope><i itemprop=contentUrl>#</i>", 20_000), id="microdata"),
        pytest.param("<iframe srcdoc='" + "&lt;iframe srcdoc=&quot;" * 50_000 + "'>", id="documents in documents"),
    ],
)
def test_texts(text: str) -> None:
    """No text is slow to read."""
    assert timed(text).url == "http://h.test/dir/page.html"


def test_comments_asked_for() -> None:
    """Comments that never end are no slower where they are read."""
    began = time.process_time()
    read(b"<!--" * 500_000, "http://h.test/", hidden=True)
    assert time.process_time() - began < SECONDS


def test_text_of_nested_anchors() -> None:
    """Anchors that share their text are bounded in what they copy of it."""
    page = timed("<a href=x><object>" * 400 + "word " * 300_000)
    assert len(page.links) == 400
    assert max(len(link.text) for link in page.links) <= 2000


def test_time_grows_with_length() -> None:
    """Twice the page takes about twice the time, whatever it is made of."""
    for pattern in ("<p><a href=#>x</a>", "<font size=#><p>", "<i x=#>", "<a #=# ", "<b><a href=#><p>"):
        times = []
        for number in (8_000, 16_000):
            body = many(pattern, number).encode()
            spent = []
            for _ in range(2):
                began = time.process_time()
                read(body, "http://h.test/")
                spent.append(time.process_time() - began)
            times.append(min(spent))
        assert times[1] < 3.5 * times[0] + 0.2, pattern


READER = """
import resource, sys
from spider.page import read
from spider.page.document import gather
from spider.page.pieces import gather_pieces
for line in sys.stdin.buffer.read().split(b"\\0"):
    read(line, "http://h.test/")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_memory() -> None:
    """Pages whose tree could grow with the square of their length are read in bounded memory."""
    pages = [
        many("<font size=#>", 499) + "<p>x" * 499,
        many("<font size=#>", 150) + "<p>x" * 1800,
        many("<font size=#>", 10_000) + "<p>x" * 10_000,
        many("<nobr x=#>", 400) + "<p>x" * 500,
        "<object><a href=x><b x=1><i y=2>" * 200 + "<p>z" * 3000,
        "<a href=x>" + "x" * 5_000_000,
        many("<a href=/p#.html>page number #</a> ", 100_000),
        ("<p " + many("a#=1 ", 250) + ">") * 1500,
    ]
    body = "\0".join(pages).encode()
    done = subprocess.run([sys.executable, "-c", READER], input=body, cwd=ROOT, capture_output=True, check=True)
    assert int(done.stdout) < MEGABYTES
