"""Laws of the report in a real browser: it works, is quick, fetches nothing by itself, and everybody can use it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from spider.ajax.browser import find
from spider.demo import serve
from tests.conftest import environment
from tests.report.dressed import dress
from tests.report.filled import fill
from tests.report.large import grow

Open = Callable[..., Page]

FIRST_VIEW = 1.0  # seconds, for a thousand media
FILTER = 0.2  # seconds, for fifty thousand


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser once; skip, and say so, where there is none."""
    program = find()
    if program is None:
        pytest.skip("no browser found: apt-get install chromium, or SPIDER_BROWSER")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu", "--disable-quic", "--mute-audio"]
        )
        yield started
        started.close()


def write(database: Path, *options: str) -> Path:
    """Write the page of a database beside it, with the program itself."""
    page = database.with_name(f"{database.stem}{''.join(options)}.html")
    command = [sys.executable, "-m", "spider", "--db", str(database), "report", "--format", "html", "-o", str(page)]
    subprocess.run([*command, *options], env=environment(), check=True)
    return page


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of the database that is always the same, hostile texts and all."""
    database = tmp_path_factory.mktemp("small") / "small.db"
    fill(database)
    return write(database)


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a thousand media, some of them checked, and of an application."""
    return write(dress(grow(tmp_path_factory.mktemp("thousand") / "thousand.db", media=1000)))


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Give a function that opens a page; at the end nothing was complained of, and nothing fetched unasked."""
    said: list[str] = []
    asked: list[str] = []
    contexts = []

    def begin(file: Path, part: str = "", **options: Any) -> Page:  # noqa: ANN401  # Playwright's own
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{file.as_uri()}{part}")
        page.wait_for_selector("#grid > li")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def count(page: Page) -> str:
    """Return how many media the gallery says it shows."""
    return page.inner_text("#count")


def test_filters_search_and_sort(opened: Open, thousand: Path) -> None:
    """Kind, site, format, state and words narrow the gallery together; the order is the one that was chosen."""
    page = opened(thousand)
    assert count(page) == "889 media, 1 to 48 shown"
    page.click("#kinds button[value=audio]")
    assert count(page) == "254 media, 1 to 48 shown"
    page.select_option("#format", label="mp3")
    assert count(page).startswith("94 media")
    page.fill("#q", "BIRDS reel 101")
    expect(page.locator("#count")).to_have_text("0 media")
    assert page.inner_text("#grid").startswith("Nothing matches")
    page.click("#reset")
    page.select_option("#state", "gone")
    assert count(page).startswith("111 media")
    page.select_option("#state", "dead")
    assert count(page).startswith("42 media")
    assert "dead: 404" in page.inner_text("#grid .facts >> nth=0")
    assert page.locator("#grid .play").count() == 0
    page.select_option("#state", "moved")
    assert page.get_attribute("#grid .facts a >> nth=0", "href") == "http://archive.example/3"
    page.select_option("#state", "new")
    page.select_option("#site", label="site2.example")
    page.select_option("#sort", "title")
    titles = [title.lower() for title in page.locator("#grid h3").all_text_contents()]
    assert titles == sorted(titles)
    assert len(titles) == int(count(page).split()[0]) > 10
    assert all("new" in facts for facts in page.locator("#grid .facts").all_text_contents())


def test_a_view_has_an_address(opened: Open, thousand: Path) -> None:
    """The address holds the filters: opened again it shows the same, and a chart's link filters too."""
    page = opened(thousand)
    page.click("#where a:text-is('flash')")
    expect(page.locator("#count")).to_contain_text("254 media")
    page.fill("#q", "engines")
    expect(page).to_have_url(re.compile("q=engines"))
    again = opened(thousand, page.evaluate("location.hash"))
    assert count(again) == count(page)
    assert again.input_value("#q") == "engines"
    page.click("#kinds button[value=video]")
    page.go_back()
    expect(page.locator("#kinds [value=flash]")).to_have_attribute("aria-pressed", "true")


def test_what_is_gone_is_shown_where_only_that_was_asked_for(opened: Open, thousand: Path) -> None:
    """A report of what is gone opens on it; the filters still work, and an address keeps them."""
    page = opened(write(thousand.with_suffix(".db"), "--gone"))
    assert page.inner_text("h1") == "111 media gone from 4 sites"
    assert count(page).startswith("111 media")
    page.select_option("#state", "")
    assert count(page) == "0 media"
    page.click("#reset")
    assert count(page).startswith("111 media")


def test_pages_are_turned(opened: Open, thousand: Path) -> None:
    """Forty-eight at a time, forwards, to the end and to a number."""
    page = opened(thousand)
    first = page.inner_text("#grid h3 >> nth=0")
    page.click("text=Next")
    assert count(page) == "889 media, 49 to 96 shown"
    assert page.inner_text("#grid h3 >> nth=0") != first
    page.click("text=Last")
    assert count(page) == "889 media, 865 to 889 shown"
    page.fill("#pager input", "3")
    page.press("#pager input", "Enter")
    assert count(page) == "889 media, 97 to 144 shown"


def test_the_tree_opens_and_finds(opened: Open, thousand: Path) -> None:
    """Branches open by the keyboard; a page that is searched for is shown in its place, and so is a medium's."""
    page = opened(thousand)
    toggle = page.locator("#tree .toggle").first
    toggle.focus()
    page.keyboard.press("Enter")
    assert toggle.get_attribute("aria-expanded") == "true"
    page.fill("#find", "page-437.html")
    page.click("#finds button")
    found = page.locator(".row.found")
    assert found.locator("a").inner_text() == "/shelf37/page-437.html"
    assert found.is_visible()
    assert page.evaluate("document.activeElement.textContent") == "/shelf37/page-437.html"
    page.click("#grid .facts button >> nth=5")
    assert page.locator(".row.found").count() == 1
    assert page.locator("#tree .row.found").is_visible()


def test_the_graph_of_an_application(opened: Open, thousand: Path) -> None:
    """States and events are drawn, told when they are chosen by click or key, and come nearer."""
    page = opened(thousand)
    assert page.locator(".state-box").count() == 8
    assert page.locator(".edge").count() == 10  # two events lead from state 1 to state 5
    facts = page.locator(".graph-facts")
    page.locator(".edge[aria-label='1 event from state 0 to state 1']").press("Enter")
    expect(facts).to_contain_text("click on nav > a:nth-of-type(1)")
    expect(facts.locator(".asked a")).to_have_attribute("href", "http://site1.example/api/reels?page=1")
    page.locator(".edge[aria-label='1 event from state 5 to state 7']").press(" ")
    expect(facts).to_contain_text(
        "POST http://site1.example/api/cast · body film, year not sent: method".replace(" · ", " ")
    )
    page.locator(".state-box").nth(0).click()
    expect(facts).to_contain_text("GET http://site1.example/api/index.json")
    expect(facts).to_contain_text("state 1: click on nav > a:nth-of-type(1)")
    lit = page.locator(".edge.lit")
    assert lit.count() == page.locator(".edge[aria-label*='from state 0']").count() == 3
    page.locator(".state-box[aria-label^='State 4']").click()
    expect(facts.locator(".events a")).to_have_count(2)
    drawing = page.locator("svg.graph")
    before = [float(part) for part in (drawing.get_attribute("viewBox") or "").split()]
    page.click("button[aria-label=Nearer]")
    after = [float(part) for part in (drawing.get_attribute("viewBox") or "").split()]
    assert after[2] < before[2]
    page.click("button[aria-label='Show the whole graph']")
    for box in page.locator(".state-box rect").all():
        inner, outer = box.bounding_box(), drawing.bounding_box()
        assert inner is not None
        assert outer is not None
        assert outer["x"] <= inner["x"]
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]


def test_a_player_asks_only_when_clicked(browser: Browser, thousand: Path) -> None:
    """A click on a medium makes a real player that asks for the medium; pictures come when they are asked for."""
    context = browser.new_context()
    page = context.new_page()
    asked: list[tuple[str, str]] = []
    page.route("http://**", lambda route: route.abort())
    page.on("request", lambda request: asked.append((request.resource_type, request.url)))
    page.goto(thousand.as_uri())
    page.wait_for_selector("#grid > li")
    assert [url for _, url in asked if not url.startswith(("file:", "data:"))] == []
    page.click("#grid .kind-video .play")
    page.wait_for_selector(".failed-play")
    player = page.locator(".stage video")
    assert player.get_attribute("preload") == "none"
    assert {url for _, url in asked} >= {player.get_attribute("src"), player.get_attribute("poster")}
    page.wait_for_selector("text=This does not play here")
    before = len(asked)
    page.click("#posters")
    expect(page.locator(".stage img").nth(5)).to_be_attached()
    page.wait_for_timeout(100)
    assert {kind for kind, _ in asked[before:]} == {"image"}
    context.close()


def test_the_demo_s_report_plays(browser: Browser, tmp_path: Path) -> None:
    """The report of the sample site: its numbers are the demo's, its tree opens, and a click plays a real film."""
    database = tmp_path / "demo.db"
    crawl = [sys.executable, "-m", "spider", "-q", "--db", str(database), "crawl", "--delay", "0"]
    with serve() as base:
        subprocess.run([*crawl, base], env=environment(), check=True)
        page = browser.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(write(database).as_uri())
        assert page.inner_text("h1") == "27 media on 1 site"
        page.fill("#q", "lights.webm")
        expect(page.locator("#grid > li")).to_have_count(1)
        page.click("#grid .play")
        expect(page.locator(".stage video")).to_have_js_property("readyState", 4)
        assert page.evaluate("document.querySelector('.stage video').videoWidth") > 0
        page.click("#grid .facts button")
        expect(page.locator("#tree .row.found a")).to_have_text("/films/lights.html")
        page.close()
    assert said == []


def test_hostile_texts_do_nothing(opened: Open, small: Path) -> None:
    """Texts of hostile pages are shown as texts: nothing runs, nothing is asked for, no link leaves the web."""
    page = opened(small)
    assert count(page) == "6 media"
    assert r"\x1b]0;owned" in page.inner_text("#grid")
    assert page.evaluate("[...document.links].filter((a) => !/^(https?|file):/.test(a.protocol + '//')).length") == 0
    page.fill("#q", "影片")
    expect(page.locator("#grid > li")).to_have_count(1)


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_everybody_can_use_it(scheme: Any, width: int, opened: Open, thousand: Path) -> None:  # noqa: ANN401  # Playwright's
    """axe-core finds no serious fault in either colours and on either screen, and nothing is wider than the screen."""
    page = opened(thousand, viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)
    page.locator("#tree .toggle").first.click()
    page.locator(".state-box").first.click()
    page.click(".time summary")
    page.fill("#find", "page-4")
    page.wait_for_selector("#finds li")
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.origin is not None
    page.add_script_tag(path=Path(spec.origin).with_name("axe.min.js"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    faults = [
        (fault["id"], fault["impact"], fault["nodes"][0]["html"][:200])
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
    ]
    assert faults == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_is_soon_there(opened: Open, thousand: Path) -> None:
    """A thousand media take less than two megabytes and are shown within a second."""
    assert thousand.stat().st_size < 2_000_000
    times = [
        opened(thousand).evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        for _ in range(3)
    ]
    assert min(times) < FIRST_VIEW * 1000, times


def test_fifty_thousand_are_filtered_at_once(opened: Open, tmp_path: Path) -> None:
    """A filter, a word or an order takes no fifth of a second for fifty thousand media, once they are read."""
    page = opened(write(grow(tmp_path / "large.db", media=50_000, a_page=5)))
    assert count(page).startswith("44,445 media")
    # The best of a few: how busy the machine is besides is not the page's fault.
    for one in (("format", "1"), ("site", "2"), ("state", "new"), ("q", "birds"), ("q", "page 7 collection")):
        assert min(page.evaluate(CHANGE, [name, value]) for name, value in [one, (one[0], "")] * 3) < FILTER * 1000, one
    orders = [page.evaluate(CHANGE, ["sort", value]) for value in ("title", "page", "host", "newest")]
    assert min(orders) < FILTER * 1000, orders


CHANGE = """([name, value]) => new Promise((told) => {
    const field = document.getElementById(name);
    const pause = name === "q" ? 90 : 0;  // of the page, after a key
    const began = performance.now();
    new MutationObserver((_, observer) => {
        observer.disconnect();
        document.body.offsetHeight;  // laid out
        told(performance.now() - began - pause);
    }).observe(document.getElementById("grid"), {childList: true});
    field.value = value;
    field.dispatchEvent(new Event(name === "q" ? "input" : "change"));
})"""


def test_it_prints(opened: Open, small: Path) -> None:
    """On paper there are no controls, and the page is light whatever the screen was."""
    page = opened(small, color_scheme="dark")
    page.emulate_media(media="print")
    assert not page.is_visible("#filters")
    assert not page.is_visible("body > nav")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.is_visible("#grid h3 >> nth=0")
