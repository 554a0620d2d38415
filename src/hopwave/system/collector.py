"""Python's garbage collector, switched off while modules are imported and functions compiled.

Both make very many objects. Looking through them again and again takes a tenth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting(*, stays: bool = False) -> Iterator[None]:
    """Nothing is collected inside, unless another thread ends such a block.

    What is made and `stays`, as modules do, counts as old afterwards: the next collection does not look through it.

    >>> with without_collecting():
    ...     gc.isenabled()
    False
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if stays and gc.get_freeze_count() == 0:  # a program that freezes objects itself wants them to stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
