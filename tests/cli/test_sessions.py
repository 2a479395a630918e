"""Laws of what opens doors, as it is given: what cannot be used is told in a line, and no password with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cookies", "none.txt"), "--cookies: none.txt: cannot be read (no such file or directory)"),
        (
            ("--cookies", "bad.txt"),
            "--cookies: bad.txt, line 1: not one of a Netscape cookies file (7 fields with tabs between)",
        ),
        (("--auth", "secret"), "--auth: what is given is not a login; write HOST=USER:PASSWORD"),
        (("--auth", "a b=secret:secret"), "--auth: not HOST=USER:PASSWORD"),
        (
            ("--proxy", "socks5://me:secret@h"),
            "--proxy: what is given is not the address of a proxy; write http://host:port or https://host:port",
        ),
        (
            ("--proxy", "http://me:secret@h:x"),
            "--proxy: not the address of a proxy; write http://host:port or https://host:port",
        ),
        (("--header", "Cookie: a=secret"), "--header: a header Cookie would go to every host; use --cookies"),
        (("--header", "authorization: Basic x"), "--header: a header authorization would go to every host; use --auth"),
    ],
)
@pytest.mark.parametrize("command", ["crawl", "links"])
def test_what_cannot_be_used(run: Run, tmp_path: Path, command: str, words: tuple[str, str], message: str) -> None:
    """A file or a value that cannot be used is one line and code 2; no password is quoted."""
    (tmp_path / "bad.txt").write_text("<!DOCTYPE html>\n")
    done = run(command, *words, "http://127.0.0.1:9/")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"spider: {message}\n")
