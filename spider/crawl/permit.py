"""The one gate to the network: whatever is about to be asked, by whom ever, passes it first.

`crawl` builds it from what was forgotten, from robots.txt and from the pace of leased hosts, and hands
`Gate.permit` down as a plain argument.
"""

from __future__ import annotations

from collections.abc import Callable

from spider.crawl.scope import Judge
from spider.fetch import Ruling
from spider.model import Accepted, Purpose, Rejected, Verdict
from spider.settings import AGENT_TOKEN

__all__ = ["Gate", "RulingOf"]

RulingOf = Callable[[str], Ruling | None]
"""What is known of the robots.txt that speaks of an address; None is nothing yet."""

ROBOTS_SPEAK = frozenset({Purpose.PAGE, Purpose.SITEMAP, Purpose.CHECK, Purpose.XHR})
"""Purposes that robots.txt may refuse; it does not speak of itself, nor of the assets of a page that is allowed."""


class Gate:
    """Judges requests by their purpose and names the rule that refuses."""

    def __init__(
        self,
        judge: Callable[[], Judge],
        *,
        obey_robots: bool,
        ruling_of: RulingOf,
        closed: Callable[[str], str | None] | None = None,
        too_slow: Callable[[str], bool] | None = None,
    ) -> None:
        """`judge` gives the judge of the moment; `ruling_of` what is known of robots.txt, asked only when obeyed.

        `closed` names the rule by which the pattern of a page's address was closed; `too_slow` tells whether
        an address's host asks for longer waits than are granted, and is to be skipped for it.
        """
        self._judge = judge
        self._obey = obey_robots
        self._ruling_of = ruling_of
        self._closed = closed
        self._too_slow = too_slow

    def permit(self, url: str, purpose: Purpose) -> Verdict:
        """Say whether an address may be asked for a purpose.

        Rules: scheme, forgotten, those of traps, robots (closed), robots-unknown (not asked for yet, ask first),
        crawl-delay (longer than is granted), robots-unreachable (no answer, so all is closed: RFC 9309,
        section 2.3.1.4).
        """
        if not url.startswith(("http://", "https://")):
            return Rejected("scheme")
        if self._judge().is_forgotten(url):
            return Rejected("forgotten")
        trap = self._closed(url) if self._closed is not None and purpose is Purpose.PAGE else None
        if trap is not None:
            return Rejected(trap)
        if not self._obey or purpose not in ROBOTS_SPEAK:
            return Accepted()
        return self._by_robots(url)

    def _by_robots(self, url: str) -> Verdict:
        """Judge an address by what is known of its robots.txt."""
        ruling = self._ruling_of(url)
        if ruling is None:
            return Rejected("robots-unknown")
        if self._too_slow is not None and self._too_slow(url):
            return Rejected("crawl-delay")
        return self.by(ruling, url)

    def by(self, ruling: Ruling, url: str) -> Verdict:
        """Judge an address by its robots.txt alone."""
        if ruling.allows(AGENT_TOKEN, url):
            return Accepted()
        return Rejected("robots" if ruling.status is not None and ruling.access == "parse" else "robots-unreachable")
