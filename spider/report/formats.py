"""Records in the formats that people and programs read: JSON, JSON lines, CSV and Markdown.

A record is a mapping from column to value, the columns always in the same order.  Every function
streams: it holds one record at a time, however many there are.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TextIO

from spider.report.text import csv_cell, json_text, markdown_cell, visible

__all__ = ["FORMATS", "Record", "Value", "write_csv", "write_json", "write_jsonl", "write_markdown", "write_records"]

FORMATS = ("table", "json", "jsonl", "csv", "markdown")

Value = str | int | float | None
Record = Mapping[str, Value]


def write_json(records: Iterable[Record], stream: TextIO) -> None:
    """Write one array of objects, an object a line; no record is an empty array."""
    lead = "[\n"
    for record in records:
        stream.write(f"{lead}{json_text(record)}")
        lead = ",\n"
    stream.write("[]\n" if lead == "[\n" else "\n]\n")


def write_jsonl(records: Iterable[Record], stream: TextIO) -> None:
    """Write one object a line (JSON lines)."""
    stream.writelines(f"{json_text(record)}\n" for record in records)


def write_csv(records: Iterable[Record], stream: TextIO, *, columns: Sequence[str], raw: bool = False) -> None:
    """Write a line of headings and one of values a record (RFC 4180, but for its line ends).

    Cells that a spreadsheet would run are made texts unless `raw`; on a terminal, characters that
    would steer it are made visible.
    """
    shown: Callable[[str], str] = visible if stream.isatty() else str
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        writer.writerow([shown(csv_cell(record[column], raw=raw)) for column in columns])


def write_markdown(records: Iterable[Record], stream: TextIO, *, columns: Sequence[str]) -> None:
    """Write a table of GitHub-flavoured Markdown, a line a record; what a page says is text in it, never markup."""
    stream.write(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n")
    stream.writelines(f"| {' | '.join(markdown_cell(record[column]) for column in columns)} |\n" for record in records)


def write_records(records: Iterable[Record], stream: TextIO, *, form: str, columns: Sequence[str], raw: bool) -> None:
    """Write records in one of the formats that are not a table; KeyError for any other."""
    if form == "csv":
        write_csv(records, stream, columns=columns, raw=raw)
    elif form == "markdown":
        write_markdown(records, stream, columns=columns)
    else:
        {"json": write_json, "jsonl": write_jsonl}[form](records, stream)
