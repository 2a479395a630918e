"""One law for every format: what a page says is data, shown or handed on whole, and never obeyed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from spider.cli import main
from spider.model import LinkState, MediaKind, Reason, Relation, SeedOrigin, SeedStatus
from spider.report import FORMATS
from spider.store import Database
from spider.store.schema import MEDIA, CrawlerLink, Edge, MediaCheck, Page, Run, SeedLink, Skipped, table
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
    "second": 'a;"=1+1";@b',
    "bidi": "\u202egnp.exe\u2066",
    "lines": "a\r\nb\tc\u2028d",
    "long": "0123456789" * 1000,
    "comment": "<!-- ]]> --> &amp; &#60;",
    "template": "{{ 7 * 7 }}{% include '/etc/passwd' %}${7*7}",
    "quotes": "\"'`\\",
    "markdown": "![x](http://evil.example) | *b* | <b>b</b> `c` ~~d~~",
    "noncharacter": "\ufffe\U0001fffe\U000e0041",
}  # fmt: skip


WHY = "why http://site1.example/"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database in which every text of a page is hostile, an address of a medium too."""
    path = grow(tmp_path_factory.mktemp("hostile") / "hostile.db", media=len(HOSTILE) * 6, a_page=3)
    with Database.open(str(path)) as opened, opened.write() as connection:
        for number, text in enumerate(HOSTILE.values(), start=1):
            link, page = table(CrawlerLink), table(Page)
            connection.execute(sa.update(link).where(link.c.id == number).values(text=text))
            failed = {"state": LinkState.E, "reason": Reason.CLIENT, "message": text}
            refused = {
                "url_hash": number,
                "url": f"http://a.example/{number}",
                "rule": text,
                "page_id": 1,
                "at": 1,
                "count": 1,
            }
            connection.execute(sa.insert(table(Skipped)).values(**refused))
            connection.execute(sa.insert(table(SeedLink)).values(**_seed(number, text)))
            connection.execute(sa.insert(table(Run)).values(began_at=number, ended_at=number, why=text))
            edge = {"page_id": 1, "link_id": number, "text": text, "source": "a@href", "relation": Relation.DOWNWARD}
            connection.execute(sa.insert(table(Edge)).values(**edge))
            connection.execute(sa.update(link).where(link.c.id == number + len(HOSTILE)).values(**failed))
            connection.execute(sa.update(page).where(page.c.link_id == number).values(title=text))
            for kind in MediaKind:
                held = table(MEDIA[kind])
                told = {"text": text, "title": text, "mime": text, "format": text, "gone_at": None}
                connection.execute(sa.update(held).where(held.c.page_id == number).values(**told))
        flash = table(MEDIA[MediaKind.FLASH])
        bad = {"url": HOSTILE["address"], "poster": HOSTILE["address"]}
        first = sa.select(sa.func.min(flash.c.id)).where(flash.c.gone_at.is_(None)).scalar_subquery()
        connection.execute(sa.update(flash).where(flash.c.id == first).values(**bad))
    dress(path, texts=tuple(HOSTILE.values()))
    with Database.open(str(path)) as opened, opened.write() as connection:
        checked = table(MediaCheck)
        for text, h in zip(HOSTILE.values(), connection.scalars(sa.select(checked.c.url_hash)).all(), strict=False):
            connection.execute(sa.update(checked).where(checked.c.url_hash == h).values(mime=text, moved_to=text))
    return path


def _seed(number: int, text: str) -> dict[str, Any]:
    url = f"http://seed{number}.example/"
    kinds = {"origin": SeedOrigin.SUBMITTED, "status": SeedStatus.CANDIDATE}
    return {"url": url, "key": url, "note": text, "landed_url": text, "added_at": 1, **kinds}


def harmless_lines(text: str) -> None:
    """Nothing in it steers a terminal."""
    assert not any(map(steers, text.replace("\n", "")))


def harmless_csv(text: str) -> None:
    """No cell is a formula, whichever of the usual marks parts the cells."""
    rows = [row for mark in ",;\t" for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark)]
    cells = [cell for row in rows for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def whole_json(text: str) -> None:
    """Harmless, and every text is in it whole."""
    assert set(HOSTILE.values()) <= values_of(text)


def sound_json(text: str) -> None:
    """Harmless, and JSON with values in it: what is asked of has few texts."""
    assert values_of(text)


def values_of(text: str) -> set[object]:
    """Return every value of records in JSON or JSON lines that steer nothing."""
    harmless_lines(text)
    rows: list[dict[str, Any]] = json.loads(text) if text.startswith("[") else [*map(json.loads, text.splitlines())]
    return {value for row in rows for value in row.values()}


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


def one_a_line(text: str) -> None:
    """Harmless, and each line is an address that a downloader takes, or none that it knows: no text of a page."""
    harmless_lines(text)
    assert {line.partition(":")[0] for line in text.splitlines()} == {"http", "javascript"}


LOOKS: dict[str, Callable[[str], None]] = {
    "table": harmless_lines,
    "csv": harmless_csv,
    "json": whole_json,
    "jsonl": whole_json,
    "markdown": plain_markdown,
}
CASES = [
    *(
        (command, form, sound_json if form.startswith("json") and command in {"status", WHY} else LOOKS[form])
        for command in ("report", "errors", "skipped", "seeds list", "runs", "status", "tree", WHY)
        for form in FORMATS
    ),
    ("report", "html", safe_html),
    ("report --dead", "json", harmless_lines),
    ("export urls", None, one_a_line),
    ("export m3u", None, harmless_lines),
    *((f"export {what}", None, sound_xml) for what in ("xspf", "rss", "sitemap")),
    *(
        (f"export links{edges}", form, look)
        for edges in ("", " --edges")
        for form, look in (
            ("jsonl", whole_json),
            ("json", whole_json),
            ("csv", harmless_csv),
            ("markdown", plain_markdown),
            ("dot", harmless_lines),
            ("graphml", sound_xml),
        )
    ),
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
    assert len(text) > (500 if command not in {"status", WHY} else 50)
    look(text)


@pytest.mark.parametrize(
    ("form", "look"), ({**LOOKS, "jsonl": sound_json, "json": harmless_lines}).items(), ids=[*LOOKS]
)
def test_a_page_s_links_are_data(form: str, look: Callable[[str], None], tmp_path: Path) -> None:
    """So it is in every format of what one page links to and plays."""
    texts = "".join(f"<a href=/x>{escape(text)}</a><video src=/v title='{escape(text)}'>" for text in HOSTILE.values())
    page = tmp_path / "page.html"
    page.write_text(f"<meta charset=utf-8><title>{escape(HOSTILE['terminal'])}</title>{texts}", encoding="utf-8")
    done = CliRunner().invoke(main, ["links", str(page), "--format", form])
    assert (done.exit_code, done.stderr) == (0, "")
    assert len(done.stdout) > 1000
    look(done.stdout_bytes.decode("utf-8"))
