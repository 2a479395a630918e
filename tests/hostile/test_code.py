"""What the code never does: run what it was told from outside, or keep its state in a form that runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

FILES = [*sorted((ROOT / "spider").rglob("*.py")), *sorted((ROOT / "alembic").rglob("*.py"))]
RUN = {"eval", "exec", "compile", "__import__"}  # as bare names
KEEP = {"pickle", "marshal", "shelve", "dill", "yaml", "jsonpickle"}  # modules whose files can run code when read
SHELL = {"system", "popen", "shell"}
NAMED = {"import_module"}
ALLOWED = {
    ("spider/cli/root.py", "import_module"),  # of its own table of commands
    ("spider/url/engine.py", "exec"),  # compiles its own file
    ("spider/url/engine.py", "compile"),
    ("spider/url/engine.py", "import_module"),  # its own twin
}


def name_of(path: Path) -> str:
    """Return the path as tests show it."""
    return path.relative_to(ROOT).as_posix()


def dangers(path: Path) -> Iterator[str]:
    """Yield what a file does that could run what it was told."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in RUN:
                yield name
            case ast.Call(func=ast.Attribute(attr=name)) if name in SHELL | NAMED:
                yield name
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                yield "shell=True"
            case ast.Import(names=names):
                yield from ({one.name.partition(".")[0] for one in names} & KEEP)
            case ast.ImportFrom(module=str(module)):
                yield from ({module.partition(".")[0]} & KEEP)
            case _:
                pass


def test_nothing_from_outside_is_run() -> None:
    """No code evaluates, imports by a name that it was given, unpickles, or starts a shell."""
    found = {(name_of(path), danger) for path in FILES for danger in dangers(path)}
    assert found - ALLOWED == set()


def test_no_file_is_named_from_outside() -> None:
    """Only the rooms that know the user's own names of files open any for writing."""
    writers = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr="write_text" | "write_bytes" | "mkdir" | "symlink_to")):
                    writers.add(name_of(path))
                case ast.Call(
                    func=ast.Name(id="open") | ast.Attribute(attr="open"), args=[*_, ast.Constant(value=str(mode))]
                ):
                    if set(mode) & set("wax+"):
                        writers.add(name_of(path))
                case _:
                    pass
    assert {path.partition("/")[2].partition("/")[0] for path in writers} <= {"cli", "store", "ajax", "report", "demo"}
