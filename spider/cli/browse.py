"""``spider browse``: the database in a browser, by Datasette."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from spider.cli.ending import say
from spider.cli.options import Globals
from spider.errors import InputError
from spider.report import visible
from spider.report.browsing import metadata, shown
from spider.store import Database, dictionary

__all__ = ["command"]

MILLISECONDS = 10_000  # that one question may take
_EXAMPLES = """\b
Examples:
  spider browse
  spider --db demo.db browse --port 8001 --open
"""


@click.command("browse", epilog=_EXAMPLES)
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=8001, show_default=True, help="Serve here.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Serve on this address.")
@click.option("--open", "opens", is_flag=True, help="Open a browser on it.")
@click.pass_obj
def command(given: Globals, *, port: int, host: str, opens: bool) -> None:
    """Browse the database with Datasette.

    Serves the tables with what their columns mean, facets, and queries made for
    them, on this machine alone, until Ctrl-C. Nothing is written, and a crawl may
    go on meanwhile. Every view has an address that can be kept, and its rows as
    JSON and CSV.

    Needs Datasette: pip install 'multimedia-spider[browse]'.
    """
    try:
        from datasette import hookimpl  # noqa: PLC0415  # an extra, and slow to load
    except ImportError as error:
        raise InputError("browsing needs Datasette: pip install 'multimedia-spider[browse]'") from error
    with Database.open(given.db, create=False) as database:
        path, name = database.path, database.name
    if path is None:
        raise InputError("Datasette reads SQLite files; this database is a server's")
    served = _listening(host, port)
    address = f"http://{_bracketed(host)}:{served.getsockname()[1]}/"
    click.echo(address)
    if not given.quiet:
        say(f"{visible(name)} can be browsed at the address above, until Ctrl-C")
    if opens:
        webbrowser.open(address)
    _serve(path, served, hookimpl)


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; InputError where the address cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise InputError(f"cannot serve on {visible(host)} port {port}: {reason}") from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _serve(path: Path, served: socket.socket, hookimpl: Any) -> None:  # noqa: ANN401  # Datasette's marker
    """Serve a database's file until a signal comes.  Datasette opens it for reading alone."""
    import uvicorn  # noqa: PLC0415  # comes with Datasette
    from datasette.app import Datasette  # noqa: PLC0415
    from datasette.plugins import pm  # noqa: PLC0415

    entries = {entry.name: entry for entry in dictionary.tables()}

    def render_cell(value: object, column: str, table: str | None) -> str | None:
        return shown(entries, table, column, value)

    cells = ModuleType("spider_cells")
    vars(cells)["render_cell"] = hookimpl(render_cell)
    pm.register(cells)
    datasette = Datasette(
        [str(path)],
        metadata=metadata(path.stem, entries.values()),
        settings={"sql_time_limit_ms": MILLISECONDS, "allow_download": False, "default_page_size": 50},
    )
    asyncio.run(datasette.invoke_startup())
    config = uvicorn.Config(datasette.app(), log_level="error", lifespan="on")
    uvicorn.Server(config).run(sockets=[served])
