"""Runs checks on several ranks; test_checks.py starts this file under mpiexec, and it can be started by hand.

    mpiexec -n 3 python tests/mpi/checks.py FOLDER [NAME ...] [--report FILE]

The checks are the functions check_NAME in the files check_*.py of this folder; without names all of them run. A check
that fails on one rank ends the whole job, since the others may be waiting for that rank; its name and the reason are
printed on one line. With --report each check's start and end are also appended to a file, one JSON object per line.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rank_setup import WORLD

HERE = Path(__file__).parent


def find_checks() -> dict[str, Callable[[], None]]:
    """Every check by name, in the order of files and of their functions."""
    modules = [importlib.import_module(path.stem) for path in sorted(HERE.glob("check_*.py"))]
    return {
        name.removeprefix("check_"): value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("check_")
    }


def run(name: str, check: Callable[[], None], report: Path | None) -> None:
    """Run one check on this rank; its failure ends the job."""

    def note(state: str, **more: Any) -> None:
        if report is not None:
            with report.open("a", encoding="utf-8") as file:  # one write per line: ranks may write at the same time
                file.write(json.dumps({"check": name, "state": state, **more}) + "\n")

    if WORLD.rank == 0:
        note("started")
    began = time.process_time()
    try:
        check()
    except BaseException as error:
        reason = f"{type(error).__name__}: {str(error)[:500]}"
        note("failed", rank=WORLD.rank, reason=f"{reason}\n{traceback.format_exc()}")
        traceback.print_exc()
        WORLD.abort(f"{name}: {reason}")
    WORLD.barrier()
    if WORLD.rank == 0:
        note("passed")
        print(f"passed {name} {time.process_time() - began:.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="for the files that checks write; rank_setup.py reads it")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    checks = find_checks()
    unknown = sorted(set(given.names) - set(checks))
    if unknown:
        WORLD.abort(f"there is no check {unknown[0]!r}; the checks are {', '.join(checks)}")
    for name in given.names or checks:
        run(name, checks[name], given.report)


if __name__ == "__main__":
    main()
