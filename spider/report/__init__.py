"""What was found?  Rows of the catalog turned into tables and files.

The room knows nothing of how the rows were asked for; every text in them came from a page and is data.
"""

from __future__ import annotations

from spider.report.formats import (
    FORMATS,
    Record,
    Value,
    write_csv,
    write_json,
    write_jsonl,
    write_markdown,
    write_records,
)
from spider.report.listings import (
    RUN_COLUMNS,
    SEED_COLUMNS,
    SKIPPED_COLUMNS,
    WHY_COLUMNS,
    WORKER_COLUMNS,
    run_lines,
    run_record,
    seed_lines,
    seed_record,
    skipped_lines,
    skipped_record,
    why_lines,
    why_records,
    worker_lines,
    worker_record,
)
from spider.report.rows import ERROR_COLUMNS, MEDIA_COLUMNS, error_record, media_record
from spider.report.tables import Line, Span, bar_line, error_lines, grid_lines, media_lines
from spider.report.text import csv_cell, iso, json_text, many, markdown_cell, visible
from spider.report.tree import TREE_COLUMNS, tree_lines, tree_records

__all__ = [
    "ERROR_COLUMNS",
    "FORMATS",
    "MEDIA_COLUMNS",
    "RUN_COLUMNS",
    "SEED_COLUMNS",
    "SKIPPED_COLUMNS",
    "TREE_COLUMNS",
    "WHY_COLUMNS",
    "WORKER_COLUMNS",
    "Line",
    "Record",
    "Span",
    "Value",
    "bar_line",
    "csv_cell",
    "error_lines",
    "error_record",
    "grid_lines",
    "iso",
    "json_text",
    "many",
    "markdown_cell",
    "media_lines",
    "media_record",
    "run_lines",
    "run_record",
    "seed_lines",
    "seed_record",
    "skipped_lines",
    "skipped_record",
    "tree_lines",
    "tree_records",
    "visible",
    "why_lines",
    "why_records",
    "worker_lines",
    "worker_record",
    "write_csv",
    "write_json",
    "write_jsonl",
    "write_markdown",
    "write_records",
]
