"""``spider crawl --dry-run``: what a crawl would do next, without asking anybody."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from spider.cli.ending import complain
from spider.cli.options import Globals
from spider.cli.output import show
from spider.crawl import Plan, Seed
from spider.crawl.rehearsal import Rehearsal, Step, rehearse
from spider.errors import StorageError
from spider.report import Line, Span, visible
from spider.store import Database

__all__ = ["rehearsed"]

SHOWN = 50


def rehearsed(given: Globals, plan: Plan, seeds: Sequence[Seed], ladder: str) -> int:
    """Show the first steps of a crawl; where there is no database yet, of its first crawl."""
    with _opened(given.db, ladder, seeds) as database:
        found = rehearse(database, plan, seeds=seeds, most=plan.max_pages or SHOWN)
    if not found.steps and not given.quiet:
        complain("nothing waits, and nothing is due again")
    show(_lines(found), sys.stdout)
    return 0


@contextlib.contextmanager
def _opened(address: str, ladder: str, seeds: Sequence[Seed]) -> Iterator[Database]:
    """Open the database that there is, or one that goes as it came."""
    try:
        database = Database.open(address, create=False, ladder=ladder)
    except StorageError:
        if not seeds or "://" in address or Path(address).exists():
            raise
        with tempfile.TemporaryDirectory() as folder, Database.open(f"{folder}/x.db", ladder=ladder) as passing:
            yield passing
        return
    with database:
        yield database


def _lines(found: Rehearsal) -> Iterator[Line]:
    """Yield each step, and a last line that counts them."""
    whens = ["refused" if step.rule else f"+{step.wait:,.0f} s" for step in found.steps]
    size = max(map(len, whens), default=0)
    for step, when in zip(found.steps, whens, strict=True):
        yield (Span(f"{when:>{size}}  ", "number"), Span(visible(step.url), "page"))
        yield (Span(" " * (size + 2) + " · ".join(_details(step)), "detail"),)
    if found.steps:
        yield ()
        yield (Span(_counted(found), "head"),)


def _details(step: Step) -> Iterator[str]:
    yield f"depth {step.depth}"
    if step.rule is not None:
        yield f"by rule {step.rule}"
    if step.again:
        yield "again: has it changed?"
    if step.robots_first:
        yield "robots.txt first"


def _counted(found: Rehearsal) -> str:
    rules = Counter(step.rule for step in found.steps if step.rule)
    visits = len(found.steps) - rules.total()
    refused = ", ".join(f"{number} {rule}" for rule, number in sorted(rules.items())) or "nothing"
    return f"the first {visits + rules.total():,} of {found.waiting:,} that wait: visits {visits:,}; refused: {refused}"
