"""Options that several questions share: which seed, which reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from spider.model import Reason

__all__ = ["reason_option", "seed_option"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def seed_option(text: str) -> Callable[[_Function], _Function]:
    """Give a command ``--seed``; `text` is its help."""
    return click.option("--seed", metavar="URL", help=text)


def reason_option(text: str) -> Callable[[_Function], _Function]:
    """Give a command ``--class``, or ``--reason``; `text` is its help."""
    words = [str(reason) for reason in Reason]
    return click.option(
        "--class",
        "--reason",
        "reason",
        type=click.Choice(words),
        metavar="REASON",
        help=f"{text}  One of {', '.join(words)}.",
    )
