"""Laws of tables: everything is in them, they fit, and nothing in them steers a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from spider.report import Line, bar_line, error_lines, grid_lines, media_lines
from spider.report.text import width
from tests.report.test_text import HOSTILE, steers

PAGE: dict[str, str | int | float | None] = {
    "page": "http://museum.example/films/1931/index.html",
    "title": "Films of 1931",
    "media": "http://museum.example/films/1931/a-very-long-name-of-a-film-that-goes-on.mp4?quality=high&lang=en",
    "kind": "video",
    "text": "The film",
    "source": "a@href",
    "seed": "http://museum.example/",
    "depth": 2,
    "first_seen": "2026-11-30T20:56:03Z",
    "last_seen": "2026-11-30T20:56:03Z",
    **dict.fromkeys(("health", "status", "type", "size", "moved_to", "checked_at")),
}
FAILURE: dict[str, str | int | float | None] = {
    "url": "http://museum.example/gone.html",
    "reason": "client",
    "message": "404 Not Found",
    "status": 404,
    "attempt": 1,
    "retry_at": None,
    "seed": "http://museum.example/",
    "depth": 1,
    "parent": "http://museum.example/",
}


def texts(lines: Iterable[Line]) -> list[str]:
    """Return lines as they are printed without styles."""
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_a_page_stands_above_its_media() -> None:
    """Pages are named once, each medium below its page, a count at the end; a file's lines are never wrapped."""
    song = PAGE | {"media": "http://museum.example/song.ogg", "kind": "audio", "text": "", "source": "source@src"}
    other = song | {"page": "http://museum.example/", "title": "", "last_seen": "2026-12-01T00:00:00Z", "depth": 0}
    assert texts(media_lines([PAGE, song, other], None)) == [
        "http://museum.example/films/1931/index.html",
        "  “Films of 1931” · depth 2 · seed http://museum.example/",
        f"  video  {PAGE['media']}",
        "         “The film” · a@href · seen 2026-11-30T20:56:03Z",
        "  audio  http://museum.example/song.ogg",
        "         source@src · seen 2026-11-30T20:56:03Z",
        "",
        "http://museum.example/",
        "  (no title) · depth 0 · seed http://museum.example/",
        "  audio  http://museum.example/song.ogg",
        "         source@src · seen 2026-11-30T20:56:03Z to 2026-12-01T00:00:00Z",
        "",
        "2 pages with 1 video, 2 audio",
    ]


def test_a_terminal_s_lines_are_wrapped() -> None:
    """On a terminal addresses break behind a delimiter and go on below themselves."""
    assert texts(media_lines([PAGE], 60)) == [
        "http://museum.example/films/1931/index.html",
        "  “Films of 1931” · depth 2 · seed http://museum.example/",
        "  video  http://museum.example/films/1931/",
        "         a-very-long-name-of-a-film-that-goes-on.mp4?",
        "         quality=high&lang=en",
        "         “The film” · a@href · seen 2026-11-30T20:56:03Z",
        "",
        "1 page with 1 video",
    ]


def test_what_a_check_found_stands_below_a_medium() -> None:
    """Type, size, the new place and the health with its moment; what was never checked says nothing of it."""
    checked = PAGE | {"health": "dead", "status": 404, "checked_at": "2026-12-01T00:00:00Z"}
    moved: dict[str, str | int] = {
        "health": "moved",
        "status": 200,
        "type": "video/mp4",
        "size": 1234,
        "moved_to": "http://b.example/",
    }
    lines = texts(media_lines([checked, checked | moved], None))
    assert lines[3].endswith(" · found dead with status 404 2026-12-01T00:00:00Z")
    assert lines[5].endswith(
        " · moved to http://b.example/ · video/mp4 · 1,234 bytes · found moved with status 200 2026-12-01T00:00:00Z"
    )


def test_failures_tell_all_that_is_known() -> None:
    """A link in E stands with its reason, its tries, when it is tried again and where it was met."""
    again = FAILURE | {
        "reason": "timeout",
        "message": "no answer in 10 s",
        "retry_at": "2026-12-01T00:00:00Z",
        "parent": None,
    }
    assert texts(error_lines([FAILURE, again], None)) == [
        "http://museum.example/gone.html",
        "  client: 404 Not Found · try 1 · not tried again by itself · depth 1 · from http://museum.example/",
        "http://museum.example/gone.html",
        "  timeout: no answer in 10 s · try 1 · again 2026-12-01T00:00:00Z · depth 1 · from the list of seeds",
        "",
        "1 client · 1 timeout",
    ]


def test_nothing_is_no_table() -> None:
    """Without a record there is not even a count."""
    assert texts(media_lines([], 80)) == []
    assert texts(error_lines([], 80)) == []


def test_numbers_stand_under_each_other() -> None:
    """A grid is aligned to the right, its last column a text that is wrapped."""
    rows = [["1,024", "7", "http://museum.example/films/"], ["9", "12,345", "all"]]
    assert texts(grid_lines(["W", "video", "seed"], rows, None)) == [
        "    W   video  seed",
        "1,024       7  http://museum.example/films/",
        "    9  12,345  all",
    ]
    assert texts(grid_lines(["W", "video", "seed"], rows, 38))[1:3] == [
        "1,024       7  http://museum.example/",
        "               films/",
    ]


@given(st.text(alphabet=st.sampled_from([*"ab /?&影é", *HOSTILE]), max_size=200), st.integers(40, 120))
def test_whatever_a_page_says_fits_and_is_harmless(text: str, columns: int) -> None:
    """Hostile text in every column neither steers the terminal nor leaves its width."""
    record = {name: text if isinstance(value, str) and name != "kind" else value for name, value in PAGE.items()}
    failure = {name: text if isinstance(value, str) else value for name, value in FAILURE.items()}
    lines = [*texts(media_lines([record], columns)), *texts(error_lines([failure], columns))]
    lines += texts(grid_lines(["W", "seed"], [["1", text]], columns))
    assert not [line for line in lines if any(map(steers, line))]
    assert [line for line in lines if width(line) > columns] == []


@given(st.lists(st.integers(0, 10**9), min_size=4, max_size=4), st.integers(8, 80))
def test_a_bar_is_in_proportion(numbers: list[int], columns: int) -> None:
    """A bar has its columns exactly, something for all there is any of, and the more the longer."""
    spans = bar_line([*zip("CRWE", numbers, strict=True)], columns)
    sizes = {span.part[-1]: len(span.text) for span in spans}
    assert sum(sizes.values()) == (columns if any(numbers) else 0)
    assert set(sizes) == {state for state, number in zip("CRWE", numbers, strict=True) if number}
    ordered = sorted((number, sizes[state]) for state, number in zip("CRWE", numbers, strict=True) if number)
    assert [size for _, size in ordered] == sorted(size for _, size in ordered) or len({n for n, _ in ordered}) < 4


def test_a_line_stands_below_each_row() -> None:
    """Rows have their bars below them, the headings none."""
    bars = [bar_line([("C", 1), ("E", 1)], 4), bar_line([("W", 1)], 4)]
    assert texts(grid_lines(["C", "seed"], [["1", "a"], ["0", "b"]], 40, below=bars)) == [
        "C  seed", "1  a", "██××", "0  b", "░░░░"
    ]  # fmt: skip
