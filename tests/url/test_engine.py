"""Which twin answers, and that no compiler is ever needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import spider.url
from spider.url import engine

ROOT = Path(__file__).parents[2]
ASK = "import spider.url as u; print(u.is_compiled(), u.normalize('HTTP://h/a/../b'), u.identify('http://h/'))"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the room, as it stands, that can be changed."""
    for name in ("__init__.py", "errors.py"):
        (tmp_path / "spider").mkdir(exist_ok=True)
        shutil.copy(ROOT / "spider" / name, tmp_path / "spider" / name)
    shutil.copytree(ROOT / "spider" / "url", tmp_path / "spider" / "url", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def ask(folder: Path, **variables: str) -> list[str]:
    """Ask a copy which twin answers, and what."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", engine.PURE}}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=folder, env=kept | variables, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_twin_that_is_built_answers(copy: Path) -> None:
    """The compiled twin answers where there is one of these sources."""
    assert ask(copy)[0] == str(engine.compiled() is not None)


def test_the_interpreted_twin_can_be_asked_for(copy: Path) -> None:
    """SPIDER_PURE=1 forces the interpreted twin; both answer the same."""
    assert ask(copy, SPIDER_PURE="1")[0] == "False"
    assert ask(copy, SPIDER_PURE="1")[1:] == ask(copy)[1:] == ["http://h/b", str(spider.url.identify("http://h/"))]


@pytest.mark.parametrize("part", engine.PARTS)
def test_a_stale_twin_does_not_answer(copy: Path, part: str) -> None:
    """A twin that was compiled from other sources is passed over."""
    with (copy / "spider" / "url" / f"{part}.py").open("a") as file:
        file.write("# edited\n")
    assert ask(copy)[0] == "False"


def test_a_broken_twin_does_not_answer(copy: Path) -> None:
    """So is one that cannot be loaded: the next best answers, at last the interpreted one."""
    url = copy / "spider" / "url"
    built = [next(url.glob(f"{name}.*.so"), None) for name in engine.names()]
    for path in filter(None, built[:-1]):
        path.unlink()
        path.write_bytes(b"no library")
    assert ask(copy)[0] == str(built[-1] is not None)
    last = built[-1] or url / f"{engine.COMPILED}.so"
    last.unlink(missing_ok=True)
    last.write_bytes(b"no library")
    assert ask(copy)[0] == "False"


@pytest.mark.parametrize(("known", "level"), [("avx2 sse", "_avx2"), ("sse", ""), ("avx512f avx2", "_avx2"), ("", "")])
def test_the_processor_decides(monkeypatch: pytest.MonkeyPatch, known: str, level: str) -> None:
    """A twin is asked only where the processor has all the instructions that it is made of, the best one first."""
    monkeypatch.setattr(engine, "_instructions", lambda: frozenset(known.split()))
    assert engine.names()[0] == engine.COMPILED + level
    assert engine.names()[-1] == engine.COMPILED


def test_the_twins_know_what_they_are(twin: ModuleType) -> None:
    """Each twin tells whether it is the compiled one."""
    assert twin.is_compiled() == (twin is not engine.interpreted())


class Smart(str):
    """A text that knows more, as lxml's do."""

    __slots__ = ()


def test_texts_of_a_class_of_their_own(twin: ModuleType) -> None:
    """A subclass of str is read as the text it is; links can come from any iterable."""
    assert twin.normalize(Smart("http://h/a")) == "http://h/a"
    assert type(twin.normalize(Smart("http://h/a"))) is str
    assert twin.identify(Smart("http://h/a")) == twin.identify("http://h/a")
    assert twin.normalize_all(iter([Smart("b"), "c", Smart("http://x:y")]), Smart("http://h/a")) == [
        "http://h/b",
        "http://h/c",
        None,
    ]


def test_cython_is_not_needed_at_run_time(copy: Path) -> None:
    """Neither twin imports Cython, nor IDNA's tables before they are needed."""
    code = "import sys, spider.url; print([m for m in ('cython', 'Cython', 'idna') if m in sys.modules])"
    for pure in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=copy,
            env=os.environ | {"SPIDER_PURE": pure},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "[]\n"


def test_without_a_compiler_nothing_is_built_and_nothing_fails(copy: Path) -> None:
    """With CC=false the build goes well, makes no extension, and the interpreted twin answers."""
    for path in (copy / "spider" / "url").glob("*.so"):
        path.unlink()
    for name in ("setup.py", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, copy / name)
    if (ROOT / "build" / "twin").is_dir():  # what Cython made of the same sources saves it the work
        shutil.copytree(ROOT / "build" / "twin", copy / "build" / "twin")
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=copy,
        env=os.environ | {"CC": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(copy.rglob("*.so")) == []
    assert ask(copy)[0] == "False"
