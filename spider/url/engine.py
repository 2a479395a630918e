"""Which twin answers: the compiled one where there is one of this very source, else the interpreted one.

Both are made of the files named in `PARTS`.  The compiled one is built once more for each of `LEVELS`,
whose vector instructions hash many addresses at once: the best one that this processor knows answers.
``SPIDER_PURE=1`` in the environment asks for the interpreted one.  `setup.py` reads this file too, so it
imports nothing of the project when loaded.
"""

from __future__ import annotations

import importlib
import os
from hashlib import blake2b
from pathlib import Path
from types import ModuleType

__all__ = [
    "COMPILED",
    "LEVELS",
    "PARTS",
    "PURE",
    "assemble",
    "choose",
    "compiled",
    "fingerprint",
    "interpreted",
    "load",
    "names",
]

PARTS = ("bytewise", "lane", "blake", "stamp", "batch", "address")
COMPILED = "_twin"  # the extension module's name, beside this file
LEVELS = {"_avx512": ("avx512f", "avx512bw", "avx512vl"), "_avx2": ("avx2",)}
"""What more the extension is built for on x86-64, best first: the end of its name, and the instructions it uses."""
PURE = "SPIDER_PURE"
_HERE = Path(__file__).parent


def fingerprint(folder: Path = _HERE) -> str:
    """Hash the sources that the compiled twin is made of."""
    sources = [(folder / f"{part}.py").read_bytes() for part in PARTS]
    return blake2b(b"\0".join(sources), digest_size=16).hexdigest()


def assemble(folder: Path = _HERE) -> str:
    """Put the parts together to one source for Cython: one C file, so that C functions can be inlined.

    What a part imports from the others, or from the interpreted twin's own part, is left out; the
    fingerprint is put at the end.
    """
    import ast  # noqa: PLC0415  # a heavy import that a run never needs

    lines: list[str] = []
    for part in PARTS:
        text = (folder / f"{part}.py").read_text(encoding="utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(text))):
            if isinstance(node, ast.ImportFrom) and _is_inside(node.module or "", first=part == PARTS[0]):
                end = node.end_lineno or node.lineno
                text[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
        lines += text
    return "\n".join([*lines, f'FINGERPRINT = "{fingerprint(folder)}"', ""])


def _is_inside(module: str, *, first: bool) -> bool:
    """Say whether an import of this module has no place in the assembled source."""
    return module in {f"spider.url.{part}" for part in (*PARTS, "spans")} or (module == "__future__" and not first)


def interpreted() -> ModuleType:
    """Import the interpreted twin."""
    return importlib.import_module("spider.url.address")


def names() -> list[str]:
    """Name the extensions that this processor can run, best first."""
    known = _instructions()
    return [COMPILED + level for level, needed in LEVELS.items() if known.issuperset(needed)] + [COMPILED]


def _instructions() -> frozenset[str]:
    """Name the processor's sets of instructions as Linux does; none where nothing tells."""
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        flags = ""
    return frozenset(flags.partition(":")[2].split())


def load(name: str) -> ModuleType | None:
    """Import one of `names`; None where it was not built, or of other sources than these."""
    try:
        twin = importlib.import_module(f"spider.url.{name}")
        return twin if fingerprint() == twin.FINGERPRINT else None
    except (ImportError, AttributeError, OSError):
        return None


def compiled() -> ModuleType | None:
    """Import the best compiled twin; None where there is none."""
    return next(filter(None, map(load, names())), None)


def choose() -> ModuleType:
    """Import the twin that answers."""
    pure = os.environ.get(PURE, "") not in {"", "0"}
    return (None if pure else compiled()) or interpreted()
