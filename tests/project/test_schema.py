"""Laws of the database's schema: one line of revisions, at whose end the models are, and a word on every column."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from spider.store import schema

ROOT = Path(__file__).resolve().parents[2]


def revisions() -> ScriptDirectory:
    """Return the revisions of the checkout."""
    config = Config()
    config.set_main_option("script_location", str(ROOT / "alembic"))
    return ScriptDirectory.from_config(config)


def test_one_head() -> None:
    """The revisions form one line, and the models say which revision they describe."""
    assert revisions().get_heads() == [schema.HEAD]


def test_every_column_says_what_it_holds() -> None:
    """Each table has a paragraph and each column a line for the data dictionary."""
    mute = [
        f"{table.name}.{column.name}"
        for table in schema.Base.metadata.tables.values()
        for column in table.columns
        if not (column.doc or "").endswith((".", "*", "…"))
    ]
    assert mute == []
