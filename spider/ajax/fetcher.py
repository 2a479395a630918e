"""A browser is a fetcher: one response for each state of an application, the HTML that the state shows.

So what lies behind a click is read, judged and stored like any page.  What else was found, resources and
the graph, is the `application` of the last fetch.
"""

from __future__ import annotations

from collections.abc import Iterator

from spider.ajax.application import Application, Limits
from spider.ajax.browser import Browser
from spider.ajax.explorer import Explorer, Ways
from spider.ajax.gate import Permit, Terms
from spider.ajax.shelf import Shelf
from spider.ajax.tab import Tab
from spider.errors import FetchError
from spider.model import Reason, Request, Response

__all__ = ["AjaxFetcher"]

_HEADERS = {"content-type": "text/html; charset=utf-8"}


class AjaxFetcher:
    """Explores what it is asked for; keeps `model.Fetcher`.  To be used in the thread that opened the browser."""

    def __init__(
        self,
        browser: Browser,
        permit: Permit,
        *,
        limits: Limits | None = None,
        terms: Terms | None = None,
        ways: Ways | None = None,
        shelf: Shelf | None = None,
        proxy: str | None = None,
    ) -> None:
        """`permit` is asked before each request of the browser; all of them go by way of `proxy`.

        What was answered before may lie on `shelf`: a page that does is not asked for.
        """
        self.application: Application | None = None
        self._browser, self._permit = browser, permit
        self._limits, self._terms, self._ways = limits, terms or Terms(), ways
        self._shelf, self._proxy = shelf or Shelf(), proxy

    async def explore(self, url: str) -> Application:
        """Explore the application at an address, on the browser's own loop; FetchError where it does not load."""
        explorer = Explorer(url, self._tab, self._browser.discard, limits=self._limits, ways=self._ways)
        return await explorer.explore()

    async def _tab(self) -> Tab:
        return await self._browser.tab(self._permit, self._terms, shelf=self._shelf, proxy=self._proxy)

    def fetch(self, request: Request) -> Iterator[Response]:
        """Yield the states of an application, the start first; FetchError where it does not load."""
        found = self.application = self._browser.run(self.explore(request.url))
        if not found.pages:
            raise FetchError(Reason.CONTENT, f"{request.url} shows nothing")
        for state, page in sorted(found.pages.items()):
            body = page.encode("utf-8", "replace")[: self._terms.max_size]
            yield Response(
                request,
                found.states[state].url.partition("#")[0],
                found.status,
                _HEADERS,
                body,
                truncated=len(body) == self._terms.max_size,
                elapsed=found.seconds,
                size=len(body),
            )
