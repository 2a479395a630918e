"""Run a crawl for the command line: draw its progress, let signals stop it, say how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, assert_never

from spider.cli.ending import complain, say, tell
from spider.cli.log import logged
from spider.cli.progress import advice, progress, summary
from spider.cli.signals import stopping
from spider.crawl.process import settle
from spider.model import Failed, Fetched, Outcome, Skipped

if TYPE_CHECKING:
    from spider.crawl import Snapshot

__all__ = ["Crawl", "follow", "remember"]


class Crawl(Protocol):
    """What is asked of a crawl here."""

    exit_code: int

    def run(self) -> Iterator[Outcome]:
        """Yield what becomes of each link."""
        ...

    def stop(self, *, now: bool = False) -> None:
        """Stop soon, or at once."""
        ...

    def snapshot(self) -> Snapshot:
        """Return how it stands."""
        ...

    def last_line(self) -> str:
        """Return what was refused or cut, on one line."""
        ...

    def ajax_line(self) -> str | None:
        """Return how many pages look like Ajax applications; None where there is nothing to say."""
        ...


def follow(
    crawl: Crawl,
    *,
    quiet: bool,
    verbose: bool,
    log: str | None = None,
    log_format: str = "text",
    program: str = "spider",
) -> int:
    """Run a crawl to its end and return the exit code.

    The last line counts what was refused or cut.  Seeds that failed are named even when all else is silent.
    `log` is the file that each outcome is written to, as text or JSON lines; `program` how the program is called
    for this database.
    """
    failed: dict[str, str] = {}
    settle()
    with (
        logged(log, log_format) as written,
        progress(crawl, quiet=quiet, verbose=verbose) as shown,
        stopping(crawl, shown.note) as caught,
    ):
        try:
            for outcome in crawl.run():
                shown.outcome(outcome)
                written.outcome(outcome)
                remember(failed, outcome)
            written.ended(summary(crawl.snapshot()), crawl.last_line())
        except Exception as error:
            if caught.exit_code is None:
                raise
            written.failed(error)
            tell(error)  # the code is the signal's, which was there first
    for url, why in failed.items():
        complain(f"seed {url}: {why}")
    if not quiet:
        say(summary(crawl.snapshot()))
        say(crawl.last_line())
        if (line := crawl.ajax_line()) is not None:
            say(line)
        say(advice(crawl.snapshot(), program))
    return crawl.exit_code if caught.exit_code is None else caught.exit_code


def remember(failed: dict[str, str], outcome: Outcome) -> None:
    """Keep why the seeds failed or were refused whose last try did."""
    url = outcome.request.url
    if outcome.request.source.tag != "seed":
        return
    match outcome:
        case Failed(reason=reason, message=message):
            failed[url] = f"{reason}: {message}"
        case Skipped(rule=rule):
            failed[url] = f"refused by rule {rule}"
        case Fetched():
            failed.pop(url, None)
        case _:
            assert_never(outcome)
