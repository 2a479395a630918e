"""Seeds files: what they mean, and that every slip is shown in its place."""

from __future__ import annotations

import io
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.crawl.seeds import PER_SEED, Seed, load_seeds, read_seeds
from spider.errors import InputError, InvalidURL, SeedsError
from spider.settings import SETTINGS
from spider.url import normalize

ROOT = Path(__file__).resolve().parents[2]
NOTHING = io.BytesIO()

# what a line means: the line, the address, the options
LINES = [
    ("http://example.org/", "http://example.org/", {}),
    ("  https://example.org/a  ", "https://example.org/a", {}),
    ("HTTP://EXAMPLE.org:80/a/../b", "http://example.org/b", {}),
    ("http:example.org", "http://example.org/", {}),
    ("example.org", "https://example.org/", {}),
    ("example.org/x?y=1", "https://example.org/x?y=1", {}),
    ("example.org:8080/x", "https://example.org:8080/x", {}),
    ("localhost:8080", "https://localhost:8080/", {}),
    ("localhost/x", "https://localhost/x", {}),
    ("intranet:8080", "https://intranet:8080/", {}),
    ("//example.org/x", "https://example.org/x", {}),
    ("[::1]/x", "https://[::1]/x", {}),
    ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/", {}),
    ("例え.jp/音", "https://xn--r8jz45g.jp/%E9%9F%B3", {}),
    ("http://example.org/ # a comment", "http://example.org/", {}),
    ("http://example.org/\t#", "http://example.org/", {}),
    ("http://example.org/a#b", "http://example.org/a", {}),
    ("http://example.org/#/films/", "http://example.org/", {}),
    ("http://example.org/ depth=3", "http://example.org/", {"depth": 3}),
    ("http://example.org/ depth=0 scope=host", "http://example.org/", {"depth": 0, "scope": "host"}),
    ("http://example.org/\tscope=kin # depth=9", "http://example.org/", {"scope": "kin"}),
    ("http://example.org/\u3000depth=1", "http://example.org/", {"depth": 1}),
    (r"http://example.org/ include=\.html$", "http://example.org/", {"include": (r"\.html$",)}),
    ("http://example.org/ exclude=a exclude=b=c", "http://example.org/", {"exclude": ("a", "b=c")}),
    ("http://example.org/ exclude=#top", "http://example.org/", {"exclude": ("#top",)}),
]

# what a line cannot mean: the line, where the caret stands (0-based), words of the reason
BAD_LINES = [
    ("ftp://example.org/", 0, "only http and https addresses can be crawled, not ftp"),
    ("  file:///etc/passwd", 2, "not file"),
    ("mailto:hello@example.org", 0, "not mailto"),
    ("javascript:alert(1)", 0, "not javascript"),
    ("hello", 0, "not an address"),
    ("hello world", 0, "not an address"),
    ("/films/index.html", 0, "not an address"),
    ("./films", 0, "not an address"),
    ("../films", 0, "not an address"),
    ("?q=1", 0, "not an address"),
    ("depth=3", 0, "not an address"),
    ("https://", 8, "not a valid address"),
    ("http://exa<mple.org/", 10, "not a valid address"),
    ("http://example.org:99999/", None, "not a valid address"),
    ("http://example.org:port/", None, "not a valid address"),
    ("exa^mple.org/", 3, "not a valid address"),
    ("http://[::1/", None, "not a valid address"),
    ("http://example.org/ films", 20, "expected name=value"),
    ("http://example.org/ http://example.com/", 20, "expected name=value"),
    ("http://example.org/ depht=3", 20, "unknown option 'depht' (a seed may have depth, scope, include, exclude)"),
    ("http://example.org/ =3", 20, "unknown option ''"),
    ("http://example.org/ Depth=3", 20, "unknown option"),
    ("http://example.org/ threads=3", 20, "holds for a whole crawl, not for one seed (use --threads)"),
    ("http://example.org/ depth=", 26, "depth has no value"),
    ("http://example.org/ depth=three", 26, "depth: 'three' is not a whole number"),
    ("http://example.org/ depth=-1", 26, "depth: -1 is less than 0"),
    ("http://example.org/ depth=1.5", 26, "depth: '1.5' is not a whole number"),
    ("http://example.org/ depth=99999999999999999999", 26, "depth: "),
    ("http://example.org/ scope=site", 26, "scope: 'site' is not one of tree, kin, host, domain, any"),
    ("http://example.org/ include=(", 28, "include: '(' is not a regular expression"),
    ("http://example.org/ exclude=", 28, "exclude has no value"),
    ("http://example.org/ depth=1 depth=2", 28, "option depth is given twice"),
]

# what a file cannot be: its bytes, and the message
BAD_FILES = [
    (b"", "f: no seed in it (one address a line, # begins a comment)"),
    (b"\xef\xbb\xbf", "f: no seed in it (one address a line, # begins a comment)"),
    (b"\n\n  \r\n# only a comment\n", "f: no seed in it (one address a line, # begins a comment)"),
    (b"http://example.org/\n\0", "f: is binary (it has NUL bytes), not a seeds file"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "f: is binary (it has NUL bytes), not a seeds file"),
    ("http://example.org/".encode("utf-16"), "f: is UTF-16 text; save it as UTF-8"),
    (
        b"http://example.org/\r\nhttp://example.org/caf\xe9 # x\n",
        (
            "f, line 2, column 23: not UTF-8 text (byte 0xe9)\nhttp://example.org/caf\N{REPLACEMENT CHARACTER} # x\n"
            "                      ^"
        ),
    ),
]


@pytest.mark.parametrize(("line", "url", "options"), LINES)
def test_a_line_is_an_address_and_its_options(line: str, url: str, options: dict[str, Any]) -> None:
    """A line means one address, normalized, and the options behind it, as values."""
    assert read_seeds(line, "f") == [Seed(url, 1, options)]


@pytest.mark.parametrize(("line", "position", "reason"), BAD_LINES)
def test_a_malformed_line_is_shown_in_its_place(line: str, position: int | None, reason: str) -> None:
    """The error has the line's number and text, a caret under what is wrong, and says what."""
    with pytest.raises(SeedsError) as caught:
        read_seeds(f"# seeds\nhttp://example.net/\n{line}\nhttp://example.com/", "f")
    assert reason in caught.value.reason
    assert (caught.value.name, caught.value.line, caught.value.text) == ("f", 3, line)
    if position is not None:
        assert caught.value.position == position
    assert str(caught.value).startswith(f"f, line 3, column {caught.value.position + 1}: ")
    assert str(caught.value).splitlines()[2] == " " * caught.value.position + "^"


@pytest.mark.parametrize(("body", "message"), BAD_FILES)
def test_what_is_no_seeds_file_says_what_it_is(body: bytes, message: str, tmp_path: Path) -> None:
    """Empty, binary and wrongly encoded files are told apart, from bytes as from a file."""
    with pytest.raises(SeedsError) as caught:
        read_seeds(body, "f")
    assert str(caught.value) == message
    file = tmp_path / "f"
    file.write_bytes(body)
    with pytest.raises(SeedsError) as caught:
        load_seeds([str(file)], NOTHING)
    assert str(caught.value) == message.replace("f", str(file), 1)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_any_line_end_and_a_byte_order_mark_are_fine(end: str, bom: str) -> None:
    """Files of every system read alike, as text and as bytes, with true line numbers."""
    text = bom + end.join(["# seeds", "", "http://a.example/", "\t", "http://b.example/ depth=1"])
    expected = [Seed("http://a.example/", 3), Seed("http://b.example/", 5, {"depth": 1})]
    assert read_seeds(text, "f") == expected
    assert read_seeds(text.encode(), "f") == expected


def test_one_address_is_one_seed() -> None:
    """Duplicates merge: the first one's place, and the later one's value of an option."""
    seeds = read_seeds(
        "http://a.example/ depth=1 scope=kin\nhttp://b.example/\nHTTP://a.example:80 depth=2 include=x\n", "f"
    )
    assert seeds == [
        Seed("http://a.example/", 1, {"depth": 2, "scope": "kin", "include": ("x",)}),
        Seed("http://b.example/", 2),
    ]


def test_seeds_can_be_kept_in_sets() -> None:
    """A seed is a value: equal ones hash alike, and none can be changed."""
    first, second = read_seeds("a.example depth=1", "f") + read_seeds("a.example depth=1", "g")
    assert len({first, second}) == 1
    with pytest.raises(AttributeError):
        first.url = "http://b.example/"  # type: ignore[misc]


def test_the_per_seed_options_are_settings() -> None:
    """Each option of a seed is a setting of the spider's one table."""
    assert set(PER_SEED) <= {setting.name for setting in SETTINGS}


def test_arguments_are_files_addresses_and_standard_input(tmp_path: Path) -> None:
    """Every argument gives its seeds, in order; what comes twice is one seed; ``-`` is read once."""
    file = tmp_path / "list.txt"
    file.write_text("http://b.example/ depth=1\nhttp://a.example/\n")
    stdin = io.BytesIO(b"c.example\nhttp://b.example/ scope=host\n")
    assert load_seeds(["-", "http://d.example/x y", str(file), "-"], stdin) == [
        Seed("https://c.example/", 1),
        Seed("http://b.example/", 2, {"depth": 1, "scope": "host"}),
        Seed("http://d.example/x%20y"),
        Seed("http://a.example/", 2),
    ]


def test_no_arguments_are_no_seeds() -> None:
    """Nothing given is nothing, and no error: the seeds known already are the caller's matter."""
    assert load_seeds([], NOTHING) == []


def test_standard_input_has_a_name_in_errors() -> None:
    """What is wrong in standard input is said of standard input."""
    with pytest.raises(SeedsError, match=r"^standard input: no seed in it"):
        load_seeds(["-"], NOTHING)
    with pytest.raises(SeedsError, match=r"^standard input, line 1, column 1: not an address"):
        load_seeds(["-"], io.BytesIO(b"hello"))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("missing.txt", "missing.txt: no such file; if it is a site, write https://missing.txt"),
        ("example.org/films", "example.org/films: no such file; if it is a site, write https://example.org/films"),
        ("localhost:8000", "localhost:8000: no such file; if it is a site, write https://localhost:8000"),
        ("missing", "missing: no such file"),
        ("no/such/file", "no/such/file: no such file"),
        ("../missing", "../missing: no such file"),
        ("", "'': no such file"),
        ("a\nb\udcff", r"'a\nb\udcff': no such file"),
        ("a\0b", r"'a\x00b': not the name of a file"),
        ("ftp://example.org/", "ftp://example.org/: only http and https addresses can be crawled, not ftp"),
        ("file:///etc/passwd", "file:///etc/passwd: only http and https addresses can be crawled, not file"),
        ("x" * 5000, f"{'x' * 5000}: cannot be read (File name too long)"),
    ],
)
def test_an_argument_that_names_nothing_says_so(
    argument: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing file, and an address written so that it can only be a file's name, each get one line."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SeedsError) as caught:
        load_seeds([argument], NOTHING)
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


def test_an_invalid_address_on_the_command_line_shows_its_place() -> None:
    """An argument that is no URL is the URL room's own error."""
    with pytest.raises(InvalidURL) as caught:
        load_seeds(["http://exa<mple.org/"], NOTHING)
    assert caught.value.position == 10


def test_a_directory_is_no_seeds_file(tmp_path: Path) -> None:
    """A directory is named as one."""
    with pytest.raises(SeedsError, match=r": is a directory, not a seeds file$"):
        load_seeds([str(tmp_path)], NOTHING)


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    """The system's own reason is told: a socket cannot be opened by anybody, root included."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))
        with pytest.raises(SeedsError, match=r": cannot be read \(.+\)$"):
            load_seeds([str(path)], NOTHING)


def test_a_reader_that_fails_says_why() -> None:
    """A stream that breaks while it is read is one line, too."""

    class Broken(io.BytesIO):
        def read(self, _size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(SeedsError, match=r"^standard input: cannot be read \(Input/output error\)$"):
        load_seeds(["-"], Broken())


def test_an_endless_file_is_refused() -> None:
    """What is far bigger than any list somebody keeps is not read to its end."""
    with Path("/dev/zero").open("rb") as zeros, pytest.raises(SeedsError, match=r"more than 64 MB: not a seeds file$"):
        load_seeds(["-"], zeros)


@given(st.one_of(st.text(max_size=80), st.binary(max_size=80)))
def test_any_text_is_seeds_or_an_error_of_the_tree(text: str | bytes) -> None:
    """Nothing but an `InputError` comes out of any text or bytes, and its message can be printed."""
    try:
        seeds = read_seeds(text, "f")
    except InputError as error:
        str(error).encode("utf-8", "surrogateescape")
    else:
        assert all(normalize(seed.url) == seed.url and seed.line > 0 for seed in seeds)


def test_the_list_that_comes_with_the_program_is_good() -> None:
    """seeds.txt has twenty seeds, each of them https, no two on one address."""
    seeds = load_seeds([str(ROOT / "seeds.txt")], NOTHING)
    assert len(seeds) == 20
    assert all(seed.url.startswith("https://") for seed in seeds)
    assert any(seed.options for seed in seeds)
