"""What a worker has done, in numbers by name, so that those of several workers are added by adding.

``pages``, ``bytes``; ``media.KIND``; ``cut.RULE`` for what was read in part; ``refused.RULE`` for what left no row;
``ajax.LIBRARY`` for pages that look like applications, by the first library; ``explored`` for those a browser was at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spider.crawl import feeds
from spider.model import Confidence, Failed, Fetched, MediaKind, Outcome, Reason, Skipped
from spider.states import Rendering
from spider.store.workers import PAGES

__all__ = ["AJAX", "BYTES", "CUT", "EXPLORED", "MEDIA", "REFUSED", "counted", "media_of", "part", "scored"]

AJAX = "ajax."
BYTES = "bytes"
CUT = "cut."
EXPLORED = "explored"
MEDIA = "media."
REFUSED = "refused."


def counted(outcomes: Sequence[Outcome]) -> Counter[str]:
    """Return what outcomes add to, and by how much."""
    read = sum(len(outcome.response.body) for outcome in outcomes if isinstance(outcome, Fetched))
    return Counter(scored(outcomes)) + Counter({BYTES: read})


def scored(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the name of each thing that outcomes add to."""
    for outcome in outcomes:
        match outcome:
            case Failed(reason=Reason.REFUSED):
                yield f"{REFUSED}guard"
            case Skipped(rule="forgotten"):
                yield f"{REFUSED}forgotten"
            case Fetched(void=False):
                yield from _read(outcome)


def _read(outcome: Fetched) -> Iterator[str]:
    if outcome.medium is not None:
        yield f"{MEDIA}{outcome.medium.kind.value}"
    if (outcome.page is not None or outcome.unchanged) and not feeds.is_feed(outcome.request):
        yield PAGES
    if outcome.page is None:
        return
    yield from _rendered(outcome.rendering or Rendering())
    if outcome.response.truncated:
        yield f"{CUT}max-size"
    for note in outcome.page.notes:
        yield f"{CUT}{note.partition(':')[0]}"
    for medium in outcome.page.media:
        if medium.confidence.rank <= Confidence.LINK.rank:
            yield f"{MEDIA}{medium.kind.value}"


def _rendered(rendering: Rendering) -> Iterator[str]:
    yield from (f"{AJAX}{name}" for name in rendering.looks[:1])
    if rendering.graph is not None:
        yield EXPLORED


def part(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    """Return the counts of one kind by their names without it."""
    return {name.removeprefix(prefix): number for name, number in list(counts.items()) if name.startswith(prefix)}


def media_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the media found by kind, of those kinds that were."""
    found = part(counts, MEDIA)
    return {kind.value: found[kind.value] for kind in MediaKind if kind.value in found}
