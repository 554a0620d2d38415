"""Rounds of Luby's algorithm on the GPU (kernels/linalg/independent_set.cuh)."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda.launch import WARP, expression, kernels, offset_type, together

HEADER = "linalg/independent_set.cuh"
KERNELS = together(HEADER, "choose", "leave")
OPEN, WON = 0, 1


def independent_set(A, rng):
    """Which vertices are in the set, bool. Every round draws a permutation of the candidates that are left."""
    rows, n = A.rows[:2], A.shape[0]
    launch = kernels(offset_type(A.rows.indptr))
    candidates, state = cupy.arange(n, dtype=np.int32), cupy.zeros(n, np.uint8)
    rank = cupy.full(n, -1, np.int32)
    while count := len(candidates):
        # A permutation has no ties: the highest of all wins, so that every round has a winner.
        rank[candidates] = cupy.asarray(rng.permutation(count).astype(np.int32))
        for kernel in KERNELS:
            launch(HEADER, kernel, WARP * count, *rows, candidates, np.uint64(count), rank, state)
        candidates = candidates[state[candidates] == OPEN]
    return state == WON


def instances(offset):
    """(header, name) of every kernel here, for the compile test."""
    return [(HEADER, expression(HEADER, name, offset)) for name in KERNELS]
