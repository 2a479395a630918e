"""Laws of the tree: every link below the page that showed it, lines that fit, and the shape of any forest there is."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from spider.errors import InputError
from spider.model import LinkState, Reason
from spider.report import tree_lines
from spider.report.text import width
from spider.store import Database
from spider.store.forest import Branch, Forest, link_rows
from spider.store.schema import CrawlerLink
from tests.cli.conftest import Run, run
from tests.report.filled import RADIO, ROOT, fill
from tests.report.large import grow
from tests.report.test_tables import texts
from tests.report.test_text import HOSTILE, steers

__all__ = ["run"]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Make a small database."""
    fill(tmp_path / "spider.db")
    return tmp_path / "spider.db"


def test_a_tree_is_drawn(run: Run, filled: Path) -> None:
    """Links stand below their pages with state, media and text; addresses on the same host without it."""
    assert filled.exists()
    lines = run("tree").stdout.splitlines()
    assert lines[:3] == [
        "C http://museum.example/  5 media",
        "├── C /films/  3 media  “Films”",
        "├── C /games/  2 media  “Games”",
    ]
    assert lines[3:] == [
        "└── E /lost.html  client 404  “Lost”",
        "C http://radio.example/  1 medium",
        "",
        "5 links, 6 media",
    ]


def test_a_tree_is_narrowed(run: Run, filled: Path) -> None:
    """A seed, a depth, ways to media alone; a file; and a line where there is nothing."""
    assert run("tree", "--seed", RADIO).stdout == "C http://radio.example/  1 medium\n\n1 link, 1 medium\n"
    assert run("tree", "--depth", "0").stdout.splitlines()[:2] == [
        "C http://museum.example/  5 media",
        "C http://radio.example/  1 medium",
    ]
    assert "lost.html" not in run("tree", "--media-only").stdout
    assert run("tree", "-o", "tree.txt").output == ""
    assert filled.with_name("tree.txt").read_text() == run("tree").stdout
    assert run("tree", "--seed", "http://elsewhere.example").exit_code == 2
    Database.open(str(filled.with_name("empty.db"))).close()
    assert run("--db", "empty.db", "tree").stderr == "spider: empty.db knows no link yet; spider crawl URL begins\n"


def test_records_rebuild_the_tree(run: Run, filled: Path) -> None:
    """Each record stands behind its parent's, one level below it; media beneath add up."""
    assert filled.exists()
    rows = [json.loads(line) for line in run("tree", "--format", "jsonl").stdout.splitlines()]
    levels: dict[str | None, int] = {None: -1}
    for row in rows:
        assert row["level"] == levels[row["parent"]] + 1
        levels[row["url"]] = row["level"]
        below = sum(one["beneath"] for one in rows if one["parent"] == row["url"])
        assert row["beneath"] == row["media"] + below
    assert len(rows) == 5
    assert run("tree", "--format", "csv", "-o", "tree.csv").output == ""
    with filled.with_name("tree.csv").open(newline="", encoding="utf-8") as file:
        assert [row["url"] for row in csv.DictReader(file)] == [row["url"] for row in rows]


def branch(lasts: tuple[bool, ...], text: str) -> Branch:
    """Return a branch with a hostile text all over."""
    url = f"http://a.example/{'long/' * 9}{text}"
    return Branch(1, None, url, text, LinkState.E, Reason.CLIENT, 404, text, lasts, 3, 1_234_567)


@given(
    st.lists(st.booleans(), max_size=60),
    st.text(alphabet=st.sampled_from([*"ab/ 影é", *HOSTILE]), max_size=60),
    st.integers(60, 160),
)
def test_lines_fit_and_steer_nothing(lasts: list[bool], text: str, columns: int) -> None:
    """However deep a link stands and whatever its page says, its line fits and does nothing to the terminal."""
    shown = texts(tree_lines([branch(tuple(lasts), text)], columns))
    assert [line for line in shown if width(line) > columns] == []
    assert not [line for line in shown if any(map(steers, line))]
    assert "E " in shown[0]


def test_every_link_has_its_place(tmp_path: Path) -> None:
    """In a large forest each link comes once, behind its page and one level below it; media add up to the roots."""
    with Database.open(str(grow(tmp_path / "large.db", media=2000))) as database, database.read() as connection:
        trees = Forest(connection)
        branches = list(trees.walk())
        rows = list(link_rows(connection))
    levels = {one.id: len(one.lasts) for one in branches}
    assert len(levels) == len(branches) == len(trees) == len(rows) == 1000
    before: set[int] = set()
    for one in branches:
        assert one.parent_id is None or (one.parent_id in before and levels[one.parent_id] == len(one.lasts) - 1)
        before.add(one.id)
    assert sum(one.beneath for one in branches if not one.lasts) == sum(one.own for one in branches)


def test_a_broken_forest_is_drawn_all_the_same(tmp_path: Path) -> None:
    """A link whose page was forgotten stands at the root; links in a ring are left out, and nothing hangs."""
    path = tmp_path / "spider.db"
    fill(path)
    with Database.open(str(path)) as database:
        with database.write() as connection:
            films = sa.select(CrawlerLink.id).where(CrawlerLink.url == f"{ROOT}films/").scalar_subquery()
            lost = sa.update(CrawlerLink).where(CrawlerLink.url == f"{ROOT}lost.html")
            connection.execute(lost.values(parent_id=999))
            games = sa.update(CrawlerLink).where(CrawlerLink.url == f"{ROOT}games/")
            connection.execute(games.values(parent_id=films))
            ring = sa.select(CrawlerLink.id).where(CrawlerLink.url == f"{ROOT}games/").scalar_subquery()
            connection.execute(sa.update(CrawlerLink).where(CrawlerLink.url == f"{ROOT}films/").values(parent_id=ring))
        with database.read() as connection:
            branches = list(Forest(connection).walk())
    assert [one.url for one in branches if not one.lasts] == [ROOT, f"{ROOT}lost.html", RADIO]
    assert len(branches) == 3


def test_an_unknown_seed_is_the_user_s_error(filled: Path) -> None:
    """A seed that the list has not is named."""
    with (
        Database.open(str(filled)) as database,
        database.read() as connection,
        pytest.raises(InputError, match="no such seed"),
    ):
        Forest(connection, seed="http://elsewhere.example/")
