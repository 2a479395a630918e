"""Laws of the report for a browser: one file that is whole, runs only its own script, and takes page text for text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html

from spider.model import LinkState
from spider.report import findings
from spider.report.findings import island
from spider.report.shapes import timeline
from spider.store import Database, ask
from tests.cli.conftest import Run, run
from tests.report.filled import HOSTILE_TITLE, RADIO, ROOT, fill
from tests.report.large import grow
from tests.report.test_text import HOSTILE, steers

__all__ = ["run"]

VOID = {"meta", "link", "input", "rect", "path", "use", "br"}


def written(run: Run, database: Path, *args: object) -> str:
    """Return the page that the program writes."""
    done = run("--db", database, "report", "--format", "html", *args)
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout_bytes.decode("utf-8")


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make a small database."""
    fill(tmp_path / "filled.db")
    return tmp_path / "filled.db"


@pytest.fixture
def page(run: Run, filled: Path) -> str:
    """Return the page of a small database."""
    return written(run, filled)


def parsed(page: str) -> Any:  # noqa: ANN401  # an element; XPath answers with whatever was asked for
    """Return the page as a tree."""
    return lxml_html.document_fromstring(page)


def content(page: str, name: str) -> Any:  # noqa: ANN401  # whatever it holds
    """Return the value of a data island."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_only_its_own_script_and_style_may_run(page: str) -> None:
    """The policy names the hashes of the one script and the one style sheet, and lets nothing else be fetched."""
    (policy,) = parsed(page).xpath("//meta[@http-equiv]/@content")
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_nothing_is_fetched_by_itself(page: str) -> None:
    """No element of the file names a thing to load; links are followed by a click and tell nobody where from."""
    root = parsed(page)
    assert (
        root.xpath("//@src | //@srcset | //@poster | //@style | //object | //iframe | //link[not(@href='data:,')]")
        == []
    )
    assert root.xpath("//meta[@name='referrer']/@content") == ["no-referrer"]
    out = [link for link in root.xpath("//a") if not link.get("href").startswith("#")]
    assert out
    assert {link.get("rel") for link in out} == {"noopener noreferrer"}
    assert [link.get("href") for link in out if not link.get("href").startswith(("http://", "https://"))] == []


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed in its turn."""

    def __init__(self) -> None:
        """Begin outside."""
        super().__init__()
        self.open: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember an element that is open, and attributes that would run."""
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last one."""
        assert tag in VOID or self.open.pop() == tag


def test_hostile_text_stays_text(page: str) -> None:
    """What pages say is in the file as text, cut and made visible; no markup, no handler and no control of theirs."""
    tags = Tags()
    tags.feed(page)
    assert (tags.open, tags.handlers) == ([], [])
    assert not any(map(steers, page.replace("\n", "")))
    titles = [title for _, title, *_ in content(page, "media-data")["pages"]]
    assert any(title.startswith("=cmd|' /C calc'!A0 \\x1b]0;owned\\x07") for title in titles)
    assert HOSTILE_TITLE not in titles


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>", HOSTILE, "\u2028\u2029"])
def test_an_island_is_never_left(text: str) -> None:
    """No text ends the script element that it stands in, or begins a comment there, and each reads back as it was."""
    made = island({"text": text})
    assert not set(made) & {"<", ">", "\n", "\r", "\u2028", "\u2029"}
    assert json.loads(made) == {"text": text}


def test_the_gallery_has_every_medium(page: str, run: Run, filled: Path) -> None:
    """The data island has the rows of the report: media, pages and their ways."""
    rows = json.loads(run("--db", filled, "report", "--format", "json").stdout)
    data, tree = content(page, "media-data"), content(page, "tree-data")
    assert [row[1] for row in data["media"]] == [row["media"] for row in rows]
    assert [data["pages"][row[2]][0] for row in data["media"]] == [row["page"] for row in rows]
    assert [data["kinds"][row[0]] for row in data["media"]] == [row["kind"] for row in rows]
    assert [tree[place][1] for *_, place in data["pages"]] == [url for url, *_ in data["pages"]]


def test_the_tree_counts_what_lies_beneath(page: str) -> None:
    """Each link stands under the page that showed it, with its state and the media of its whole tree."""
    nodes = content(page, "tree-data")
    assert [(parent, url, own, beneath) for parent, url, _, _, own, beneath, _ in nodes[:4]] == [
        (-1, ROOT, 0, 5),
        (0, f"{ROOT}films/", 3, 3),
        (0, f"{ROOT}games/", 2, 2),
        (0, f"{ROOT}lost.html", 0, 0),
    ]
    assert nodes[3][3] == list(LinkState).index(LinkState.E)
    assert nodes[3][6] == "client 404"


def test_it_is_narrowed_as_any_report(run: Run, filled: Path) -> None:
    """The options that narrow a report narrow its page."""
    media = content(written(run, filled, "--media", "video", "--match", "ogv"), "media-data")["media"]
    assert [row[1] for row in media] == [f"{ROOT}films/train.ogv"]
    page = written(run, filled, "--seed", "http://radio.example")
    assert [node[1] for node in content(page, "tree-data")] == [RADIO]
    assert [row[1] for row in content(page, "media-data")["media"]] == [f"{RADIO}live.m3u8?q=a,b&c=%22"]


def test_what_narrows_it_is_said(run: Run, filled: Path) -> None:
    """The page says by which options it was narrowed, as they were typed, and nothing where there were none."""
    page = written(run, filled, "--media", "video", "--match", "<ogv>|ogv", "--since", "99999d")
    said = " ".join(parsed(page).xpath("string(//p[@class='made'][2])").split())
    assert said.startswith("Narrowed by --media video, --match <ogv>|ogv, --since 8")
    assert "Narrowed" not in written(run, filled)


def test_media_over_time_are_columns() -> None:
    """Days stand in columns without gaps, the newest at the right, weeks or months where there are too many days."""
    word, columns = timeline({("2026-11-28", "video"): 3, ("2026-11-30", "audio"): 1, ("2026-11-30", "video"): 1})
    assert (word, len(columns)) == ("day", 21)
    assert [column.number for column in columns[-3:]] == [3, 0, 2]
    assert columns[-1].label == "2026-11-30"
    assert [(part.kind, part.number) for part in columns[-1].parts] == [("video", 1), ("audio", 1)]
    assert columns[-3].parts[0][2:] == (0, 100)
    word, columns = timeline({("2020-01-01", "flash"): 1, ("2026-11-30", "flash"): 1})
    assert word == "year"
    assert sum(column.number for column in columns) == 2
    assert timeline({("2026-11-30", "video"): 9}) == ("", [])


def test_a_card_says_what_it_counts(page: str, filled: Path) -> None:
    """Links in C are links, not pages: redirects and feeds are read too, and the crawls below count pages alone."""
    with Database.open(str(filled)) as database, database.read() as connection:
        read = ask.status(connection).links[LinkState.C]
    card = parsed(page).xpath("string(//li[contains(@class, 'state-C')])")
    assert card.split()[:3] == ["links", "read", str(read)]


def test_what_failed_is_named(page: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the classes of failures stand the first addresses that failed, each with its message and its page."""
    (row,) = parsed(page).xpath("//section[@id='errors']//li")
    assert row.xpath("a/@href") == ["http://museum.example/lost.html"]
    assert row.xpath("small/a/@href") == ["http://museum.example/"]
    assert row.xpath("string(span)").startswith("client")
    monkeypatch.setattr("spider.cli.html.FAILURES", 1)
    with sqlite3.connect(grow(tmp_path / "large.db", media=60, a_page=1)) as connection:
        connection.execute("UPDATE CrawlerLink SET state = 4, reason = 8, message = 'm' WHERE id > 50")
    more = parsed(written(run, tmp_path / "large.db")).xpath("//section[@id='errors']//details")[0]
    assert len(more.xpath(".//li")) == 1
    assert more.xpath("string(summary)").startswith("The first 1 of them; spider errors has all")


def test_changes_since_the_last_crawl_are_told(run: Run, tmp_path: Path) -> None:
    """With two crawls the cards say what came and went, and the gallery knows what is new and what is gone."""
    page = written(run, grow(tmp_path / "large.db", media=90))
    media = content(page, "media-data")["media"]
    assert len(media) == 90
    assert sum(bool(row[11]) for row in media) == 10
    assert sum(row[13] for row in media) == 16
    card = parsed(page).xpath("string(//li[contains(@class, 'kind-video')])")
    assert card.split()[:2] == ["video", "34"]
    assert "+6, −4 gone since the crawl before" in card


def test_a_thousand_media_are_a_small_file(run: Run, tmp_path: Path) -> None:
    """The file stays below two megabytes for a thousand media."""
    assert len(written(run, grow(tmp_path / "large.db", media=1000))) < 2_000_000


def test_what_is_too_much_is_left_out_and_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gallery or a tree that would be too large is cut, and says so; the ways to media are always there."""
    monkeypatch.setattr(findings, "GALLERY_LIMIT", 20)
    monkeypatch.setattr("spider.report.html.GALLERY_LIMIT", 20)
    monkeypatch.setattr("spider.cli.html.TREE_LIMIT", 10)
    page = written(run, grow(tmp_path / "large.db", media=60, a_page=1))
    assert len(content(page, "media-data")["media"]) == 20
    assert "The gallery holds the first 20 of 60 media" in page
    nodes = content(page, "tree-data")
    assert all(parent < place for place, (parent, *_) in enumerate(nodes))
    assert sum(own for *_, own, _, _ in nodes) == 54
    assert f"{60 - len(nodes)} further links" in page


def test_nothing_found_is_a_page_too(run: Run, tmp_path: Path) -> None:
    """An empty database makes a page that says so."""
    Database.open(str(tmp_path / "empty.db")).close()
    page = written(run, tmp_path / "empty.db")
    assert "No media were found yet." in page
    assert content(page, "tree-data") == []


def test_it_goes_to_a_file(run: Run, filled: Path, tmp_path: Path) -> None:
    """-o writes the whole file."""
    done = run("--db", filled, "report", "--format", "html", "-o", "report.html")
    assert (done.exit_code, done.output) == (0, "")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>")
