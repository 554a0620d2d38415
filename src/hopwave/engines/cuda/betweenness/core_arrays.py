"""The arrays of a run over the core on a GPU (core_run.py), and how many core vertices it takes at a time."""

from __future__ import annotations

import numpy as np

from hopwave.engines.ledger import Array, declare

MOST_ROWS = 1 << 14  # of a batch: more do not keep the GPU busier
DEMAND_BLOCKS = 8  # per multiprocessor, of the kernel that adds up demand
ROW_BYTES = 28  # per core vertex and row: d, s, T, queue, begins


def batch_size(vertices: int, most: int, memory: int, free: int) -> int:
    """Core vertices of a batch, at most `most`: a third of the memory is for their rows."""
    return max(1, min(most, min(memory // 3, free // 2) // (ROW_BYTES * max(1, vertices))))


def row_arrays(vertices: int, rows: int, members: int, multiprocessors: int) -> dict[str, Array]:
    """The rows of a batch, and what each block of the kernel of demand adds up."""
    shape, grid = (rows, vertices), min(members, DEMAND_BLOCKS * multiprocessors)
    return (
        declare(np.int32, d=shape, queue=shape, begins=(rows, vertices + 1))
        | declare(np.float64, s=shape, T=shape)
        | declare(np.uint64, inner=(grid, vertices, 2))
    )
