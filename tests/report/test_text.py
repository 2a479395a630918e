"""Laws of text from pages: nothing of it steers a terminal, a spreadsheet or a reader of JSON."""

from __future__ import annotations

import csv
import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from spider.report import write_csv
from spider.report.text import csv_cell, cut, iso, json_text, markdown_cell, visible, width, wrap

HOSTILE = "\x1b]0;owned\x07\x1b[31mred\x9b2J\u202egnp.exe\u2066\x00\r\n\x7f\ud800\ufeff\U000e0041"

ANY = st.text(alphabet=st.characters(), max_size=60)
MIXED = st.text(alphabet=st.sampled_from([*"ab/?& =+-@\t", "影", "é", "\u0301", *HOSTILE]), max_size=80)


def steers(character: str) -> bool:
    """Tell whether a character is a control, a bidirectional mark, a line separator or half a pair."""
    bidi = unicodedata.bidirectional(character) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return bidi or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}


@given(st.one_of(ANY, MIXED))
def test_visible_text_steers_nothing(text: str) -> None:
    """No character that steers survives, and what steers nothing is left alone."""
    shown = visible(text)
    assert not any(map(steers, shown))
    if not any(steers(character) or unicodedata.category(character) == "Cf" for character in text):
        assert shown == text


def test_visible_writes_escapes() -> None:
    r"""A control is shown by its number, as Python writes it."""
    assert visible("a\x1b[0m\u202eb\n\x9b\U000e0041") == r"a\x1b[0m\u202eb\n\x9b\U000e0041"


@given(st.one_of(ANY, MIXED))
def test_json_is_safe_to_print_and_true(text: str) -> None:
    """A JSON text steers nothing and reads back as what it was."""
    line = json_text({"text": text})
    assert not any(map(steers, line))
    assert json.loads(line) == {"text": text}


def test_json_keeps_every_script_readable() -> None:
    """What is no control stays as it is."""
    assert json_text("影片 “film”") == '"影片 “film”"'


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\tA1", "\r1", "\n1", "\uff1d1", "\uff0d1"])
def test_a_formula_becomes_a_text(formula: str) -> None:
    """A cell that a spreadsheet would run gets an apostrophe, unless it is wanted raw."""
    assert csv_cell(formula) == f"'{formula}"
    assert csv_cell(formula, raw=True) == formula


PARTED = [
    ("a;=1+1", "a;'=1+1"),
    ('a;"=1+1"', 'a;\'"=1+1"'),
    ("a;  @SUM(A1);b;+1", "a;'  @SUM(A1);b;'+1"),
    ("a\t\uff1d1", "a\t'\uff1d1"),
    ("one\n=1", "one\n'=1"),
    ("=1;=2", "'=1;'=2"),
    ("\t=1", "'\t'=1"),
]


@pytest.mark.parametrize(("text", "cell"), PARTED)
def test_a_formula_behind_another_separator_becomes_a_text(text: str, cell: str) -> None:
    """Where a spreadsheet parts cells at semicolons, tabs or lines, what stands behind one is no formula either."""
    assert csv_cell(text) == cell
    assert csv_cell(text, raw=True) == text


@given(
    st.lists(st.text(alphabet=st.sampled_from([*"=+-@;,\" \t\r\n'a1"])), min_size=1, max_size=4),
    st.sampled_from(";\t,"),
)
def test_no_reading_of_a_line_has_a_formula(texts: list[str], separator: str) -> None:
    """However a spreadsheet parts a line of ours into cells, none of them begins as a formula."""
    stream = io.StringIO(newline="")
    columns = [f"c{number}" for number in range(len(texts))]
    write_csv([dict(zip(columns, texts, strict=True))], stream, columns=columns)
    rows = csv.reader(io.StringIO(stream.getvalue(), newline=""), delimiter=separator)
    cells = [cell.lstrip() for row in rows for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


@pytest.mark.parametrize(
    ("value", "cell"), [(None, ""), (-1, "-1"), (2.5, "2.5"), ("a=b", "a=b"), ("", ""), ("a; b-c=1;d", "a; b-c=1;d")]
)
def test_other_cells_stay(value: str | float | None, cell: str) -> None:
    """Numbers, and texts that are no formula, are written as they are."""
    assert csv_cell(value) == cell


@given(MIXED, st.integers(1, 40))
def test_a_wrapped_text_is_whole_and_fits(text: str, columns: int) -> None:
    """The pieces joined are the text; each fits, but for a single character wider than the room."""
    pieces = list(wrap(text, columns))
    assert "".join(pieces) == text
    assert all(width(piece) <= columns or len(piece) == 1 for piece in pieces)


@given(MIXED, st.integers(2, 40))
def test_a_cut_text_fits(text: str, columns: int) -> None:
    """A text that fits is left alone; another ends in an ellipsis and fits."""
    shown = cut(text, columns)
    assert width(shown) <= columns
    assert shown == text or shown.endswith("…")


def test_addresses_break_behind_a_delimiter() -> None:
    """A long address is broken where the eye breaks it too."""
    url = "http://example.org/archive/films/1931/a-very-long-name.mp4?quality=high&lang=en"
    assert list(wrap(url, 40)) == [
        "http://example.org/archive/films/1931/",
        "a-very-long-name.mp4?quality=high&",
        "lang=en",
    ]


@pytest.mark.parametrize(
    ("time", "text"),
    [(0, "1970-01-01T00:00:00Z"), (1_796_072_163_999_999, "2026-11-30T20:56:03Z"), (-1, "1969-12-31T23:59:59Z")],
)
def test_times_are_iso_8601(time: int, text: str) -> None:
    """Microseconds are dropped, never rounded up."""
    assert iso(time) == text


@given(st.one_of(ANY, MIXED, st.text(alphabet=st.sampled_from([*"ab*_`[]()<>|~&\\!#$ \n.:/hw"]))))
def test_markdown_shows_the_text_itself(text: str) -> None:
    """A cell of a Markdown table is rendered as the text, with no markup of the page's and no more cells."""
    made = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    table = f"| one | two |\n|---|---|\n| {markdown_cell(text)} | end |\n"
    cells = lxml_html.fragment_fromstring(made.render(table)).xpath(".//td")
    assert [" ".join(cell.text_content().split()) for cell in cells] == [" ".join(visible(text).split()), "end"]
    assert all(child.tag == "a" for child in cells[0])


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("http://a.example/x_y?z=1&w=*", "<http://a.example/x_y?z=1&w=*>"),
        ("http://a.example/x|y", r"http://a.example/x\|y"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("<script>", r"\<script\>"),
        (None, ""),
        (3, "3"),
    ],
)
def test_only_an_address_of_the_web_is_a_link(value: str | int | None, cell: str) -> None:
    """Addresses are links to themselves, everything else is text."""
    assert markdown_cell(value) == cell
