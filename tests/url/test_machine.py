"""The tables are paper 1's, and what the machine tells of its run is true."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spider.errors import InvalidURL
from spider.url import Step, machine, parse, trace

PAPER = """
    in S0 S1 S2 S3 S5 S6 S7
    :  S1 S2 S2 S4 S5 S6 S7
    @  S3 S3 S3 S3 S5 S6 S7
    /  S5 S5 -- S5 S5 S6 S7
    ?  S6 S6 -- S6 S6 S6 S7
    #  S7 S7 -- S7 S7 S7 S7
"""
"""The delimiters' rows of paper 1's parent machine, in the columns that today's web leaves as they were.

``?`` and ``#`` in S6 and S7 are read as the paper has them."""


def test_parent_is_paper_1s() -> None:
    """The parent machine has the paper's moves on delimiters."""
    for token, row in machine.read_table(PAPER).items():
        for state, following in row.items():
            assert machine.PARENT[token][state] == following, (token, state)


@pytest.mark.parametrize("table", [machine.FRONT, machine.PARENT, machine.CHILD])
def test_tables_are_whole(table: dict[str, dict[str, str]]) -> None:
    """Each row has each state, and each move leads to a state there is."""
    columns = [list(row) for row in table.values()]
    assert all(column == columns[0] for column in columns)
    known = {state for t in (machine.FRONT, machine.PARENT, machine.CHILD) for row in t.values() for state in row}
    assert {following for row in table.values() for following in row.values()} <= known | {"--", "**", "S8", "S9"}


def test_tables_fit_a_screen() -> None:
    """No table is wider than 80 columns or longer than 24 lines."""
    for text in (machine.FRONT_TABLE, machine.PARENT_TABLE, machine.CHILD_TABLE):
        lines = text.strip("\n").splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80


def test_trace_is_a_walk() -> None:
    """Each step begins where the one before it ended, from the scheme to the fragment."""
    steps = trace("http://u:p@h:81/a/../b?q#f")
    assert steps[0] == Step("T0", "h", "T1", 0)
    assert (
        "".join(step.input for step in steps if step.state != "T3" or step.input == "/") == "http://u:p@h:81/a/../b?q#f"
    )
    places = [step.position for step in steps]
    assert places == sorted(places)
    walk = [step.state for step in steps if step.state.startswith("S") and "-" not in step.state]
    assert list(dict.fromkeys(walk)) == ["S0", "S1", "S2", "S3", "S4", "S5", "S6", "S7"]


def test_trace_ends_where_it_fails() -> None:
    """The steps of a text that is no URL end at the move that is not there."""
    assert trace("http://u:p/")[-1] == Step("S2", "/", "--", 10)


def test_trace_wants_a_base_that_is_one() -> None:
    """A base that is no URL is refused."""
    with pytest.raises(InvalidURL):
        trace("x", "y")


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("http://a:b:c/", 9, "port-invalid"),
        ("http://a:1x/", 10, "port-invalid"),
        (" \thttp://a:\n99999/", 12, "port-out-of-range"),
        ("http://u@a<b/", 10, "domain-invalid-code-point"),
        ("http://[1::2::3]/", 12, "IPv6-multiple-compression"),
        ("http://[::12345]/", 14, "IPv6-invalid-code-point"),
        ("http://1.2.x3.4/", 11, "IPv4-non-numeric-part"),
        ("http://\ud83d\ude00:x/", 10, "port-invalid"),
        ("no scheme", 0, "missing-scheme-non-relative-URL"),
    ],
)
def test_failures_have_a_place(text: str, place: int, reason: str) -> None:
    """An error names the place of what is wrong in the text as it was given, and shows a caret under it."""
    with pytest.raises(InvalidURL) as caught:
        parse(text)
    assert (caught.value.text, caught.value.position, caught.value.reason) == (text, place, reason)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).splitlines()[-1].endswith("^")


def test_halves_of_a_character_that_a_tab_parts_have_one_place() -> None:
    """Tabs are dropped before surrogates are joined; what stands behind them keeps its own place."""
    assert parse("http://h/\ud83d\t\ude00<").errors == [("invalid-URL-unit", 10), ("invalid-URL-unit", 12)]


def test_errors_and_steps_are_told_in_linear_time() -> None:
    """So it is where places move, since something is stripped or dropped: 50,000 of each come at once."""
    assert len(parse("http://h/\t" + "<" * 50_000).errors) == 50_001
    steps = trace(" http://h/" + "./" * 50_000)
    assert (steps[-1].position, len(steps)) == (100_009, 100_010)


def test_errors_have_places() -> None:
    """Validation errors are told in the order of their places in the text as it was given."""
    url = parse(" http:\\\\u@h\t/a b%\\?<#> ")
    assert url.errors == [
        ("invalid-URL-unit", 0),
        ("special-scheme-missing-following-solidus", 6),
        ("special-scheme-missing-following-solidus", 7),
        ("invalid-credentials", 9),
        ("invalid-URL-unit", 11),
        ("invalid-URL-unit", 14),
        ("invalid-URL-unit", 16),
        ("invalid-reverse-solidus", 17),
        ("invalid-URL-unit", 19),
        ("invalid-URL-unit", 21),
        ("invalid-URL-unit", 22),
    ]


def test_the_document_is_drawn_from_the_tables() -> None:
    """docs/url.md holds what ``python -m spider.url`` draws."""
    root = Path(__file__).parents[2]
    drawn = subprocess.run(
        [sys.executable, "-m", "spider.url"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert drawn == machine.draw().strip()
    assert drawn in (root / "docs" / "url.md").read_text(encoding="utf-8")
