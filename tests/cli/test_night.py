"""Laws of the README's nightly crawl: its crontab and its systemd units work as they are given."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.server import WebServer

README = (ROOT / "README.md").read_text(encoding="utf-8")
HOME = "/srv/media"


def crontab() -> tuple[str, str]:
    """Return the search path and the command of the crontab that the README shows."""
    found = re.search(r"^    PATH=(\S+)\n    (?:\S+ ){4}\S+  (.+)$", README, re.MULTILINE)
    assert found, "the README shows no crontab"
    return found[1], found[2]


def unit(name: str) -> configparser.ConfigParser:
    """Return one of the systemd units that the README shows."""
    found = re.search(rf"<!-- unit: {name} -->\n(.*?)<!-- ", README, re.DOTALL)
    assert found, f"the README shows no {name}"
    parsed = configparser.ConfigParser(interpolation=None)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]  # configparser's own way to keep case
    parsed.read_string(re.sub(r"^    ", "", found[1], flags=re.MULTILINE))
    return parsed


def installed(folder: Path) -> Path:
    """Put the program where the README has it, below a folder."""
    program = folder / ".venv" / "bin" / "spider"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m spider "$@"\n')
    program.chmod(0o755)
    return program


def test_the_crontab_works_as_given(web: Callable[..., WebServer], tmp_path: Path) -> None:
    """Run as cron does, with no environment to speak of: silent, with a log, and a file of what is new."""
    site = web({"/": "<video src=a.mp4></video><a href=b>b</a>", "/b": "<audio src=c.ogg></audio>"})
    installed(tmp_path)
    (tmp_path / "seeds.txt").write_text(f"{site.url}\n")
    path, command = crontab()
    assert "%" not in command  # cron takes it for the end of the line
    env = {"PATH": path.replace(HOME, str(tmp_path)), "HOME": "/", "SHELL": "/bin/sh", "SPIDER_DELAY": "0"}
    for new in (["a.mp4", "c.ogg"], []):
        done = subprocess.run(
            ["/bin/sh", "-c", command.replace(HOME, str(tmp_path))],
            cwd="/",
            env=env,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        rows = json.loads((tmp_path / "new.json").read_text())
        assert [row["media"].removeprefix(site.url) for row in rows] == new
    assert (tmp_path / "crawl.log").read_text().count(" begin\n") == 2
    assert {line.split()[0] for line in crontab()[1].split(";")} == {"cd", "spider"}


def test_the_service_does_what_the_crontab_does() -> None:
    """The service runs the crontab's crawl in the same folder; a limit and another crawl at work are no failures."""
    service = unit("spider.service")["Service"]
    words = service["ExecStart"].split()
    assert words[0] == f"{HOME}/.venv/bin/spider"
    assert " ".join(["spider", *words[1:]]) in crontab()[1]
    assert service["WorkingDirectory"] == HOME
    assert service["SuccessExitStatus"].split() == ["4", "8"]
    timer = unit("spider.timer")
    assert timer["Timer"]["Persistent"] == "true"
    assert timer["Install"]["WantedBy"] == "timers.target"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    """The system itself finds nothing wrong with them."""
    installed(tmp_path)
    for name in ("spider.service", "spider.timer"):
        with (tmp_path / name).open("w") as file:
            unit(name).write(file, space_around_delimiters=False)
        text = (tmp_path / name).read_text().replace(HOME, str(tmp_path))
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / "spider.timer"), str(tmp_path / "spider.service")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    complaints = [line for line in done.stderr.splitlines() if "spider." in line]
    assert complaints == []
