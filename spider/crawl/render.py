"""The worker's browser: pages that are applications are explored in it, a few at a time.

It is started when the first page wants it, in a thread of its own, and started anew after it died or has
served for long.  Who wants a page explored waits for it; each page has a context, a gate and a proxy of its
own, so that no page reaches what another may.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any, TypeVar

from spider import url as urls
from spider.ajax import (
    ASSET,
    LOAD,
    PLAIN,
    Ajax,
    Answer,
    Application,
    Browser,
    Explorer,
    Limits,
    Script,
    Shelf,
    Terms,
    fingerprint,
    unheard,
)
from spider.crawl.passage import Passage
from spider.crawl.plan import Plan
from spider.errors import BrowserError, FetchError
from spider.fetch import Client, GuardedProxy, every_type
from spider.model import Page, Reason, Request, Response

__all__ = ["Renderer", "Task"]

TABS = 2  # pages that are explored at once: more only wait for each other
RENEWED = 100  # explorations after which the browser is started anew, since it forgets little
SCRIPTS = 8  # of a page are read to tell whether it is an application
LATE = 60.0  # seconds beyond the limit after which an exploration is given up
BREATH = 0.3  # seconds in which a stop may come that ended the browser too
ASSETS = 16_000_000  # characters of scripts and styles that are kept for all pages of a seed
SHELVES = 8  # seeds for whose pages they are kept
MOST_SCRIPTS = 10_000  # of which it is known what they are
OK = 200
_CODINGS = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Task:
    """A page to explore: the request, the response and the page read of it; what it may ask, and how far to go."""

    request: Request
    response: Response
    page: Page
    passage: Passage
    terms: Terms
    limits: Limits


class Renderer:
    """Explores pages; every method but the coroutines may be called from any thread.

    `error` is set where there is no browser to be had; no page is explored then.
    """

    def __init__(self, plan: Plan, client: Client) -> None:
        """Start nothing yet."""
        self.error: BrowserError | None = None
        self._plan, self._client = plan, client
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._open: set[Future[Any]] = set()
        self._ending = False
        self._browser: Browser | None = None
        self._seats = asyncio.Semaphore(TABS)
        self._starting = asyncio.Lock()
        self._empty = asyncio.Event()
        self._tabs = self._served = 0
        self._shelves: dict[int, Shelf] = {}
        self._known: dict[str, tuple[str, ...]] = {}

    # --- from any thread --------------------------------------------------------------------------

    def explore(self, task: Task) -> Application:
        """Explore a page and wait for it.

        FetchError where it does not come to rest, or (browser) where the browser died meanwhile;
        CancelledError where the crawl is stopping.
        """
        return self._do(self._explored(task))

    def names(self, task: Task) -> tuple[str, ...]:
        """Tell by the scripts that a page links to what makes it an application; nothing where it is none.

        Each script is read once a crawl.
        """
        found = dict.fromkeys(name for url in task.page.scripts[:SCRIPTS] for name in self._names_of(url, task))
        libraries = tuple(name for name in found if name != PLAIN)
        return libraries or tuple(found)

    def hurry(self) -> None:
        """Break off what is being explored, and begin nothing more: it is not done, and will be begun again."""
        with self._lock:
            self._ending = True
            for future in self._open:
                future.cancel()

    def close(self) -> None:
        """End the browser; nothing of it is left running."""
        self.hurry()
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            with contextlib.suppress(RuntimeError, TimeoutError):
                asyncio.run_coroutine_threadsafe(self._stop(), loop).result(15)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(5)

    def _do(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do work on the browser's loop and wait for it."""
        with self._lock:
            if self._ending:
                work.close()
                raise CancelledError
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), daemon=True, name="browser")
                self._thread.start()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._open.add(future)
        try:
            return future.result()
        finally:
            with self._lock:
                self._open.discard(future)

    def _names_of(self, url: str, task: Task) -> tuple[str, ...]:
        """Read a script, and tell which libraries it is, or that it asks for things itself; keep it for the browser."""
        if url in self._known:
            return self._known[url]
        names: tuple[str, ...] = ()
        if task.passage.permits_asset(url):
            with contextlib.suppress(FetchError):
                response = self._client.get(Request(url, referrer=task.page.url), reads=every_type)
                if response.status == OK:
                    names = _told(url, response)
                    if not response.truncated and urls.host(url) == urls.host(task.page.url):
                        self._shelf_of(task.request.seed_id).keep(ASSET, url, _answer(response))
        if len(self._known) >= MOST_SCRIPTS:
            self._known.clear()
        self._known[url] = names
        return names

    # --- on the browser's loop --------------------------------------------------------------------

    async def _explored(self, task: Task) -> Application:
        async with self._seats:
            with self._client.proxy(task.passage.guard, task.passage) as proxy:
                try:
                    browser = await self._enter()
                    try:
                        return await asyncio.wait_for(self._run(task, browser, proxy), task.limits.seconds + LATE)
                    finally:
                        self._leave()
                except TimeoutError:
                    self._served = RENEWED  # it may be the browser that does not answer
                    raise FetchError(Reason.DEADLINE, "the exploration has no end") from None
                except BrowserError as error:
                    await asyncio.sleep(BREATH)
                    raise FetchError(Reason.BROWSER, f"the browser died: {error}") from error

    async def _run(self, task: Task, browser: Browser, proxy: GuardedProxy) -> Application:
        shelf = Shelf(self._shelf_of(task.request.seed_id))
        shelf.keep(LOAD, task.request.url, _answer(task.response))
        opened: list[int] = []

        async def tab() -> Any:  # noqa: ANN401  # a tab is the browser's own
            # A browser that died is no reason to go on as if nothing had been: what it was at is unknown.
            if opened and (browser is not self._browser or not browser.lives):
                raise BrowserError("it is gone")
            opened.append(1)
            return await browser.tab(task.passage.permit, task.terms, shelf=shelf, proxy=proxy.url)

        return await Explorer(task.request.url, tab, browser.discard, limits=task.limits).explore()

    async def _enter(self) -> Browser:
        """Return a browser that runs: a new one where there is none, or the old one has served its time."""
        async with self._starting:
            if self._served >= RENEWED:
                await self._empty.wait()
            if self._browser is not None and (self._served >= RENEWED or not self._browser.lives):
                old, self._browser = self._browser, None
                await old.stop()
            if self._browser is None:
                self._browser, self._served = await self._started(), 0
            self._tabs += 1
            self._empty.clear()
            return self._browser

    def _leave(self) -> None:
        self._tabs -= 1
        self._served += 1
        if not self._tabs:
            self._empty.set()

    async def _started(self) -> Browser:
        fresh = Browser(self._plan.browser, agent=self._client.settings.user_agent, walled=True)
        try:
            await fresh.start()
        except BrowserError as error:
            self.error = error
            await fresh.stop()
            raise
        return fresh

    def _shelf_of(self, seed_id: int) -> Shelf:
        """Return the scripts and styles that a seed's pages share."""
        with self._lock:
            shelf = self._shelves.pop(seed_id, None) or Shelf(most=ASSETS)
            while len(self._shelves) >= SHELVES:
                del self._shelves[next(iter(self._shelves))]  # of the seed that was longest not asked for
            self._shelves[seed_id] = shelf
            return shelf

    async def _stop(self) -> None:
        if self._browser is not None:
            await self._browser.stop()
            self._browser = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run a loop until it is stopped, and clear up behind it."""
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(unheard)
    loop.run_forever()
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def _told(url: str, response: Response) -> tuple[str, ...]:
    """Return what a script is by its fingerprint."""
    found = fingerprint([], [Script(url, response.body.decode("utf-8", "replace"))])
    if found.ajax is Ajax.NONE:
        return ()
    return tuple(library.name for library in found.libraries) or (PLAIN,)


def _answer(response: Response) -> Answer:
    """Return a response as the browser is to be given it: as it came, but decoded."""
    headers = tuple(
        (name, value.replace("\n", ", ")) for name, value in response.headers.items() if name not in _CODINGS
    )
    return Answer(response.status, headers, base64.b64encode(response.body).decode("ascii"))
