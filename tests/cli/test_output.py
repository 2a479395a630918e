"""Laws of output: files appear whole or not at all, a terminal is drawn on with care, an empty answer says so."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from spider.cli.output import opened, show
from spider.errors import InputError
from spider.report import Span, write_csv
from spider.store import Database
from tests.cli.conftest import Run
from tests.conftest import environment
from tests.report.filled import fill

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a database with media once."""
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    fill(path)
    return path


# --- files -------------------------------------------------------------------


def test_a_report_goes_to_a_file(run: Run, filled: Path, tmp_path: Path) -> None:
    """--output writes what the standard output would have got, and nothing stands beside it."""
    shown = run("--db", filled, "report", "--format", "csv")
    done = run("--db", filled, "report", "--format", "csv", "--output", "out.csv")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "out.csv").read_bytes() == shown.stdout_bytes
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_file_stays_as_it_was_when_the_answer_breaks_off(tmp_path: Path) -> None:
    """An answer that breaks off leaves the old file, and no other."""
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(KeyError), opened(str(target)) as stream:
        write_csv([{"page": "half"}], stream, columns=["page", "title"])
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    """A new file gets what others get; an old one keeps its mode, a symbolic link keeps pointing."""
    target, link = tmp_path / "out", tmp_path / "link"
    mask = os.umask(0o027)
    try:
        with opened(str(target)) as stream:
            stream.write("new")
    finally:
        os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o640
    target.chmod(0o600)
    link.symlink_to(target)
    with opened(str(link)) as stream:
        stream.write("newer")
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("newer", 0o600)


@pytest.mark.parametrize(
    "command", ["report", "errors", "skipped", "runs", "status", "seeds list", "workers", "doctor", "tree"]
)
def test_every_list_can_be_written_to_a_file(command: str, run: Run, filled: Path, tmp_path: Path) -> None:
    """Whatever is listed takes --format, --output and --raw: nothing of it is printed then."""
    done = run("--db", filled, *command.split(), "--format", "csv", "--raw", "--output", "list.csv")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "list.csv").read_text(encoding="utf-8").count(",") > 1


def test_devices_and_the_standard_output_are_written_as_they_are(run: Run, filled: Path) -> None:
    """A dash is the standard output; a device is not replaced by a file."""
    done = run("--db", filled, "report", "--format", "csv", "--output", "-")
    assert done.stdout.startswith("page,title,")
    assert run("--db", filled, "report", "--output", os.devnull).exit_code == 0
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize("name", ["nowhere/out.csv", ".", "n" * 300, "x\0y", "\ud800"])
def test_what_cannot_be_written_is_one_line(name: str, run: Run, filled: Path, tmp_path: Path) -> None:
    """A place that cannot be written is named in one line, exit code 2."""
    done = run("--db", filled, "report", "--output", name)
    assert done.exit_code == 2
    assert done.stderr.startswith("spider: cannot write ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line(spider: Callable[..., subprocess.CompletedProcess[str]], filled: Path) -> None:
    """A file that cannot be written to its end is named, exit code 2."""
    done = spider("--db", filled, "report", "--output", "/dev/full")
    assert (done.returncode, done.stderr) == (2, "spider: cannot write /dev/full: no space left on device\n")


def test_the_temporary_file_is_not_in_the_way(tmp_path: Path) -> None:
    """Files are written beside their place, so that taking it is one step."""
    with opened(str(tmp_path / "out")) as stream:
        stream.write("x")
        names = [path.name for path in tmp_path.iterdir()]
        assert len(names) == 1
        assert names[0].startswith(".out.")
    assert list(Path(tempfile.gettempdir()).glob(".out.*")) == []


def test_the_database_may_be_an_sqlalchemy_url(run: Run, filled: Path) -> None:
    """--db takes a path and a URL alike."""
    assert run("--db", f"sqlite:///{filled}", "status").stdout == run("--db", filled, "status").stdout


# --- nothing to show ---------------------------------------------------------


def test_an_empty_database_says_so(run: Run, tmp_path: Path) -> None:
    """A report on an empty database is 0, with a line that says what to do; JSON is an empty array all the same."""
    Database.open(str(tmp_path / "spider.db")).close()
    done = run("report", "--format", "json")
    assert (done.exit_code, done.stdout) == (0, "[]\n")
    assert done.stderr == "spider: spider.db is empty: no page has been visited yet; spider crawl URL begins\n"
    assert run("-q", "report").output == ""
    assert run("report", "--format", "csv").stdout.count("\n") == 1
    assert (run("status").exit_code, run("errors").exit_code, run("retry").exit_code) == (0, 0, 0)


def test_no_match_says_so(run: Run, filled: Path) -> None:
    """A question that nothing answers is 0, with a line that says so."""
    done = run("--db", filled, "report", "--host", "elsewhere.example")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("spider: no page with such media; ")
    assert run("--db", filled, "errors", "--reason", "dns").stderr == "spider: no link has failed so\n"


def test_an_unknown_seed_is_one_line(run: Run, filled: Path) -> None:
    """A seed that is not in the list is named, exit code 2."""
    for command in ("report", "errors", "retry"):
        done = run("--db", filled, command, "--seed", "http://elsewhere.example/")
        assert (done.exit_code, done.stderr) == (2, "spider: no such seed: http://elsewhere.example/\n")


# --- retry and forget --------------------------------------------------------


def test_retry_lets_failed_links_wait(run: Run, tmp_path: Path) -> None:
    """Links go from E to W: those of a seed or a reason, or all; the counts follow."""
    fill(tmp_path / "spider.db")
    assert run("retry", "--seed", "http://radio.example/").stdout == "0 links moved from E to W\n"
    assert run("retry", "--reason", "timeout").stdout == "0 links moved from E to W\n"
    assert run("retry", "--reason", "client").stdout == "1 link moved from E to W\n"
    assert run("retry").stdout == "0 links moved from E to W\n"
    assert run("status").stdout.splitlines()[-1].split() == ["1", "0", "4", "0", "1", "2", "1", "all"]


def test_forget_takes_all_that_is_known(run: Run, tmp_path: Path) -> None:
    """A host's links, pages and media go, an address's alone; nothing of them is in a report any more."""
    fill(tmp_path / "spider.db")
    done = run("forget", "http://museum.example/games/")
    assert (done.exit_code, done.stdout) == (0, "http://museum.example/games/: 1 link and 2 media forgotten\n")
    assert "games" not in run("report").stdout
    assert run("forget", "museum.example").exit_code == 0
    assert "museum" not in run("report").stdout
    assert "radio.example" in run("report").stdout
    assert run("forget", "http://[::1/").exit_code == 2


# --- terminals ---------------------------------------------------------------


def on_a_terminal(args: list[object], cwd: Path, **variables: str) -> tuple[int, str]:
    """Run the program on a terminal of 60 columns; return its code and everything it wrote."""
    parent, child = pty.openpty()
    env = {name: value for name, value in environment().items() if name not in {"NO_COLOR", "COLUMNS"}}
    process = subprocess.Popen(
        [sys.executable, "-m", "spider", *map(str, args)],
        cwd=cwd,
        env=env | {"COLUMNS": "60", "TERM": "xterm-256color"} | variables,
        stdin=child,
        stdout=child,
        stderr=child,
    )
    os.close(child)
    written = b""
    with os.fdopen(parent, "rb", buffering=0) as stream:
        try:
            while chunk := stream.read(65536):
                written += chunk
        except OSError:  # the other end is closed
            pass
    return process.wait(30), written.decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_and_lines_that_fit(filled: Path, tmp_path: Path) -> None:
    """On a terminal the table has styles, fits the width, and is not steered by what pages say."""
    code, text = on_a_terminal(["--db", filled, "report"], tmp_path)
    plain = ESCAPE.sub("", text)
    assert code == 0
    assert ESCAPE.search(text)
    assert "\x1b" not in plain
    assert "\x07" not in plain
    assert [line for line in plain.splitlines() if len(line) > 60] == []
    assert "3 pages with 2 video, 2 audio, 2 flash" in plain


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "TERM=dumb"])
def test_colours_can_be_unwanted(variable: dict[str, str], filled: Path, tmp_path: Path) -> None:
    """NO_COLOR takes colours away, TERM=dumb every escape; the text stays."""
    _, text = on_a_terminal(["--db", filled, "report"], tmp_path, **variable)
    colours = re.findall(r"\x1b\[[0-9;]*3[0-7][0-9;]*m", text)
    assert colours == []
    assert "TERM" not in variable or "\x1b" not in text
    assert "3 pages with" in ESCAPE.sub("", text)


def test_status_has_bars_on_a_terminal(filled: Path, tmp_path: Path) -> None:
    """On a terminal each seed has a bar of its links; elsewhere there is none."""
    code, text = on_a_terminal(["--db", filled, "status"], tmp_path)
    plain = ESCAPE.sub("", text)
    assert code == 0
    assert f"{'█' * 30}{'×' * 10}" in plain
    assert "█" * 40 in plain
    assert [line for line in plain.splitlines() if len(line) > 60] == []


def test_a_page_is_not_poured_onto_a_terminal(filled: Path, tmp_path: Path) -> None:
    """A page for a browser wants a file or a pipe; a terminal gets one line that says so, code 2."""
    code, text = on_a_terminal(["--db", filled, "report", "--format", "html"], tmp_path)
    assert code == 2
    assert text == "spider: a page is no sight for a terminal; name a file: -o report.html\n"


def test_csv_does_not_steer_a_terminal(filled: Path, tmp_path: Path) -> None:
    """CSV on a terminal shows controls instead of sending them."""
    code, text = on_a_terminal(["--db", filled, "report", "--format", "csv"], tmp_path)
    assert code == 0
    assert "\x1b" not in text
    assert r"\x1b]0;owned" in text


def test_elsewhere_lines_are_plain() -> None:
    """What is no terminal gets the text of the spans and nothing else."""
    stream = io.StringIO()
    assert show([(Span("a ", "page"), Span("[bold]b[/]", "kind.video")), ()], stream) == 2
    assert stream.getvalue() == "a [bold]b[/]\n\n"


def test_opened_names_what_it_cannot_open(tmp_path: Path) -> None:
    """The error is the user's, and says which file."""
    with pytest.raises(InputError, match=r"cannot write .*nowhere/x"), opened(str(tmp_path / "nowhere" / "x")):
        pass
