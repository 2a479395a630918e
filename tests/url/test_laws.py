"""Laws of the URL room, for any text whatever."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spider.url import STEPS, InvalidURL, key, parse, stamp, trace
from spider.url import lane as lane_module
from spider.url.engine import interpreted, load, names
from spider.url.fallback import attempt

PIECES = st.sampled_from(
    [
        *("http://", "https://", "HTTP://", "http:", "//", "/", "\\", "..", ".", "...", "/../", "/./", "%2e", "%2E"),
        *("a.b", "h", "h:80", "h:443", ":81", "?", "#", "&", "=", ";sid=", "%41", "%7e", "%c3", "%", "%2", "é", "漢"),
        *("javascript:", "mailto:", "ws://", "file:", "file://", "foo:", "foo://", "C:", "C|", "@", "u@", "u:p@"),
        *("1.2.3.4", "0x7f.1", "xn--a", "[::1]", "[", "]", "localhost", "utm_source=", "gclid=", "sid="),
        *("0123456789abcdef01234567", "index.html", "www.", "'", '"', "<", ">", "`", "{", "}", "^", "|", "~", "+", "-"),
        *(" ", "\t", "\n", "\x00", "\x7f", "\ud800", "\udc00", "\ufdd0", "\U0010ffff", "\u00ad"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)
BASES = st.sampled_from(
    [
        *("http://h/a/b/c?q=1", "https://h.com/", "https://u:p@h.com:81/x/?a/b", "http://[::1]/a", "foo:bar"),
        *("foo://h/a/b", "file:///C:/x/y", "ws://h/a", "foo:/.//a"),
    ]
)
CODECS = st.sampled_from(["utf-8", "gb2312", "iso-8859-1", "iso-2022-jp", "utf-16", "no such charset"])
LAW = settings(max_examples=250, deadline=None)


def twins() -> list[ModuleType]:
    """List the twins there are."""
    return [interpreted(), *filter(None, map(load, names()))]


def tried(function: Callable[..., object], *arguments: object, **named: object) -> str | None:
    """Call a function; None where it raises InvalidURL, the only error there may be."""
    try:
        return str(function(*arguments, **named))
    except InvalidURL as error:
        return told(error)


def told(error: InvalidURL) -> None:
    """Hold an error to its promise: a place in the text, and a caret under it."""
    assert 0 <= error.position <= len(error.text)
    assert "^" in str(error)


def normalized(twin: ModuleType, text: str, base: str | None = None, encoding: str = "utf-8") -> str | None:
    """Normalize by a twin; None for no URL."""
    return tried(twin.normalize, text, base, encoding=encoding)


def by_machine(text: str, base: str | None = None, encoding: str = "utf-8") -> str | None:
    """Normalize by the machine alone."""
    whole = tried(parse, text, base, encoding=encoding)
    return whole and whole.partition("#")[0]


@LAW
@given(TEXTS, BASES, CODECS)
@example("http://[::1]x", "http://h/", "utf-8")
@example("foo:///=Zhttp://%2E%2e", "foo:bar", "utf-8")
def test_twins_agree_with_the_machine(text: str, base: str, encoding: str) -> None:
    """Both twins, alone and at once, answer as the machine does; the answer is ASCII."""
    whole = by_machine(text, base, encoding)
    assert whole is None or whole.isascii()
    for twin in twins():
        assert normalized(twin, text, base, encoding) == whole
        assert twin.normalize_all([text], base, encoding=encoding) == [whole]
        assert twin.identify_all([text], base, encoding=encoding) == [whole and (whole, twin.identify(whole))]


@LAW
@given(st.lists(st.tuples(TEXTS, st.integers(0, 300)), max_size=40), BASES)
def test_links_at_once_are_hashed_as_each_alone(links: list[tuple[str, int]], base: str) -> None:
    """However many a page's links are, long and short, each gets the hash of its own key."""
    texts = [f"{text}{'x' * more}" for text, more in links]
    addresses = interpreted().normalize_all(texts, base)
    expected = [None if address is None else (address, stamp.hashed(key(address))) for address in addresses]
    for twin in twins():
        assert twin.identify_all(texts, base) == expected


@LAW
@given(st.lists(st.text(alphabet="%2e3a5fA?&=;b/", max_size=40), max_size=20))
def test_escapes_are_hashed_as_they_are_to_be_written(paths: list[str]) -> None:
    """So it is where escapes stand close together, are written in small letters or stand for letters."""
    texts = [f"http://h/{path}" for path in paths]
    addresses = interpreted().normalize_all(texts, "http://h/")
    expected = [None if address is None else (address, stamp.hashed(key(address))) for address in addresses]
    for twin in twins():
        assert twin.identify_all(texts, "http://h/") == expected
        assert [twin.identify(address) for address in addresses if address] == [each[1] for each in expected if each]


@LAW
@given(TEXTS)
def test_twins_agree_without_a_base(text: str) -> None:
    """So they do for a text by itself."""
    for twin in twins():
        assert normalized(twin, text) == by_machine(text)


_NUMBERS = "0 1 9 00 01 10 99 100 199 200 249 250 255 256 260 299 300 1000 0x7f x -1 1a"
NUMBERS = _NUMBERS.split()


@LAW
@given(
    st.sampled_from(["http://", "https://u@", "//", "foo://"]),
    st.lists(st.sampled_from([*NUMBERS, ""]) | st.integers(0, 300).map(str), min_size=1, max_size=5).map(".".join),
    st.sampled_from(["", "/", ":80", ":81/a?b", "#", "?", ".", "\\"]),
)
def test_numbers_are_hosts_as_the_machine_has_them(head: str, host: str, tail: str) -> None:
    """An address in numbers, written as the standard does or anyhow else, is the machine's to the twins too."""
    text = f"{head}{host}{tail}"
    lane = lane_module.Lane("http://h.com/", codec="utf-8", ready=True)
    assert lane.ask(text) in {None, attempt(text, "http://h.com/", "utf-8")}
    for twin in twins():
        assert normalized(twin, text, "http://h.com/") == by_machine(text, "http://h.com/")


@LAW
@given(TEXTS, BASES, st.sampled_from(["utf-8", "gbk"]))
def test_the_lane_itself(text: str, base: str, codec: str) -> None:
    """The compiled lane's source, run as Python, has no opinion of its own either."""
    lane = lane_module.Lane(base, codec=codec, ready=base.startswith("http"))
    answer = lane.ask(text)
    assert answer is None or answer == attempt(text, base, codec)


@LAW
@given(TEXTS, st.none() | BASES)
def test_parse_is_the_inverse_of_str(text: str, base: str | None) -> None:
    """Parsing what was written gives the same URL, without any error that would change it."""
    written = tried(parse, text, base)
    if written is not None:
        assert parse(written) == parse(text, base)
        assert str(parse(written)) == written


@LAW
@given(TEXTS, BASES)
def test_normalizing_twice_is_once(text: str, base: str) -> None:
    """An address is normal, and comes back as the same object."""
    for twin in twins():
        once = normalized(twin, text, base)
        if once is not None:
            assert twin.normalize(once) is once
            assert twin.normalize(once, base) == once


@LAW
@given(TEXTS, BASES)
def test_key_of_key_is_key(text: str, base: str) -> None:
    """The key of a key is the key; so it is with each step alone, and with all of them."""
    address = attempt(text, base, "utf-8")
    if address is not None:
        assert key(key(address)) == key(address)
        for step in STEPS.values():
            assert step(step(address)) == step(address)
        every = ",".join(STEPS)
        assert key(key(address, every), every) == key(address, every)


@LAW
@given(TEXTS, BASES)
def test_what_looks_settled_is_settled(text: str, base: str) -> None:
    """What the compiled hash takes for its own key is that; what it only sorts and thins out needs no other step."""
    address = attempt(text, base, "utf-8")
    if address is not None:
        todo = stamp.unsettled(address.encode(), len(address))
        if todo == stamp.NOTHING:
            assert key(address) == address
        if todo == stamp.SORT:
            assert key(address, "escapes") == address


@LAW
@given(st.text(alphabet="%2e3a5fA?&=;b/", max_size=40))
def test_key_of_key_is_key_for_escapes(text: str) -> None:
    """So it is where escapes stand close together."""
    assert key(key(f"http://h/{text}")) == key(f"http://h/{text}")


@LAW
@given(TEXTS, st.none() | BASES)
def test_errors_and_trace_have_places(text: str, base: str | None) -> None:
    """Steps and errors lie within the text, in order; a base that is a URL never makes the trace fail."""
    steps = trace(text, base)
    assert all(0 <= step.position <= len(text) for step in steps)
    if tried(parse, text, base) is not None:
        places = [place for _, place in parse(text, base).errors]
        assert places == sorted(places)
        assert all(0 <= place <= len(text) for place in places)


SHAPES = {
    "path": "http://h/{}a",
    "dots": "http://h/{}../",
    "dots behind segments": "http://h/{}a/../",
    "escapes": "http://h/{}%",
    "dot escapes": "http://h/{}%2e/",
    "query": "http://h/?{}a&",
    "trackers": "http://h/?{}utm_a&",
    "users": "http://{}@",
    "ports": "http://h{}:1",
    "brackets": "http://{}[",
    "host": "http://{}a.",
    "digits": "http://{}1",
    "numbers": "http://{}1.",
    "punycode": "http://{}xn--é.",
    "international": "http://{}é",
    "slashes": "http:{}/",
    "backslashes": "{}\\",
    "tabs": "{}\t",
    "scheme": "{}a",
    "opaque": "javascript:{} ",
    "spaces": "http://h/{} ",
    "surrogates": "http://h/{}\ud800",
    "sessions": "http://h/{};jsessionid=",
    "fragment": "#{}#",
    "ipv6": "http://[{}:",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_time_grows_linearly(shape: str) -> None:
    """Ten times the text takes about ten times as long, up to a megabyte."""
    head, tail = SHAPES[shape].split("{}")

    def seconds(count: int) -> float:
        text = head + tail * (count // len(tail))
        begun = time.process_time()
        for twin in twins():
            address = twin.normalize_all([text], "http://h/a/b")[0]
            twin.identify(address or text)
        return time.process_time() - begun

    most = {"path": 1_000_000, "escapes": 1_000_000, "dots": 300_000, "dot escapes": 400_000}.get(shape, 150_000)
    assert seconds(most) < 30 * max(seconds(most // 10), 0.002) + 0.5


def test_a_host_too_long_for_idna_is_refused() -> None:
    """Over 4,096 characters a host is refused before its punycode is reckoned; an ASCII host may be of any length."""
    with pytest.raises(InvalidURL, match="domain-to-ASCII"):
        parse(f"http://{'é' * 4097}/")
    assert parse(f"http://{'a' * 10_000}/").host == "a" * 10_000
