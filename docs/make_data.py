"""Write ``docs/data.md``, the data dictionary, from the models of ``spider.store.schema``.

A table's paragraph is its model's docstring, a column's line the column's `doc`, a code's word the
enumeration of ``spider.model``.  With ``--check`` nothing is written: the exit code says whether the
file is up to date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from pathlib import Path

import sqlalchemy as sa

from spider import model
from spider.store import columns, schema

TARGET = Path(__file__).with_name("data.md")

HEAD = """\
# The database

<!-- Written by docs/make_data.py from spider/store/schema.py and spider/model.py; change it there. -->

What is kept, table by table. The file is a SQLite database, or the same tables in PostgreSQL; ask it with any tool.
Identifiers and hashes are signed 64-bit integers. Times are UTC, in microseconds since 1970. A *code* is a small
integer that stands for a word; the [codes](#codes) are below. A column marked *may be empty* can be NULL. What the
commands print is in [reports.md](reports.md); `spider browse` shows these tables with what is said here.

"""


def models() -> list[type[columns.Base]]:
    """Return the models in the order in which the schema file tells them."""
    found = vars(schema).values()
    return [cls for cls in found if inspect.isclass(cls) and issubclass(cls, columns.Base) and cls is not columns.Base]


def is_code(column: sa.Column[object]) -> type[model.Coded] | None:
    """Return the enumeration whose words the column holds, None for any other column."""
    return column.type.words if isinstance(column.type, columns.Code) else None


def type_name(column: sa.Column[object]) -> str:
    """Say in a reader's words what kind of value the column holds."""
    words = is_code(column)
    if words is not None:
        return f"code of {words.__name__}"
    kinds = {
        sa.Integer: "integer",
        sa.Text: "text",
        sa.Float: "number",
        sa.LargeBinary: "bytes",
        sa.Boolean: "yes or no",
    }
    return next(name for kind, name in kinds.items() if isinstance(column.type, kind))


def notes(column: sa.Column[object]) -> str:
    """Name the column's part in keys and whether it may be empty."""
    said = ["key"] if column.primary_key else []
    said += [f"→ {key.column.table.name}.{key.column.name}" for key in column.foreign_keys]
    said += ["unique"] if column.unique else []
    said += ["may be empty"] if column.nullable else []
    return ", ".join(said)


def cell(text: str) -> str:
    """Make a text safe inside a table."""
    return " ".join(text.split()).replace("|", "\\|")


def column_lines(table: sa.Table) -> list[str]:
    """Return the Markdown table of the columns."""
    head = ["| column | holds | | meaning |", "|---|---|---|---|"]
    return head + [f"| `{c.name}` | {type_name(c)} | {notes(c)} | {cell(c.doc or '')} |" for c in table.columns]


def names(columns: Iterable[sa.Column[object]]) -> str:
    """Return the columns' names for a sentence."""
    return ", ".join(f"`{column.name}`" for column in columns)


def index_line(index: sa.Index) -> str:
    """Return the line of one index."""
    where = index.dialect_options["sqlite"]["where"]
    return f"- Index `{index.name}` on {names(index.columns)}" + ("." if where is None else f", where `{where}`.")


def rule_lines(table: sa.Table) -> list[str]:
    """Return one line for each rule over several columns and for each index."""
    unique = (rule for rule in table.constraints if isinstance(rule, sa.UniqueConstraint) and len(rule.columns) > 1)
    lines = [f"- Unique together: {names(rule.columns)}." for rule in unique]
    return sorted(lines) + sorted(index_line(index) for index in table.indexes)


def table_lines(cls: type[columns.Base]) -> list[str]:
    """Return the section of one table."""
    table = cls.__table__
    if not isinstance(table, sa.Table):
        raise TypeError(f"{cls.__name__} is no plain table")
    rules = rule_lines(table)
    return [
        f"## {table.name}",
        "",
        inspect.getdoc(cls) or "",
        "",
        *column_lines(table),
        "",
        *rules,
        *([""] if rules else []),
    ]


def code_lines() -> list[str]:
    """Return the section of the codes, an enumeration a line."""
    lines = ["## Codes", "", "| enumeration | words and their codes |", "|---|---|"]
    for name in sorted(vars(model)):
        kind = getattr(model, name)
        if inspect.isclass(kind) and issubclass(kind, model.Coded) and kind is not model.Coded:
            lines.append(f"| {name} | " + ", ".join(f"{word.code} {word.value}" for word in kind) + " |")
    return lines


def render() -> str:
    """Return the whole file's text."""
    lines: list[str] = []
    for cls in models():
        lines += table_lines(cls)
    return HEAD + "\n".join([*lines, *code_lines()]) + "\n"


def main() -> None:
    """Write the file, or with ``--check`` say whether it is up to date."""
    text = render()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit("docs/data.md is out of date; run: make docs")


if __name__ == "__main__":
    main()
