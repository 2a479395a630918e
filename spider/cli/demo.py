"""``spider demo``: a whole crawl of the bundled sample site, here, in seconds."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import click
from click.core import ParameterSource

from spider.cli import crawl, report, status
from spider.cli.options import Globals
from spider.demo import make_way, serve
from spider.errors import InputError

__all__ = ["command"]

DATABASE = "demo.db"


@click.command("demo")
@click.option("--output", metavar="DIR", help=f"Keep {DATABASE} in this directory, made if need be.  [default: here]")
@click.option("--serve-only", is_flag=True, help="Only serve the site, until Ctrl-C.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=0, show_default="any free one", help="Serve it here."
)
@click.pass_context
def command(ctx: click.Context, /, *, output: str | None, serve_only: bool, port: int) -> int:
    """Crawl the bundled sample site and show its report.

    Serves a small museum of moving pictures and sound on 127.0.0.1, crawls it
    into a database with "spider crawl", and asks that with "spider report" and
    "spider status".  No other host is spoken to.

    The database is the one that --db names, else demo.db, and can be asked again
    later.  It is made anew each time; one that is not a demo's is left alone.
    """
    if serve_only:
        with _served(port) as base:
            click.echo(base)
            _wait()
        return 0
    given = dataclasses.replace(ctx.find_object(Globals) or Globals(""), db=str(_database(ctx, output)))
    ctx.obj = given
    make_way(Path(given.db))
    with _served(port) as base:
        _say(given, f"Serving the sample site on {base} and crawling it into {given.db}")
        code = ctx.invoke(crawl.command, seeds=(base,), delay=0.0)
    if not code:
        ctx.invoke(report.command)
        click.echo()
        ctx.invoke(status.command)
        _say(given, f"Ask again: spider --db {given.db} report --media audio --format csv")
    return int(code)


def _database(ctx: click.Context, output: str | None) -> Path:
    """Return where the demo's database stands; a directory that is named for it is made."""
    root = ctx.find_root()
    chosen = root.get_parameter_source("db") not in {None, ParameterSource.DEFAULT}
    if output is None:
        db = str(root.params["db"]) if chosen else DATABASE
        if "://" in db:
            raise InputError("the demo's database is a file; name a path with --db")
        return Path(db)
    if root.get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--db and --output both say where the database stands; give one of them", ctx)
    try:
        Path(output).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot make the directory {output}: {str(getattr(error, 'strerror', error)).lower()}"
        ) from error
    return Path(output) / DATABASE


@contextlib.contextmanager
def _served(port: int) -> Iterator[str]:
    """Serve the site and give its address; InputError where the port cannot be had."""
    with contextlib.ExitStack() as stack:
        try:
            base = stack.enter_context(serve(port=port))
        except OSError as error:
            raise InputError(f"cannot serve on port {port}: {(error.strerror or str(error)).lower()}") from error
        yield base


def _wait() -> None:
    """Wait for Ctrl-C, which is how this is meant to end.

    SIGTERM means the same, and both count also where the shell let them be ignored.  In short sleeps: a
    signal that comes just before an endless wait begins would not end it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(0.2)


def _say(given: Globals, text: str) -> None:
    """Say what goes on, beside the answers."""
    if not given.quiet:
        click.echo(text, err=True)
