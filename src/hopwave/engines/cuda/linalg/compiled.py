"""The kernels of one product: templates of kernels/linalg/*.cuh, compiled for its arithmetic when first used."""

import numpy as np

from hopwave.engines.cuda.launch import NULL, expression, kernels, truth
from hopwave.engines.cuda.linalg.semiring_source import RING, c_type, ring_text

# Headers of the kernels that are compiled for a ring; those of pull also with a list of rows or without.
HEADERS = {"pull": "linalg/mxv.cuh", "dots": "linalg/mxv.cuh", "push": "linalg/mxv.cuh", "expand": "linalg/mxv.cuh"}


class Kernels:
    """The kernels of one product, each compiled when it is first used."""

    def __init__(self, product, offset, a, x):
        self.offset = c_type(offset)
        self.text = ring_text(product, np.dtype(np.bool_) if a is None else a, x, a is None)
        self.found = {}

    def get(self, verb, listed=None):
        """The kernel for a verb, and the kernel for the pieces of long rows."""
        key = verb, listed
        found = self.found.get(key)
        if found is None:
            shapes = (f"{RING}, {self.offset}, {pieces}" for pieces in ("false", "true"))
            more = "" if listed is None else f", {truth(listed)}"
            found = self.found[key] = tuple(kernels().get(HEADERS[verb], verb, s + more, self.text) for s in shapes)
        return found


def kernels_of(here, product, part, x):
    """The kernels of a product, kept with its record, which `linalg.arithmetic` reuses."""
    a = None if part.values is None else part.values.dtype
    key = Kernels, here.device, part.indptr.dtype.char, None if a is None else a.char, x.char
    return product.prepared.made(key, lambda: Kernels(product, part.indptr.dtype, a, x))


def operands(here, product, part, values):
    """The values of matrix and vector that kernels read; null if they read none."""
    weighs = not product.structure_only
    a = b = NULL
    if part.values is not None:
        a = part.values if weighs or product.term in ("a", "both") else NULL
    elif weighs:
        a = here.ones(len(part.indices), np.dtype(np.bool_))
    if weighs or product.term in ("x", "both"):
        b = values
    return a, b


def instances(offset):
    """Header and name of every kernel for one ring and one type of offsets, for the compile test."""
    for verb, header in HEADERS.items():
        for pieces in ("false", "true"):
            for listed in ("true", "false") if verb == "pull" else ("",):
                yield header, expression(header, verb, RING, offset, pieces, listed)
    yield "linalg/mxv.cuh", expression("linalg/mxv.cuh", "segments", RING)


def array_instances():
    """Kernels on whole arrays: those for a ring's text, and those for a type of values."""
    for_text = "sum_all", "combine_at", "map_two", "combine_sorted", "map_one"
    for_type = "spread", "collect", "fill", "take"
    return (
        [expression("linalg/arrays.cuh", name, RING) for name in for_text],
        [expression("linalg/arrays.cuh", name, kind) for name in for_type for kind in ("bool", "double")],
    )
