"""Rounds of Luby's algorithm on the GPU (kernels/linalg/independent_set.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda.launch import WARP, kernels, offset_type, together
from hopwave.generate import counter

HEADER = "linalg/independent_set.cuh"
STREAM = "independent set"  # as in linalg/algorithms/independent_set.py
together(HEADER, "draw", "choose", "leave")
OPEN, WON = 0, 1


def independent_set(A, seed):
    """Which vertices are in the set, bool. Every round draws priorities for the candidates that are left."""
    rows, n = A.rows[:2], A.shape[0]
    launch = kernels(offset_type(A.rows.indptr))
    candidates, state = cupy.arange(n, dtype=np.int32), cupy.zeros(n, np.uint8)
    rank = cupy.full(n, -1, np.int64)
    while count := len(candidates):
        # There are no ties: the highest of all wins, so that every round has a winner.
        begin = np.uint64(counter.start(seed, STREAM))
        launch(HEADER, "draw", count, candidates, np.uint64(count), begin, rank)
        for kernel in ("choose", "leave"):
            launch(HEADER, kernel, WARP * count, *rows, candidates, np.uint64(count), rank, state)
        candidates = candidates[state[candidates] == OPEN]
        seed += 1
    return state == WON
