"""The places that the user named: what they may do more than others.

A seed's host may be a machine of one's own network, and what was given for a host without a port (a cookie
of a file, a password) may go to the port that the seed was typed with.  No link adds to them, and no redirect
of a seed on the public internet.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from spider.fetch.guard import DEFAULT_PORTS, Origin, is_inside, split

__all__ = ["Homes", "nowhere"]


@dataclass(frozen=True, slots=True)
class Homes:
    """The origins (scheme, host, port) of addresses that a person typed, and their host names."""

    origins: frozenset[Origin] = frozenset()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, urls: Iterable[str], landings: Iterable[tuple[str, str]] = ()) -> Self:
        """Return the homes of normalized addresses; what is none of the web's is passed over.

        `landings` are pairs of a typed address and where it redirects to: from one's own network a seed
        may move within it, and no password goes along.
        """
        origins = set()
        for url in urls:
            with contextlib.suppress(ValueError):
                origins.add(split(url)[:3])
        hosts = {host for _, host, _ in origins}
        for typed, landed in landings:
            with contextlib.suppress(ValueError):
                if is_inside(split(typed)[1]):
                    hosts.add(split(landed)[1])
        return cls(frozenset(origins), frozenset(hosts))

    def named(self, origin: Origin) -> bool:
        """Whether what was given for a host name may go to this origin of it: a default port, or a typed one."""
        return origin[2] == DEFAULT_PORTS[origin[0]] or origin in self.origins

    def secure(self, origin: Origin) -> bool:
        """Whether a password given for a host name may go to this origin: by https, or a typed address itself."""
        return origin in self.origins or (origin[0] == "https" and origin[2] == DEFAULT_PORTS["https"])


_NONE = Homes()


def nowhere() -> Homes:
    """Return no homes at all."""
    return _NONE
