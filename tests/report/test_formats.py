"""Laws of formats: the same rows and columns in each, exactly as kept in golden/, and hostile text is data.

To see what changed, or to write the files anew after a change that is meant: ``python -m tests.report.test_formats``.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from spider.cli import main
from spider.cli.output import show
from spider.report import ERROR_COLUMNS, FORMATS, MEDIA_COLUMNS, Record, media_lines, write_records
from tests.report.filled import HOSTILE_TITLE, ROOT, fill
from tests.report.test_text import steers

GOLDEN = Path(__file__).parent / "golden"
COMMANDS = {
    **{f"report.{form}": ["report", "--format", form] for form in FORMATS},
    **{f"errors.{form}": ["errors", "--format", form] for form in FORMATS},
    **{f"status.{form}": ["status", "--format", form] for form in FORMATS},
    **{
        f"{name}.{form}": [*words, "--format", form]
        for name, words in (
            ("seeds", ["seeds", "list"]),
            ("runs", ["runs"]),
            ("skipped", ["skipped"]),
            ("why", ["why", "http://museum.example/films/"]),
        )
        for form in FORMATS
    },
    **{f"tree.{form}": ["tree", "--format", form] for form in FORMATS},
    **{f"export.{what}": ["export", what] for what in ("urls", "m3u", "xspf", "rss", "sitemap")},
    **{
        f"export-{name}.{form}": [*words, "--format", form]
        for name, words in (("links", ["export", "links"]), ("edges", ["export", "links", "--edges"]))
        for form in ("jsonl", "json", "csv", "markdown", "dot", "graphml")
    },
    "report-raw.csv": ["report", "--format", "csv", "--raw"],
    "report-script.table": ["report", "--confidence", "script", "--media", "video"],
    "report-seed.table": ["report", "--seed", "HTTP://Radio.example"],
    "report-host.table": ["report", "--host", "MUSEUM.example", "--match", "snake|train\\.ogv"],
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the database once."""
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    fill(path)
    return path


def answer(database: Path | str, args: list[str]) -> str:
    """Return what the program writes to its standard output."""
    done = CliRunner().invoke(main, ["--db", str(database), *args])
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout_bytes.decode("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(name: str, database: Path) -> None:
    """The answer is the one that is kept, byte for byte."""
    assert answer(database, COMMANDS[name]) == (GOLDEN / name).read_bytes().decode("utf-8")


def rows_of(form: str, text: str) -> list[dict[str, str]]:
    """Read a format back, every value as a text."""
    if form == "csv":
        return list(csv.DictReader(io.StringIO(text, newline="")))
    found = json.loads(text) if form == "json" else [json.loads(line) for line in text.splitlines()]
    return [{name: "" if value is None else str(value) for name, value in row.items()} for row in found]


@pytest.mark.parametrize(("command", "columns"), [("report", MEDIA_COLUMNS), ("errors", ERROR_COLUMNS)])
def test_every_format_has_the_same_rows_and_columns(command: str, columns: tuple[str, ...], database: Path) -> None:
    """JSON, JSON lines and raw CSV read back as the same records, the columns in their order."""
    read = {
        form: rows_of(form, answer(database, [command, "--format", form, "--raw"])) for form in ("json", "jsonl", "csv")
    }
    assert read["json"] == read["jsonl"] == read["csv"] != []
    assert {tuple(row) for rows in read.values() for row in rows} == {columns}


def test_hostile_text_is_whole_in_data_and_harmless_where_shown(database: Path) -> None:
    """JSON and raw CSV give back exactly what the page said; a table shows it without being steered."""
    rows = json.loads(answer(database, ["report", "--format", "json"]))
    assert HOSTILE_TITLE in {row["title"] for row in rows}
    for form in ("table", "json", "jsonl"):
        text = answer(database, ["report", "--format", form])
        assert not any(map(steers, text.replace("\n", "")))
    cells = [cell for row in rows_of("csv", answer(database, ["report", "--format", "csv"])) for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_rows_of_one_page_follow_one_another(database: Path) -> None:
    """A page's media stand together, pages in the order they were found, the nearer first."""
    rows = json.loads(answer(database, ["report", "--format", "json", "--confidence", "comment"]))
    pages = [row["page"] for row in rows]
    assert list(dict.fromkeys(pages)) == [page for at, page in enumerate(pages) if pages.index(page) == at]
    assert len(dict.fromkeys(pages)) == sum(page != before for before, page in zip(["", *pages], pages, strict=False))
    assert rows[0]["page"] != ROOT


class Listening(io.StringIO):
    """A stream that knows how many records it has got whole."""

    def whole(self) -> int:
        """Return how many times the mark of a record's end came."""
        return self.getvalue().count("end")


@pytest.mark.parametrize("form", FORMATS)
def test_records_stream(form: str) -> None:
    """A record is written before the next but one is asked for: memory does not grow with the answer."""
    stream = Listening()

    def records() -> Iterator[Record]:
        for number in range(200):
            assert stream.whole() >= number - 1
            yield dict.fromkeys(MEDIA_COLUMNS, "") | {"page": f"p{number}", "last_seen": "end", "first_seen": "end"[:0]}

    if form == "table":
        show(media_lines(records(), None), stream)
    else:
        write_records(records(), stream, form=form, columns=MEDIA_COLUMNS, raw=False)
    assert stream.whole() == 200


def write_golden() -> None:
    """Write every file of golden/ anew."""
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "filled.db"
        fill(database)
        for name, args in COMMANDS.items():
            (GOLDEN / name).write_bytes(answer(database, args).encode())
            sys.stdout.write(f"{GOLDEN / name}\n")


if __name__ == "__main__":
    write_golden()
