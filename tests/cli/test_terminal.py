"""Laws of terminals, on a real one: what is drawn and where, and that nothing is where nobody wants it."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.cli.bars import bar_parts
from tests.conftest import environment
from tests.report.large import grow
from tests.server import Reply, WebServer

Web = Callable[..., WebServer]
ESCAPE = re.compile(r"\x1b")
MOVES = re.compile(r"\x1b\[\d*[ABCDGHJKF]|\x1b\[\?25[lh]")


def on_a_terminal(*args: str, cwd: Path, **variables: str) -> tuple[int, str]:
    """Run the program with its standard error on a terminal, its output in a file; return its code and what came."""
    master, slave = pty.openpty()
    kept = {name: value for name, value in environment().items() if name != "NO_COLOR"}
    env = kept | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"} | variables
    with (cwd / "out").open("w") as out:
        process = subprocess.Popen([sys.executable, "-m", "spider", *args], cwd=cwd, env=env, stdout=out, stderr=slave)
    os.close(slave)
    heard = b""
    while True:
        ready, _, _ = select.select([master], [], [], 60)
        try:
            part = os.read(master, 65536) if ready else b""
        except OSError:
            part = b""
        if not part:
            break
        heard += part
    os.close(master)
    return process.wait(60), heard.decode("utf-8", "replace")


@pytest.fixture
def museum(web: Web) -> WebServer:
    """Serve pages that take their time."""
    pages = {
        f"/{number}.html": Reply("<title>Room</title><a href=film.mp4>The film</a>", delay=0.1) for number in range(4)
    }
    links = "".join(f"<a href=/{number}.html>Room {number}</a>" for number in range(4))
    return web({"/": Reply(links, delay=0.1), "/film.mp4": Reply(b"\0\0\0\x18ftypisom", type="video/mp4"), **pages})


def test_a_crawl_is_drawn(museum: WebServer, tmp_path: Path) -> None:
    """On a terminal the picture moves in its place and is gone at the end; the counts and the advice stay."""
    code, heard = on_a_terminal("crawl", museum.url, "--delay", "0", cwd=tmp_path)
    assert code == 0
    assert MOVES.search(heard)
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", heard)
    assert "pages, " in drawn
    assert "The film" in drawn
    assert "W 0  R 0  C 5  E 0" in drawn
    assert drawn.rstrip().endswith("next: spider report shows the media")


@pytest.mark.parametrize(
    ("options", "variables"), [(["-q"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})], ids=str
)
def test_nothing_is_drawn(options: list[str], variables: dict[str, str], museum: WebServer, tmp_path: Path) -> None:
    """With -q, NO_COLOR or a dumb terminal no character steers it, in any command that has a picture or a bar."""
    seen = ""
    for command in (
        ["crawl", museum.url, "--delay", "0"],
        ["check", "--delay", "0"],
        ["export", "links", "-o", "links.jsonl"],
        ["db", "vacuum"],
        ["db", "upgrade"],
    ):
        code, heard = on_a_terminal(*options, *command, cwd=tmp_path, **variables)
        assert code == 0, (command, heard)
        assert not ESCAPE.search(heard), command
        seen += heard
    assert ("-q" in options) == (seen == "")


@pytest.mark.parametrize("command", [["export", "links", "-o", "x"], ["export", "urls"], ["db", "backup", "copy.db"]])
def test_long_commands_have_bars(command: list[str], tmp_path: Path) -> None:
    """What may take long draws a bar on a terminal, and takes it away; its answer is what it always is."""
    grow(tmp_path / "spider.db", media=300)
    code, heard = on_a_terminal(*command, cwd=tmp_path)
    assert code == 0
    assert "━" in heard
    assert MOVES.search(heard)
    assert "━" not in (tmp_path / "out").read_text(encoding="utf-8")


def test_a_check_is_drawn(museum: WebServer, tmp_path: Path) -> None:
    """A check has a bar, what was found so far, and the hosts."""
    on_a_terminal("crawl", museum.url, "--delay", "0", cwd=tmp_path)
    code, heard = on_a_terminal("check", "--delay", "0", cwd=tmp_path)
    assert code == 0
    assert "checking" in heard
    assert "alive" in heard


def test_a_bar_tells_how_far_and_how_long() -> None:
    """A bar is full in proportion, tells the share and the time left; without a total it tells what is done."""
    half = "".join(text for text, _ in bar_parts("doing", 500, 1000, 60.0))
    assert half == f"doing  {'━' * 15}{'─' * 15}  500 of 1,000  50 %  1 m 00 s left"
    assert "1,200  2.0 s" in "".join(text for text, _ in bar_parts("doing", 1200, None, 2.0))
    assert "100 %" in "".join(text for text, _ in bar_parts("doing", 1001, 1000, 60.0))
