"""A URL is a value."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from spider.url import URL, parse


def test_fields() -> None:
    """Each field is what the standard says; what is not there is None, or empty where the standard has it so."""
    url = parse("http://u:p@h:81/a?b#c")
    assert (url.scheme, url.username, url.password, url.host, url.port) == ("http", "u", "p", "h", 81)
    assert (url.path, url.query, url.fragment) == ("/a", "b", "c")
    bare = parse("mailto:a")
    assert (bare.username, bare.password, bare.host, bare.port, bare.query, bare.fragment) == (
        "",
        "",
        None,
        None,
        None,
        None,
    )
    assert parse("foo://").host == ""


def test_identity_is_the_serialization() -> None:
    """URLs are equal, ordered and hashed as they are written; where they came from plays no part."""
    one, two = parse("HTTP://h:80/a/../b"), parse("b", "http://h/")
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1
    assert sorted([parse("http://b"), parse("http://a")]) == [parse("http://a"), parse("http://b")]
    assert one != "http://h/b"
    with pytest.raises(TypeError):
        _ = one < "http://h/b"


def test_frozen() -> None:
    """A URL does not change."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse("http://h/").host = "x"  # type: ignore[misc]


def test_pickle() -> None:
    """A URL survives pickling, its errors too."""
    url = parse("http://h/ ?é")
    again = pickle.loads(pickle.dumps(url))  # noqa: S301  # our own
    assert isinstance(again, URL)
    assert again == url
    assert again.errors == url.errors


def test_a_password_is_not_shown() -> None:
    """The repr of a URL keeps its password to itself."""
    assert "secret" not in repr(parse("http://u:secret@h/"))


def test_base_can_be_either() -> None:
    """A base is a text or a URL."""
    assert parse("x", parse("http://h/a/b")) == parse("x", "http://h/a/b") == parse("http://h/a/x")
