"""Compile the URL machine's fast lane where there is a compiler; without one, it runs as it is.

Everything else about the package stands in pyproject.toml.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent


def flags() -> list[str]:
    """Ask for speed: the hash's rounds are inlined into one long function only if GCC is told to."""
    if os.name != "posix":
        return []
    params = ("large-function-growth=4000", "large-function-insns=100000", "inline-unit-growth=4000")
    gcc = "gcc" in (os.environ.get("CC") or sysconfig.get_config_var("CC") or "")
    return ["-O3", *(f"--param={param}" for param in params if gcc)]


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
    twin = Extension(
        f"spider.url.{engine.COMPILED}",
        [source.relative_to(ROOT).as_posix()],
        extra_compile_args=flags(),
    )
    directives = {"boundscheck": False, "wraparound": False, "initializedcheck": False, "cdivision": True}
    built = cythonize([twin], language_level=3, compiler_directives=directives, quiet=True)
    for extension in built:
        extension.optional = True  # said here, since Cython's copy of an extension forgets it
    return built


setup(ext_modules=extensions())
