"""Laws of the browser as a fetcher: a response a state, read as any page is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spider.ajax import AjaxFetcher, Browser
from spider.errors import FetchError
from spider.model import Fetcher, Request
from spider.page import read
from tests.ajax.conftest import SKIP, accept, content
from tests.server import WebServer


def test_a_response_a_state(browser: Browser, web: Callable[..., WebServer]) -> None:
    """Media behind a click come in the response of the state that shows them, with the page's own reading."""
    server = web(content, per_host=64, skip=SKIP)
    fetcher = AjaxFetcher(browser, accept)
    as_any: Fetcher = fetcher
    request = Request(f"{server.url}slow.html")
    responses = list(as_any.fetch(request))
    assert [(one.url, one.status, one.request) for one in responses] == [(request.url, 200, request)] * 2
    pages = [read(one.body, one.url, content_type=one.headers["content-type"]) for one in responses]
    sure = [[medium.url for medium in page.media if medium.confidence == "element"] for page in pages]
    assert sure == [[], [f"{server.url}media/late.mp4"]]
    assert fetcher.application is not None
    assert len(fetcher.application.resources) == 3


def test_status_is_the_server_s(browser: Browser, web: Callable[..., WebServer]) -> None:
    """A page that is not there is one state with its status; a server that is not there is an error."""
    server = web(content, per_host=64, skip=SKIP)
    assert [one.status for one in AjaxFetcher(browser, accept).fetch(Request(f"{server.url}nothing"))] == [404]
    server.close()
    with pytest.raises(FetchError):
        list(AjaxFetcher(browser, accept).fetch(Request(f"{server.url}slow.html")))
