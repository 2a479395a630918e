"""`spider url`: paper 1 on its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from spider.store import Database

Spider = Callable[..., subprocess.CompletedProcess[str]]


def test_writes_addresses(spider: Spider) -> None:
    """It writes each address as a browser would, fragment and all, one a line."""
    done = spider("url", "HTTP://Example.COM:80/a/../b#c", "mailto:a")
    assert (done.returncode, done.stdout, done.stderr) == (0, "http://example.com/b#c\nmailto:a\n", "")


def test_base_and_encoding(spider: Spider) -> None:
    """Relative addresses are relative to --base; queries are written in --encoding."""
    done = spider("url", "--base", "http://h/a/b", "--encoding", "gb2312", "../c?中")
    assert (done.returncode, done.stdout) == (0, "http://h/c?%D6%D0\n")


def test_key(spider: Spider) -> None:
    """--key writes the identity instead."""
    done = spider("url", "--key", "http://h/%7Ea?b&a&utm_source=x#f")
    assert (done.returncode, done.stdout) == (0, "http://h/~a?a&b\n")


def test_key_by_other_steps(here: Spider, tmp_path: Path) -> None:
    """The key is that of the steps that are named, or of the database that is; a step unknown is code 2."""
    address = "http://www.h.org/a/?b&a"
    Database.open(str(tmp_path / "x.db"), ladder="slash,www").close()
    assert here("url", "--steps", "www,slash", address).stdout == "http://h.org/a?b&a\n"
    assert here("--db", "x.db", "url", "--key", address).stdout == "http://h.org/a?b&a\n"
    assert here("url", "--key", address, SPIDER_DB="x.db").stdout == "http://h.org/a?b&a\n"
    assert here("--db", "x.db", "url", "--steps", "", address).stdout == f"{address}\n"
    assert here("--db", "x.db", "url", address).stdout == f"{address}\n"
    assert here("url", "--key", address).stdout == "http://www.h.org/a/?a&b\n"
    done = here("url", "--steps", "wwww", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert "wwww" in done.stderr
    assert here("--db", "missing.db", "url", "--key", address).returncode == 5


def test_trace(spider: Spider) -> None:
    """--trace shows each step, each error with a caret under its place, and the address."""
    done = spider("url", "--trace", "http://u@h/ b")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["state", "input", "next"]
    assert ["S0", "@", "S3"] in [line.split() for line in lines]
    place = lines.index("invalid-credentials at column 9:")
    assert lines[place + 1 : place + 3] == ["http://u@h/ b", " " * 8 + "^"]
    assert lines[-1] == "http://u@h/%20b"


def test_no_url(spider: Spider) -> None:
    """A text that is no URL is told with its reason and a caret; the others are written all the same."""
    done = spider("url", "http://h:x/", "http://h/")
    assert done.returncode == 2
    assert done.stdout == "http://h/\n"
    message, text, caret = done.stderr.splitlines()
    assert "port-invalid" in message
    assert text[caret.index("^")] == "x"


def test_trace_of_no_url(spider: Spider) -> None:
    """The steps and errors of a text that is no URL are shown up to where it fails."""
    done = spider("url", "--trace", " http://a:b/")
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines].index(["S2", "/", "--"]) == len(lines) - 7
    assert lines[-6::3] == ["invalid-URL-unit at column 1:", "port-invalid at column 11:"]
    assert lines[-4::3] == ["^", " " * 10 + "^"]


def test_bad_options(spider: Spider) -> None:
    """A base that is no URL and a charset that is none are one line and exit code 2 each."""
    assert spider("url", "--base", "x", "y").returncode == 2
    done = spider("url", "--encoding", "klingon", "http://h/")
    assert (done.returncode, done.stdout) == (2, "")
    assert "klingon" in done.stderr


def test_reads_lines() -> None:
    """Without arguments it reads lines, whatever bytes they are."""
    command = [sys.executable, "-m", "spider", "url"]
    done = subprocess.run(command, input=b"http://A/\r\nhttp://h/\xff\n", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"http://a/\nhttp://h/%EF%BF%BD\n")
