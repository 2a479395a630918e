"""The places that the user named: what they may do more than others.

A seed's host may be a machine of one's own network, and what was given for a host without a port (a cookie
of a file, a password) may go to the port that the seed was typed with.  No redirect and no link adds to them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from spider.fetch.guard import DEFAULT_PORTS, Origin, split

__all__ = ["Homes", "nowhere"]


@dataclass(frozen=True, slots=True)
class Homes:
    """The origins (scheme, host, port) of addresses that a person typed, and their host names."""

    origins: frozenset[Origin] = frozenset()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def of(cls, urls: Iterable[str]) -> Self:
        """Return the homes of normalized addresses; what is none of the web's is passed over."""
        origins = set()
        for url in urls:
            with contextlib.suppress(ValueError):
                origins.add(split(url)[:3])
        return cls(frozenset(origins), frozenset(host for _, host, _ in origins))

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
