"""What the models are made of: the types of columns, and the conditions that indexes are partial by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import sqlalchemy as sa
from sqlalchemy import ColumnElement as Field

from spider.model import Coded, LinkState

__all__ = [
    "Base",
    "BigInt",
    "Code",
    "Field",
    "column",
    "number",
    "on_postgresql",
    "partial",
    "state_is",
    "table",
    "time",
]

BigInt = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""A 64-bit integer; SQLite's own INTEGER is one, and only that name makes a row id of a primary key."""


class Code(sa.types.TypeDecorator[Coded]):
    """Keeps a `Coded` word as its small integer."""

    impl = sa.SmallInteger
    cache_ok = True

    def __init__(self, words: type[Coded]) -> None:
        """Take the enumeration whose words the column holds."""
        super().__init__()
        self.words = words
        self._by_code = {word.code: word for word in words}

    def process_bind_param(self, value: Coded | None, dialect: sa.Dialect) -> int | None:
        """Word to code."""
        del dialect
        return None if value is None else value.code

    def process_result_value(self, value: int | None, dialect: sa.Dialect) -> Coded | None:
        """Code to word."""
        del dialect
        return None if value is None else self._by_code[value]


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What a column is made of; each table that inherits it has one of its own."""

    kind: Any
    refers: str | None
    options: dict[str, Any]

    def made(self, name: str, *, nullable: bool) -> sa.Column[Any]:
        """Make the column."""
        keys = () if self.refers is None else (sa.ForeignKey(self.refers),)
        return sa.Column(name, self.kind, *keys, nullable=nullable, **self.options)


class Base:
    """The root of the models: each is a table of its own name, made of Core's columns.

    The object-relational half of SQLAlchemy would take as long to load as all else here, and nothing asks it for
    anything.  A column whose annotation names None may be NULL.  Names of constraints are fixed, so that migrations
    can speak of them.
    """

    metadata: ClassVar = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        },
    )
    __table__: ClassVar[sa.Table]
    __table_args__: ClassVar[tuple[sa.schema.SchemaItem, ...]] = ()
    __table_options__: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        """Make the table."""
        made: list[sa.Column[Any]] = []
        for one in reversed(cls.__mro__):
            recipes = [(name, value) for name, value in vars(one).items() if isinstance(value, _Recipe)]
            made += (recipe.made(name, nullable="None" in one.__annotations__[name]) for name, recipe in recipes)
        for each in made:
            setattr(cls, each.name, each)
        cls.__table__ = sa.Table(cls.__name__, Base.metadata, *made, *cls.__table_args__, **cls.__table_options__)

    @classmethod
    def __clause_element__(cls) -> sa.Table:
        """Be one's table, where Core is asked to select from a model or to change it."""
        return cls.__table__


def column(kind: Any, *, refers: str | None = None, **options: Any) -> Field[Any]:  # noqa: ANN401  # as Column
    """Describe a column; `refers` names the column of another table whose values it holds."""
    return cast("Field[Any]", _Recipe(kind, refers, options))


def number() -> Field[int]:
    """Describe a row number that is the primary key."""
    return column(BigInt, primary_key=True, autoincrement=True, doc="Row number.")


def time(doc: str) -> Field[Any]:
    """Describe a moment."""
    return column(BigInt, doc=f"{doc} (UTC microseconds).")


def table(model: type[Base]) -> sa.Table:
    """Return the table of a model, as Core statements need it."""
    return model.__table__


def state_is(state: LinkState) -> sa.TextClause:
    """Return ``state = N`` with the number written out, as a partial index needs it to be used."""
    return sa.text(f"state = {state.code}")


def partial(name: str, *columns: str, where: sa.TextClause) -> sa.Index:
    """Return an index over the rows that a condition holds for; a query must spell it the same to use it.

    PostgreSQL is told so by `on_postgresql`: SQLAlchemy's part for it is not loaded where only SQLite is used.
    """
    return sa.Index(name, *columns, sqlite_where=where)


def on_postgresql(metadata: sa.MetaData) -> None:
    """Make the partial indexes partial on PostgreSQL too, before they are made there."""
    for index in (index for each in metadata.tables.values() for index in each.indexes):
        index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
