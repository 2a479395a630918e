"""What the commands that list something share: how to show it, where to write it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from spider.cli.output import Counted, columns_of, opened, show
from spider.report import FORMATS, Line, Record, write_records

__all__ = ["How", "answer", "listing_options", "output_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

output_option = click.option("-o", "--output", metavar="FILE", help="Write to this file, whole or not at all.")
"""``--output``, for every command whose answer may go to a file."""

Lines = Callable[[Counted[Record], int | None], Iterator[Line]]


@dataclass(frozen=True, slots=True)
class How:
    """The values of the options below: the format, the file to write (None: the standard output), cells as they are."""

    form: str
    output: str | None
    raw: bool


def listing_options(function: _Function) -> _Function:
    """Give a command ``--format``, ``--output`` and ``--raw``; it gets them as `form`, `output` and `raw`."""
    for option in (
        click.option("--raw", is_flag=True, help="CSV: leave cells that a spreadsheet would run as they are."),
        output_option,
        click.option(
            "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to show it."
        ),
    ):
        function = option(function)
    return function


def answer(records: Iterable[Record], how: How, *, columns: Sequence[str], lines: Lines) -> int:
    """Write records as asked; `lines` lays them out for people.  Returns how many there were."""
    counted = Counted(records)
    with opened(how.output) as stream:
        if how.form == "table":
            show(lines(counted, columns_of(stream)), stream)
        else:
            write_records(counted, stream, form=how.form, columns=columns, raw=how.raw)
    return counted.count
