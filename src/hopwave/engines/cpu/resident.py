"""How much of an array is in memory: pages that nobody writes to cost nothing, and large arrays have pages of 2 MB."""

from __future__ import annotations

from collections.abc import Mapping

from hopwave.engines.cpu.views import ASKED_FOR, HUGE_PAGE, WORTH_ONE
from hopwave.engines.ledger import Array

FEW_BYTES = 1 << 16


def resident(arrays: Mapping[str, Array], **filled_to: float) -> int:
    """Bytes of declared arrays once they are written to. `filled_to`: of an array of that name, only this share is.

    >>> import numpy as np
    >>> resident({"queue": Array(100, np.uint32), "levels": Array(1000, np.int64)}, levels=0.25)
    2400
    """
    held = 0
    for name, array in arrays.items():
        share = min(1.0, filled_to.get(name, 1.0))
        if share < 1 and not array.huge:
            held += filled(share * array.nbytes, array.nbytes)
        else:
            held += paged(int(share * array.nbytes), array.nbytes) if array.huge else array.nbytes
    return held


def paged(size: int, whole: int | None = None) -> int:
    """An array from engines/cpu/views.new_array, or its first `size` bytes of `whole`: large ones are in whole pages of
    2 MB, but for a few bytes at the end.

    >>> paged(1 << 18), paged(3 << 20), paged((1 << 21) + 4), paged(1 << 20, 1 << 24)
    (262144, 4194304, 2097156, 2097152)
    """
    if (size if whole is None else whole) < WORTH_ONE:
        return size
    pages, rest = divmod(size, HUGE_PAGE)
    return pages * HUGE_PAGE + (HUGE_PAGE if rest > FEW_BYTES else rest)


def filled(part: float, whole: float) -> int:
    """The memory that is held once the first `part` bytes of one of NumPy's arrays of `whole` bytes are written.

    For a large array NumPy asks the system for pages of 2 MB, and a page is held as a whole. Where in the array a page
    begins is chance, so the last one adds half a page on average.

    >>> filled(1000, 1 << 20), filled(3 << 20, 8 << 20), filled(7 << 20, (7 << 20) + 100)
    (1000, 4194304, 7340132)
    """
    if whole < ASKED_FOR:
        return int(part)
    more = HUGE_PAGE / 2 if part >= HUGE_PAGE else part - part * part / (2 * HUGE_PAGE)
    return int(min(whole, part + more))
