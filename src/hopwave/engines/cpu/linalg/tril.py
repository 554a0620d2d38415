"""The lower or upper part of a matrix: since rows are ascending, the first or last entries of each."""

import numpy as np

from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.graph.csr import Rows
from hopwave.system.numba_cache import njit

SHORT = 16  # with this many entries of a row left, they are looked at one by one


@njit(**COMPILED)
def split_rows(indptr, indices, diagonal, lower, begins, ends):
    """Where each row's part begins in its row, and the offsets of all parts written one after the other."""
    total = np.int64(0)
    ends[0] = 0
    for i in range(begins.size):
        first, last = np.int64(indptr[i]), np.int64(indptr[i + 1])
        bound = i + diagonal + (1 if lower else 0)  # the first column that is not in a lower part, but in an upper one
        low, high = first, last
        while high - low > SHORT:
            middle = (low + high) >> 1
            if np.int64(indices[middle]) < bound:
                low = middle + 1
            else:
                high = middle
        while low < high and np.int64(indices[low]) < bound:
            low += 1
        begins[i] = first if lower else low
        total += low - first if lower else last - low
        ends[i + 1] = total


@njit(**COMPILED)
def copy_parts(array, begins, ends, out):
    for i in range(begins.size):
        source = begins[i]
        for target in range(np.int64(ends[i]), np.int64(ends[i + 1])):
            out[target] = array[source]
            source += 1


def triangle(part, lower, diagonal):
    """The entries (i, j) with j − i at most (lower) or at least (upper) `diagonal`."""
    begins = np.empty(len(part.indptr) - 1, np.int64)
    indptr = np.empty(len(part.indptr), part.indptr.dtype)
    split_rows(*unsigned_rows(part), diagonal, lower, begins, indptr)
    return Rows(indptr, *(copied(array, begins, indptr) for array in part[1:]))


def copied(array, begins, indptr):
    if array is None:
        return None
    out = np.empty(int(indptr[-1]), array.dtype)
    copy_parts(array, begins, indptr, out)
    return out
