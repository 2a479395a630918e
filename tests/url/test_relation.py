"""Where a link stands as seen from its page (paper 2)."""

from __future__ import annotations

import pytest

from spider.model import Relation
from spider.url import directory, host, is_kin, relation

PAGE = "http://h/a/b/page?x/y"


@pytest.mark.parametrize(
    ("link", "word"),
    [
        ("http://h/a/b/other", "horizontal"),
        ("http://h/a/b/", "horizontal"),
        ("http://h/a/b/page?x/y", "horizontal"),
        ("https://h/a/b/x", "horizontal"),
        ("http://h:80/a/b/x", "horizontal"),
        ("http://u:p@h/a/b/x", "horizontal"),
        ("http://h/a/b/c/d", "downward"),
        ("http://h/a/x", "upward"),
        ("http://h/", "upward"),
        ("http://h/a/b", "upward"),
        ("http://h/a/c/x", "crosswise"),
        ("http://h/a/bc/x", "crosswise"),
        ("http://x/a/b/page", "external"),
        ("http://h:81/a/b/page", "external"),
        ("http://www.h/a/b/page", "external"),
        ("mailto:a@h", "external"),
    ],
)
def test_relation(link: str, word: str) -> None:
    """External is another host or port; the others go by the directories."""
    assert relation(PAGE, link) == word
    assert Relation(word)
    assert is_kin(PAGE, link) == (word in {"horizontal", "downward"})


def test_paths_without_a_host() -> None:
    """Addresses without a host are one site by their scheme."""
    assert relation("file:///a/b", "file:///a/c/d") == "downward"


@pytest.mark.parametrize(
    ("url", "name", "folder"),
    [
        ("http://h/", "h", "http://h/"),
        ("http://u:p@h:81/a/b?c/d#e/f", "h", "http://u:p@h:81/a/"),
        ("http://[::1]:81/a", "[::1]", "http://[::1]:81/"),
        ("http://[::1]/a/", "[::1]", "http://[::1]/a/"),
        ("mailto:a", "", ""),
    ],
)
def test_host_and_directory(url: str, name: str, folder: str) -> None:
    """A host is the name alone; a directory ends with the last slash of the path."""
    assert host(url) == name
    assert directory(url) == folder
