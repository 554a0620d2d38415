"""Arrays as compiled code reads them: unsigned, so that no code for negative indices is made, and read-only.

Read-only, because a graph's own arrays are, and Numba would compile once more for arrays that can be written to.
"""

from __future__ import annotations

import numpy as np

UNSIGNED = {1: np.uint8, 4: np.uint32, 8: np.uint64}


def read_only(array):
    """The same memory, for reading alone."""
    view = array.view()
    view.flags.writeable = False
    return view


def unsigned(array):
    """The same memory, for reading alone, as unsigned numbers; bools as bytes."""
    view = array.view(UNSIGNED[array.dtype.itemsize])
    view.flags.writeable = False
    return view


def unsigned_rows(part):
    """The offsets and indices of compressed rows."""
    return unsigned(part.indptr), unsigned(part.indices)
