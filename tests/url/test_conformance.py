"""The reference suites of the web platform: every case, on both twins.  Nothing is expected to fail."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from spider.url import URL, InvalidURL, key, parse
from spider.url.fallback import attempt
from spider.url.stamp import hashed
from tests.url.conftest import CASES

Suite = Callable[[str], list[dict[str, Any]]]

EXPECTED_FAILURES = set((CASES / "expected-failures.txt").read_text(encoding="ascii").splitlines())
"""Inputs, as `ascii` writes them, one a line.  One that passes, or is no case any more, fails the build."""


def parts(url: URL) -> dict[str, str]:
    """Write a URL's fields as the suites do."""
    return {
        "href": str(url),
        "protocol": f"{url.scheme}:",
        "username": url.username,
        "password": url.password,
        "hostname": url.host or "",
        "port": "" if url.port is None else str(url.port),
        "pathname": url.path,
        "search": f"?{url.query}" if url.query else "",
        "hash": f"#{url.fragment}" if url.fragment else "",
    }


def parsed(text: str, base: str | None = None) -> dict[str, str] | None:
    """Parse, and write the fields; None for no URL."""
    try:
        return parts(parse(text, base))
    except InvalidURL:
        return None


def fetched(twin: ModuleType, text: str, base: str | None = None) -> str | None:
    """Normalize, None for no URL."""
    try:
        return str(twin.normalize(text, base))
    except InvalidURL:
        return None


def failures(outcomes: dict[str, bool]) -> list[str]:
    """List what failed unexpectedly, and what passed unexpectedly."""
    return [name for name, passed in outcomes.items() if passed == (name in EXPECTED_FAILURES)]


def test_expected_failures_are_none() -> None:
    """The list of expected failures is a ratchet, and it has come to its end."""
    assert set() == EXPECTED_FAILURES


def test_urls(suite: Suite) -> None:
    """Every field of every case of urltestdata.json is right, and so is each that JavaScript alone can write."""
    entries = [*suite("urltestdata"), *suite("urltestdata-javascript-only")]
    assert len(entries) == 892
    outcomes = {}
    for case in entries:
        got = parsed(case["input"], case["base"])
        want = None if case.get("failure") else {name: case[name] for name in parts(parse("a:"))}
        outcomes[ascii(case["input"])] = got == want
    assert failures(outcomes) == []


def test_addresses(suite: Suite, twin: ModuleType) -> None:
    """Each twin writes every case of urltestdata.json as the standard does, without its fragment."""
    outcomes = {}
    for case in [*suite("urltestdata"), *suite("urltestdata-javascript-only")]:
        want = None if case.get("failure") else case["href"].partition("#")[0]
        outcomes[ascii(case["input"])] = fetched(twin, case["input"], case["base"]) == want
    assert failures(outcomes) == []


def test_addresses_at_once(suite: Suite, twin: ModuleType) -> None:
    """A page's links taken at once are what each is by itself."""
    for case in suite("urltestdata"):
        if case["base"] and parsed(case["base"]):
            want = None if case.get("failure") else case["href"].partition("#")[0]
            assert twin.normalize_all([case["input"]], case["base"]) == [want]


def test_hosts(suite: Suite, twin: ModuleType) -> None:
    """Every host of toascii.json and IdnaTestV2.json is right, but for the empty one, which no URL can hold."""
    entries = [*suite("toascii"), *(case for case in suite("IdnaTestV2") if case["input"])]
    assert len(entries) == 87 + 2670
    outcomes = {}
    for case in entries:
        want = None if case["output"] is None else f"https://{case['output']}/x"
        outcomes[ascii(case["input"])] = fetched(twin, f"https://{case['input']}/x") == want
    assert failures(outcomes) == []


def test_queries_in_a_charset(suite: Suite, twin: ModuleType) -> None:
    """Every pair of percent-encoding.json is right."""
    pairs = [(case["input"], *pair) for case in suite("percent-encoding") for pair in case["output"].items()]
    assert len(pairs) == 16
    for text, encoding, want in pairs:
        assert twin.normalize(f"http://h/?{text}", encoding=encoding) == f"http://h/?{want}"
        assert twin.normalize_all([f"?{text}"], "http://h/", encoding=encoding) == [f"http://h/?{want}"]


def test_the_links_of_real_pages(shared: Path, twin: ModuleType) -> None:
    """Both twins write what the machine writes, for each fortieth link of the corpus; hashes are those of the keys."""
    with gzip.open(shared / "data" / "urls" / "hrefs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in itertools.islice(lines, 0, None, 40)]
    assert len(rows) > 5000
    for row in rows:
        href, base = row["href"], row["base"]
        address = attempt(href, base, "utf-8")
        assert twin.normalize_all([href], base) == [address]
        assert address is None or twin.identify(address) == hashed(key(address))
