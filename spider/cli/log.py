"""The log file of a crawl: a line for each address, as text or JSON, in files that are kept small and few.

What pages and servers say is written with line ends and controls as escapes, so that a line is a line.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler

from spider.cli.ending import complain
from spider.cli.progress import outcome_line
from spider.errors import InputError
from spider.model import Failed, Fetched, Outcome, Skipped
from spider.report import iso, json_text, visible

__all__ = ["KEPT", "SIZE", "Log", "logged"]

SIZE = 10_000_000
"""Bytes of a file before the next is begun."""

KEPT = 5
"""Files kept beside the one that is written."""


class _Handler(RotatingFileHandler):
    """Raises what goes wrong, in place of printing a traceback into the crawl's progress."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802  # logging's signature
        """Raise the error that is being handled."""
        raise  # noqa: PLE0704  # logging calls this from its except block


class Log:
    """A log that writes nothing; what `logged` gives writes where there is a file."""

    def __init__(self, handler: logging.Handler | None = None, *, json: bool = False) -> None:
        """Write through the handler; a log that can no longer be written says so once and is silent."""
        self._handler = handler
        self._json = json

    def outcome(self, outcome: Outcome) -> None:
        """Write what became of one address."""
        if self._handler is not None:
            self._write(_facts(outcome), outcome_line(outcome))

    def began(self) -> None:
        """Write that a crawl begins."""
        self._write({"event": "begin"}, "begin")

    def ended(self, summary: str, last: str) -> None:
        """Write how it ended: what it did, and what it refused."""
        self._write({"event": "end", "summary": summary, "refused": last}, f"end {summary}  {last}")

    def failed(self, error: BaseException) -> None:
        """Write what broke it off."""
        said = f"{type(error).__name__}: {error}"
        self._write({"event": "broken-off", "error": said}, f"broken off: {said}")

    def _write(self, facts: dict[str, object], text: str) -> None:
        if self._handler is None:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json_text({"time": moment, **facts}) if self._json else f"{moment} {visible(text)}"
        try:
            self._handler.handle(logging.makeLogRecord({"msg": line}))
        except (OSError, ValueError) as error:  # ValueError: closed meanwhile
            self._handler = None
            complain(f"the log ends here: {error}")


def _facts(outcome: Outcome) -> dict[str, object]:
    """Return an outcome as JSON has it."""
    request = outcome.request
    facts: dict[str, object] = {"event": "", "url": request.url, "depth": request.depth, "attempt": request.attempt}
    match outcome:
        case Fetched(response=response, page=page):
            seen: dict[str, object] = {"status": response.status, "size": response.size}
            seen |= {"media": len(page.media), "links": len(page.links)} if page is not None else {}
            seen |= {"redirect": response.location} if response.location is not None else {}
            return facts | {"event": "unchanged" if outcome.unchanged else "visited"} | seen
        case Failed():
            again = None if outcome.retry_at is None else iso(outcome.retry_at)
            why = {"reason": str(outcome.reason), "message": outcome.message, "status": outcome.status}
            return facts | {"event": "failed", **why, "retry_at": again}
        case Skipped(rule=rule):
            return facts | {"event": "refused", "rule": rule}


@contextlib.contextmanager
def logged(name: str | None, form: str) -> Iterator[Log]:
    """Give the log that is written to a file, or one that writes nothing; InputError where it cannot be written."""
    if name is None:
        yield Log()
        return
    try:
        handler = _Handler(name, maxBytes=SIZE, backupCount=KEPT, encoding="utf-8", errors="backslashreplace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot write the log {name}: {reason.lower()}") from error
    log = Log(handler, json=form == "json")
    log.began()
    try:
        yield log
    except BaseException as error:
        log.failed(error)
        raise
    finally:
        with contextlib.suppress(OSError):  # a full disk was told of already
            handler.close()
