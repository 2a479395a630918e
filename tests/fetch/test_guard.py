"""Laws of the guard: what is asked, and whom it may lead to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.errors import FetchError
from spider.fetch import Client, Guard, Homes
from spider.fetch.guard import MAX_URL, split
from spider.model import Accepted, Reason, Rejected, Request
from tests.server import WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://example.com/", None),
        ("https://example.com:8443/a?b", None),
        ("http://[2001:db8::1]:8080/", None),
        ("http://example.com", None),
        ("http://" + "a" * (MAX_URL - 7), None),
        ("http://" + "a" * (MAX_URL - 6), "length"),
        ("ftp://example.com/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("gopher://example.com/", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("HTTP://example.com/", "scheme"),
        ("//example.com/", "scheme"),
        ("", "scheme"),
        ("http://user@example.com/", "credentials"),
        ("http://user:pw@example.com/", "credentials"),
        ("http:///x", "host"),
        ("http://:80/", "host"),
        ("http://example.com:25/", "port"),
        ("http://example.com:6667/", "port"),
        ("http://example.com:0/", "port"),
        ("http://example.com:65536/", "port"),
        ("http://example.com:8x/", "port"),
        ("http://example.com:-1/", "port"),
        ("http://exa mple.com/", "characters"),
        ("http://example.com/\r\nX: y", "characters"),
        ("http://example.com/\0", "characters"),
        ("http://example.com/日本", "characters"),
    ],
)
def test_what_may_be_asked(url: str, rule: str | None) -> None:
    """Only http and https to a host, on no port of another protocol, in printable ASCII, of bounded length."""
    assert Guard().url(url) == (Accepted() if rule is None else Rejected(rule))


PRIVATE = [
    "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
    "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "2002:7f00:1::",
    "2001:db8::1", "not an address", "",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_private_machines(address: str) -> None:
    """An address that is not of the public internet, however it is written, is refused where that is asked for."""
    assert Guard(private=False).peer(address) == Rejected("private-address")
    assert Guard().peer(address) == Accepted()


@pytest.mark.parametrize("address", PUBLIC)
def test_public_machines(address: str) -> None:
    """An address of the public internet is accepted, wrapped or not."""
    assert Guard(private=False).peer(address) == Accepted()


@pytest.mark.parametrize(
    "host", ["127.0.0.1:9999", "[::1]", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254", "localhost"]
)
def test_private_addresses_in_numbers(host: str) -> None:
    """An address in numbers, and this machine's name, are judged before anything is opened; a typed one is accepted."""
    url = f"http://{host}/"
    homes = Homes.of([url]).hosts
    assert Guard(private=False).url(url) == Rejected("private-address")
    assert Guard(private=False, homes=lambda: homes).url(url) == Accepted()


def test_a_typed_host_stays_where_it_was_met() -> None:
    """A host that the user typed may be private, but none that was met on the public internet moves there."""
    guard = Guard(private=False, homes=lambda: {"typed.example", "intranet.example"})
    assert guard.peer("10.0.0.1", "intranet.example") == Accepted()
    assert guard.peer("10.0.0.1", "other.example") == Rejected("private-address")
    assert guard.peer("8.8.8.8", "typed.example") == Accepted()
    assert guard.peer("10.0.0.1", "typed.example") == Accepted()  # judged, but not met: nothing answered there
    guard.met("10.0.0.1", "intranet.example")
    guard.met("8.8.8.8", "typed.example")
    assert guard.peer("10.0.0.1", "intranet.example") == Accepted()
    assert guard.peer("10.0.0.1", "typed.example") == Rejected("private-address")


def test_the_connected_machine_counts(web: Web, client: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """A public-looking name that leads to a private machine is refused, and nothing is sent to it."""
    server = web({"/": "<p>"})
    found = [(2, 1, 6, "", ("127.0.0.1", server.port))]

    def look_up(host: bytes, _port: int, **names: int) -> list[object]:
        if names.get("flags"):
            raise OSError(host)
        return list(found)

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    with pytest.raises(FetchError) as caught:
        client(guard=Guard(private=False)).get(Request(f"http://public.example:{server.port}/"))
    assert caught.value.reason == Reason.REFUSED
    assert caught.value.message.startswith("private-address: 127.0.0.1 is none of the public internet (--allow-private")
    assert client().get(Request(f"http://public.example:{server.port}/")).status == 200
    assert len(server.connections) == 1


def test_the_client_asks_the_guard_first(client: Clients) -> None:
    """What the guard refuses is not looked up, and fails with refused and the rule."""
    with pytest.raises(FetchError) as caught:
        client().get(Request("http://nowhere.invalid:25/"))
    assert (caught.value.reason, str(caught.value)) == (
        Reason.REFUSED,
        "refused: port: http://nowhere.invalid:25/ names a port that belongs to another protocol",
    )


@given(st.text() | st.text().map("http://{}".format))
def test_no_text_is_too_odd(text: str) -> None:
    """The guard has a verdict on any text, and what it accepts can be split."""
    if Guard().url(text) == Accepted():
        scheme, host, port, target = split(text)
        assert scheme in {"http", "https"}
        assert host
        assert 0 < port < 65536
        assert target.startswith("/")
