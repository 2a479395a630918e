"""What the answer to a question for /robots.txt means: parse it, allow all or close all (RFC 9309, section 2.3).

`ask` puts the question through whatever function it is given, so that every hop can be judged and leased
by the caller; `Ruling.of` judges an answer that was kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from spider.errors import FetchError
from spider.fetch.robots import MAX_BODY, Decision, Robots
from spider.model import Reason, Request, Response

__all__ = ["MAX_AGE", "MAX_HOPS", "Access", "Ruling", "access", "ask", "robots_url"]

MAX_HOPS = 5  # section 2.3.1.2
MAX_AGE = 24 * 3600  # seconds; section 2.4
REDIRECTS = range(300, 400)
OK = range(200, 300)
CLIENT_ERRORS = range(400, 500)
TOO_MANY = 429

Get = Callable[[Request], Response]


class Access(StrEnum):
    """What a host's robots.txt, or the want of it, says as a whole."""

    PARSE = "parse"
    ALLOW = "allow-all"
    DISALLOW = "disallow-all"


def access(status: int | None) -> Access:
    """Tell what a final status means; None is no answer at all.

    A redirect is final where it leads nowhere or is one too many: the file is unavailable, so all is
    allowed, as with 4xx.  429 says come later, and is no leave to come at once.
    """
    if status is None or status == TOO_MANY:
        return Access.DISALLOW
    if status in OK:
        return Access.PARSE
    return Access.ALLOW if status in CLIENT_ERRORS or status in REDIRECTS else Access.DISALLOW


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is known of one origin's robots.txt: its own address, the final status (None: no answer), the body.

    `failure` tells why there is no answer, `retry_after` how many seconds the server wants to be left alone.
    """

    url: str
    status: int | None
    body: bytes = b""
    failure: FetchError | None = None
    retry_after: str | None = None
    robots: Robots = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Parse the body where it counts."""
        body = self.body if self.access is Access.PARSE else b""
        object.__setattr__(self, "robots", Robots.parse(body, self.url))

    @property
    def access(self) -> Access:
        """What the answer means as a whole."""
        return access(self.status)

    def allows(self, agent: str, url: str) -> bool:
        """Tell whether the agent (a product token) may ask for an address of this origin."""
        return self.access is not Access.DISALLOW and self.robots.allows(agent, url)

    def decide(self, agent: str, url: str) -> Decision:
        """Tell the same, with the line that decides; there is none where the answer as a whole does."""
        if self.access is not Access.PARSE:
            return Decision(self.access is Access.ALLOW)
        return self.robots.decide(agent, url)

    def or_else(self, older: Ruling | None) -> Ruling:
        """Return the ruling to go by: the older one, if this is no answer and that one was (section 2.4)."""
        if self.access is Access.DISALLOW and older is not None and older.access is not Access.DISALLOW:
            return older
        return self


def robots_url(url: str) -> str:
    """Return the address of the robots.txt that speaks of a normalized address."""
    scheme, _, rest = url.partition("://")
    end = next((i for i, c in enumerate(rest) if c in "/?#"), len(rest))
    return f"{scheme}://{rest[:end].rpartition('@')[2]}/robots.txt"


def ask(get: Get, url: str) -> Ruling:
    """Ask for the robots.txt of a normalized address's origin, over at most five redirects, with `get`.

    `get` returns the response to a request, its body read whatever its type and cut at `MAX_BODY` + 1
    bytes, or raises FetchError; it may refuse a hop so.  A hop that is refused, or that leads nowhere,
    ends the chain at the redirect.
    """
    own = robots_url(url)
    place, hops, status = own, 0, None
    while True:
        try:
            response = get(Request(place, hops=hops))
        except FetchError as error:
            ended = error.reason in {Reason.REDIRECT, Reason.REFUSED} and (hops or error.status)
            return Ruling(own, error.status or status if ended else None, failure=error)
        status = response.status
        if response.location is None or hops == MAX_HOPS:
            return Ruling(own, status, response.body[: MAX_BODY + 1], retry_after=response.headers.get("retry-after"))
        place, hops = response.location, hops + 1
