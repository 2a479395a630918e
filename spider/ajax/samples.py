"""Which of many alike events need firing?  Members of a group are sampled: all follow where samples differ.

Pure.  Events of one group share their handler's source and their element's shape.  Those whose attributes
differ are all fired; of those that nothing tells apart, the first two and the last, and the rest if these did
not all do the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from spider.ajax.events import Event

__all__ = ["Samples"]

Outcome = tuple[object, ...]
_SAMPLES = 3


class Samples:
    """The groups of one state's events, and what their samples did."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Group the events; their numbers are their places in the list."""
        groups: dict[tuple[str, str], list[int]] = {}
        for number, event in enumerate(events):
            groups.setdefault((event.group, event.signature), []).append(number)
        self.first: list[int] = []
        self._rest: dict[int, list[int]] = {}
        self._outcomes: dict[int, dict[int, Outcome]] = {}
        self._group: dict[int, int] = {}
        for members in groups.values():
            key = members[0]
            chosen = members if len(members) <= _SAMPLES else [members[0], members[1], members[-1]]
            self.first.extend(chosen)
            self._group.update(dict.fromkeys(members, key))
            self._rest[key] = [number for number in members if number not in chosen]
        self.first.sort()

    def fired(self, number: int, outcome: Outcome) -> list[int]:
        """Note what an event did; return the events that have to be fired for it."""
        key = self._group[number]
        outcomes = self._outcomes.setdefault(key, {})
        outcomes[number] = outcome
        if len(set(outcomes.values())) < 2 or not self._rest[key]:  # noqa: PLR2004  # nothing differs
            return []
        rest, self._rest[key] = self._rest[key], []
        return rest
