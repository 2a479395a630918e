"""The law of answers: what the program says of a database does not depend on the engine that keeps it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.report.filled import fill
from tests.report.test_formats import COMMANDS, GOLDEN, answer


@pytest.fixture(scope="module")
def filled(new_postgres: Callable[[], str]) -> str:
    """Make the reports' own database on PostgreSQL."""
    address = new_postgres()
    fill(address)
    return address


@pytest.mark.parametrize("name", COMMANDS)
def test_answers_are_the_same_on_postgresql(name: str, filled: str) -> None:
    """Every report, list of errors and status is the one that SQLite gives, byte for byte."""
    assert answer(filled, COMMANDS[name]) == (GOLDEN / name).read_bytes().decode("utf-8")
