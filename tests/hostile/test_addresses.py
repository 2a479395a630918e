"""The guard's tables: which addresses are none of the public internet, in whatever way they are written."""

from __future__ import annotations

import ipaddress

import pytest

from spider.fetch import Guard
from spider.model import Accepted, Rejected
from spider.url import InvalidURL, normalize

STRICT = Guard(private=False)
REFUSED = Rejected("private-address")

# IANA IPv4 and IPv6 Special-Purpose Address Registries: what is not globally reachable, and multicast.
SPECIAL = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "255.255.255.255/32",
    "::1/128",
    "::/128",
    "::ffff:0:0:0/96",
    "64:ff9b:1::/48",
    "100::/64",
    "100:0:0:1::/64",
    "2001:2::/48",
    "2001:10::/28",
    "2001:db8::/32",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]
INSIDE = ("127.0.0.1", "10.1.2.3", "172.16.9.9", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0")
OUTSIDE = ("8.8.8.8", "93.184.216.34", "100.128.0.1", "172.32.0.1", "192.167.255.255", "169.253.255.255")


@pytest.mark.parametrize("network", SPECIAL)
def test_special_networks(network: str) -> None:
    """The first, the last and a middle address of each network are refused; in brackets, and as the connected peer."""
    net = ipaddress.ip_network(network)
    for number in {0, net.num_addresses // 2, net.num_addresses - 1}:
        address = net[number]
        host = f"[{address}]" if address.version == 6 else str(address)
        assert STRICT.peer(str(address)) == REFUSED
        assert STRICT.url(f"http://{host}/") == REFUSED


def wrapped(address: str) -> list[str]:
    """Write an IPv4 address in every IPv6 form that holds one."""
    number = int(ipaddress.IPv4Address(address))
    high, low = number >> 16, number & 0xFFFF
    bare = f"{high:x}:{low:x}"
    server, client = "2001:0:808:808:0:ffff", f"{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}"
    return [f"::ffff:{address}", f"::ffff:{bare}", f"64:ff9b::{bare}", f"2002:{bare}::", f"{server}:{client}"]


@pytest.mark.parametrize("address", INSIDE)
def test_wrapped_in_ipv6(address: str) -> None:
    """Mapped, translated (NAT64), 6to4 and Teredo addresses are judged as what they lead to."""
    for form in wrapped(address):
        assert STRICT.peer(form) == REFUSED, form
        assert STRICT.url(normalize(f"http://[{form}]/")) == REFUSED, form


@pytest.mark.parametrize("address", OUTSIDE)
def test_the_public_internet(address: str) -> None:
    """What lies beside the special networks is accepted, wrapped or not."""
    for form in [address, *wrapped(address)]:
        assert STRICT.peer(form) == Accepted(), form


def numbers(address: str) -> list[str]:
    """Write an IPv4 address in the ways that hosts may be written (URL standard, section 3.5)."""
    a, b, c, d = (int(part) for part in address.split("."))
    number = int(ipaddress.IPv4Address(address))
    return [
        str(number), hex(number), f"0{number:o}", f"{a}.{b}.{c * 256 + d}", f"{a}.{(b << 16) + (c << 8) + d}",
        f"0x{a:X}.0{b:o}.{c}.{d}", f"{a}.{b}.{c}.{d}.", f"%3{address[0]}{address[1:]}",
        "".join(chr(0xFF10 + int(c)) if c.isdigit() else "．" for c in address),
    ]  # fmt: skip


@pytest.mark.parametrize("address", [one for one in INSIDE if one != "0.0.0.0"])
def test_odd_spellings(address: str) -> None:
    """Decimal, octal and hexadecimal hosts, short ones, full-width digits and escapes are the address they mean."""
    for form in numbers(address):
        url = normalize(f"http://{form}/")
        assert url == f"http://{address}/", form
        assert STRICT.url(url) == REFUSED


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "a.localhost", "localhost.", "\uff4cocalhost"])
def test_this_machine_s_names(name: str) -> None:
    """The machine's own names are refused before anybody looks them up."""
    assert STRICT.url(normalize(f"http://{name}/")) == REFUSED


@pytest.mark.parametrize(
    "form", ["127.0.0.1@8.8.8.8", "8.8.8.8#@127.0.0.1", "8.8.8.8\\@127.0.0.1", "8.8.8.8:80@127.0.0.1"]
)
def test_no_two_readings(form: str) -> None:
    """Where two parsers could read two hosts, what is asked is what was judged, and user information is refused."""
    url = normalize(f"http://{form}/")
    assert "127.0.0.1" not in url.partition("://")[2].partition("/")[0] or STRICT.url(url) != Accepted()


@pytest.mark.parametrize(
    "host", ["256.1.1.1", "1.2.3.4.5", "0x100000000", "[::g]", "[::1%25eth0]", "127.0.0.1%00.h.test"]
)
def test_what_is_no_host(host: str) -> None:
    """What is no address and no name is no URL."""
    with pytest.raises(InvalidURL):
        normalize(f"http://{host}/")
