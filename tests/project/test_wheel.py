"""Laws of the wheel: it holds what the program needs and no more, and what it installs works by itself."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import spider
from spider.store import schema

pytestmark = pytest.mark.timeout(600)  # whoever comes first waits for the compiler, on a machine with other work

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("spider", "alembic", "setup.py", "pyproject.toml", "README.md", "LICENSE")


def run(*command: object, cwd: Path, **variables: str) -> str:
    """Run a command that knows nothing of the checkout; return its output, fail with it."""
    hidden = ("PYTHON", "SPIDER_", "VIRTUAL_ENV", "COV", "PYTEST")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=kept | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel from a copy of the sources, so that nothing that lies about gets in."""
    copy = folder / "sources"
    copy.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.c"))
        else:
            shutil.copy(source, copy / name)
    lend(copy)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "dist", cwd=copy)
    return next((folder / "dist").glob("*.whl"))


def lend(copy: Path) -> None:
    """Give a copy of the sources what was compiled of them when they were installed for development.

    It is what a second build in one folder finds there: what is older than its source is made anew.
    """
    translated = ROOT / "build" / "twin"
    if not translated.is_dir():
        return
    shutil.copytree(translated, copy / "build" / "twin")
    compiled = copy / "build" / f"lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for path in (ROOT / "spider").rglob("*.so"):
        target = compiled / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built once for all test processes."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (base / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = list((base / "wheel" / "dist").glob("*.whl"))
        return built[0] if built else build(base / "wheel")


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    """Return an empty virtual environment with the wheel in it, which borrows the libraries from ours."""
    place = tmp_path / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=tmp_path)
    pip = (sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install")
    run(*pip, "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", wheel, cwd=tmp_path)
    site = Path(
        run(
            place / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path
        ).strip()
    )
    # A path in a .pth file is searched for modules, but the .pth files in it are not read: the checkout stays out.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def expected() -> set[str]:
    """Return what the wheel has to hold beside its own metadata: all of spider/, and the migrations."""
    paths = (path for path in (ROOT / "spider").rglob("*") if path.is_file() and path.suffix not in {".so", ".c"})
    files = (path.relative_to(ROOT) for path in paths)
    code = {path.as_posix() for path in files if not any(part.startswith((".", "__pycache__")) for part in path.parts)}
    migrations = (path.relative_to(ROOT / "alembic").as_posix() for path in (ROOT / "alembic").rglob("*.py"))
    return code | {f"spider/migrations/{name}" for name in migrations}


def test_wheel_has_no_stray_files(wheel: Path) -> None:
    """It holds the code, the migrations, the demo's site and the type marker, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name for name in names if not name.endswith(".so")} == expected()


def test_wheel_names_its_licence(wheel: Path) -> None:
    """The licence travels with it, and the description is the README."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert [name for name in names if name.endswith("licenses/LICENSE")]
    assert "License-Expression: MIT" in metadata
    assert (ROOT / "README.md").read_text(encoding="utf-8") in metadata


def test_installed_wheel_upgrades_its_own_database(installed: Path, tmp_path: Path) -> None:
    """A pip-installed spider prints its version and makes a database at the newest schema by its own migrations."""
    assert spider.__version__ in run(installed / "bin" / "spider", "--version", cwd=tmp_path)
    code = "from spider.store.database import Database, migrations; Database.open('x.db').close(); print(migrations())"
    where = Path(run(installed / "bin" / "python", "-c", code, cwd=tmp_path).strip())
    assert where.is_relative_to(installed)
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(schema.HEAD,)]


def test_installed_wheel_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    """`spider demo` of a pip-installed spider finds its site in the wheel, crawls it and reports media of each kind."""
    told = run(installed / "bin" / "spider", "demo", cwd=tmp_path, COLUMNS="120")
    assert {kind for kind in ("video", "audio", "flash") if kind in told} == {"video", "audio", "flash"}


def test_it_is_compiled(installed: Path, tmp_path: Path) -> None:
    """Where a compiler was about, the wheel has the URL machine's compiled twin, and that one answers."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler: the wheel has the interpreted twin alone")
    code = "import spider.url as u; print(u.is_compiled(), u.normalize('HTTP://h/a/../b'), u.__file__)"
    compiled, address, file = run(installed / "bin" / "python", "-c", code, cwd=tmp_path).split()
    assert (compiled, address) == ("True", "http://h/b")
    assert Path(file).is_relative_to(installed)
