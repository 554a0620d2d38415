"""A step of Lanczos' algorithm on the GPU (kernels/linalg/lanczos.cuh), with one wait for the device."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, expression, kernels, offset_type
from hopwave.engines.cuda.linalg.power import product

HEADER, KERNEL = "linalg/lanczos.cuh", "take_out"
MOST = 20  # LANCZOS_MOST in the kernels: vectors of Q
BLOCKS = 2  # per multiprocessor


def step(A, Q, k):
    """See hopwave.engines.Algebra.lanczos."""
    if A.has_values or len(Q) > MOST:
        return None
    h = product(Q[k], A.T)
    y = None if h is None else product(h, A)
    if y is None:
        return None
    launch, n = kernels(offset_type(A.rows.indptr)), Q.shape[1]
    blocks = min(-(-n // BLOCK), BLOCKS * cupy.cuda.Device().attributes["MultiProcessorCount"])
    sums = cupy.empty((3, MOST * blocks), np.float64)
    parts = cupy.empty(MOST + blocks, np.float64)  # what Q had of y, then the blocks' sums of squares
    given = Q, np.int64(n), np.int32(k + 1), y
    for pass_, (before, after, found) in enumerate(
        ((NULL, sums[0], NULL), (sums[0], sums[1], parts), (sums[1], parts[MOST:], NULL))
    ):
        launch(HEADER, KERNEL, n, *given, before, after, found, np.int32(pass_ == 2), blocks=blocks)
    host = parts.get()
    return y, host[: k + 1], float(np.sqrt(host[MOST:].sum()))


def instances(offset):
    """(header, name) of every kernel here, for the compile test."""
    return [(HEADER, expression(HEADER, KERNEL, offset))]
