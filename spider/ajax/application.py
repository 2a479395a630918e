"""What exploring one application gives: values, ready for tables, files and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spider.model import Link, Media
from spider.page import mentions
from spider.states import Resource, State, StateGraph, Transition

__all__ = ["Application", "Document", "Limits", "Resource", "State", "Transition"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to go: depth of states, states, events fired, events of one state, seconds."""

    depth: int = 5
    states: int = 500
    events: int = 5_000
    per_state: int = 400
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Document:
    """One document as it came, or as a state shows it."""

    body: bytes
    url: str
    mime: str | None
    headers: Mapping[str, str]


@dataclass(slots=True)
class Application:
    """All that was found, and what it cost.

    `pages` are the states' HTML, `status` is the start's.  `routes` are addresses with fragments, and others
    that no page's reading tells; `documents` are what was read, for `mentions`; `robots` the
    start's own directives, those that its scripts wrote among them.  `left_out` counts events that
    were not fired since they commute with others; `notes` say what was cut short; `ended` is the limit that ended it,
    None where all was done.
    """

    url: str
    states: list[State] = field(default_factory=list)
    transitions: list[Transition] = field(default_factory=list)
    resources: dict[tuple[str, str], Resource] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    media: dict[str, Media] = field(default_factory=dict)
    found: dict[str, Link] = field(default_factory=dict)
    state_of: dict[str, int] = field(default_factory=dict)
    routes: dict[str, Link] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    feeds: dict[str, None] = field(default_factory=dict)
    scripts: dict[str, None] = field(default_factory=dict)
    robots: dict[str, None] = field(default_factory=dict)
    pages: dict[int, str] = field(default_factory=dict)
    status: int = 200
    notes: list[str] = field(default_factory=list)
    ended: str | None = None
    loads: int = 0
    fired: int = 0
    left_out: int = 0
    sent: int = 0
    seconds: float = 0.0

    def mentions(self) -> dict[str, Link]:
        """Return the addresses that are named where no reader is led, in states, scripts, styles and answers.

        They are looked for when they are asked for (`spider.page.mentions`).
        """
        found = dict(self.routes)
        for one in self.documents:
            for link in mentions(one.body, one.url, content_type=one.mime, headers=one.headers):
                found.setdefault(link.url, link)
        return found

    @property
    def graph(self) -> StateGraph:
        """The graph alone, as the database keeps it."""
        return StateGraph(tuple(self.states), tuple(self.transitions), tuple(self.resources.values()))
