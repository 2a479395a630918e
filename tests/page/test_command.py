"""``spider links``: a page from a file, from the standard input, from the web."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from spider.cli import main
from tests.server import Reply, WebServer

PAGE = """<meta charset=gb2312><title>首页</title><a href=sub/x>one <b>two</b></a><a href=mailto:a@b.test>m</a>
<a rel=nofollow href=//e.test/>e</a><video src=a.mp4 title="V"></video>""".encode("gbk")

Web = Callable[..., WebServer]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Give a function that runs ``spider links ARGS`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def invoke(*args: object, stdin: bytes = b"") -> Result:
        return CliRunner().invoke(main, ["links", *map(str, args)], input=stdin)

    return invoke


def test_table(run: Callable[..., Result]) -> None:
    """Each link has a line with its relation, source, address and text; so has each medium; then they are counted."""
    result = run("-", "--base", "http://h.test/dir/page.html", stdin=PAGE)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "http://h.test/dir/page.html",
        "  “首页”",
        "  gb18030, told by meta",
        "",
        "  downward  a@href  http://h.test/dir/sub/x  “one two”",
        "  external  a@href  http://e.test/  “e” nofollow",
        "  elsewhere  a@href  mailto:a@b.test  “m”",
        "",
        "  video  element  http://h.test/dir/a.mp4  “V” (video@src)",
        "",
        "2 links: 1 downward, 1 external; 1 medium: 1 video",
    ]


def test_json(run: Callable[..., Result], tmp_path: Path) -> None:
    """--format json is the whole page, one object, sources as words."""
    (tmp_path / "page one.html").write_bytes(PAGE)
    result = run("--format", "json", "page one.html")
    page = json.loads(result.stdout)
    assert (page["url"], page["charset"]) == ("http://localhost/page%20one.html", "gb18030")
    assert page["links"][0] == {
        "url": "http://localhost/sub/x",
        "h": page["links"][0]["h"],
        "source": "a@href",
        "relation": "downward",
        "text": "one two",
        "title": "",
        "rel": [],
        "nofollow": False,
        "modified": None,
    }
    assert (page["media"][0]["kind"], page["media"][0]["sources"]) == ("video", ["video@src"])


def test_rows(run: Callable[..., Result], tmp_path: Path) -> None:
    """The formats of rows have each link and medium once, also in a file."""
    assert run("-", "--format", "csv", "-o", "page.csv", stdin=PAGE).output == ""
    rows = list(csv.DictReader(io.StringIO((tmp_path / "page.csv").read_text(encoding="utf-8"))))
    assert [(row["fact"], row["relation"] or row["kind"], row["source"]) for row in rows] == [
        ("link", "downward", "a@href"),
        ("link", "external", "a@href"),
        ("elsewhere", "external", "a@href"),
        ("medium", "video", "video@src"),
    ]
    assert [row["nofollow"] for row in rows] == ["0", "1", "0", ""]
    assert json.loads(run("-", "--format", "jsonl", stdin=PAGE).stdout.splitlines()[0])["text"] == "one two"


def test_type_and_hidden(run: Callable[..., Result]) -> None:
    """--type is the header that the page came with, --hidden reads comments."""
    result = run(
        "-",
        "--type",
        "text/html; charset=koi8-r",
        "--hidden",
        stdin="<title>Мир</title><!--<embed src=a.mp3>-->".encode("koi8-r"),
    )
    assert "“Мир”" in result.stdout
    assert "audio  comment  http://localhost/a.mp3" in result.stdout


def test_web(run: Callable[..., Result], web: Web) -> None:
    """A page of the web is fetched, redirects followed, and its headers are read."""
    moved = Reply("", status=301, headers=(("Location", "/dir/"),))
    page = Reply(PAGE, type="text/html", headers=(("Link", "<2>; rel=next"),))
    server = web({"/": moved, "/dir/": page})
    result = run(server.url)
    assert result.exit_code == 0
    assert f"downward    a@href       {server.url}dir/sub/x" in result.stdout
    assert f"horizontal  header@link  {server.url}dir/2" in result.stdout


def test_closed_or_missing(run: Callable[..., Result], web: Web) -> None:
    """What robots.txt closes is not asked for, and what is not there is no page."""
    server = web({"/robots.txt": "User-agent: *\nDisallow: /no", "/no": "x", "/yes": "x"})
    closed = run(server.url + "no")
    assert (closed.exit_code, server.asked()) == (3, ["/robots.txt"])
    assert "robots.txt closes" in closed.stderr
    gone = run(server.url + "gone")
    assert gone.exit_code == 3
    assert "404" in gone.stderr


def test_nothing_there(run: Callable[..., Result]) -> None:
    """A file that is not there, a base that is no URL, an address that answers not: one line and its code."""
    missing = run("missing.html")
    assert (missing.exit_code, missing.stderr) == (2, "spider: cannot read missing.html: no such file or directory\n")
    assert run("-", "--base", "http://[", stdin=b"x").exit_code == 2
    other = run("ftp://a.example/page.html")
    assert (other.exit_code, "not an address of the web: 'ftp://a.example/page.html'" in other.stderr) == (2, True)
    bare = run("localhost:9/")
    assert (bare.exit_code, "https" in bare.stderr or "connect" in bare.stderr) == (3, True)


def test_a_page_without_links(run: Callable[..., Result]) -> None:
    """Where there is nothing to list one blank line stands before the count."""
    assert run("-", stdin=b"<p>x").stdout.splitlines() == [
        "http://localhost/",
        "  utf-8, told by utf-8",
        "",
        "0 links; 0 media",
    ]
    assert run("http://127.0.0.1:9/").exit_code == 3
    assert run("http://[bad/").exit_code == 2
