"""``spider url``: paper 1 on its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from spider import url as machine
from spider.cli.ending import USAGE, complain
from spider.cli.options import Globals
from spider.errors import InvalidURL, caret
from spider.report.text import visible
from spider.url import charset

__all__ = ["command", "url"]

_WIDEST = 60
_EXAMPLES = """\b
Examples:
  spider url HTTP://Example.COM:80/a/../b      http://example.com/b
  spider url --base http://h/x/y ../z          http://h/z
  spider url --key 'http://h/?b&a&utm_id=1'    http://h/?a&b
  spider url --steps www http://www.h.org/     http://h.org/
"""


def _charset(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """Refuse a name that is no charset's label."""
    if charset.codec(value) is None:
        raise click.BadParameter(f"no such charset: {value!r}")
    return value


@click.command("url", epilog=_EXAMPLES)
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--base", metavar="URL", help="The address that relative ones are relative to.")
@click.option(
    "--encoding",
    metavar="NAME",
    default="utf-8",
    show_default=True,
    callback=_charset,
    help="The charset of the page they come from: queries are written in it.",
)
@click.option("--trace", is_flag=True, help="Show the machine's steps, and every error with a caret under its place.")
@click.option("--key", "as_key", is_flag=True, help="Write the key instead: what tells whether two addresses are one.")
@click.option(
    "--steps",
    metavar="STEPS",
    help="The key by these steps, as --key of crawl names them. By default those of the database that --db names; "
    f"without it {machine.KEY_LADDER}.",
)
@click.pass_context
def url(
    ctx: click.Context, *, urls: tuple[str, ...], base: str | None, encoding: str, trace: bool, as_key: bool,
    steps: str | None,
) -> int:  # fmt: skip
    """Write addresses as a browser would.

    One line for each URL; without any, they are read from the standard input,
    one a line.  The exit code is 2 if one is no URL.
    """
    foundation = None if base is None else machine.parse(base)
    as_key = as_key or steps is not None
    ladder = _ladder(ctx, steps) if as_key else ""
    code = 0
    for text in urls or _lines():
        if trace:
            _explain(text, foundation, encoding)
        try:
            parsed = machine.parse(text, foundation, encoding=encoding)
        except InvalidURL as error:
            complain(str(error))
            code = USAGE
            continue
        address = machine.normalize(text, foundation, encoding=encoding) if as_key else ""
        click.echo(machine.key(address, ladder) if as_key else str(parsed))
    return code


def _ladder(ctx: click.Context, steps: str | None) -> str:
    """Return the steps of the key: those that were typed, those of a database that was named, or the usual ones."""
    if steps is not None:
        return machine.read_ladder(steps)
    if ctx.parent is None or ctx.parent.get_parameter_source("db") is click.core.ParameterSource.DEFAULT:
        return machine.KEY_LADDER
    from spider.store import Database  # noqa: PLC0415  # an address is written at once, without a database's libraries

    given: Globals = ctx.obj
    with Database.open(given.db, create=False) as database:
        return database.ladder


def _lines() -> Iterator[str]:
    """Read the standard input's lines, but for empty ones; bytes that are no UTF-8 become U+FFFD."""
    for line in sys.stdin.buffer:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text:
            yield text


def _explain(text: str, base: machine.URL | None, encoding: str) -> None:
    """Write the machine's run as a table (state, input, next state), and each error with a caret under its place."""
    steps, errors = machine.explain(text, base, encoding=encoding)
    rows = [("state", "input", "next"), *((s.state, _shown(s.input), s.next) for s in steps)]
    width = max(len(row[1]) for row in rows)
    for state, token, following in rows:
        click.echo(f"{state:<6} {token:<{width}}  {following}")
    for name, place in errors:
        click.echo(f"{name} at column {place + 1}:\n{caret(text, place)}")


def _shown(token: str) -> str:
    """Make an input fit a cell: escapes for what does not print, the end as its name."""
    if not token:
        return "(end)"
    shown = visible(token)
    return shown if len(shown) <= _WIDEST else shown[: _WIDEST - 1] + "…"


command = url
