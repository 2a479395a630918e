"""``spider robots``: what a site's robots.txt says of one address, and which of its lines says so."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from spider import settings
from spider.cli.asking import web_address
from spider.cli.network import NETWORK, asking
from spider.cli.options import setting_options
from spider.errors import FetchError
from spider.fetch import Access, Client, Pace, Ruling, ask, retry_after
from spider.report import visible

__all__ = ["command", "robots"]

UNREACHABLE = FetchError.exit_code
_USED = (*NETWORK, "delay")


@click.command("robots")
@click.argument("url")
@click.option(
    "--agent", metavar="NAME", default=settings.AGENT_TOKEN, show_default=True, help="Whom the file should speak to."
)
@setting_options(without=[setting.name for setting in settings.SETTINGS if setting.name not in _USED])
def robots(*, url: str, agent: str, delay: float, **values: Any) -> int:  # noqa: ANN401  # the settings
    """Tell what a site's robots.txt allows.

    Asks the site of URL for its robots.txt, as a crawl would, and writes whether
    URL may be asked for and the line that decides, the delay between two
    requests, and the site's sitemaps.  The exit code is 3 if there was no answer:
    then all is closed until there is one.
    """
    address = web_address(url)
    with Client(asking(address, **values)) as client:
        ruling = ask(client.whole, address)
    for line in _lines(ruling, agent, address, delay):
        click.echo(visible(line))
    return UNREACHABLE if ruling.access is Access.DISALLOW else 0


def _lines(ruling: Ruling, agent: str, address: str, delay: float) -> Iterator[str]:
    """Yield what is told, one fact a line."""
    decision = ruling.decide(agent, address)
    yield f"robots   {ruling.url}: {_answer(ruling)}"
    yield f"url      {address}"
    yield f"verdict  {'allowed' if decision.allowed else 'closed'} to {agent}"
    yield f"because  {_because(ruling, decision.number, decision.line)}"
    asked = ruling.robots.crawl_delay(agent)
    pace = Pace(delay, crawl_delay=asked)
    yield f"delay    {pace.delay:g} s" + ("" if asked is None else f" (Crawl-delay: {asked:g})")
    wait = retry_after(ruling.retry_after, time.time())
    if ruling.access is Access.DISALLOW and wait is not None:
        yield f"retry    after {wait:.0f} s"
    for sitemap in ruling.robots.sitemaps:
        yield f"sitemap  {sitemap}"


def _answer(ruling: Ruling) -> str:
    """Say what came of the question."""
    if ruling.failure is not None:
        return str(ruling.failure)
    return f"status {ruling.status}"


def _because(ruling: Ruling, number: int | None, line: str | None) -> str:
    """Say what decided."""
    if ruling.access is Access.DISALLOW:
        return "robots.txt did not come: all is closed until it does"
    if ruling.access is Access.ALLOW:
        return "there is no robots.txt: all is allowed"
    return f"line {number}: {line}" if line is not None else "no line speaks of it"


command = robots
