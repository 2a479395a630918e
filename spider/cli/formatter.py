"""Help that breaks no word: click's own wraps a line behind a hyphen, and so tears names apart."""

from __future__ import annotations

from collections.abc import Iterable

import click

__all__ = ["HelpContext", "HelpFormatter"]

_UNBROKEN = "\N{NON-BREAKING HYPHEN}"


class HelpFormatter(click.HelpFormatter):
    """click's formatter, which takes a hyphen for a letter."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(_bound(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of terms and what they mean."""
        super().write_dl([(_bound(term), _bound(text)) for term, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """Return what was written."""
        return super().getvalue().replace(_UNBROKEN, "-")


class HelpContext(click.Context):
    """A context whose help is written by `HelpFormatter`."""

    formatter_class = HelpFormatter


def _bound(text: str) -> str:
    """Return a text whose hyphens bind."""
    return text.replace("-", _UNBROKEN)
