"""Laws of addresses that are typed: https is understood, and no other scheme is taken for a host."""

from __future__ import annotations

import pytest

from spider.url import complete, has_login, names_scheme, normalize


@pytest.mark.parametrize(
    "text", ["mailto:x@a.example", "javascript:alert(1)", "http:a.example", "ftp://a/", "tel:+49-1"]
)
def test_a_scheme_stays(text: str) -> None:
    """What begins with a scheme is left as it is, with slashes or without."""
    assert names_scheme(text)
    assert complete(f" {text}\n") == text


@pytest.mark.parametrize(
    "text", ["a.example", "localhost:8000", "a.example:80/x:y", "a.example/?u=http://b/", "[::1]:9/"]
)
def test_https_is_understood(text: str) -> None:
    """A host, with a port or an address within its query, is no scheme."""
    assert not names_scheme(text)
    assert complete(text) == f"https://{text}"


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ("http://u:p@a.example/", True),
        ("http://u@a.example:81", True),
        ("http://:p@a.example/", True),
        ("http://a.example/@u?x@y", False),
        ("http://a.example?u:p@b", False),
        ("http://@a.example/", False),
    ],
)
def test_a_login_stands_before_the_host(text: str, *, login: bool) -> None:
    """A sign in the path or query is none, and neither is one with nothing before it, which the standard drops."""
    assert has_login(normalize(text)) is login
