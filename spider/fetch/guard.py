"""Which addresses may be asked at all, whatever a page says.

The address of a request is judged before it is asked (`Guard.url`), the address of the machine that
answers when the connection stands (`Guard.peer`): a name says nothing about where it leads, and may
lead elsewhere the next time it is looked up.  This room opens nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from spider.errors import FetchError
from spider.model import Accepted, Reason, Rejected, Verdict

__all__ = [
    "BAD_PORTS",
    "DEFAULT_PORTS",
    "MAX_URL",
    "PRIVATE",
    "Guard",
    "Origin",
    "is_inside",
    "is_literal",
    "refused",
    "split",
]

MAX_URL = 8192  # characters; RFC 9110, section 4.1 asks for at least 8000 octets to be supported

# Fetch standard, section 2.9: ports of other protocols, which a hostile page could make us speak to.
BAD_PORTS = frozenset({
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
})  # fmt: skip

DEFAULT_PORTS = {"http": 80, "https": 443}
ADDRESS = re.compile(r"(https?)://([^/?#]*)([^?#]*)([^#]*)")
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # RFC 6052: an IPv4 address in its last 32 bits
COMPATIBLE = ipaddress.ip_network("::/96")  # RFC 4291, section 2.5.5.1: likewise, long obsolete

# The IANA's registries of special-purpose addresses, as of late 2026: what not every Python's `is_global` knows.
RESERVED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",  # RFC 6890: protocol assignments
        "192.88.99.0/24",  # RFC 7526: relays of 6to4, given up
        "64:ff9b:1::/48",  # RFC 8215: a network's own NAT64
        "3fff::/20",  # RFC 9637: documentation
        "5f00::/16",  # RFC 9602: segment routing
        "fec0::/10",  # RFC 3879: site-local, given up, and still routed within some sites
    )
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Origin = tuple[str, str, int]
"""Scheme, host (no brackets) and port: what cookies, passwords and connections belong to."""

PRIVATE = "private-address"
HINTS = {
    PRIVATE: " is none of the public internet (--allow-private asks it all the same)",
    "port": " names a port that belongs to another protocol",
    "length": "… is longer than an address may be",
}


def split(url: str) -> tuple[str, str, int, str]:
    """Split a normalized http(s) address into scheme, host (no brackets), port and request target.

    ValueError where it is none: another scheme, user information, no host, no port number.
    """
    found = ADDRESS.match(url)
    if found is None:
        raise ValueError("scheme")
    scheme, authority, path, query = found.groups()
    if "@" in authority:
        raise ValueError("credentials")
    host, port = _host_port(authority, DEFAULT_PORTS[scheme])
    return scheme, host, port, f"{path or '/'}{query}"


def _host_port(authority: str, default: int) -> tuple[str, int]:
    """Split ``host:port`` or ``[v6]:port``."""
    if authority.startswith("["):
        host, _, tail = authority[1:].partition("]")
        digits = tail.removeprefix(":")
    else:
        host, _, digits = authority.partition(":")
    if not host:
        raise ValueError("host")
    if not digits:
        return host, default
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5 and int(digits) <= 65535):  # noqa: PLR2004  # of 16 bits
        raise ValueError("port")
    return host, int(digits)


@dataclass(frozen=True, slots=True)
class Guard:
    """What may be asked: http and https, no ports of other protocols, nothing endless, no credentials of others.

    With `private` False, only machines of the public internet: neither this one nor those of the
    networks around it, by whatever spelling of their address; but for `homes`, the host names that the user
    typed.  One of these that was met on the public internet stays there: its name may be led elsewhere by
    whoever owns it, and was typed for what it was.
    """

    private: bool = True
    max_url: int = MAX_URL
    homes: Callable[[], Collection[str]] = frozenset
    _public: set[str] = field(default_factory=set, compare=False, repr=False)

    def url(self, url: str) -> Verdict:
        """Judge an address by itself; rules: length, characters, scheme, credentials, host, port, private-address."""
        if len(url) > self.max_url:
            return Rejected("length")
        if not url.isascii() or not url.isprintable() or " " in url:
            return Rejected("characters")
        try:
            _, host, port, _ = split(url)
        except ValueError as error:
            return Rejected(str(error))
        if port in BAD_PORTS:
            return Rejected("port")
        if self.private or not (is_literal(host) or is_local(host)):
            return Accepted()
        return self.peer(host, host)

    def peer(self, address: str, host: str = "") -> Verdict:
        """Judge the address of the machine that is about to be, or is, connected for `host`; rule: private-address."""
        if self.private or is_public(address) or (host in self.homes() and host not in self._public):
            return Accepted()
        return Rejected(PRIVATE)

    def met(self, address: str, host: str) -> None:
        """Take note of where a host was met, once the connection stands."""
        if not self.private and is_public(address) and host in self.homes():
            self._public.add(host)


def refused(rejected: Rejected, what: str) -> FetchError:
    """Return the error of an address, or a machine, that is refused."""
    return FetchError(Reason.REFUSED, f"{rejected.rule}: {what[:200]}{HINTS.get(rejected.rule, '')}")


def is_local(host: str) -> bool:
    """Tell whether a host is this machine by its name (RFC 6761, section 6.3)."""
    name = host.removesuffix(".")
    return name == "localhost" or name.endswith(".localhost")


def is_inside(host: str) -> bool:
    """Tell whether a host names, by itself, this machine or one that is none of the public internet."""
    return is_local(host) or (is_literal(host) and not is_public(host))


def is_literal(host: str) -> bool:
    """Tell whether a host is an address in numbers."""
    if not host[-1:].isdigit() and ":" not in host:
        return False  # most hosts, at a hundredth of the cost
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_public(address: str) -> bool:
    """Tell whether an address, in any spelling `ipaddress` knows, is one of the public internet.

    IPv4 addresses that are wrapped in IPv6 are judged as what they are.
    """
    try:
        ip: Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(
        one.is_global and not one.is_multicast and not one.is_reserved and not any(one in net for net in RESERVED)
        for one in _layers(ip)
    )


def _layers(ip: Address) -> list[Address]:
    """List the addresses that this one stands for: the wrapped ones where there are any, else itself."""
    if isinstance(ip, ipaddress.IPv4Address):
        return [ip]
    if ip.ipv4_mapped is not None:
        return [ip.ipv4_mapped]
    if ip in NAT64 or (ip in COMPATIBLE and int(ip) > 1):
        return [ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)]
    if ip.sixtofour is not None:
        return [ip.sixtofour]
    if ip.teredo is not None:
        return list(ip.teredo)
    return [ip]
