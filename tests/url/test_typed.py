"""Laws of addresses that are typed: https is understood, and no other scheme is taken for a host."""

from __future__ import annotations

import pytest

from spider.url import complete, names_scheme


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
