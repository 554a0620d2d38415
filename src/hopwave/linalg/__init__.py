"""hopwave.linalg: masked products over semirings, by rows or by columns, in the style of GraphBLAS.

A search in six lines (push-pull, Algorithm 1; `waves` is this loop over any semiring, `bfs` over any_pair):

>>> import hopwave as hw
>>> from hopwave.linalg import *
>>> A, n, s = Matrix.from_graph(hw.generate.path(5)), 5, 1
>>> f, v, d = Vector.from_entries([s], True, n), Vector(n, "int32"), 0
>>> while f.nnz:
...     v = assign(v, d, mask=f, structural=True)
...     f = vxm(f, A, semiring.any_pair, mask=v, complement=True, structural=True)
...     d += 1
>>> v.to_dense(-1).tolist()
[1, 0, 1, 2, 3]
"""

from functools import partial

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import BinaryOp, Monoid, UnaryOp, binary, monoid, unary
from hopwave.algebra.semiring import Semiring, semiring
from hopwave.algebra.vector import CONVERT, OPERATIONS, Shares, Vector
from hopwave.checks.keywords import offer
from hopwave.errors import LinalgError
from hopwave.linalg import algorithms
from hopwave.linalg.algorithms.shortest_paths import bfs
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult, joined, select
from hopwave.linalg.fixpoint import Waves, waves
from hopwave.linalg.masking import assign, extract
from hopwave.linalg.products import Explanation, multiplied, mxm, mxv, reduce, vxm

__all__ = [
    "CONVERT", "BinaryOp", "Explanation", "LinalgError", "Matrix", "Monoid", "Semiring", "Shares", "UnaryOp", "Vector",
    "Waves", "algorithms", "apply", "assign", "bfs", "binary", "ewise_add", "ewise_mult", "extract", "monoid", "mxm",
    "mxv", "reduce", "select", "semiring", "unary", "vxm", "waves",
]  # fmt: skip

offer(globals(), __all__)
OPERATIONS |= {"@": multiplied, "+": partial(joined, binary.plus), "*": partial(joined, binary.times)}
