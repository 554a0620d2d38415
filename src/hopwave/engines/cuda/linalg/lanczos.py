"""Steps of Lanczos' algorithm on the GPU (kernels/linalg/lanczos.cuh), several with one wait for the device."""

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, kernels, offset_type, together
from hopwave.engines.cuda.linalg.power import product

HEADER = "linalg/lanczos.cuh"
together(HEADER, "take_out", "scale")
MOST = 20  # LANCZOS_MOST in the kernels: vectors of Q
BLOCKS = 2  # per multiprocessor
AHEAD = 4  # steps without a wait: those that were not needed cost less than waits


def steps(A, Q, k):
    """See hopwave.engines.Shortcuts.lanczos: AHEAD steps, as far as there is room in Q."""
    if A.has_values or len(Q) > MOST + 1:
        return None
    launch, n = kernels(offset_type(A.rows.indptr)), Q.shape[1]
    blocks = min(-(-n // BLOCK), BLOCKS * cupy.cuda.Device().attributes["MultiProcessorCount"])
    sums = cupy.empty((3, MOST * blocks), np.float64)
    ends = range(k, min(k + AHEAD, len(Q) - 1))
    found = cupy.empty((len(ends), MOST + 1), np.float64)  # of each step what Q had of y, and the length of the rest
    for end, parts in zip(ends, found, strict=True):
        h = product(Q[end], A.T)
        y = None if h is None else product(h, A)
        if y is None:
            return None
        given = Q, np.int64(n), np.int32(end + 1), y
        for last, before, after, kept in (
            (0, NULL, sums[0], NULL), (0, sums[0], sums[1], parts), (1, sums[1], sums[2], NULL)
        ):  # fmt: skip
            launch(HEADER, "take_out", n, *given, before, after, kept, np.int32(last), blocks=blocks)
        launch(HEADER, "scale", n, y, np.int64(n), sums[2], np.int32(blocks), Q[end + 1], parts[MOST:], blocks=blocks)
    host = found.get()
    return [(row[: end + 1], float(row[MOST])) for end, row in zip(ends, host, strict=True)]
