"""What scenarios check beside the outcome of the hostile address."""

from __future__ import annotations

from collections.abc import Callable

from tests.hostile.stage import EVIL, OTHER, Result

__all__ = [
    "all_refused",
    "few_cookies",
    "in_chain",
    "is_cut",
    "links_of",
    "logged_in",
    "no_files",
    "no_secret",
    "nothing_imported",
    "shows_nothing",
    "unasked",
    "was",
]

KEEPS = ("authorization", "cookie", "proxy-authorization")

Check = Callable[[Result], None]


def shows_nothing(host: str, path: str) -> Check:
    """Check that a request was made, without anything that opens doors."""

    def check(result: Result) -> None:
        (headers,) = result.headers(host, path)
        assert [name for name in KEEPS if name in headers] == []

    return check


def logged_in(result: Result) -> None:
    """Check that the password goes to the host that it was given for, and to no other."""
    (headers,) = result.headers(EVIL, "/evil")
    assert headers["authorization"].startswith("Basic ")
    shows_nothing(OTHER, "/echo")(result)


def is_cut(result: Result) -> None:
    """Check that what was read is the first part, no longer than was asked for."""
    assert result.evil["cut"]
    assert result.evil["size"] == 2_000_000


def unasked(host: str, path: str) -> Check:
    """Check that nothing was asked there."""

    def check(result: Result) -> None:
        assert result.headers(host, path) == []

    return check


def few_cookies(result: Result) -> None:
    """Check that of what was set, no more than servers take is sent back."""
    (headers,) = result.headers(EVIL, "/after")
    assert 0 < len(headers["cookie"]) <= 8000


def nothing_imported(result: Result) -> None:
    """Check that no module was loaded by a name from a header."""
    assert result.facts["modules"] == []


def no_files(result: Result) -> None:
    """Check that the crawl made no file but its database."""
    assert [name for name in result.facts["files"] if ".db" not in name] == []


def no_secret(result: Result) -> None:
    """Check that no file of the machine is in what was found."""
    assert "root:" not in str(result.facts)


def links_of(least: int, most: int) -> Check:
    """Check how many links the hostile page gave."""

    def check(result: Result) -> None:
        assert least <= result.evil["links"] <= most

    return check


def was(place: str, what: str) -> Check:
    """Check what became of another address, by host and path."""

    def check(result: Result) -> None:
        assert result.outcomes[place]["is"] == what

    return check


def in_chain(result: Result) -> None:
    """Check that a chain of redirects ended after ten."""
    reasons = [row["is"] for row in result.facts["outcomes"] if "/evil" in row["url"]]
    assert reasons == ["C"] * 10 + ["redirect"]


def all_refused(result: Result) -> None:
    """Check that every address on the hostile page was refused by the guard."""
    rows = [row for row in result.facts["outcomes"] if row["url"].endswith((":1/", ":2/"))]
    assert len(rows) >= 2
    assert {row["is"] for row in rows} == {"refused"}
