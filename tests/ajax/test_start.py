"""Laws of the start: it is given half a minute of its own time, and what it changes by itself makes no states."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from spider.ajax import Application
from tests.ajax.conftest import Explore
from tests.replies import Asked, Reply

Read = Callable[[str], Application]


@pytest.fixture
def read(explore: Explore) -> Read:
    """Give a function that explores a page, given as HTML."""

    def explored(html: str) -> Application:
        def content(asked: Asked) -> Reply | None:
            return Reply(html) if asked.path == "/" else Reply("{}", type="application/json")

        return explore(content).application

    return explored


@pytest.mark.parametrize("seconds", [7, 12, 25])
def test_late_timers(read: Read, seconds: int) -> None:
    """What a timer brings within half a minute is found, costs milliseconds, and makes no state."""
    show = "fetch('/late').then(() => document.body.append(document.createElement('form')))"
    found = read(f"<body>x<script>setTimeout(() => {show}, {seconds}e3)</script>")
    assert [url.rpartition("/")[2] for _, url in found.resources] == ["late"]
    assert len(found.states) == 1
    assert found.seconds < seconds + 30


def test_polling_is_not_waited_for(read: Read) -> None:
    """A page that asks again and again is let go at the first time."""
    found = read("<body>x<script>let n = 0; setInterval(() => fetch('/poll?n=' + ++n), 1000)</script>")
    assert len(found.resources) < 12


def test_chance_makes_no_states(read: Read) -> None:
    """Attributes drawn by chance at each event make no states, and what a true one shows is that one's."""
    found = read(
        "<body><p id=p>x</p><button id=a>a</button><button id=b>b</button><script>"
        "const shake = () => { p.dataset.x = 'v' + String.fromCharCode(97 + Math.random() * 26) + Math.random() };"
        "shake(); a.onclick = shake; b.onclick = () => { shake(); document.body.insertAdjacentHTML('beforeend',"
        "'<video src=/found.mp4></video>'); b.onclick = null }</script>"
    )
    assert sorted(state.depth for state in found.states) == [0, 1]
    assert list(found.state_of.values()) == [1]
