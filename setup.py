"""Compile the URL machine's fast lane where there is a compiler; without one, it runs as it is.

Everything else about the package stands in pyproject.toml.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent


def flags() -> list[str]:
    """Ask for speed, and for no tables of a debugger."""
    return ["-O3", "-g0"] if os.name == "posix" else []


def extensions() -> list[Extension]:
    """Translate the twin's source to C; nothing where Cython is not about."""
    try:
        from Cython.Build import cythonize  # noqa: PLC0415  # an installation without it is one without a twin
    except ImportError:
        return []
    folder = ROOT / "spider" / "url"
    spec = importlib.util.spec_from_file_location("engine", folder / "engine.py")
    assert spec is not None and spec.loader is not None  # noqa: PT018, S101
    engine = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engine)
    source = ROOT / "build" / "twin" / f"{engine.COMPILED}.py"
    source.parent.mkdir(parents=True, exist_ok=True)
    text = engine.assemble(folder)
    if not source.exists() or source.read_text(encoding="utf-8") != text:  # else Cython need not do it again
        source.write_text(text, encoding="utf-8")
    name = f"spider.url.{engine.COMPILED}"
    twin = Extension(name, [source.relative_to(ROOT).as_posix()], extra_compile_args=flags())
    directives = {"boundscheck": False, "wraparound": False, "initializedcheck": False, "cdivision": True}
    built = cythonize([twin], language_level=3, compiler_directives=directives, quiet=True)
    levels = engine.LEVELS if sys.platform == "linux" and platform.machine() == "x86_64" else {}
    for level, instructions in levels.items():  # the same C once more, under another name
        more = [f"-m{one}" for one in instructions]
        macro = (f"PyInit_{engine.COMPILED}", f"PyInit_{engine.COMPILED}{level}")
        built.append(
            Extension(name + level, built[0].sources, define_macros=[macro], extra_compile_args=[*flags(), *more])
        )
    for extension in built:
        extension.optional = True  # said here, since Cython's copy of an extension forgets it
    return built


setup(ext_modules=extensions())
