"""Which media: the options that a report and an export share, and what they say to the catalog."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from spider.cli.options import Expression, SettingType
from spider.errors import InvalidURL
from spider.model import Confidence, MediaKind
from spider.settings import Kind, Setting
from spider.store import Connection, ask
from spider.url import host as host_of
from spider.url import normalize

__all__ = ["given_options", "narrowed", "which_options"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

LEVELS = ("element", "link", "attribute", "script", "comment")
"""One name for each tier of trust, the surest first."""

SINCE = Setting("since", Kind.SECONDS, None, "Only what was first seen within this time (7d).", minimum=0, maximum=1e10)


def _host_name(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return a host's name as addresses have it: lower case, IDNA; a port is left out."""
    if value is None:
        return None
    try:
        return host_of(normalize(f"http://{value}/"))
    except InvalidURL as error:
        raise click.BadParameter(f"{value!a} is not a host's name ({error.reason})") from error


def which_options(function: _Function) -> _Function:
    """Give a command ``--media``, ``--seed`` and all else that narrows media; `narrowed` understands their values."""
    for option in (
        click.option(
            "--gone", is_flag=True, help="What is no longer there; with the two above, what went within that time."
        ),
        click.option("--dead", is_flag=True, help="Only what spider check found dead."),
        click.option("--since", metavar="AGE", type=SettingType(SINCE), help=SINCE.help),
        click.option("--new", is_flag=True, help="Only what the last crawl saw first."),
        click.option(
            "--confidence",
            type=click.Choice(LEVELS),
            default="link",
            show_default=True,
            metavar="LEVEL",
            help="Leave out what is less sure than element, link, attribute, script or comment.",
        ),
        click.option(
            "--match",
            metavar="REGEX",
            type=Expression(),
            help="Only where REGEX is found in an address, title or text.",
        ),
        click.option("--host", metavar="NAME", callback=_host_name, help="Only pages of this host."),
        click.option("--seed", metavar="URL", help="Only what was found from this seed."),
        click.option(
            "--media",
            type=click.Choice(["video", "audio", "flash", "all"]),
            default="all",
            show_default=True,
            help="Only this kind of media.",
        ),
    ):
        function = option(function)
    return function


def narrowed(
    connection: Connection,
    *,
    media: str,
    confidence: str,
    new: bool,
    since: float | None,
    **which: Any,  # noqa: ANN401  # seed, host, match, gone and dead, as they are
) -> dict[str, Any]:
    """Return the arguments of `ask.media_rows` that the options' values ask for."""
    return which | {
        "kinds": tuple(MediaKind) if media == "all" else (MediaKind(media),),
        "confidence": Confidence(confidence),
        "since": _moment(connection, new=new, since=since),
    }


def given_options(which: dict[str, Any]) -> tuple[str, ...]:
    """Return the options that narrow, as they would be typed; none where nothing narrows."""
    usual = {None, False, "all", "link"}
    given = {name: getattr(value, "text", value) for name, value in which.items() if value not in usual}
    return tuple(f"--{name}" if value is True else f"--{name} {value}" for name, value in given.items())


def _moment(connection: Connection, *, new: bool, since: float | None) -> int | None:
    """Return the moment (UTC microseconds) from which on something counts: the later of the two asked for."""
    moments = [] if since is None else [time.time_ns() // 1000 - int(since * 1e6)]
    if new:
        moments += [run.began_at for run in ask.runs(connection)[:1]]
    return max(moments, default=None)
