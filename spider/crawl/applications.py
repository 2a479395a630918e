"""Which pages are explored in a browser, and what that adds to what was read of them.

Runs in the threads of a worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeVar

from spider import url as urls
from spider.ajax import Application, Limits, Terms, looks, poor
from spider.crawl.clock import Clock
from spider.crawl.passage import Passage, Pauses, Rulings, Shared
from spider.crawl.permit import Gate
from spider.crawl.plan import Plan
from spider.crawl.render import Renderer, Task
from spider.crawl.scope import Judge
from spider.errors import BrowserError, FetchError
from spider.fetch import Client, Pace, retry_after
from spider.model import Link, Media, Page, Reason, Relation, Request, Response, Source
from spider.states import PLANS, Rendering, StateGraph

__all__ = ["Applications", "merged"]

Away = Callable[[], AbstractContextManager[None]]

UNKNOWN = "unknown"
"""The name under which a page goes that leaves all to scripts of which none is known."""
WEB = ("http://", "https://")
Shown = TypeVar("Shown", Link, Media)
SHOWN = Source("script", "navigation")
AROUND = 1  # events that an application is explored far from its second address on
MOST_SHELLS = 10_000  # documents that are remembered
MOST_EDGES = 20_000  # of a page's graph are kept
MOST_RESOURCES = 5_000


class Applications:
    """The plan's word on applications: never, auto or always."""

    def __init__(
        self, plan: Plan, client: Client, gate: Gate, judge: Callable[[], Judge], *, clock: Clock, away: Away
    ) -> None:  # fmt: skip
        """Start nothing yet.  `away` is where a thread is while it waits for an exploration."""
        self._renderer = None if plan.ajax == "never" else Renderer(plan, client)
        self._level = PLANS.index(plan.ajax)
        self._away = away
        self._limits = Limits(plan.ajax_depth, plan.ajax_states, seconds=plan.ajax_time)
        self._shells: set[tuple[str, int]] = set()
        self._plan, self._client, self._gate, self._judge = plan, client, gate, judge
        pauses = Pauses(clock, Pace(plan.delay, cap=plan.longest_delay), plan.per_host)
        self._shared = Shared(Rulings(client, clock), pauses)
        self._terms = Terms(max_size=plan.max_size, deadline=plan.deadline, turns=pauses, headers=client.headers_for)

    @property
    def error(self) -> BrowserError | None:
        """Why there is no browser to be had, where one was wanted."""
        return None if self._renderer is None else self._renderer.error

    def hurry(self) -> None:
        """Break off what is being explored."""
        if self._renderer is not None:
            self._renderer.hurry()

    def close(self) -> None:
        """End the browser, where there is one."""
        if self._renderer is not None:
            self._renderer.close()

    def read(self, request: Request, response: Response, page: Page, pace: Pace) -> tuple[Page, Rendering]:
        """Return what is known of a page, explored where the plan wants it; `pace` is that of its host.

        A page that cannot be explored is what its document says, with a note; FetchError (browser) where the browser
        died, so that another try may help; CancelledError where the crawl is stopping.
        """
        names = looks(page, response.body)
        renderer = self._renderer
        if renderer is None:
            return page, Rendering(names, plan=self._level)
        guard = self._client.guard_of(urls.host(request.url))
        passage = Passage(request, self._gate, self._judge, guard=guard, shared=self._shared)
        task = Task(request, response, page, passage, self._terms, self._limits)
        names = names or self._names(task)
        if not self._is_wanted(task, names):
            return page, Rendering(names, plan=self._level)
        asked = retry_after(response.headers.get("retry-after"), time.time())
        self._shared.pauses.know(
            urls.host(request.url), pace.after(response.status, response.latency), pace.wait(asked)
        )
        try:
            with self._away():
                found = renderer.explore(self._shorter(task))
            whole, rendering = merged(page, found, names, self._judge().ladder)
            return whole, replace(rendering, plan=self._level)
        except FetchError as error:
            if error.reason == Reason.BROWSER and request.attempt <= self._plan.retries:
                raise
            note = f"ajax-{error.reason}: not explored, {error.message}"
            return replace(page, notes=(*page.notes, note)), Rendering(names, plan=self._level)

    def _shorter(self, task: Task) -> Task:
        """Explore an application from all of its addresses, but from the second on only one event far.

        The documents of its routes are one: what lies farther was reached from the first.
        """
        shell = urls.host(task.request.url), hash(task.response.body)
        if shell in self._shells:
            return replace(task, limits=replace(self._limits, depth=min(AROUND, self._limits.depth)))
        if len(self._shells) >= MOST_SHELLS:
            self._shells.clear()
        self._shells.add(shell)
        return task

    def _names(self, task: Task) -> tuple[str, ...]:
        """Tell what makes a page that says little an application: its scripts are asked for only where that counts."""
        why = None
        if self._renderer is not None and self._plan.ajax == "auto":
            why = poor(task.page, task.response.body)
        if self._renderer is None or why is None:
            return ()
        scripted = bool(task.page.scripts or task.page.inline_scripts)
        return self._renderer.names(task) or ((UNKNOWN,) if why == "mount" and scripted else ())

    def _is_wanted(self, task: Task, names: tuple[str, ...]) -> bool:
        """Say whether a page is to be explored: each, or one that says little and is an application."""
        if self._renderer is None or self._renderer.error is not None:
            return False
        return self._plan.ajax == "always" or (bool(names) and poor(task.page, task.response.body) is not None)


def merged(page: Page, found: Application, names: tuple[str, ...], ladder: str) -> tuple[Page, Rendering]:
    """Add what an application's states show to what its document does.

    A medium that the document does not show needs the first state that does.  Each is known by its key's hash, by
    the `ladder` of the crawl.
    """
    known = {link.url for link in page.links}
    links = [_marked(link, ladder) for url, link in found.found.items() if url not in known]
    known |= found.found.keys()
    links += [
        _link(page.url, url, text, ladder)
        for url, text in found.links.items()
        if url not in known and url.startswith(WEB)
    ]
    held = {medium.h for medium in page.media}
    shown = (_marked(medium, ladder) for medium in found.media.values())
    media = [medium for medium in shown if medium.h not in held]
    notes = (f"ajax-{found.ended}: the exploration was cut short",) if found.ended else ()
    whole = replace(
        page,
        links=(*page.links, *links),
        media=(*page.media, *media),
        feeds=tuple(dict.fromkeys((*page.feeds, *found.feeds))),
        robots=page.robots | found.robots.keys(),
        notes=(*page.notes, *notes),
    )
    graph = found.graph
    graph = StateGraph(graph.states, graph.transitions[:MOST_EDGES], graph.resources[:MOST_RESOURCES])
    return whole, Rendering(names, graph, {medium.h: found.state_of[medium.url] for medium in media})


def _marked(found: Shown, ladder: str) -> Shown:
    """Give what a state shows the hash that a ladder makes of it."""
    return replace(found, h=urls.identify(found.url, ladder=ladder))


def _link(page: str, url: str, text: str, ladder: str) -> Link:
    """Return a link to where an application wanted to go."""
    return Link(url, urls.identify(url, ladder=ladder), SHOWN, Relation(urls.relation(page, url)), text)
