"""Installs the oldest versions of dependencies that hopwave allows, and runs the tests with them.

    python3.11 tests/oldest.py FOLDER     (`make oldest`)

makes an environment in the folder with the lower bound of every dependency in pyproject.toml, and of the extras
networkx, io, plot, igraph and mpi. The tests are those of `make quick` that need no GPU, ranks or kernel compiler.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("networkx", "io", "plot", "igraph", "mpi")
TOOLS = ["pytest==8.*", "pytest-xdist==3.5.*", "hypothesis", "polars"]
LEFT_OUT = ("site", "house", "mpi", "engines/cuda/test_kernels.py", "engines/cuda/test_linalg_kernels.py")
NEED_NEWER = (  # tests that need newer libraries or their newer definitions, CuPy or SuiteSparse
    "api/test_memory_estimate.py::test_a_graph_that_a_gpu_cannot_hold",
    "api/test_memory_estimate.py::test_rows_are_compressed_if_they_do_not_fit",
    "api/test_memory_estimate.py::test_the_estimate_is_of_the_device_that_the_call_takes",
    "papers/test_papers.py::test_turbobfs_counts_paths_and_names_the_fastest",
    "system/test_numba_cache.py::test_code_",  # llvmlite 0.43 does not name all features of an Arm CPU
    "system/test_numba_cache.py::test_a_",
    "fuzz/test_fuzz.py::test_inputs[graphs]",
    "fuzz/test_fuzz.py::test_a_full_disk_leaves_the_old_file",  # NumPy left a damaged archive open
)
BOUND = re.compile(r"([A-Za-z][\w.-]*)(?:\[[^]]*\])?\s*>=\s*([\d.]+)")


def oldest_versions(requirements: list[str]) -> list[str]:
    """The lowest version of each requirement with a lower bound; a bound like 2.0 means its first release."""
    found = []
    for name, version in (match.groups() for one in requirements if (match := BOUND.match(one))):
        parts = version.split(".")
        found.append(f"{name}=={version}" + (".0.*" if len(parts) == 1 else ".*" if len(parts) == 2 else ""))
    return found


def main(folder: Path) -> int:
    """Install and test."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for extra in EXTRAS for one in project["optional-dependencies"][extra]]
    versions = oldest_versions([*project["dependencies"], *extras])
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    for wanted in ([*versions, *TOOLS], ["--no-deps", "--editable", str(ROOT)]):
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
    print("\n".join(versions), flush=True)
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow and not mpi and not gpu"]
    options += ["-W", "ignore::DeprecationWarning"]  # an old matplotlib with a new pyparsing warns
    options += [f"--ignore=tests/{place}" for place in LEFT_OUT]
    options += [f"--deselect=tests/{test}" for test in NEED_NEWER]
    known = {**os.environ, "HOPWAVE_TESTS": "quick", "NUMBA_CACHE_DIR": str(folder / "machine-code")}
    done = subprocess.run([str(python), "-m", "pytest", *options, *sys.argv[2:]], env=known, cwd=ROOT, check=False)
    return done.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("give the folder for the environment: python tests/oldest.py FOLDER")
    sys.exit(main(Path(sys.argv[1]).resolve()))
