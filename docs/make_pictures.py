"""Take the pictures of ``docs/pictures``: the HTML report of the bundled sample site, as browsers show it.

Needs the extra ``ajax`` and a browser; asks no host but 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from spider.ajax.browser import find
from spider.cli import main as spider

TARGET = Path(__file__).with_name("pictures")

VIEWS = (
    ("report-light", 1280, 820, "light", "#media"),
    ("report-dark", 1280, 820, "dark", "#media"),
    ("report-phone", 390, 820, "light", "#media"),
    ("report-links", 1280, 820, "light", "#forest"),
)
"""The name of each picture, the screen's width and height, its colours, and the part of the page that is shown."""


def report(folder: Path) -> Path:
    """Crawl the sample site and write its report."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        spider(["-q", "--db", "demo.db", "demo"], standalone_mode=False)
        spider(["-q", "--db", "demo.db", "report", "--format", "html", "-o", "report.html"], standalone_mode=False)
    return folder / "report.html"


def take(browser: Browser, page: Path) -> None:
    """Take each picture."""
    for name, width, height, scheme, part in VIEWS:
        tab = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        tab.goto(page.as_uri())
        tab.wait_for_selector("#grid > li")
        if part != "#media":
            for toggle in tab.query_selector_all("#tree > li > ul > li > .row .toggle")[:3]:
                toggle.click()
            tab.evaluate("part => document.querySelector(part).scrollIntoView({behavior: 'instant'})", part)
        tab.screenshot(path=TARGET / f"{name}.png")
        tab.close()


def main() -> None:
    """Write the report and photograph it."""
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox", "--disable-gpu"])
        take(browser, report(Path(folder)))
        browser.close()


if __name__ == "__main__":
    main()
