"""What every check of ranks uses: the world, the device, files that all ranks see, and ways to distribute vertices.

Imported only under mpiexec, by checks.py and the files of checks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import hopwave as hw  # noqa: E402
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
