"""Laws of what opens doors: each pass is shown to the host it was given for, and to no other scheme, host or port."""

from __future__ import annotations

import base64
import os
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.errors import SettingError
from spider.fetch import Client, Homes
from spider.fetch.passes import Passes
from spider.model import Request
from tests.server import WebServer

Web = Callable[..., WebServer]
Clients = Callable[..., Client]

PEM = Path(__file__).parent.parent / "cases" / "fetch" / "localhost.pem"
HEAD = "# Netscape HTTP Cookie File\n"


def basic(login: str) -> str:
    """Return a login as it is sent."""
    return f"Basic {base64.b64encode(login.encode()).decode()}"


def passes(*typed: str, **given: object) -> Passes:
    """Return passes where these addresses were typed."""
    homes = Homes.of(typed)
    return Passes(lambda: homes, **given)  # type: ignore[arg-type]  # the test's own


LOGIN = [
    ("a.example", "https://a.example/", ("https", "a.example", 443), True),
    ("a.example", "https://a.example/", ("http", "a.example", 80), False),
    ("a.example", "https://a.example/", ("https", "a.example", 8443), False),
    ("a.example", "https://a.example/", ("https", "b.example", 443), False),
    ("a.example", "https://a.example/", ("https", "www.a.example", 443), False),
    ("a.example", "http://a.example/", ("http", "a.example", 80), True),
    ("a.example", "http://a.example/", ("https", "a.example", 443), True),
    ("a.example", "http://a.example:8080/", ("http", "a.example", 8080), True),
    ("a.example", "http://a.example:8080/", ("http", "a.example", 80), False),
    ("a.example:8443", "https://a.example/", ("https", "a.example", 8443), True),
    ("a.example:8443", "https://a.example/", ("https", "a.example", 443), False),
    ("a.example:8080", "http://a.example:8080/", ("http", "a.example", 8080), True),
    ("a.example:8080", "http://a.example/", ("http", "a.example", 8080), False),
    ("A.Example", "https://a.example/", ("https", "a.example", 443), True),
    ("bücher.example", "https://a.example/", ("https", "xn--bcher-kva.example", 443), True),
    ("[::1]", "http://[::1]:8080/", ("http", "::1", 8080), True),
]


@pytest.mark.parametrize(("host", "typed", "origin", "goes"), LOGIN)
def test_logins(host: str, typed: str, origin: tuple[str, str, int], goes: bool) -> None:  # noqa: FBT001
    """A login goes to its host by https, or to the very address that was typed, and nowhere else."""
    found = passes(typed, auth=[f"{host}=me:a:b=ü"]).headers(origin, "/")
    assert found == ({"Authorization": basic("me:a:b=ü")} if goes else {})


@pytest.mark.parametrize("text", ["", "a.example", "a.example=me", "=me:pw", "a b=me:pw", "a.example/x=me:pw", "=:"])
def test_logins_that_are_none(text: str) -> None:
    """What is no login is refused, and not quoted."""
    with pytest.raises(SettingError) as caught:
        passes(auth=[text])
    assert str(caught.value) == "--auth: not HOST=USER:PASSWORD"


def test_netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machines of the user's netrc get their logins as if by --auth, which goes before; its default is nobody's."""
    (tmp_path / "n").write_text(
        "machine a.example login one password two\nmachine b.example login x password y\n"
        "default login any password thing\n"
    )
    monkeypatch.setenv("NETRC", str(tmp_path / "n"))
    found = passes(netrc=True, auth=["b.example=u:v"])
    logins = [
        found.headers(("https", host, 443), "/").get("Authorization")
        for host in ("a.example", "b.example", "c.example")
    ]
    assert logins == [basic("one:two"), basic("u:v"), None]
    assert found.headers(("http", "a.example", 80), "/") == {}
    (tmp_path / "n").write_text("machine\n")
    with pytest.raises(SettingError, match="is not a netrc file"):
        passes(netrc=True)
    monkeypatch.setenv("NETRC", str(tmp_path / "missing"))
    with pytest.raises(SettingError, match=r"^--netrc: .*missing: cannot be read \(no such file or directory\)$"):
        passes(netrc=True)


def cookies(tmp_path: Path, *rows: str, head: str = HEAD) -> str:
    """Write a file of cookies, blanks for tabs, and return its name."""
    file = tmp_path / "cookies.txt"
    file.write_text(head + "".join(row.replace(" ", "\t") + "\n" for row in rows), encoding="utf-8")
    return str(file)


def test_a_file_of_cookies(tmp_path: Path) -> None:
    """Cookies of a file go to their host and, where they say so, those below, by path, scheme and time."""
    name = cookies(
        tmp_path,
        "a.example FALSE / FALSE 0 one 1",
        ".a.example TRUE / FALSE 4102444800 two zwei-ü",
        "#HttpOnly_a.example FALSE / TRUE 4102444800 three 3",
        "a.example FALSE /deep FALSE 0 four 4",
        "a.example FALSE / FALSE 1000 past 5",
        ".co.uk TRUE / FALSE 0 wide 6",
        "a.example FALSE / FALSE 0 empty ",
        "# a comment",
        "",
    )
    found = passes("http://a.example:8080/", cookies=name)

    def sent(scheme: str, host: str, port: int, target: str = "/") -> str | None:
        text = found.headers((scheme, host, port), target).get("Cookie")
        return text and text.encode("latin-1").decode()

    assert sent("http", "a.example", 80) == "one=1; two=zwei-ü; empty="
    assert sent("https", "a.example", 443, "/deep/x") == "four=4; one=1; two=zwei-ü; three=3; empty="
    assert sent("http", "www.a.example", 80) == "two=zwei-ü"
    assert sent("http", "a.example", 8080) == "one=1; two=zwei-ü; empty="
    for scheme, host, port in (("http", "a.example", 8081), ("http", "b.example", 80), ("http", "x.co.uk", 80)):
        assert sent(scheme, host, port) is None
    assert sent("http", "co.uk", 80) == "wide=6"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"name=value\n", ", line 1: not one of a Netscape cookies file (7 fields with tabs between)"),
        (HEAD.encode() + b"a.example\tFALSE\t/\tFALSE\tsoon\ta\tsecret\n", ", line 2: not a time"),
        (b"a b\tFALSE\t/\tFALSE\t0\ta\tsecret\n", ", line 1: not a host"),
        (
            b"a.example\tFALSE\t/\tFALSE\t0\ta\t" + b"s" * 5000,
            ", line 1: not a cookie (4 KiB of printable text at most)",
        ),
        (b"SQLite format 3\0", ": not a file of text"),
        (b"\xff\xfe", ": not a file of text"),
        (b"{}", ", line 1: not one of a Netscape cookies file (7 fields with tabs between)"),
    ],
)
def test_files_that_are_none(tmp_path: Path, body: bytes, reason: str) -> None:
    """A file that is none of cookies is refused in one line, with the place and without the cookie."""
    file = tmp_path / "cookies.txt"
    file.write_bytes(body)
    with pytest.raises(SettingError) as caught:
        passes(cookies=str(file))
    assert str(caught.value) == f"--cookies: {file}{reason}"


LINE = st.lists(
    st.sampled_from(["a.example", ".b.example", "TRUE", "FALSE", "/", "0", "4102444800", "x", "", "\t", "é"])
)


@given(st.binary() | st.lists(LINE.map("\t".join)).map(lambda lines: (HEAD + "\n".join(lines)).encode()))
def test_no_file_is_too_odd(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    """Whatever bytes a file of cookies has, it is read or refused in one line, and what is read can be sent."""
    file = tmp_path_factory.getbasetemp() / f"odd-{os.getpid()}.txt"
    file.write_bytes(body)
    try:
        found = passes(cookies=str(file))
    except SettingError as error:
        assert "\n" not in str(error)  # noqa: PT017  # not raised is good too
    else:
        for host in ("a.example", "b.example", "www.b.example"):
            found.headers(("http", host, 80), "/").get("Cookie", "").encode("latin-1")


def test_an_answer_goes_before_the_file(tmp_path: Path) -> None:
    """A cookie that a site sets replaces the file's of the same name and path."""
    found = passes(cookies=cookies(tmp_path, "a.example FALSE / FALSE 0 one 1", "a.example FALSE / FALSE 0 two 2"))
    found.took(("http", "a.example", 80), "/", ["one=new; Path=/", "two=; Path=/; Max-Age=0"])
    assert found.headers(("http", "a.example", 80), "/") == {"Cookie": "one=new"}


def test_over_the_wire(web: Web, client: Clients, tmp_path: Path) -> None:
    """What is given for one host reaches it, and neither another host nor another port of its own."""
    first, second = web(lambda _: "<p>", hosts=2), web(lambda _: "<p>")
    homes = Homes.of([first.url])
    name = cookies(tmp_path, "127.0.0.1 FALSE / FALSE 0 one 1")
    one = client(auth=("127.0.0.1=me:pw",), cookies=name, homes=lambda: homes)
    for url in (first.url, first.urls[1], second.url):
        one.get(Request(url))
    shown = [
        (asked.headers.get("authorization"), asked.headers.get("cookie")) for asked in first.requests + second.requests
    ]
    assert shown == [(basic("me:pw"), "one=1"), (None, None), (None, None)]


def test_a_typed_address_of_https_shows_nothing_to_http(web: Web, client: Clients) -> None:
    """Where the typed address is https, the login goes there and never by plain http."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    secure, plain = web(lambda _: "<p>", tls=context), web(lambda _: "<p>")
    homes = Homes.of([secure.url])
    one = client(auth=("127.0.0.1=me:pw",), ca_file=str(PEM), homes=lambda: homes)
    for url in (secure.url, plain.url):
        one.get(Request(url))
    assert [asked.headers.get("authorization") for asked in secure.requests + plain.requests] == [basic("me:pw"), None]
