"""Runs checks on several ranks; test_checks.py starts this file under mpiexec, and it can be started by hand.

    mpiexec -n 3 python tests/mpi/checks.py FOLDER [NAME ...]

The checks are the functions check_NAME in the files check_*.py of this folder; without names all of them run. A check
that fails on one rank ends the whole job, since the others may be waiting for that rank; its name and the reason are
printed on one line. FOLDER/passed.txt gets the names of those that passed: mpiexec may lose or colour the last line.
"""

from __future__ import annotations

import importlib
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from rank_setup import FOLDER, WORLD


def find_checks() -> dict[str, Callable[[], None]]:
    """Every check by name, in the order of files and of their functions."""
    modules = [importlib.import_module(path.stem) for path in sorted(Path(__file__).parent.glob("check_*.py"))]
    return {
        name.removeprefix("check_"): value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("check_")
    }


def main() -> None:
    checks = find_checks()
    for name in sys.argv[2:] or checks:
        if name not in checks:
            WORLD.abort(f"there is no check {name!r}; the checks are {', '.join(checks)}")
        began = time.perf_counter()
        try:
            checks[name]()
        except BaseException as error:
            traceback.print_exc()
            WORLD.abort(f"{name}: {type(error).__name__}: {str(error)[:500]}")
        WORLD.barrier()
        if WORLD.rank == 0:
            print(f"passed {name} {time.perf_counter() - began:.2f} s", flush=True)
            with (FOLDER / "passed.txt").open("a") as file:
                file.write(f"{name}\n")


if __name__ == "__main__":
    main()
