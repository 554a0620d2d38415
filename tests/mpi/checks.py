"""Runs checks on several ranks, and has what they share. test_ranks.py starts this file under mpiexec.

    mpiexec -n 3 python tests/mpi/checks.py FOLDER [NAME | NAME=NUMBER ...]

The checks are the functions check_NAME in the files check_*.py of this folder; without names all of them run. A check
that fails on one rank ends the whole job, since the others may be waiting for that rank. FOLDER/passed.txt gets the
names of those that passed: mpiexec may lose or colour the last line.
"""

import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import hopwave as hw  # noqa: E402
from hopwave import distributed as hd  # noqa: E402
from hopwave.distributed.layout import Layout  # noqa: E402

WORLD = hd.world()
DEVICE = os.environ.get("HOPWAVE_CHECK_DEVICE", "cpu")  # for the graphs; ranks may share one GPU
FOLDER = Path(sys.argv[1])  # all ranks can write to it


def layouts(n: int) -> Iterator[Any]:
    """Ways to distribute n vertices: balanced, on a grid, all on one rank, and with empty ranges in between."""
    size = WORLD.size
    yield "1d"
    yield "2d"
    yield (1, size)
    for owner in {0, size - 1}:
        yield Layout(np.array([0] * (owner + 1) + [n] * (size - owner), np.int64))
    if size > 2:
        yield Layout(np.array([0] + [n // 2] * (size - 1) + [n], np.int64))


def written(name: str, content: str | hw.Graph, **options: Any) -> Path:
    """A file that rank 0 writes: a text, or a graph."""
    WORLD.barrier()  # no rank still reads a file of this name
    path = FOLDER / name
    if WORLD.rank == 0 and isinstance(content, str):
        path.write_text(content)
    elif WORLD.rank == 0:
        hw.write(path, content, **options)
    WORLD.barrier()
    return path


def hub(graph: hw.Graph) -> int:
    return int(np.argmax(graph.degrees))


def refused(error: type[Exception], message: str, call: Callable[..., Any], *given: Any, **options: Any) -> str:
    """Every rank raises this error; returns what it says."""
    with pytest.raises(error, match=message or None) as caught:
        call(*given, **options)
    return str(caught.value)


def main() -> None:
    checks: dict[str, Callable[..., None]] = {}
    for path in sorted(Path(__file__).parent.glob("check_*.py")):
        found = vars(importlib.import_module(path.stem)).items()
        checks |= {name.removeprefix("check_"): value for name, value in found if name.startswith("check_")}
    for asked in sys.argv[2:] or checks:
        (name, _, number), began = asked.partition("="), time.perf_counter()
        try:
            checks[name](*([int(number)] if number else []))
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
