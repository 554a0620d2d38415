"""Arrays as compiled code reads them: unsigned, so that no code for negative indices is generated, and read-only.

Large arrays start at a huge page of the system, which saves a quarter of the time on a grid of a million vertices.
"""

from collections import namedtuple
from functools import wraps

import numpy as np

Rows = namedtuple("Rows", "indptr indices")  # compressed rows as kernels read them
UNSIGNED = {1: np.uint8, 4: np.uint32, 8: np.uint64}


def read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


def unsigned(array):
    """A read-only view of the array as unsigned numbers; bools become bytes."""
    return read_only(array.view(UNSIGNED[array.dtype.itemsize]))


def unsigned_rows(part):
    return Rows(unsigned(part.indptr), unsigned(part.indices))


def kept(make):
    """A function of a matrix that caches its result with the matrix, separately for the matrix and its transpose."""

    @wraps(make)
    def find(A):
        return A._prepared.made((make, A._turned), lambda: make(A))

    return find


def left_or_new(left, make):
    """An object that an earlier run left in the list, for exclusive use by this run, or a new one."""
    try:
        return left.pop()
    except IndexError:  # the first run, or another thread has it
        return make()


HUGE_PAGE = 1 << 21
ASKED_FOR = 1 << 22  # minimum bytes at which NumPy requests huge pages
WORTH_ONE = 1 << 19  # minimum bytes of an array worth a huge page


def memory_for(size):
    """Memory for an array of that many bytes, with room to move its start to a huge page."""
    return np.empty(size if size < WORTH_ONE else max(size + HUGE_PAGE, ASKED_FOR), np.uint8)


def array_in(memory, count, dtype):
    """An array of `count` entries in memory from `memory_for`."""
    size = count * np.dtype(dtype).itemsize
    begin = 0 if size < WORTH_ONE else -memory.ctypes.data % HUGE_PAGE
    return memory[begin : begin + size].view(dtype)


def new_array(count, dtype):
    return array_in(memory_for(count * np.dtype(dtype).itemsize), count, dtype)


def allocate(arrays):
    """Arrays as declared (engines/ledger.py), by name."""
    return {name: allocated(array) for name, array in arrays.items()}


def allocated(array):
    shape, dtype, fill, huge = array
    if huge:
        return new_array(array.nbytes // np.dtype(dtype).itemsize, dtype).reshape(shape)
    if fill is None:
        return np.empty(shape, dtype)
    return np.full(shape, fill, dtype) if fill else np.zeros(shape, dtype)  # zeros are not written


def offsets(indptr):
    """The offsets of rows like `unsigned`; a copy in huge pages if NumPy did not request them."""
    if not WORTH_ONE <= indptr.nbytes < ASKED_FOR:
        return unsigned(indptr)
    copy = new_array(len(indptr), indptr.dtype)
    copy[:] = indptr
    return unsigned(copy)
