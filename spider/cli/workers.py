"""``spider workers``: every process at work on the database."""

from __future__ import annotations

import time

import click

from spider.cli.ending import complain
from spider.cli.listing import How, answer, listing_options
from spider.cli.options import Globals
from spider.crawl.process import at_work
from spider.report import WORKER_COLUMNS, worker_lines, worker_record
from spider.store import Database, dialect, workers

__all__ = ["command"]


@click.command("workers")
@listing_options
@click.pass_obj
def command(given: Globals, form: str, output: str | None, raw: bool) -> None:  # noqa: FBT001  # click gives values
    """List the processes at work on the database, on all machines.

    Each with its run, machine and process number, the hosts that it holds, the
    pages that it has read, and how many a second, and its last heartbeat. One
    that died is shown as dead until another finds it and takes its work over.
    """
    with Database.open(given.db, create=False) as database, database.read() as connection:
        rows, held = workers.rows(connection), workers.hosts_held(connection)
        now = dialect.server_time(connection) or time.time_ns() // 1000
    records = [worker_record(row, hosts=held.get(row.id, 0), alive=at_work(row, now)) for row in rows]
    if not answer(records, How(form, output, raw), columns=WORKER_COLUMNS, lines=worker_lines) and not given.quiet:
        complain(f"nobody is at work on {database.name}")
