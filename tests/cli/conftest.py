"""The command line in the test's own process: quick, in a folder of its own, without our variables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from spider.cli import main

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give a function that runs ``spider ARGS`` in `tmp_path`; keywords are environment variables."""
    monkeypatch.chdir(tmp_path)
    for name in [*os.environ]:
        if name.startswith("SPIDER_"):
            monkeypatch.delenv(name)

    def invoke(*args: object, stdin: str | bytes = "", **variables: str) -> Result:
        return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin, env=variables)

    return invoke
