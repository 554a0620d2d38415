"""Builds the archives of a release and tries them: `make wheels`, or `python docs/wheels.py [folder]`.

The sdist and the wheel are built and checked; neither may hold tests or benchmarks. Then, for every Python from 3.11 on
that is found (on PATH, or installed by pyenv), the wheel is installed into a new environment. On Linux on an x86-64 or
Arm CPU, everything is compiled there for a portable baseline, and a second wheel, for this Python and platform alone,
is made of the first, of that machine code, and of the kernels of ordinary calls for GPUs. It may have 12 MB. It is
installed in place of the first, and must find nothing to compile.
`hopwave doctor`, `hopwave demo` and a sample of the tests run there, without access to the library's source. Needs only
the standard library and a package index. With a folder, the wheels stay in its `dist`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))  # the classifiers
CARRIED = ("aarch64", "x86_64") if sys.platform == "linux" else ()  # machines whose code a wheel can carry
MOST_BYTES = 12_000_000  # of a wheel
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


WARM = """
import json, subprocess, sys
parts = json.loads(subprocess.run([sys.argv[1], "warmup", "--json"], capture_output=True, check=True).stdout)["parts"]
sys.exit([part["name"] for part in parts if part["compiled"]] or 0)
"""
ABOUT_PLACE = """
import json, platform
from hopwave.system import shipped_code
baselines = shipped_code.BASELINES[platform.machine()]
print(json.dumps([str(shipped_code.FOLDER.parent), [one.settings() for one in baselines]]))
"""


def with_machine_code(version: str, bin_: Path, wheel: Path, folder: Path) -> Path | None:
    """A wheel that also carries machine code for this platform; None if that cannot be made or used."""
    asked = subprocess.run([str(bin_ / "python"), "-c", ABOUT_PLACE], capture_output=True, text=True, check=True)
    code, settings = json.loads(asked.stdout)
    cold = {"NUMBA_CACHE_DIR": str(folder / f"kept{version}"), "HOPWAVE_PROGRESS": "0"}

    def compiled(making: dict[str, str]) -> bool:
        what = f"Python {version}: machine code for {making['HOPWAVE_SHIP']}"
        return step(what, [str(bin_ / "hopwave"), "warmup"], folder, **cold, **making)

    with ThreadPoolExecutor() as pool:  # one baseline leaves cores idle while its longest function is compiled
        if not all(list(pool.map(compiled, settings))):
            return None
    kernels = kernels_of(wheel, folder)
    if kernels is None:
        return None
    shutil.copytree(kernels, Path(code) / "cuda")
    made = _added(wheel, Path(code), f"cp{version.replace('.', '')}-none-manylinux_2_17_{platform.machine()}")
    size = made.stat().st_size
    print(f"      {made.name}: {size / 1e6:.2f} MB, {wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")
    if size > MOST_BYTES:
        print(f"      that is more than {MOST_BYTES:,} bytes")
        return None
    again = [str(bin_ / "python"), "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", str(made)]
    shutil.rmtree(code)
    empty = cold | {"NUMBA_CACHE_DIR": str(folder / f"empty{version}")}
    good = step(f"Python {version}: pip install {made.name}", again, folder) and step(
        f"Python {version}: a warmup that compiles nothing",
        [str(bin_ / "python"), "-c", WARM, str(bin_ / "hopwave")],
        folder,
        **empty,
    )
    return made if good else None


@cache
def kernels_of(wheel: Path, folder: Path) -> Path | None:
    """A folder with the kernels of ordinary calls for the GPUs of a wheel; None if they cannot be made.

    They are made by CUDA 12, so that drivers of CUDA 12 and of all later versions run them. NVRTC needs no GPU.
    """
    place, made = folder / "cuda12", folder / "kernels"
    python = str(place / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", f"hopwave[cuda12] @ {wheel.as_uri()}"]
    good = (
        step("an environment with CUDA 12", [sys.executable, "-m", "venv", str(place)], folder)
        and step("pip install hopwave[cuda12]", install, folder)
        and step("kernels for GPUs", [python, "-m", "hopwave.engines.cuda.ship", str(made)], folder)
    )
    return made if good else None


def _added(wheel: Path, code: Path, tag: str) -> Path:
    """The wheel with the files of a folder in it, as a wheel of another tag beside it."""
    name = "-".join([*wheel.stem.split("-")[:2], tag]) + ".whl"
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(wheel.parent / name, "w", zipfile.ZIP_DEFLATED) as new:
        contents = {one.filename: old.read(one) for one in old.infolist()}
        (record,) = (one for one in contents if one.endswith(".dist-info/RECORD"))
        (about,) = (one for one in contents if one.endswith(".dist-info/WHEEL"))
        lines = [line for line in contents[about].decode().splitlines() if line and not line.startswith("Tag:")]
        contents[about] = "".join(f"{line}\n" for line in [*lines, f"Tag: {tag}"]).encode()
        for file in sorted(code.rglob("*")):
            if file.is_file():
                contents[f"hopwave/{code.name}/{file.relative_to(code).as_posix()}"] = file.read_bytes()
        contents[record] = b""
        listed = []
        for one, data in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            listed.append(f"{one},," if one == record else f"{one},sha256={digest},{len(data)}")
        contents[record] = ("\n".join(listed) + "\n").encode()
        for one, data in contents.items():
            new.writestr(one, data)
    return wheel.parent / name


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
        and (platform.machine() not in CARRIED or with_machine_code(version, bin_, wheel, folder) is not None)
        and step(f"Python {version}: hopwave doctor", [str(bin_ / "hopwave"), "doctor"], work)
        and step(f"Python {version}: hopwave demo", [str(bin_ / "hopwave"), "demo"], work)
        and step(f"Python {version}: tests of {', '.join(TESTS)}", tests, work, HOPWAVE_TESTS="quick")
    )


def main(folder: Path) -> int:
    """Build, then try every Python; the exit status is 1 if anything failed."""
    folder.mkdir(parents=True, exist_ok=True)
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
