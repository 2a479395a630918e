"""Laws of the database's schema: one line of revisions, and the models at its end."""

from __future__ import annotations

from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from spider.store import Database, schema

ROOT = Path(__file__).resolve().parents[2]


def revisions() -> ScriptDirectory:
    """Return the revisions of the checkout."""
    config = Config()
    config.set_main_option("script_location", str(ROOT / "alembic"))
    return ScriptDirectory.from_config(config)


def test_one_head() -> None:
    """The revisions form one line, and the models say which revision they describe."""
    assert revisions().get_heads() == [schema.HEAD]


def test_models_equal_migrations(tmp_path: Path) -> None:
    """A database that the migrations made has the tables, columns, keys and indexes of the models."""
    with Database.open(str(tmp_path / "x.db")) as database, database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.Base.metadata) == []


def test_every_column_says_what_it_holds() -> None:
    """Each table has a paragraph and each column a line for the data dictionary."""
    mute = [
        f"{table.name}.{column.name}"
        for table in schema.Base.metadata.tables.values()
        for column in table.columns
        if not (column.doc or "").endswith((".", "*", "…"))
    ]
    assert mute == []
