"""Queries in the charsets of old pages, character by character as a browser writes them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from spider.ajax.browser import find
from spider.url import parse

CHARSETS = (
    *("big5", "gbk", "gb18030", "euc-jp", "shift_jis", "iso-2022-jp", "euc-kr", "x-user-defined", "koi8-u"),
    *("windows-1252", "windows-874", "macintosh", "ibm866", "iso-8859-8", "x-mac-cyrillic", "utf-16le"),
)
CHARACTERS = [chr(code) for code in (*range(0x80, 0xD800), *range(0xE000, 0x10000), *range(0x1F300, 0x1F400), 0x20089)]
ROWS = ["&".join(CHARACTERS[place : place + 64]) for place in range(0, len(CHARACTERS), 64)]
ASK = """texts => {
    const a = document.createElement('a');
    return texts.map(text => { a.href = '?' + text; return a.search; });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser once; skip, and say so, where there is none."""
    program = find()
    if program is None:
        pytest.skip("no browser found: apt-get install chromium, or SPIDER_BROWSER")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-quic"])
        yield started
        started.close()


def written(page: Page, charset: str, texts: list[str]) -> list[str]:
    """Return the queries that a browser makes of texts on a page in a charset."""

    def answer(route: Route) -> None:
        route.fulfill(status=200, headers={"content-type": f"text/html; charset={charset}"}, body="<p>")

    page.route("http://h.test/", answer)
    page.goto("http://h.test/")
    return list(page.evaluate(ASK, texts))


@pytest.mark.parametrize("charset", CHARSETS)
def test_each_character_is_written_as_a_browser_writes_it(browser: Browser, charset: str) -> None:
    """Alone and in company, which matters where a charset switches between sets of characters."""
    chance = random.Random(charset)
    common = [*map(chr, (0x41, 0x5C, 0x7E, 0xA5, 0x203E, 0x2212, 0x3042, 0x65E5, 0x672C, 0xFF71, 0xFF9E, 0xE9, 0x1E3F))]
    mixed = ["".join(chance.choices(common, k=6)) for _ in range(300)]
    page = browser.new_page()
    texts = ROWS + mixed
    differing = [
        (text, theirs, ours)
        for text, theirs in zip(texts, written(page, charset, texts), strict=True)
        if theirs != (ours := f"?{parse('?' + text, 'http://h/', encoding=charset).query}")
    ]
    page.close()
    assert differing == []
