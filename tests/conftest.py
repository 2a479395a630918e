"""The real parts that tests share: a watchful web server, the program as a process, generated sites, reference data."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, settings

from spider.cli import main
from tests.server import Content, WebServer

# A busy machine is no reason for a law to fail: how long an example takes says nothing here.
settings.register_profile("spider", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("spider")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data beside the repository; skip, and say so, where there is none."""
    if not SHARED.is_dir():
        pytest.skip(f"reference data is not here: {SHARED}")
    return SHARED


@pytest.fixture
def web() -> Iterator[Callable[..., WebServer]]:
    """Give a function that starts a `WebServer`; fail the test if any of them saw a violation."""
    servers: list[WebServer] = []

    def factory(content: Content | Mapping[str, Content], **options: Any) -> WebServer:  # noqa: ANN401  # handed on
        server = WebServer(content, **options).start()
        servers.append(server)
        return server

    yield factory
    for server in servers:
        server.close()
    found = [f"{v.check}: {v.text}" for server in servers for v in server.violations]
    if found:
        more = f"\n… and {len(found) - 20} more" if len(found) > 20 else ""
        pytest.fail("the web server saw bad manners:\n" + "\n".join(found[:20]) + more, pytrace=False)


def environment() -> dict[str, str]:
    """Return the environment for the program as a process: ours, without its own variables and colours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPIDER_")}
    path = os.pathsep.join(filter(None, (str(ROOT), kept.get("PYTHONPATH", ""))))
    return kept | {"PYTHONPATH": path, "NO_COLOR": "1", "COLUMNS": "80", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def spider(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Give a function that runs ``python -m spider ARGS`` in `tmp_path` and returns how it ended, with its text."""

    def run(
        *args: object, timeout: float = 60, stdin: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "spider", *map(str, args)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment() | variables,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Give the quick sister of `spider`: the same, in the test's own process, for what needs none of its own.

    A crawl of many hosts does need one: it begins worker processes as copies of itself.
    """
    known = environment()
    for name in set(os.environ) - set(known):
        monkeypatch.delenv(name)

    def run(*args: object, stdin: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        words = [*map(str, args)]
        monkeypatch.chdir(tmp_path)
        done = CliRunner().invoke(main, words, input=stdin or "", env=known | variables)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    return run


@pytest.fixture
def spider_process(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Give a function that starts ``python -m spider ARGS`` and returns the process, which is killed at the end."""
    running: list[subprocess.Popen[str]] = []

    def begin(*args: object, **variables: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "spider", *map(str, args)]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment() | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def site(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """Give a function that builds a generated site once and returns its document root and its truth.

    Its keywords are the generator's options: ``site(pages=400)``.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def build(**options: int) -> tuple[Path, dict[str, Any]]:
        name = "-".join(["site", *(f"{key}{options[key]}" for key in sorted(options))])
        out = base / name
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (out / "truth.json").exists():
                words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
                script = shared / "bench" / "make_site.py"
                subprocess.run([sys.executable, str(script), str(out), *words], check=True, capture_output=True)
        return out / "site", json.loads((out / "truth.json").read_text())

    return build
