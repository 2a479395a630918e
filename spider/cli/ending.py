"""How every command ends: one clear line for what went wrong, and the exit code that goes with it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from collections.abc import Callable
from typing import TextIO

import click

from spider.cli.config import place
from spider.errors import SpiderError, masked
from spider.report.text import visible

__all__ = [
    "INTERNAL",
    "INTERRUPTED",
    "STORAGE",
    "USAGE",
    "PipeClosedError",
    "complain",
    "ended",
    "expected",
    "prepare_streams",
    "say",
    "tell",
    "visible_trace",
]

INTERNAL = 1
USAGE = 2
STORAGE = 5
INTERRUPTED = 130


class PipeClosedError(Exception):
    """Nobody reads the output any more."""


def prepare_streams() -> None:
    """Make the three standard streams safe to use, whatever the program was started with.

    One that is closed leads nowhere from now on: its number must not go to the next file that is
    opened, a database perhaps.  What a stream's encoding lacks is written as an escape.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def ended(work: Callable[[], object]) -> int:
    """Do the work and return the exit code; say on the standard error stream what stopped it.

    Work that returns an integer ends with that code.  Its standard output is flushed here, so that
    a full disk or a closed pipe is met where it can be told.
    """
    try:
        code = work()
        _flush()
    except (KeyboardInterrupt, SystemExit) as error:
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else _given(error.code)
    except Exception as error:  # noqa: BLE001  # the last place that can still say it in one line
        return tell(error)
    return _given(code)


def _given(code: object) -> int:
    """Return an exit code where there is one, 0 where the work returned something else."""
    return code if isinstance(code, int) and not isinstance(code, bool) else 0


def tell(error: Exception) -> int:
    """Say what stopped the work, where it is worth a word, and return the exit code."""
    code = INTERNAL
    match error:
        case PipeClosedError() | BrokenPipeError():
            _let_go(sys.stdout)
            code = 0
        case click.Abort():
            code = INTERRUPTED
        case click.exceptions.NoArgsIsHelpError():
            say(error.format_message())
            code = USAGE
        case click.UsageError():
            complain(_usage(error))
            code = error.exit_code
        case SpiderError():
            complain(str(error))
            code = error.exit_code
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EIO, filename=None):
            complain(f"cannot write the output: {(error.strerror or '').lower()}")
            _let_go(sys.stdout)
            code = STORAGE
        case _:
            complain(f"internal error: {_named(error)} (-v before the command shows where)")
    return code


def expected(error: BaseException) -> bool:
    """Tell whether an error has a line and a code of its own, so that nobody needs its traceback."""
    return isinstance(error, (click.ClickException, click.Abort, click.exceptions.Exit, SpiderError, BrokenPipeError))


def complain(message: str) -> None:
    """Write one message to the standard error stream, whatever it is made of; the passwords in it are masked."""
    say("spider: " + "\n".join(visible(line) for line in masked(message).split("\n")))


def say(text: str) -> None:
    """Write a line to the standard error stream; where nobody reads it, work goes on in silence."""
    try:
        click.echo(text, err=True)
    except OSError:
        _let_go(sys.stderr)


def visible_trace(error: BaseException) -> str:
    """Return a traceback that is safe to print: its messages may quote pages."""
    return "\n".join(visible(line) for line in "".join(traceback.format_exception(error)).splitlines())


def _named(error: BaseException) -> str:
    """Return an exception's class and message on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"


def _usage(error: click.UsageError) -> str:
    """Return click's message on one line, beginning with the place that the value came from."""
    if isinstance(error, click.BadParameter) and error.param is not None and error.ctx is not None:
        if isinstance(error, click.MissingParameter):
            return f"{place(error.param, error.ctx)} is missing{_see(error.ctx)}"
        return f"{place(error.param, error.ctx)}: {_sentence(error.message)}"
    return f"{_sentence(error.format_message())}{_see(error.ctx)}"


def _sentence(message: str) -> str:
    """Return a message that goes behind a colon: one line, no capital, no full stop."""
    line = " ".join(message.split()).removesuffix(".")
    return line[:1].lower() + line[1:]


def _see(ctx: click.Context | None) -> str:
    """Return where to read on."""
    return f"; see {ctx.command_path} --help" if ctx else ""


def _flush() -> None:
    """Send what is still held back."""
    sys.stdout.flush()


def _let_go(stream: TextIO) -> None:
    """Point a stream nowhere, so that neither we nor the interpreter's own end stumble over it again."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
