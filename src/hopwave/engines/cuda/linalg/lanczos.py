"""Steps of Lanczos' algorithm on the GPU (kernels/linalg/lanczos.cuh), several with one wait for the device.

A step is two launches where the arcs lead both ways (both products are one), else three.
"""

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.launch import BLOCK, expression, offset_type
from hopwave.engines.cuda.linalg.power import product

HEADER = "linalg/lanczos.cuh"
MOST = 20  # LANCZOS_MOST in the kernels: vectors of Q
PASSES = 3
AHEAD = 4  # steps without a wait: those that were not needed cost less than waits


def steps(A, Q, k):
    """See hopwave.engines.Shortcuts.lanczos: AHEAD steps, as far as there is room in Q."""
    if A.has_values or len(Q) > MOST + 1:
        return None
    kernel, fit = nvrtc.cooperative(HEADER, expression(HEADER, "orthogonal", offset_type(A.rows.indptr)), BLOCK)
    if not fit:
        return None
    n = Q.shape[1]
    blocks = min(-(-n // BLOCK), fit)
    ends = range(k, min(k + AHEAD, len(Q) - 1))
    sums, arrived = cupy.empty((PASSES, MOST * blocks), np.float64), cupy.zeros(len(ends), np.uint32)
    found = cupy.empty((len(ends), MOST + 1), np.float64)  # per step: Q y, and the length of the rest
    for step, end in enumerate(ends):
        y = _there_and_back(Q[end], A)
        if y is None:
            return None
        given = Q, np.int64(n), np.int64(end + 1), y, sums, found[step], Q[end + 1], arrived[step:]
        kernel((blocks,), (BLOCK,), given)
    host = found.get()
    return [(row[: end + 1], float(row[MOST])) for end, row in zip(ends, host, strict=True)]


def _there_and_back(x, A):
    """Aᵀ A x, for which nothing waits; None if there is no such launch."""
    if A.rows.indices is A.columns.indices:
        return product(x, A, rounds=2)
    h = product(x, A.T)
    return None if h is None else product(h, A)
