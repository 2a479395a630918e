"""The data dictionary as values: what each table and column is for, for programs that show the tables themselves.

All of it is read from the models, as ``docs/data.md`` is.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from spider.store import schema
from spider.store.columns import Base, Code, table

__all__ = ["TableEntry", "tables"]


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table: what it is for, what its columns hold, the words of its codes, which columns are times."""

    name: str
    about: str
    columns: Mapping[str, str]
    codes: Mapping[str, Mapping[int, str]]
    times: frozenset[str]


def tables() -> list[TableEntry]:
    """Return an entry for each table, in the order in which the schema tells them."""
    models = [model for model in vars(schema).values() if inspect.isclass(model) and issubclass(model, Base)]
    return [_entry(model) for model in models if model is not Base]


def _entry(model: type[Base]) -> TableEntry:
    columns = table(model).columns
    return TableEntry(
        name=model.__name__,
        about=inspect.cleandoc(model.__doc__ or ""),
        columns={column.name: column.doc or "" for column in columns},
        codes={
            column.name: {word.code: word.value for word in column.type.words}
            for column in columns
            if isinstance(column.type, Code)
        },
        times=frozenset(column.name for column in columns if "UTC microseconds" in (column.doc or "")),
    )
