"""What several questions share: an address that was typed, which seed, which reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from spider.model import Reason
from spider.report import visible
from spider.url import complete, has_login, normalize

__all__ = ["reason_option", "seed_option", "web_address"]

_INSTEAD = "--auth HOST=USER:PASSWORD shows it to nobody else"

_Function = TypeVar("_Function", bound=Callable[..., Any])


def web_address(text: str, what: str = "URL") -> str:
    """Return an address that was typed, normalized; one without a scheme is https.

    click.BadParameter, which names `what` it was typed for, where it is none of the web's or has a login in it;
    InvalidURL where it is no address at all.
    """
    address = normalize(complete(text))
    if not address.startswith(("http://", "https://")):
        raise click.BadParameter(f"not an address of the web: {visible(address)!r}", param_hint=what)
    if has_login(address):
        raise click.BadParameter(f"{visible(address)!r} has a login in it; {_INSTEAD}", param_hint=what)
    return address


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
