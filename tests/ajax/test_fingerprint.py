"""Laws of fingerprinting (paper 4, algorithm 2): its order, and the libraries' own files as cases."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spider.ajax import Ajax, Script, Told, fingerprint
from spider.ajax.fingerprint import digest, known

CASES = (
    ("jquery1/dist/jquery.min.js", "jQuery", "1.12.4"),
    ("jquery3/dist/jquery.min.js", "jQuery", "3.7.1"),
    ("react/umd/react.production.min.js", "React", "18.3.1"),
    ("react-dom/umd/react-dom.production.min.js", "React DOM", "18.3.1"),
    ("vue/dist/vue.global.prod.js", "Vue", "3.4.38"),
    ("angular/angular.min.js", "AngularJS", "1.8.3"),
    ("htmx.org/dist/htmx.min.js", "htmx", "1.9.12"),
    ("alpinejs/dist/cdn.min.js", "Alpine", "3.14.1"),
    ("preact/dist/preact.umd.js", "Preact", None),
)


@pytest.mark.parametrize(("path", "name", "version"), CASES, ids=[case[1] for case in CASES])
def test_libraries_are_told(libraries: Path, path: str, name: str, version: str | None) -> None:
    """A library under its own name is told with the version that its code states, also one never hashed."""
    text = (libraries / path).read_text(encoding="utf-8")
    found = fingerprint([], [Script(f"http://localhost/{path.rpartition('/')[2]}?v=9.9.9", text)])
    assert found.ajax is Ajax.LIBRARY
    assert [(one.name, one.version, one.told) for one in found.libraries] == [(name, version, Told.NAME)]


@pytest.mark.parametrize(("path", "name", "version"), CASES[:-1], ids=[case[1] for case in CASES[:-1]])
def test_renamed_libraries_are_told(libraries: Path, path: str, name: str, version: str | None) -> None:
    """Under another name it is told by its hash, or by its signature, with white space lost and all."""
    text = (libraries / path).read_text(encoding="utf-8")
    for renamed in (text, text.replace("\n", "\n\n ")):
        found = fingerprint([], [Script("http://localhost/a1b2c3.js", renamed)]).libraries
        assert [(one.name, one.version) for one in found] == [(name, version)]
        assert found[0].told in {Told.HASH, Told.SIGNATURE}


def test_bundles_hold_several(libraries: Path) -> None:
    """A bundle of two libraries is told as both."""
    texts = [(libraries / path).read_text(encoding="utf-8") for path, _, _ in (CASES[0], CASES[4])]
    found = fingerprint([], [Script("http://localhost/app.js", "\n;".join(texts))]).libraries
    assert {one.name for one in found} == {"jQuery", "Vue"}


@pytest.mark.parametrize(
    ("inline", "linked", "expected"),
    [
        (["new XMLHttpRequest()"], "", Ajax.PLAIN),
        (["fetch('/x')"], "", Ajax.PLAIN),
        (["window.fetch('/x')"], "", Ajax.PLAIN),
        ([], "var x = new XMLHttpRequest();", Ajax.PLAIN),
        ([], "console.log(1)", Ajax.NONE),
        (["cache.fetch('/x')"], "", Ajax.NONE),
        (["// fetch('/x')\n"], "/* new XMLHttpRequest */", Ajax.NONE),
    ],
)
def test_order(inline: list[str], linked: str, expected: Ajax) -> None:
    """Requests in the page come first, then those in its scripts; comments and others' methods are none."""
    assert fingerprint(inline, [Script("http://localhost/x.js", linked)]).ajax is expected


def test_name_alone_tells_nothing() -> None:
    """A file that only goes by a library's name is none of it, nor does its name give a version."""
    assert (
        fingerprint([], [Script("http://localhost/jquery-3.7.1.min.js", "/* jQuery v3.7.1 */ var a = 1;")]).libraries
        == ()
    )


@given(st.text(max_size=200))
def test_nothing_is_told_of_noise(text: str) -> None:
    """Whatever a script holds, judging it raises nothing; its hash knows no white space."""
    assert fingerprint([text], [Script("x.js", text)]).libraries == ()
    assert digest(text) == digest(re.sub(r"\s", " \n", text))


def test_data_is_rich() -> None:
    """The libraries that applications are built with are known, each with files in hashes, most in several versions."""
    names = {one.name for one in known()}
    assert names >= {
        "jQuery", "Prototype", "MooTools", "Dojo", "YUI", "ExtJS", "AngularJS", "Angular", "React", "Preact",
        "Vue", "Svelte", "Ember", "Backbone", "Knockout", "Alpine", "htmx", "axios", "Turbo", "Handlebars", "Lit",
    }  # fmt: skip
    assert all(one.hashes for one in known())
    several = [one.name for one in known() if len(set(one.hashes.values())) > 1]
    assert len(several) >= 25


def test_command(spider: Callable[..., CompletedProcess[str]], libraries: Path, tmp_path: Path) -> None:
    """The command tells a file's library, and a page's by the scripts beside it."""
    (tmp_path / "lib.js").write_bytes((libraries / CASES[0][0]).read_bytes())
    (tmp_path / "page.html").write_text("<script src=lib.js></script><p>x</p>")
    for place in ("lib.js", "page.html"):
        done = spider("fingerprint", place)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == "ajax  library"
        assert "jQuery 1.12.4  by hash" in done.stdout
