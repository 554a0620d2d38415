"""The lengths of a graph's rows on the GPU (kernels/build/rows.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda.launch import together

HEADER = "build/rows.cuh"
together(HEADER, "greatest_length", "find_long", "rows_of_keys")


def greatest_length(launch, offsets):
    """The length of the longest row; 0 without rows."""
    n, greatest = len(offsets) - 1, cupy.zeros(1, np.uint64)
    launch(HEADER, "greatest_length", n, offsets, np.uint64(n), greatest)
    return int(greatest.get()[0])


def long_rows(launch, offsets, arcs, length):
    """The rows of more than `length` arcs, the longest first; `arcs` is the number of all arcs."""
    n = len(offsets) - 1
    most = min(n, arcs // (length + 1))
    if not most:
        return cupy.empty(0, np.int32)
    keys, count = cupy.empty(most, np.uint64), cupy.zeros(1, np.uint64)
    launch(HEADER, "find_long", n, offsets, np.uint64(n), np.uint64(length), keys, count)
    keys = keys[: int(count.get()[0])]
    if len(keys):
        keys.sort()
    rows = cupy.empty(len(keys), np.int32)
    launch(HEADER, "rows_of_keys", len(keys), keys, np.uint64(len(keys)), rows)
    return rows
