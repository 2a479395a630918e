"""The one file that knows Playwright: find a browser, start it, give tabs.

All that is done in a page goes through CDP sessions, which know nothing of Playwright.  It is imported
when a browser is asked for, so that the spider does without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from spider.ajax.gate import Gate, Permit, Terms
from spider.ajax.shelf import Shelf
from spider.ajax.tab import Tab
from spider.errors import BrowserError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Dialog, Page, Playwright

__all__ = ["Browser", "find", "require", "unheard"]

_T = TypeVar("_T")

NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chrome", "chromium-browser")
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-site-isolation-trials",  # a frame of another site in the same process, so that the gate sees all
    "--autoplay-policy=user-gesture-required",
)
WALLED = (
    "--proxy-bypass-list=<-loopback>",  # a proxy leads to all machines, this one too
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # no name is looked up, no other way is found
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the headless shell's name for it
    "--disable-blink-features=SharedWorker,WebTransport,DirectSockets",  # these ask past the gate, or past the proxy
    "--dns-prefetch-disable",
)
"""What leaves a browser no way to the network but the proxy of each tab."""
NOWHERE = "http://127.0.0.1:9"  # the port that throws away what it is sent: for what belongs to no tab
MEMORY = "--js-flags=--max-old-space-size=512"  # MB that the scripts of one page may hold
CLOSING = 5.0  # seconds that a tab, or the browser, may take to close
_ALLOWS_POPUPS = "--disable-popup-blocking"  # Playwright's own; without it window.open is told and nothing opens
_HOW_TO = (
    "install one (apt-get install chromium, or playwright install chromium) or name it: --browser PATH, SPIDER_BROWSER"
)


def find(path: str | None = None) -> str | None:
    """Return the browser to start: the one named, SPIDER_BROWSER's, one on PATH; None for Playwright's own.

    BrowserError where the one that was named is no program.
    """
    for named, by in ((path, "--browser or SPIDER_BROWSER"), (os.environ.get("SPIDER_BROWSER"), "SPIDER_BROWSER")):
        if named:
            if shutil.which(named) is None:
                raise BrowserError(f"{by} names no program: {named}")
            return named
    return next((found for name in NAMES if (found := shutil.which(name)) and _is_browser(found)), None)


def _is_browser(program: str) -> bool:
    """Tell a browser from Ubuntu's stub, a script that only asks for a snap."""
    with contextlib.suppress(OSError), Path(program).open("rb") as stream:
        return b"snap install" not in stream.read(4096)
    return False


async def _playwright() -> Playwright:
    """Start Playwright; BrowserError where it is not installed."""
    try:
        from playwright.async_api import async_playwright  # noqa: PLC0415  # see the module's docstring
    except ImportError:
        raise BrowserError("Ajax needs Playwright: pip install 'multimedia-spider[ajax]'") from None
    return await async_playwright().start()


def _error() -> type[Any]:
    """Return Playwright's exception."""
    from playwright.async_api import Error  # noqa: PLC0415  # see the module's docstring

    return Error


async def _own() -> str:
    """Return where Playwright's own browser is, or would be."""
    playwright = await _playwright()
    try:
        return playwright.chromium.executable_path
    finally:
        await playwright.stop()


def require(path: str | None = None) -> None:
    """Raise the BrowserError that says how to get one, where there is no browser to start; start none."""
    if importlib.util.find_spec("playwright") is None:
        raise BrowserError("Ajax needs Playwright: pip install 'multimedia-spider[ajax]'")
    if find(path) is None and not Path(asyncio.run(_own())).is_file():
        raise BrowserError(f"no browser found; {_HOW_TO}")


class _Cdp:
    """A CDP session as `gate.Session` wants it."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session

    async def send(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401  # of each method its own
        try:
            got: dict[str, Any] = await self._session.send(method, parameters)
        except _error() as error:
            raise BrowserError(error.message.splitlines()[0]) from error
        return got

    def on(self, event: str, handler: Callable[[dict[str, Any]], None]) -> None:
        self._session.on(event, handler)


class Browser:
    """A browser that runs; each tab is a context of its own, with no cookies and no cache of others.

    ``with`` it lives in the thread that opened it, on an event loop of its own; who has a loop calls `start`
    and `stop`.
    """

    def __init__(self, path: str | None = None, *, agent: str | None = None, walled: bool = False) -> None:
        """`path` names the program; `agent` stands behind its own User-Agent.

        One that is `walled` has no way to the network but the proxy that each of its tabs is given.
        """
        self._path = path
        self._agent = agent
        self._walled = walled
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._playwright: Playwright | None = None
        self._browser: Any = None
        self._contexts: dict[Tab, BrowserContext] = {}

    def __enter__(self) -> Self:
        """Start it; BrowserError, with how to get one, where there is none or it does not start."""
        try:
            self.run(self.start())
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do work on the browser's event loop; asyncio.CancelledError where it is interrupted."""
        task: asyncio.Task[_T] = self._loop.create_task(work)
        self._task = task
        return self._loop.run_until_complete(task)

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._own_loop is None:
            self._own_loop = asyncio.new_event_loop()
            self._own_loop.set_exception_handler(unheard)
        return self._own_loop

    def interrupt(self) -> None:
        """End the work that is being done; to be called from a signal's handler or from another thread."""
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def start(self) -> None:
        """Start it; BrowserError, with how to get one, where there is none or it does not start."""
        program = find(self._path)
        self._playwright = await _playwright()
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=program,
                args=[*FLAGS, MEMORY, *(WALLED if self._walled else ()), *(("--no-sandbox",) if root else ())],
                ignore_default_args=[_ALLOWS_POPUPS],
                proxy={"server": NOWHERE} if self._walled else None,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except _error() as error:
            if program is None:
                raise BrowserError(f"no browser found; {_HOW_TO}") from None
            first = next((line for line in error.message.splitlines() if line.strip()), "no reason given")
            raise BrowserError(f"{program} does not start: {first.strip()}; {_HOW_TO}") from None

    @property
    def lives(self) -> bool:
        """Whether it runs, as far as is known."""
        return self._browser is not None and bool(self._browser.is_connected())

    async def tab(
        self, permit: Permit, terms: Terms | None = None, *, shelf: Shelf | None = None, proxy: str | None = None
    ) -> Tab:  # fmt: skip
        """Open a tab in a context of its own; BrowserError where the browser is gone and does not start again.

        Its gate keeps answers on `shelf`; all that it asks for goes through `proxy`, an address.
        """
        try:
            if not self.lives:
                await self.stop()
                await self.start()
            context = await self._browser.new_context(
                accept_downloads=False,
                service_workers="block",
                permissions=["local-network-access"],  # whom to ask is the gate's and the proxy's to say
                user_agent=self._user_agent(),
                proxy={"server": proxy, "bypass": "<-loopback>"} if proxy else None,
            )
            page = await context.new_page()
            session = _Cdp(await context.new_cdp_session(page))
        except _error() as error:
            raise BrowserError(error.message.splitlines()[0]) from error
        tab = Tab(session, Gate(session, permit, terms or Terms(), shelf))
        self._contexts[tab] = context
        page.on("dialog", lambda dialog: asyncio.ensure_future(_answer(dialog, tab, session)))
        context.on("page", lambda other: asyncio.ensure_future(_shut(other)))
        await tab.open()
        return tab

    def _user_agent(self) -> str | None:
        """Return Chrome's User-Agent with who we are behind it, as search engines write it."""
        if self._agent is None:
            return None
        major = self._browser.version.partition(".")[0]
        engine = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
        return f"{engine} Chrome/{major}.0.0.0 Safari/537.36 {self._agent}"

    async def discard(self, tab: Tab) -> None:
        """Close a tab, whatever state it is in."""
        context = self._contexts.pop(tab, None)
        await tab.close()
        if context is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(context.close(), CLOSING)

    async def stop(self) -> None:
        """End it, whatever state it is in; it can be started again."""
        for tab in list(self._contexts):
            await self.discard(tab)
        if self._browser is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._browser.close(), CLOSING)
        if self._playwright is not None:
            with contextlib.suppress(Exception):
                await self._playwright.stop()
        self._browser = self._playwright = None

    def close(self) -> None:
        """End the browser and its loop; nothing is left running."""
        if self._loop.is_closed():
            return
        self.run(self.stop())
        rest = asyncio.all_tasks(self._loop)
        for task in rest:
            task.cancel()
        self.run(_gathered(rest))
        self._loop.close()


def unheard(_loop: asyncio.AbstractEventLoop, _context: dict[str, Any]) -> None:
    """Say nothing of what failed where nobody waits any more: a page that is gone answers nothing."""


async def _gathered(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


async def _answer(dialog: Dialog, tab: Tab, session: _Cdp) -> None:
    """Answer a dialog as someone in a hurry would; end the script of one that opens them without end."""
    with contextlib.suppress(Exception):
        if tab.dialog():
            await session.send("Runtime.terminateExecution")
        await dialog.accept(dialog.default_value)


async def _shut(page: Page) -> None:
    """Close a page that opened in spite of all."""
    with contextlib.suppress(Exception):
        await page.close()
