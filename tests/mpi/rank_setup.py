"""What every check of ranks uses: the world, the device, a folder for files, and ways to distribute vertices.

Imported only under mpiexec, by checks.py and the files of checks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import numpy as np  # noqa: E402

from hopwave import distributed as hd  # noqa: E402
from hopwave.distributed.layout import Layout  # noqa: E402

WORLD = hd.world()
DEVICE = os.environ.get("HOPWAVE_CHECK_DEVICE", "cpu")  # for the graphs; ranks may share one GPU
FOLDER = Path(sys.argv[1])  # the first argument of checks.py: a folder that all ranks can write to


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


def share_of(cases: Iterable[T]) -> list[T]:
    """The cases for this number of ranks: 1 rank takes all, 2 ranks take half, 3 and 4 ranks a third each."""
    stride = min(WORLD.size, 3)
    return [case for turn, case in enumerate(cases) if turn % stride == WORLD.size % stride]
