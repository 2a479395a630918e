"""Where answers go: the standard output or a file, a terminal or a pipe."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TextIO, TypeVar

from spider.errors import InputError
from spider.report import Line

__all__ = ["STYLES", "Counted", "columns_of", "opened", "show"]

_T = TypeVar("_T")

STYLES = {
    "page": "bold",
    "head": "bold",
    "detail": "dim",
    "bad": "red",
    "bar.C": "blue",
    "bar.E": "red",
    "bar.R": "yellow",
    "bar.W": "dim",
    "kind.video": "cyan",
    "kind.audio": "green",
    "kind.flash": "magenta",
    "state.C": "blue",
    "state.E": "red",
    "state.R": "yellow",
    "state.W": "dim",
}
"""The style, in rich's words, of each part of a line that has one."""


@contextlib.contextmanager
def opened(name: str | None) -> Iterator[TextIO]:
    """Give the stream for an answer: the standard output for None or ``-``, else a file.

    The file appears whole or not at all; what is no regular file (a device, a named pipe) is written
    as it is.  InputError where it cannot be written.
    """
    if name is None or name == "-":
        yield sys.stdout
        return
    try:
        target = Path(os.path.realpath(name))
    except ValueError as error:  # a NUL, or what the file system's encoding lacks
        raise InputError(f"cannot write {name!a}: not the name of a file") from error
    try:
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8", newline="") as stream:
                yield stream
        else:
            _keep_databases(target)
            with _replacing(target) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot write {name}: {(error.strerror or str(error)).lower()}") from error


def _keep_databases(target: Path) -> None:
    """Refuse to put an answer in place of a database; an empty file is none."""
    with contextlib.suppress(FileNotFoundError), target.open("rb") as file:
        if file.read(16) == b"SQLite format 3\0":
            raise InputError(f"cannot write {target.name}: it is a database; name another file")


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[TextIO]:
    """Give a temporary file beside the target that takes its place when the block ends well."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            yield stream
            stream.flush()
            os.fsync(descriptor)
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Return the permissions that the file has, or that a new one would get."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def columns_of(stream: TextIO) -> int | None:
    """Return the width to lay a table out for: a terminal's, None for anything else."""
    if not stream.isatty():
        return None
    from rich.console import Console  # noqa: PLC0415  # rich takes longer to load than most answers to find

    return Console(file=stream).width


def show(lines: Iterable[Line], stream: TextIO) -> int:
    """Write lines, with styles on a terminal that has them and plain elsewhere; return how many there were."""
    count = 0
    if not stream.isatty():
        for line in lines:
            stream.write("".join(span.text for span in line).rstrip() + "\n")
            count += 1
        return count
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    for line in lines:
        text = Text.assemble(*((span.text, STYLES.get(span.part, "")) for span in line))
        text.rstrip()
        console.print(text, soft_wrap=True)
        count += 1
    return count


class Counted(Generic[_T]):
    """Records, or rows, on their way, and how many have passed."""

    def __init__(self, records: Iterable[_T]) -> None:
        """Count nothing yet."""
        self.count = 0
        self._records = records

    def __iter__(self) -> Iterator[_T]:
        """Hand them on."""
        for record in self._records:
            self.count += 1
            yield record
