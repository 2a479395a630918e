"""Laws of what is asked at a glance, on both engines: relations, reasons, slow hosts, changes, forest and pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from spider.cli import main
from spider.model import LinkState, MediaKind, Reason, Relation
from spider.store import Database, ask, forest, survey
from spider.store.schema import CrawlerLink, Host, OutLink
from tests.report.filled import DAY, NOW, RADIO, ROOT, fill


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Give the database that is always the same, made once on each engine; tests leave it as it was."""
    if request.param == "sqlite":
        address = str(tmp_path_factory.mktemp("filled") / "x.db")
    else:
        address = request.getfixturevalue("new_postgres")()
    fill(address)
    with Database.open(address) as opened:
        yield opened


def test_links_by_class(filled: Database) -> None:
    """Links count in the relation to the page that showed them; what was left alone outside is external."""
    with filled.write() as connection:
        out = {"url_hash": 7, "url": "http://far.example/", "page_id": 1, "count": 3}
        connection.execute(sa.insert(OutLink).values(**out))
        found = survey.relations(connection)
        connection.rollback()
    assert found == {ROOT: {**dict.fromkeys(Relation, 0), Relation.DOWNWARD: 3, Relation.EXTERNAL: 1}}


def test_failures_by_reason(filled: Database) -> None:
    """Each link in E counts for its reason, the most frequent first."""
    with filled.write() as connection:
        assert survey.reasons(connection) == {Reason.CLIENT: 1}
        lost = sa.update(CrawlerLink).where(CrawlerLink.url != ROOT)
        connection.execute(lost.values(state=LinkState.E, reason=Reason.DNS))
        one = sa.update(CrawlerLink).where(CrawlerLink.url == RADIO)
        connection.execute(one.values(reason=Reason.TLS))
        assert list(survey.reasons(connection).items()) == [(Reason.DNS, 3), (Reason.TLS, 1)]
        connection.rollback()


def test_slow_hosts(filled: Database) -> None:
    """The slowest stands first, with its pages; a host that never answered is none, and the list has an end."""
    with filled.write() as connection:
        for name, latency in (("museum.example", 10), ("radio.example", 20)):
            connection.execute(sa.update(Host).where(Host.name == name).values(latency=latency, delay=5))
        rows = survey.slow_hosts(connection)
        first = survey.slow_hosts(connection, limit=1)
        connection.rollback()
    assert [(row.name, row.latency, row.delay, row.pages) for row in rows] == [
        ("radio.example", 20, 5, 1),
        ("museum.example", 10, 5, 4),
    ]
    assert first == rows[:1]


def test_what_a_crawl_changed(filled: Database) -> None:
    """New is what was first seen from a moment on and is there, gone what went from then on."""
    with filled.read() as connection:
        assert survey.changed(connection, since=NOW) == {
            MediaKind.VIDEO: (3, 0),
            MediaKind.AUDIO: (2, 0),
            MediaKind.FLASH: (2, 0),
        }
        assert set(survey.changed(connection, since=NOW + DAY).values()) == {(0, 0)}


def test_rows_tell_what_a_player_needs(filled: Database) -> None:
    """Rows know the number of their page; with gone None there are those that went beside those that are there."""
    with filled.read() as connection:
        there = list(ask.media_rows(connection, gone=None))
        assert there == list(ask.media_rows(connection))
        assert {row.gone_at for row in there} == {None}
        pages = {row.id: row.url for row in forest.page_rows(connection)}
        assert all(pages[row.page_id] == row.page for row in there)


def test_the_forest_and_its_pages(filled: Database) -> None:
    """Branches, links and pages are the same on both engines, whole or of one seed."""
    with filled.read() as connection:
        branches = list(forest.Forest(connection).walk())
        assert [(one.url, one.lasts, one.own, one.beneath) for one in branches] == [
            (ROOT, (), 0, 5),
            (f"{ROOT}films/", (False,), 3, 3),
            (f"{ROOT}games/", (False,), 2, 2),
            (f"{ROOT}lost.html", (True,), 0, 0),
            (RADIO, (), 1, 1),
        ]
        assert {row.url for row in forest.link_rows(connection)} == {one.url for one in branches}
        assert [row.url for row in forest.link_rows(connection, seed=RADIO)] == [RADIO]
        assert [row.url for row in forest.page_rows(connection, host="Radio.example")] == [RADIO]
        assert len(list(forest.page_rows(connection, seed=ROOT))) == 3
        trees = forest.Forest(connection, seed=ROOT)
        assert len(trees) == 4
        assert [one.url for one in trees.walk(wanted=trees.nearest(1))] == [ROOT, f"{ROOT}films/", f"{ROOT}games/"]


def test_a_page_tells_no_password(filled: Database, tmp_path: Path) -> None:
    """The page for a browser names the database without its password, and is the same on both engines."""
    address = filled.engine.url
    if not filled.is_sqlite:
        address = address.set(password="secret-word")
    target = tmp_path / "report.html"
    done = CliRunner().invoke(
        main,
        ["--db", address.render_as_string(hide_password=False), "report", "--format", "html", "-o", str(target)],
    )
    assert (done.exit_code, done.output) == (0, "")
    page = target.read_text(encoding="utf-8")
    assert "6 media on 2 sites" in page
    assert "secret-word" not in page
