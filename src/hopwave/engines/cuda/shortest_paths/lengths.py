"""The lengths of arcs as kernel arguments: whole numbers of 32 bits if no sum of them can exceed that."""

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.launch import BLOCK, expression, kernels
from hopwave.engines.cuda.linalg.semiring_source import c_type
from hopwave.engines.cuda.records import record

HEADER = "shortest_paths/state.cuh"
SUMMARY = record(HEADER, "Summary", "f64 greatest sum", "u64 fractions")
WHOLE, REAL = "unsigned int", "unsigned long long"  # bits of a distance
LENGTHS = {np.dtype(np.uint32): ("unsigned int", WHOLE), np.dtype(np.float32): ("float", REAL),
           np.dtype(np.float64): ("double", REAL)}  # fmt: skip
NO_DISTANCE = 2**32 - 1  # for 32 bits: no path


def possible(values):
    """The types in LENGTHS that these values may get. If there are two, `lengths_of` decides by the values."""
    whole, real = LENGTHS[np.dtype(np.uint32)], LENGTHS[np.dtype(np.float64)]
    if values is None or values.dtype.kind in "bu":
        return [whole]
    return [whole, LENGTHS.get(values.dtype, real)]


def lengths_of(values, n):
    """Lengths of a type that kernels take, or None if all are 1; and their mean."""
    if values is None or not len(values):
        return None, 1.0
    kind, count = c_type(values.dtype), np.uint64(len(values))
    nvrtc.begin(HEADER, [expression(HEADER, name, kind) for name in ("measure", "to_whole")])
    here, values = kernels(), cupy.ascontiguousarray(values)
    summaries = cupy.empty(here.blocks * SUMMARY.itemsize, np.uint8)
    here.get(HEADER, "measure", kind)((here.blocks,), (BLOCK,), (values, count, summaries))
    found = summaries.get().view(SUMMARY)
    greatest, mean = float(found["greatest"].max()), float(found["sum"].sum()) / len(values)
    if not found["fractions"].any() and (greatest + 1) * (n + 1) < NO_DISTANCE:
        if values.dtype == np.uint32:
            return values, mean
        whole = cupy.empty(len(values), np.uint32)
        here.launch(here.get(HEADER, "to_whole", kind), len(values), (values, count, whole))
        return whole, mean
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False), mean
