"""What the tests of this room share: a client in a hurry, and one response from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from spider.fetch import Client, ClientSettings
from spider.model import Request, Response
from tests.fetch.proxy import StubProxy


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    """Give a function that makes a client, by default an impatient one; all are closed at the end."""
    clients: list[Client] = []

    def make(**settings: Any) -> Client:  # noqa: ANN401  # the settings'
        clients.append(Client(ClientSettings(**{"timeout": 1.0, "deadline": 2.0} | settings)))
        return clients[-1]

    yield make
    for one in clients:
        one.close()


@pytest.fixture
def get(client: Callable[..., Client]) -> Callable[..., Response]:
    """Give a function that asks one address with a client of its own."""

    def ask(url: str, headers: dict[str, str] | None = None, **settings: Any) -> Response:  # noqa: ANN401
        with client(**settings) as one:
            (response,) = one.fetch(Request(url, headers=headers or {}))
            return response

    return ask


@pytest.fixture
def proxy() -> Iterator[Callable[..., StubProxy]]:
    """Give a function that starts a proxy; all are closed at the end."""
    proxies: list[StubProxy] = []

    def start(**options: Any) -> StubProxy:  # noqa: ANN401  # its own
        proxies.append(StubProxy(**options))
        return proxies[-1]

    yield start
    for one in proxies:
        one.close()
