"""Take the pictures of ``docs/pictures``: the program at a terminal, and its HTML report as browsers show it.

All of them are of the bundled sample site, but for that of an application, which is one of the tests'.  Needs the
extra ``ajax`` and a browser; asks no host but 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import pty
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.text import Text

from spider.ajax.browser import find
from spider.cli import main as spider
from spider.cli.progress import Trend, picture
from spider.crawl import Crawler, Plan, Seed, Snapshot
from spider.demo import serve
from spider.store import Database

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "pictures"
APPLICATIONS = ROOT / "tests" / "sites" / "ajax"
COLUMNS = 96

VIEWS = (
    ("report-light", 1280, 820, "light", "body"),
    ("report-dark", 1280, 820, "dark", "body"),
    ("report-phone", 390, 820, "light", "body"),
    ("report-links", 1280, 820, "light", "#forest"),
)
"""The name of each picture, the screen's width and height, its colours, and the part of the page that is shown."""

NO_FONT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" width="{width}">
<style>.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", monospace; font-size: {char_height}px;
line-height: {line_height}px; }} .{unique_id}-title {{ font: bold 18px sans-serif; }} {styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g></svg>"""
"""Rich's own drawing of a terminal, but for the font that it would fetch."""


def run(*words: str) -> None:
    """Run the program, its answers to nowhere."""
    with contextlib.redirect_stdout(io.StringIO()):
        spider(["-q", *words], standalone_mode=False)


# --- the report -----------------------------------------------------------------------------------


def report(folder: Path, base: str) -> Path:
    """Crawl the sample site, check its media, and write its report."""
    with contextlib.chdir(folder):
        run("--db", "demo.db", "crawl", base, "--delay", "0")
        run("--db", "demo.db", "check", "--seed", base, "--delay", "0", "--timeout", "1")
        run("--db", "demo.db", "report", "--format", "html", "-o", "report.html")
    return folder / "report.html"


def application(folder: Path) -> Path:
    """Let a browser explore an application and write the report with its graph."""
    handler: Callable[..., SimpleHTTPRequestHandler] = functools.partial(Quiet, directory=str(APPLICATIONS))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seed = f"http://127.0.0.1:{server.server_port}/gallery.html"
    with contextlib.chdir(folder):
        run("--db", "app.db", "crawl", seed, "--delay", "0", "--depth", "0", "--ajax", "always", "--no-sitemaps")
        run("--db", "app.db", "report", "--format", "html", "-o", "app.html")
    server.shutdown()
    return folder / "app.html"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and JSON to what an application asks for; says nothing."""

    def do_GET(self) -> None:
        """Answer."""
        if not self.path.startswith("/api/"):
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def opened(browser: Browser, page: Path, width: int, height: int, scheme: str) -> Page:
    """Open a page on a screen of a size and a colour."""
    tab = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    tab.goto(page.as_uri())
    tab.wait_for_selector("#grid > li")
    return tab


def take(browser: Browser, page: Path) -> None:
    """Take each picture of the report."""
    for name, width, height, scheme, part in VIEWS:
        tab = opened(browser, page, width, height, scheme)
        if part == "#forest":
            for toggle in tab.query_selector_all("#tree > li > ul > li > .row .toggle")[:3]:
                toggle.click()
        tab.evaluate("part => document.querySelector(part).scrollIntoView({behavior: 'instant'})", part)
        tab.screenshot(path=TARGET / f"{name}.png")
        tab.close()


def take_graph(browser: Browser, page: Path) -> None:
    """Take the picture of an application's graph."""
    tab = opened(browser, page, 1280, 820, "light")
    tab.locator(".state-box").nth(1).dispatch_event("click")
    tab.locator("#graphs").screenshot(path=TARGET / "report-graph.png")
    tab.close()


# --- the terminal ---------------------------------------------------------------------------------


def middle(folder: Path, base: str) -> Snapshot:
    """Return how a crawl of the sample site stands on its way."""
    with Database.open(str(folder / "half.db")) as database:
        crawl = Crawler(database, Plan(delay=0.02), seeds=[Seed(base)])
        for _ in itertools.islice(crawl.run(), 30):  # somewhere on the way
            found = crawl.snapshot()
    return found


def spoken(folder: Path, *words: str) -> Text:
    """Return what the program writes on a terminal, colours and all."""
    master, slave = pty.openpty()
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    env |= {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "60", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "spider", "--db", "demo.db", *words]
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=slave, stderr=subprocess.DEVNULL)  # noqa: S603
    os.close(slave)
    text = b"".join(_heard(master)).decode("utf-8")
    process.wait()
    return Text.from_ansi(text.replace("\r", ""))


def _heard(master: int) -> Iterator[bytes]:
    with contextlib.suppress(OSError):
        while part := os.read(master, 65536):
            yield part


def terminal(folder: Path, base: str) -> str:
    """Return a session as SVG: a crawl on its way, then two questions."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")

    def typed(line: str) -> None:
        console.print(Text.assemble(("$ ", "bold green"), (line, "bold")))

    typed(f"spider crawl {base}")
    now = middle(folder, base)
    trend = Trend(now.pages_per_second, now.waiting / now.pages_per_second)
    for text, style in picture(now, trend=trend):
        console.print(Text(text, style=style), end="")
    console.print("\n")
    typed("spider tree --media-only --depth 2")
    console.print(Text("\n").join(spoken(folder, "tree", "--media-only", "--depth", "2").split("\n")[:14]))
    console.print()
    typed("spider status")
    console.print(spoken(folder, "status"))
    return console.export_svg(title="spider", code_format=NO_FONT)


def take_terminal(browser: Browser, drawing: str) -> None:
    """Take the picture of the terminal."""
    tab = browser.new_page(viewport={"width": 1300, "height": 1000}, device_scale_factor=1)
    tab.set_content(f"<body style='margin:0'>{drawing}</body>")
    tab.locator("svg").screenshot(path=TARGET / "terminal.png", omit_background=True)
    tab.close()


def main() -> None:
    """Make what is shown, and photograph it."""
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, serve() as base, sync_playwright() as playwright:
        folder = Path(name)
        shown, graph = report(folder, base), application(folder)
        drawing = terminal(folder, base)
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox", "--disable-gpu"])
        take(browser, shown)
        take_graph(browser, graph)
        take_terminal(browser, drawing)
        browser.close()


if __name__ == "__main__":
    main()
