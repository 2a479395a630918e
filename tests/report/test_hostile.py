"""One law for every format: what a page says is data, shown or handed on whole, and never obeyed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from spider.cli import main
from spider.model import LinkState, MediaKind, Reason
from spider.report import FORMATS
from spider.store import Database
from spider.store.schema import MEDIA, CrawlerLink, Page, table
from tests.report.dressed import dress
from tests.report.large import grow
from tests.report.test_text import steers

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "\"'><img src=x onerror=alert(1)>",
    "address": "javascript:alert(1)",
    "terminal": "\x1b]0;owned\x07\x1b[31mred",
    "c1": "\x9b2J\x85",
    "rich": "[bold]loud[/bold] [link=http://evil.example]x[/link]",
    "formula": '=HYPERLINK("http://evil.example")',
    "bidi": "\u202egnp.exe\u2066",
    "lines": "a\r\nb\tc\u2028d",
    "long": "0123456789" * 1000,
    "comment": "<!-- ]]> --> &amp; &#60;",
    "template": "{{ 7 * 7 }}{% include '/etc/passwd' %}${7*7}",
    "quotes": "\"'`\\",
    "markdown": "![x](http://evil.example) | *b* | <b>b</b> `c` ~~d~~",
    "noncharacter": "\ufffe\U0001fffe\U000e0041",
}  # fmt: skip


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database in which every text of a page is hostile, an address of a medium too."""
    path = grow(tmp_path_factory.mktemp("hostile") / "hostile.db", media=len(HOSTILE) * 6, a_page=3)
    with Database.open(str(path)) as opened, opened.write() as connection:
        for number, text in enumerate(HOSTILE.values(), start=1):
            link, page = table(CrawlerLink), table(Page)
            connection.execute(sa.update(link).where(link.c.id == number).values(text=text))
            failed = {"state": LinkState.E, "reason": Reason.CLIENT, "message": text}
            connection.execute(sa.update(link).where(link.c.id == number + len(HOSTILE)).values(**failed))
            connection.execute(sa.update(page).where(page.c.link_id == number).values(title=text))
            for kind in MediaKind:
                held = table(MEDIA[kind])
                told = {"text": text, "title": text, "mime": text, "format": text, "gone_at": None}
                connection.execute(sa.update(held).where(held.c.page_id == number).values(**told))
        flash = table(MEDIA[MediaKind.FLASH])
        bad = {"url": HOSTILE["address"], "poster": HOSTILE["address"]}
        connection.execute(sa.update(flash).where(flash.c.page_id == 1).values(**bad))
    return dress(path, texts=tuple(HOSTILE.values()))


def harmless_lines(text: str) -> None:
    """Nothing in it steers a terminal."""
    assert not any(map(steers, text.replace("\n", "")))


def harmless_csv(text: str) -> None:
    """No cell is a formula."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def whole_json(text: str) -> None:
    """Harmless, and every text is in it whole."""
    harmless_lines(text)
    rows: list[dict[str, Any]] = json.loads(text) if text.startswith("[") else [*map(json.loads, text.splitlines())]
    said = {value for row in rows for value in row.values()}
    assert set(HOSTILE.values()) <= said


def plain_markdown(text: str) -> None:
    """Rendered it has the cells that it should have, and no markup but links to the addresses themselves."""
    harmless_lines(text)
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    shown: Any = lxml_html.fragment_fromstring(made.render(text))
    widths = {len(row) for row in shown.iter("tr")}
    assert len(widths) == 1
    assert {element.tag for element in shown.iter()} <= {"table", "thead", "tbody", "tr", "th", "td", "a"}
    assert [link for link in shown.iter("a") if link.get("href") != link.text_content()] == []


def safe_html(text: str) -> None:
    """It has its own four scripts, no handler, no picture, and no link but to the web or within."""
    harmless_lines(text)
    shown: Any = lxml_html.document_fromstring(text)
    assert len(shown.xpath("//script")) == 4
    assert shown.xpath("//img | //b[not(@class)] | //@onerror | //@srcdoc") == []
    assert {href.partition(":")[0] for href in shown.xpath("//a/@href") if not href.startswith("#")} == {"http"}
    assert "49" not in shown.xpath("string(//td[contains(., '7 * 7')])")


def sound_xml(text: str) -> None:
    """It is well-formed, and no element is the page's own."""
    names = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}  # noqa: S314  # its own
    assert names & {"script", "img", "b"} == set()


LOOKS: dict[str, Callable[[str], None]] = {
    "table": harmless_lines,
    "csv": harmless_csv,
    "json": whole_json,
    "jsonl": whole_json,
    "markdown": plain_markdown,
}
CASES = [
    *(("report", form, LOOKS[form]) for form in FORMATS),
    *(("errors", form, LOOKS[form]) for form in FORMATS),
    ("report", "html", safe_html),
    ("tree", None, harmless_lines),
    *((f"export {what}", None, harmless_lines) for what in ("urls", "m3u")),
    *((f"export {what}", None, sound_xml) for what in ("xspf", "rss", "sitemap")),
    ("export links", "jsonl", whole_json),
    ("export links", "csv", harmless_csv),
    ("export links", "markdown", plain_markdown),
    ("export links", "dot", harmless_lines),
    ("export links", "graphml", sound_xml),
]


@pytest.mark.parametrize(
    ("command", "form", "look"), CASES, ids=[f"{case[0]} {case[1] or ''}".strip() for case in CASES]
)
def test_hostile_text_is_data(command: str, form: str | None, look: Callable[[str], None], database: Path) -> None:
    """In every format of every command a hostile text does nothing."""
    args = ["--db", str(database), *command.split(), *(["--format", form] if form else [])]
    done = CliRunner().invoke(main, args)
    assert (done.exit_code, done.stderr) == (0, "")
    text = done.stdout_bytes.decode("utf-8")
    assert len(text) > 500
    look(text)
