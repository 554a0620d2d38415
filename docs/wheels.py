"""Builds the archives of a release and tries them: `make wheels`, or `python docs/wheels.py [folder]`.

The sdist and the wheel are built and checked; neither may hold tests or benchmarks. Then, for every Python from 3.11 on
that is found (on PATH, or installed by pyenv), the wheel is installed into a new environment, and `hopwave doctor`,
`hopwave demo` and a sample of the tests run there, without access to the library's source. Needs only the standard
library and a package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")  # as in the classifiers
EXTRAS = "networkx,io,plot,igraph"
TEST_TOOLS = ("pytest", "pytest-xdist", "hypothesis", "polars")
TESTS = ("planning", "graph", "algorithms", "io", "networkx_backend")  # folders that need no other tool
INSIDE = ("hopwave/", "hopwave-", "_hopwave_command.py", "_hopwave_nx_info.py")  # how the names in the wheel begin


def pythons() -> dict[str, Path]:
    """Version → its interpreter, for the installed ones."""
    found = {}
    for version in VERSIONS:
        by_pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
        for candidate in (shutil.which(f"python{version}"), *by_pyenv):
            asked = [str(candidate), "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
            if candidate and subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
                found[version] = Path(candidate)
                break
    return found


def step(what: str, words: list[str], folder: Path, **environment: str) -> bool:
    """Run a program and print how it went."""
    begin = time.perf_counter()
    ran = subprocess.run(words, cwd=folder, env=os.environ | environment, capture_output=True, text=True)
    state = "ok" if ran.returncode == 0 else f"FAILED, exit status {ran.returncode}"
    print(f"{state:>4}  {time.perf_counter() - begin:6.1f} s  {what}", flush=True)
    if ran.returncode:
        print((ran.stdout + ran.stderr)[-3000:])
    return ran.returncode == 0


def build(folder: Path) -> Path | None:
    """Build and check both archives; returns the wheel if all is well."""
    tools = folder / "tools"
    python = str(tools / "bin" / "python")
    good = step("an environment to build in", [sys.executable, "-m", "venv", str(tools)], folder)
    good = good and step("pip install build twine", [python, "-m", "pip", "install", "-q", "build", "twine"], folder)
    good = good and step("python -m build", [python, "-m", "build", "-o", str(folder / "dist"), str(ROOT)], folder)
    archives = sorted((folder / "dist").glob("*"))
    check = [python, "-m", "twine", "check", "--strict", *map(str, archives)]
    if not good or not step("twine check --strict", check, folder):
        return None
    (wheel,) = (archive for archive in archives if archive.suffix == ".whl")
    (sdist,) = (archive for archive in archives if archive.suffix == ".gz")
    strangers = [name for name in zipfile.ZipFile(wheel).namelist() if not name.startswith(INSIDE)]
    with tarfile.open(sdist) as held:
        names = [name.partition("/")[2] for name in held.getnames()]
    strangers += [name for name in names if name.startswith(("tests", "benchmarks", "docs"))]
    print(
        f"these do not belong into an archive: {strangers}"
        if strangers
        else "neither archive holds tests or benchmarks"
    )
    return None if strangers else wheel


def try_out(version: str, python: Path, wheel: Path, folder: Path) -> bool:
    """Install the wheel for one Python and use it."""
    place = folder / f"python{version}"
    bin_, work = place / "bin", folder / f"work{version}"
    work.mkdir()
    for name in ("tests", "docs", "pyproject.toml"):  # no src: the tests must use the installed package
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, work / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, work / name)
    install = [str(bin_ / "python"), "-m", "pip", "install", "-q", f"hopwave[{EXTRAS}] @ {wheel.as_uri()}", *TEST_TOOLS]
    tests = [str(bin_ / "python"), "-m", "pytest", "-q", "-m", "not slow and not mpi and not gpu"]
    tests += [f"tests/{name}" for name in TESTS]
    return (
        step(f"Python {version}: a new environment", [str(python), "-m", "venv", str(place)], folder)
        and step(f"Python {version}: pip install hopwave[{EXTRAS}]", install, folder)
        and step(f"Python {version}: hopwave doctor", [str(bin_ / "hopwave"), "doctor"], work)
        and step(f"Python {version}: hopwave demo", [str(bin_ / "hopwave"), "demo"], work)
        and step(f"Python {version}: tests of {', '.join(TESTS)}", tests, work, HOPWAVE_TESTS="quick")
    )


def main(folder: Path) -> int:
    """Build, then try every Python; the exit status is 1 if anything failed."""
    wheel = build(folder)
    if wheel is None:
        return 1
    found = pythons()
    missing = [version for version in VERSIONS if version not in found]
    good = [try_out(version, python, wheel, folder) for version, python in found.items()]
    print(
        f"not at hand, so not tried: Python {', '.join(missing)}"
        if missing
        else "every Python of the classifiers was tried"
    )
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1]).resolve()))
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
