"""The key merges what is one, and nothing else."""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

import pytest

from spider.errors import SettingError
from spider.url import KEY_LADDER, STEPS, key
from spider.url.ladder import NAMES, PREFIXES

TOKEN = "0123456789abcdef01234567"


def test_ladder() -> None:
    """Four steps are taken unless others are asked for, always in the ladder's order."""
    assert KEY_LADDER == "escapes,sessions,tracking,sort"
    assert list(STEPS) == ["escapes", "sessions", "tracking", "sort", "index", "slash", "www", "scheme"]
    assert key("https://www.h.com/a/index.html", "scheme,www,index,slash") == "http://h.com/a"
    assert key("http://h/%7E", "sort") == "http://h/%7E"
    assert key("http://h/%7E", "") == "http://h/%7E"


def test_another_ladder(twin: ModuleType) -> None:
    """Another ladder gives other hashes, alone and at once; a step that there is none of is refused."""
    url = "https://h/?b&a"
    assert twin.identify(url, ladder="scheme") == twin.identify("http://h/?b&a", ladder="")
    assert twin.identify_all([url], url, ladder="scheme") == [(url, twin.identify(url, ladder="scheme"))]
    assert twin.identify_all([url], url) == [(url, twin.identify("https://h/?a&b"))]
    with pytest.raises(SettingError, match="ladder"):
        key(url, "sort,ladder")


@pytest.mark.parametrize(
    ("step", "url", "result"),
    [
        ("escapes", "http://h/%7Ea%2d%41?%5f=%30", "http://h/~a-A?_=0"),
        ("escapes", "http://h/%c3%a9%2f", "http://h/%C3%A9%2F"),
        ("escapes", "http://h/%", "http://h/%"),
        ("escapes", "http://h/%%32%65", "http://h/%%32e"),
        ("escapes", "http://h/%2%65", "http://h/%2%65"),
        ("escapes", "http://h/%a%65", "http://h/%a%65"),
        ("escapes", "http://h/%25%41", "http://h/%25A"),
        ("sessions", "http://h/a;jsessionid=1F.x/b;JSESSIONID=2?c", "http://h/a/b?c"),
        ("sessions", "http://h/a;b=c", "http://h/a;b=c"),
        ("sessions", f"http://h/a;sid={TOKEN}/b;SID={TOKEN}?c", "http://h/a/b?c"),
        ("sessions", "http://h/a;sid=5/b", "http://h/a;sid=5/b"),
        ("sessions", f"http://h/a;sid={TOKEN}.x", f"http://h/a;sid={TOKEN}.x"),
        ("sessions", "http://h/?a&PHPSESSID=1&b", "http://h/?a&b"),
        ("sessions", "http://h/?ASPSESSIONIDQQABCD=1&b", "http://h/?b"),
        ("sessions", "http://h/?CFID=1&cftoken=2", "http://h/"),
        ("sessions", f"http://h/?sid={TOKEN}&b", "http://h/?b"),
        ("sessions", f"http://h/?session_id={TOKEN.upper()}", "http://h/"),
        ("sessions", "http://h/?sid=news", "http://h/?sid=news"),
        ("sessions", f"http://h/?s={TOKEN}-1", f"http://h/?s={TOKEN}-1"),
        ("sessions", f"http://h/?page={TOKEN}", f"http://h/?page={TOKEN}"),
        ("tracking", "http://h/?utm_source=a&b=1&UTM_X=2&gclid=3&fbclid", "http://h/?b=1"),
        ("tracking", "http://h/?utm=a&gclid2=b&id=utm_source", "http://h/?utm=a&gclid2=b&id=utm_source"),
        ("sort", "http://h/?b=2&a=2&a=1&&c", "http://h/?&a=2&a=1&b=2&c"),
        ("sort", "http://h/?a=b&a-=c", "http://h/?a=b&a-=c"),
        ("sort", "http://h/?", "http://h/?"),
        ("slash", "http://h/a//", "http://h/a"),
        ("slash", "http://h/", "http://h/"),
        ("slash", "http://h/a/?b/", "http://h/a?b/"),
        ("slash", "http://h/a%5C/%5c", "http://h/a"),
        ("slash", "http://h//", "http://h/"),
        ("slash", "mailto:a/", "mailto:a"),
        ("index", "http://h/a/index.PHP?b", "http://h/a/?b"),
        ("index", "http://h/a/index.htmlx", "http://h/a/index.htmlx"),
        ("index", "http://h/a/index.html/default.asp//", "http://h/a/"),
        ("index", "http://h/index.html", "http://h/"),
        ("index", "foo://index.html", "foo://index.html"),
        ("slash", "foo://", "foo://"),
        ("www", "https://www.h.com/www.", "https://h.com/www."),
        ("www", "http://www.com/", "http://www.com/"),
        ("scheme", "https://h/", "http://h/"),
        ("scheme", "ftp://h/", "ftp://h/"),
    ],
)
def test_step(step: str, url: str, result: str) -> None:
    """Each step merges what it is for, leaves what it is not for, and is idempotent."""
    assert STEPS[step](url) == result
    assert STEPS[step](result) == result


@pytest.mark.parametrize("step", STEPS)
def test_each_step_says_why_it_is_safe(step: str) -> None:
    """A step's docstring shows by an example what it merges, and says why."""
    assert re.search(r"``.*\n?.* one", STEPS[step].__doc__ or "")


def reference(url: str) -> int:
    """Hash a key as the contract says."""
    return int.from_bytes(blake2b(key(url).encode(), digest_size=8).digest(), "big", signed=True)


@pytest.mark.parametrize("length", [0, 1, 30, 127, 128, 129, 255, 256, 257, 5000])
def test_hash_of_any_length(twin: ModuleType, length: int) -> None:
    """The hash is BLAKE2b of 8 bytes, read as a signed big-endian integer, whatever the length."""
    url = "http://h/"[:length] + "a" * (length - 9)
    assert twin.identify(url) == reference(url)


@pytest.mark.parametrize("name", [*NAMES, *(f"{prefix}x" for prefix in PREFIXES)])
def test_hash_is_the_keys(twin: ModuleType, name: str) -> None:
    """No name of the ladder is overlooked on the fast way to the hash, in whichever case."""
    for spelled in (name, name.upper(), name.title()):
        url = f"http://h/?a=1&{spelled}={TOKEN}&z"
        assert twin.identify(url) == reference(url) == twin.identify("http://h/?a=1&z")


@pytest.mark.parametrize(
    "url",
    [
        "http://h/?b&a",
        "http://h/?a&&b",
        "http://h/?a&",
        "http://h/?ab=&a=",
        "http://h/?a=&ab=",
        "http://h/?b=&b=&a",
        "http://h/%7e",
        "http://h/%C3%a9",
        "http://h/%",
        "http://h/%4",
        "http://h/%%41",
        "http://h/a;sid=1",
        f"http://h/a;sid={TOKEN}",
        "http://h/?%7a",
        "http://h/?a=%2B&b",
        "http://h/&",
        "http://h/é",
        "http://h/\ud800",
        "http://h/漢",
        "",
    ],
)
def test_hash_of_unsettled(twin: ModuleType, url: str) -> None:
    """What the ladder changes has the hash of what it makes of it."""
    want = int.from_bytes(
        blake2b(key(url).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True
    )
    assert twin.identify(url) == want


@pytest.mark.parametrize("count", [2, 63, 64, 65, 500])
def test_hash_of_many_parameters(twin: ModuleType, count: int) -> None:
    """However many parameters there are, sorted and dropped ones and those of one name, the hash is the key's."""
    url = "http://h/?" + "&".join(f"{name}{count - i // 2}={i}" for i in range(count) for name in ("p", "utm_"))
    assert twin.identify(url) == reference(url)


def test_documented() -> None:
    """docs/url.md has each step of the ladder."""
    document = (Path(__file__).parents[2] / "docs" / "url.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| (yes|no) \|", document, re.MULTILINE) == [
        (step, "yes" if step in KEY_LADDER.split(",") else "no") for step in STEPS
    ]
