"""What a page in the browser may ask for, and when: the gate before the browser.

Documents and what scripts ask for obey the page's scope, robots.txt and the pace of each host; scripts and
styles obey the guard alone.  What gets past the browser's own gate, such as a socket, meets `admits` in the
proxy.  All but `admits` runs on the browser's event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from spider import url as urls
from spider.crawl.clock import Clock
from spider.crawl.permit import Gate
from spider.crawl.scope import Judge
from spider.errors import InvalidURL
from spider.fetch import Access, Client, Guard, Pace, Ruling, ask, robots_url
from spider.model import Purpose, Rejected, Request, Verdict
from spider.settings import AGENT_TOKEN

__all__ = ["Passage", "Pauses", "Rulings", "Shared"]

DAY = 24 * 3600.0
UNREACHABLE_FOR = 60.0


class Rulings:
    """robots.txt of the origins that browsers ask and this worker holds no host of; each is asked for once a day."""

    def __init__(self, client: Client, clock: Clock) -> None:
        """Know nothing yet."""
        self._client, self._clock = client, clock
        self._known: dict[str, tuple[Ruling, float]] = {}
        self._asking: dict[str, asyncio.Future[Ruling]] = {}

    async def of(self, url: str) -> Ruling:
        """Return what holds for an address; two that want to know at once ask once."""
        place, now = robots_url(url), self._clock.steady()
        known = self._known.get(place)
        if known is not None and known[1] > now:
            return known[0]
        if place not in self._asking:
            loop = asyncio.get_running_loop()
            self._asking[place] = loop.run_in_executor(None, ask, self._client.whole, url)
        try:
            ruling = await asyncio.shield(self._asking[place])
        finally:
            self._asking.pop(place, None)
        lasts = UNREACHABLE_FOR if ruling.access is Access.DISALLOW else DAY
        self._known[place] = ruling, now + lasts
        return ruling


@dataclass(slots=True)
class _Place:
    """One host: its pace, when it may be asked again (steady seconds), its seats."""

    pace: Pace
    seats: asyncio.Semaphore
    due: float = 0.0


@dataclass(slots=True)
class Pauses:
    """When each host may be asked by a browser; keeps `ajax.Turns`.

    As many requests at once as the host may have connections, and behind each the pause that its pace asks for.
    """

    clock: Clock
    pace: Pace
    per_host: int = 1
    _places: dict[str, _Place] = field(default_factory=dict)

    def know(self, host: str, pace: Pace, pause: float) -> None:
        """Take over the pace of a host that was just asked; not before `pause` seconds it is asked again."""
        place = self._place(host)
        place.pace, place.due = pace, max(place.due, self.clock.steady() + pause)

    async def begin(self, url: str) -> None:
        """Wait until the host of an address may be asked."""
        place = self._place(urls.host(url))
        await place.seats.acquire()
        try:
            await asyncio.sleep(max(0.0, place.due - self.clock.steady()))
        except BaseException:
            place.seats.release()
            raise

    def end(self, url: str, status: int, seconds: float) -> None:
        """Let the next one ask, after the pause."""
        place = self._place(urls.host(url))
        if status:
            place.pace = place.pace.after(status, seconds)
        place.due = max(place.due, self.clock.steady() + place.pace.wait())
        place.seats.release()

    def slow(self, host: str, crawl_delay: float | None) -> None:
        """Let a host's Crawl-delay count."""
        if crawl_delay is not None:
            place = self._place(host)
            place.pace = replace(place.pace, crawl_delay=crawl_delay)

    def _place(self, host: str) -> _Place:
        if host not in self._places:
            self._places[host] = _Place(self.pace, asyncio.Semaphore(self.per_host))
        return self._places[host]


@dataclass(frozen=True, slots=True)
class Shared:
    """What all pages of a worker's browser share: what is known of robots.txt, and when each host may be asked."""

    rulings: Rulings
    pauses: Pauses


class Passage:
    """The verdicts on what one page asks for."""

    def __init__(
        self, request: Request, gate: Gate, judge: Callable[[], Judge], *, guard: Guard, shared: Shared
    ) -> None:
        """`request` is the page's own; `guard` is its proxy's, too."""
        self.guard = guard
        self._request, self._gate, self._judge = request, gate, judge
        self._shared = shared
        self._passed: set[tuple[str, int]] = set()

    async def permit(self, url: str, purpose: Purpose) -> Verdict:
        """Say whether the page may ask for an address; an origin's robots.txt is asked for first."""
        plain = url.partition("#")[0]
        verdict = self._at_once(plain, purpose)
        if isinstance(verdict, Rejected) and verdict.rule == "robots-unknown":
            ruling = await self._shared.rulings.of(plain)
            verdict = self._gate.by(ruling, plain)
            self._shared.pauses.slow(urls.host(plain), ruling.robots.crawl_delay(AGENT_TOKEN))
        if not isinstance(verdict, Rejected):
            self._passed.add(_place(plain))
        return verdict

    def permits_asset(self, url: str) -> bool:
        """Say whether a script of the page may be asked for."""
        return not isinstance(self._at_once(url, Purpose.ASSET), Rejected)

    def _at_once(self, url: str, purpose: Purpose) -> Verdict:
        """Judge by what is known."""
        verdict = self.guard.url(url)
        if isinstance(verdict, Rejected):
            return verdict
        if purpose is not Purpose.ASSET:
            request = self._request
            verdict = self._judge().judge(url, request.url, seed_id=request.seed_id, depth=request.depth)
        return verdict if isinstance(verdict, Rejected) else self._gate.permit(url, purpose)

    def admits(self, host: str, port: int) -> bool:
        """Say whether a host may be spoken to: one that the gate let through, or that is in scope as a whole.

        To be asked from any thread.
        """
        if (host, port) in self._passed:
            return True
        name = f"[{host}]" if ":" in host else host
        try:
            root = urls.normalize(f"https://{name}:{port}/")
        except InvalidURL:
            return False
        verdict = self._at_once(root, Purpose.XHR)
        return not isinstance(verdict, Rejected) or verdict.rule == "robots-unknown"

    def admits_socket(self, url: str) -> bool:
        """Say whether a plain socket may be opened at an address: as for what scripts ask for.

        An origin whose robots.txt is not known has none that may.  To be asked from any thread.
        """
        try:
            return not isinstance(self._at_once(urls.normalize(url), Purpose.XHR), Rejected)
        except InvalidURL:
            return False


def _place(url: str) -> tuple[str, int]:
    """Return the host (no brackets) and port of an address that the guard has accepted."""
    parts = urls.parse(url)
    return urls.host(url).strip("[]"), parts.port or {"http": 80}.get(parts.scheme, 443)
