"""The adjacency matrix of a graph whose rows are packed on the GPU: power iterations read it there (power.py)."""

import numpy as np

from hopwave.algebra.matrix import Matrix, _Store
from hopwave.engines.cuda.compressed import uploaded


class PackedMatrix(Matrix):
    """A pattern. What cannot read packed rows asks for `rows` or `columns`: then the plain ones are uploaded."""

    __slots__ = ("nnz", "packed", "plain")
    device, dtype, has_values = "cuda", np.dtype(np.bool_), False

    def __init__(self, plain, packed):
        super().__init__(_Store(plain.shape, None, None))
        self.plain, self.packed, self.nnz = plain, packed, plain.nnz

    T = property(lambda self: self.plain.to("cuda").T)

    def pattern(self):
        return self

    def _any(self):
        return self.plain.to("cuda")._any()

    def _part(self, columns):
        return self.plain.to("cuda")._part(columns)


def matrix_of(graph, A):
    """A, the matrix of this graph; a PackedMatrix if it has no values and the graph's rows are packed, or must be."""
    if A.has_values or A.device == "cuda" or not graph.m:
        return A
    packed = uploaded(graph).compressed
    if packed is None:
        return A
    return graph._prepared.find(PackedMatrix) or graph._prepared.keep(PackedMatrix(A, packed))
