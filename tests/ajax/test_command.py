"""Laws of `spider ajax`: its forms, its exit codes."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest

from tests.ajax.conftest import SKIP, content
from tests.server import WebServer

Begin = Callable[..., Popen[str]]
Run = Callable[..., CompletedProcess[str]]


def test_json(spider: Run, web: Callable[..., WebServer], tmp_path: Path, browser: object) -> None:
    """The JSON form is one object with what was found, also in a file; pictures are put where they are asked for."""
    assert browser
    server = web(content, per_host=64, skip=SKIP)
    done = spider("ajax", server.url + "slow.html", "--format", "json", "--output", "x.json", "--screenshots", "shots")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    found = json.loads((tmp_path / "x.json").read_text())
    assert [(one["id"], one["depth"]) for one in found["states"]] == [(0, 0), (1, 1)]
    assert [(one["from"], one["to"], one["event"], one["element"]) for one in found["transitions"]] == [
        (0, 1, "click", "#go")
    ]
    assert {(one["method"], one["url"]) for one in found["resources"]} == {
        ("GET", f"{server.url}api/slow/{number}") for number in range(3)
    }
    assert {"url": f"{server.url}slow/end.html", "text": "end"} in found["links"]
    assert [(one["url"], one["kind"], one["state"]) for one in found["media"]] == [
        (f"{server.url}media/late.mp4", "video", 1)
    ]
    assert sorted(path.name for path in (tmp_path / "shots").iterdir()) == ["state-0.png", "state-1.png"]


def test_dot_and_limit(spider: Run, web: Callable[..., WebServer], browser: object) -> None:
    """The dot form is a graph; a limit that ends the exploration ends the command with 4 and a line."""
    assert browser
    server = web(content, per_host=64, skip=SKIP)
    done = spider("ajax", server.url + "tabs.html", "--format", "dot", "--max-states", "2")
    assert done.returncode == 4
    assert done.stdout.startswith("digraph states {\n")
    assert '  0 -> 1 [label="click ' in done.stdout
    assert "stopped by a limit: states" in done.stderr


def test_robots_and_errors(spider: Run, web: Callable[..., WebServer], browser: object) -> None:
    """What robots.txt closes is not asked for; a page that does not come is 3, a wrong address 2."""
    assert browser
    server = web({"/robots.txt": "User-agent: *\nDisallow: /private", "/private/": "no"}, per_host=64, skip=SKIP)
    done = spider("ajax", server.url + "private/")
    assert (done.returncode, server.asked()) == (3, ["/robots.txt"])
    assert "robots" in done.stderr
    assert spider("ajax", "mailto:x@example.com").returncode == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(
    spider_process: Begin, web: Callable[..., WebServer], browser: object, number: signal.Signals, code: int
) -> None:
    """A signal ends the command in order, in a moment, with its code and without a word."""
    assert browser
    server = web(content, per_host=64, skip=SKIP)
    process = spider_process("ajax", server.url + "listeners.html")
    while "/listeners.html" not in server.asked():
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.strip()) == (code, "", "")


def test_no_browser(spider: Run) -> None:
    """Without a browser there is one line that says so, and the exit code is 6; an address needs no scheme."""
    done = spider("ajax", "localhost", SPIDER_BROWSER="/nowhere/chromium")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (6, "", 1)
    done = spider("ajax", "http://localhost/", PATH="/nowhere", PLAYWRIGHT_BROWSERS_PATH="/nowhere")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (6, "", 1)
    assert "--browser" in done.stderr
