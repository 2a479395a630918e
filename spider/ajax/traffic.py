"""What a page asked of the network, and where it wanted to go: the log of a tab, as values."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl

from spider.ajax.shelf import Answer

__all__ = ["Asked", "Left", "Traffic", "body_shape"]

_MOST_NAMES = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a page: method, address, kind (xhr, fetch, script, websocket …), and how it was answered.

    `status` None: it was not sent (`refused` names the rule) or has no answer yet.
    """

    method: str
    url: str
    kind: str
    body_shape: str | None = None
    status: int | None = None
    mime: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """One try to leave the page: a navigation, a popup, a download; it was caught, and the page stays."""

    url: str
    how: str
    method: str = "GET"


@dataclass(slots=True)
class Traffic:
    """The log: what was asked since it was last taken, and what is under way.

    `answers` are the last answer of each address, `strings` the global variables of the page's scripts that
    are addresses, or may be; `heard` counts messages of streams, those of `connecting` have no answer yet;
    `unasked` are images and their like, which are not loaded, each with its kind, and routes in fragments.
    """

    asked: dict[str, Asked] = field(default_factory=dict)
    left: dict[Left, None] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    under_way: set[str] = field(default_factory=set)
    streams: set[str] = field(default_factory=set)
    connecting: set[str] = field(default_factory=set)
    answers: dict[str, Answer] = field(default_factory=dict)
    strings: dict[str, None] = field(default_factory=dict)
    unasked: dict[str, str] = field(default_factory=dict)
    heard: int = 0
    dialogs: int = 0

    def begin(self, stream: str) -> None:
        """Write down that a stream was asked for."""
        self.streams.add(stream)
        self.connecting.add(stream)

    def close(self, stream: str) -> None:
        """Write down that a stream is no more."""
        self.streams.discard(stream)
        self.connecting.discard(stream)

    def take(self) -> tuple[tuple[Asked, ...], tuple[Left, ...], frozenset[str]]:
        """Return the log and begin a new one; requests under way stay known."""
        taken = tuple(self.asked.values()), tuple(self.left), frozenset(self.marks)
        self.asked = {}
        self.left, self.marks, self.dialogs = {}, set(), 0
        return taken

    def ask(self, number: str, asked: Asked) -> None:
        """Write down a request."""
        self.asked[number] = asked

    def answer(self, number: str, status: int, mime: str) -> None:
        """Write down the answer to a request."""
        if number in self.asked:
            self.asked[number] = replace(self.asked[number], status=status, mime=mime or None)

    def refuse(self, number: str, rule: str) -> None:
        """Write down that a request was not sent."""
        if number in self.asked:
            self.asked[number] = replace(self.asked[number], refused=rule)


def body_shape(body: str | None, content_type: str) -> str | None:
    """Return the names in a request's body without their values, sorted; None for no body, "" where none is known."""
    if not body:
        return None
    if "json" in content_type or body[:1] in "{[":
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return ""
        return " ".join(sorted(map(str, value))[:_MOST_NAMES]) if isinstance(value, dict) else ""
    if "multipart" in content_type:
        names = re.findall(r'name="([^"\r\n]{1,100})"', body[:100_000])
        return " ".join(sorted(set(names))[:_MOST_NAMES])
    try:
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return ""
    return " ".join(sorted({name for name, _ in pairs})[:_MOST_NAMES])
