"""What the models are made of: the types of columns, and the conditions that indexes are partial by."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from spider.model import Coded, LinkState

__all__ = ["Base", "BigInt", "Code", "number", "partial", "state_is", "table", "time"]

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


class Base(DeclarativeBase):
    """The root of the models; names of constraints are fixed, so that migrations can speak of them."""

    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        },
    )


def number() -> Mapped[int]:
    """Return a row number that is the primary key."""
    return mapped_column(BigInt, primary_key=True, autoincrement=True, doc="Row number.")


def time(doc: str, *, optional: bool = False) -> Mapped[Any]:
    """Return a moment."""
    return mapped_column(BigInt, nullable=optional, doc=f"{doc} (UTC microseconds).")


def table(model: type[Base]) -> sa.Table:
    """Return the table of a model, as Core statements need it."""
    found = model.__table__
    assert isinstance(found, sa.Table)  # noqa: S101  # typed wider than it is
    return found


def state_is(state: LinkState) -> sa.TextClause:
    """Return ``state = N`` with the number written out, as a partial index needs it to be used."""
    return sa.text(f"state = {state.code}")


def partial(name: str, *columns: str, where: sa.TextClause) -> sa.Index:
    """Return an index over the rows that a condition holds for; a query must spell it the same to use it."""
    return sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)
