"""Bad input, a case a line: each is answered by one clear line and its exit code, and by no trace."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spider.cli.config import read_config
from spider.errors import SettingError
from tests.cli.conftest import Run

USAGE, STORAGE = 2, 5

OPTIONS = [
    ("crawl --depth -1", "--depth: -1 is less than 0"),
    ("crawl --depth x", "--depth: 'x' is not a whole number"),
    ("crawl --depth 99999999999", "--depth: 99999999999 is more than 2147483647"),
    ("crawl --scope world", "--scope: 'world' is not one of tree, kin, host, domain, any"),
    (
        "crawl --include (",
        "--include: '(' is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
    ("crawl --exclude *", "--exclude: '*' is not a regular expression: nothing to repeat at position 0"),
    ("crawl --delay soon", "--delay: 'soon' is not a time; write seconds, or 500ms, 90s, 10m, 1h30m, 2d"),
    ("crawl --delay -1", "--delay: -1 is less than 0"),
    ("crawl --timeout 0", "--timeout: 0 is less than 0.001"),
    ("crawl --max-size big", "--max-size: 'big' is not a size; write bytes, or 500k, 10M, 1G"),
    ("crawl --threads 0", "--threads: 0 is less than 1"),
    ("crawl --header nonsense", "--header: what is given is not a header; write 'Name: value'"),
    ("crawl --robots maybe", "--robots: 'maybe' is not one of obey, ignore"),
    ("crawl --depth", "option '--depth' requires an argument"),
    ("crawl --dpeth 3", "no such option: --dpeth (did you mean --depth?); see spider crawl --help"),
    ("crawl --db x.db", "--db goes before the command: spider --db … crawl; see spider crawl --help"),
    ("report --match (", "--match: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ("report --media films", "--media: 'films' is not one of 'video', 'audio', 'flash', 'all'"),
    ("report --format xml", "--format: 'xml' is not one of 'table', 'json', 'jsonl', 'csv', 'markdown', 'html'"),
    ("report --host a%b", "--host: 'a%b' is not a host's name (domain-invalid-code-point)"),
    ("report --host \udcff", "--host: '\\udcff' is not a host's name (domain-to-ASCII)"),
    ("report extra", "got unexpected extra argument (extra); see spider report --help"),
    ("map", "URL is missing; see spider map --help"),
    ("forget", "HOST|URL is missing; see spider forget --help"),
    ("crwl", "no such command: 'crwl' (did you mean crawl?); see spider --help"),
    ("--colour", "no such option '--colour'; see spider --help"),
    ("--config none.toml status", "--config: none.toml: no such file"),
    ("--config . status", "--config: .: is a directory"),
    ("crawl none", "none: no such file"),
    ("crawl example.org", "example.org: no such file; if it is a site, write https://example.org"),
]


def one_line(text: str) -> str:
    """Return the message of a text that is one line of the program's."""
    assert text.startswith("spider: "), text
    assert text.endswith("\n"), text
    assert text.count("\n") == 1, text
    return text.removeprefix("spider: ").rstrip("\n")


@pytest.mark.parametrize(("line", "message"), OPTIONS, ids=[line for line, _ in OPTIONS])
def test_bad_options(line: str, message: str, run: Run, tmp_path: Path) -> None:
    """A bad option, argument or command is named, and nothing is made."""
    done = run(*line.split())
    assert (done.exit_code, one_line(done.stderr), done.stdout) == (USAGE, message, "")
    assert list(tmp_path.iterdir()) == []


FILES = [
    ("depth = -1", "spider.toml, depth: -1 is less than 0"),
    ("depth = true", "spider.toml, depth: true is not a whole number"),
    ("depth = [1]", "spider.toml, depth: this takes one value"),
    ("depth = 1979-05-27", "spider.toml, depth: this takes one value"),
    (
        "include = '('",
        "spider.toml, include: '(' is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
    ("include = [['a']]", "spider.toml, include: this takes a value or a list of values"),
    ("dpeth = 1", "spider.toml: unknown key 'dpeth' (did you mean depth?)"),
    ("zzz = 1", "spider.toml: unknown key 'zzz'"),
    ("[crawl]\ndpeth = 1", "spider.toml, [crawl]: unknown key 'dpeth' (did you mean depth?)"),
    ("[crwl]\ndepth = 1", "spider.toml: unknown key 'crwl' (did you mean crawl?)"),
    ("depth = \n", "spider.toml: not a TOML file: Invalid value (at line 1, column 9)"),
    ("depth = 1\ndepth = 2\n", "spider.toml: not a TOML file: Cannot overwrite a value (at line 2, column 10)"),
    ("quiet = 'perhaps'", "spider.toml, quiet: 'perhaps' is not a valid boolean"),
    ("format = 'table'\ndepth = -1", "spider.toml, depth: -1 is less than 0"),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=[text.replace("\n", "; ") for text, _ in FILES])
def test_bad_files(text: str, message: str, run: Run, tmp_path: Path) -> None:
    """A bad value of the TOML file is named with the file and the key, a broken file with the place."""
    (tmp_path / "spider.toml").write_text(text)
    done = run("crawl")
    said = one_line(done.stderr)
    assert done.exit_code == USAGE
    assert said.startswith(message)
    assert [path.name for path in tmp_path.iterdir()] == ["spider.toml"]


def test_a_file_that_is_no_text(run: Run, tmp_path: Path) -> None:
    """A binary TOML file is refused with the place."""
    (tmp_path / "spider.toml").write_bytes(b"depth = 1\n\xff\xfe")
    done = run("status")
    assert (done.exit_code, one_line(done.stderr)) == (USAGE, "spider.toml: not a TOML file: byte 11 is not UTF-8")


TOML = st.text(alphabet=st.sampled_from(list("ab=[]{}\"'#\n .,-_1\\\0é\ud800")), max_size=60)


@given(st.one_of(st.binary(max_size=80), TOML.map(lambda text: text.encode("utf-8", "surrogatepass"))))
@example(b"a = " + b"[" * 100_000)
@example(b"a = " + b"1" * 10_000)
def test_any_file_is_read_or_refused(content: bytes) -> None:
    """Whatever bytes a TOML file holds, they are values or a SettingError of one line that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.toml"
        path.write_bytes(content)
        try:
            config = read_config(str(path))
        except SettingError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017  # most files raise nothing
            assert "\n" not in str(error)  # noqa: PT017
        else:
            assert isinstance(config.values, dict)


VARIABLES = [
    ("SPIDER_DEPTH", "-1", "SPIDER_DEPTH: -1 is less than 0"),
    ("SPIDER_SCOPE", "world", "SPIDER_SCOPE: 'world' is not one of tree, kin, host, domain, any"),
    ("SPIDER_HEADER", "X-A: 1\nnonsense", "SPIDER_HEADER: what is given is not a header; write 'Name: value'"),
    ("SPIDER_CONFIG", "none.toml", "SPIDER_CONFIG: none.toml: no such file"),
    ("SPIDER_QUIET", "perhaps", "SPIDER_QUIET: 'perhaps' is not a valid boolean"),
    ("SPIDER_VERBOSE", "x", "SPIDER_VERBOSE: 'x' is not a valid integer"),
]


@pytest.mark.parametrize(("name", "value", "message"), VARIABLES, ids=[name for name, _, _ in VARIABLES])
def test_bad_variables(name: str, value: str, message: str, run: Run) -> None:
    """A bad value of a variable is named with the variable."""
    done = run("crawl", **{name: value})
    assert done.exit_code == USAGE
    assert one_line(done.stderr).startswith(message)


SEEDS = [
    (b"", "seeds.txt: no seed in it"),
    (b"# only a comment\n", "seeds.txt: no seed in it"),
    (b"\x7fELF\0\0", "seeds.txt: is binary"),
    (b"http://a.example/\nhttp://b example/\n", "seeds.txt, line 2"),
    (b"http://a.example/\nftp://b.example/\n", "seeds.txt, line 2"),
    (b"http://a.example/ depth=-1\n", "seeds.txt, line 1, column 25"),
    (b"http://[::1/\n", "seeds.txt, line 1"),
]


@pytest.mark.parametrize(("content", "message"), SEEDS, ids=[repr(content) for content, _ in SEEDS])
def test_bad_seeds(content: bytes, message: str, run: Run, tmp_path: Path) -> None:
    """A seeds file that is empty, binary or malformed is named, its line shown with a caret; nothing is made."""
    (tmp_path / "seeds.txt").write_bytes(content)
    done = run("crawl", "seeds.txt")
    first, *shown = done.stderr.splitlines()
    assert done.exit_code == USAGE
    assert first.startswith(f"spider: {message}")
    assert not shown or shown[1].strip() == "^"
    assert len(shown) == (2 if ", line " in message else 0)
    assert [path.name for path in tmp_path.iterdir()] == ["seeds.txt"]


ASKING = ["report", "status", "errors", "retry", "forget museum.example"]


@pytest.mark.parametrize("line", ASKING)
def test_no_database(line: str, run: Run, tmp_path: Path) -> None:
    """A command that asks says so where there is no database, and makes none."""
    done = run(*line.split())
    assert done.exit_code == STORAGE
    assert "spider.db" in one_line(done.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", [*ASKING, "crawl http://127.0.0.1:9/"])
def test_no_such_database(line: str, run: Run, tmp_path: Path) -> None:
    """A file that is no database, another program's, a directory, or below a file: named, and left alone."""
    (tmp_path / "text.db").write_text("hello, I am a text and long enough to be taken for something else" * 20)
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("text.db", "other.db", ".", "text.db/x.db", "nowhere/x.db", "nonsense://x"):
        done = run("--db", name, *line.split())
        assert (name, done.exit_code) == (name, STORAGE)
        assert name.partition(":")[0] in one_line(done.stderr)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_hostile_arguments_do_not_steer_the_terminal(run: Run) -> None:
    """What the user's own arguments hold is shown as data too: they may have been pasted."""
    for args in (["crawl", "\x1b[2J.txt"], ["crawl", "--scope", "\x1b[2J"], ["\x1b[2J"], ["--db", "\x1b[2J", "status"]):
        done = run(*args)
        assert done.exit_code in {USAGE, STORAGE}
        assert "\x1b" not in done.output


Program = Callable[..., CompletedProcess[str]]


def test_as_a_process(spider: Program, tmp_path: Path) -> None:
    """The real program says the same: one line on the standard error stream, nothing on the other, its code."""
    cases = [
        (["crawl", "--depth", "-1"], USAGE, "spider: --depth: -1 is less than 0\n"),
        (["crawl", "none"], USAGE, "spider: none: no such file\n"),
        (["crwl"], USAGE, "spider: no such command: 'crwl' (did you mean crawl?); see spider --help\n"),
    ]
    for args, code, message in cases:
        done = spider(*args)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", message)
    assert list(tmp_path.iterdir()) == []


def test_a_seed_that_does_not_resolve(spider: Program) -> None:
    """A seed without an address in the DNS ends the crawl with 3 and is named, even when all else is silent."""
    done = spider("-q", "crawl", "http://nowhere.invalid/", "--retries", "0", "--delay", "0")
    assert done.returncode == 3
    assert one_line(done.stderr).startswith("seed http://nowhere.invalid/: dns: ")


def test_an_empty_line_is_no_address(run: Run) -> None:
    """Among addresses on the standard input an empty line is passed over."""
    done = run("url", stdin="http://a.example\n\nhttp://b.example\n\n")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "http://a.example/\nhttp://b.example/\n", "")
