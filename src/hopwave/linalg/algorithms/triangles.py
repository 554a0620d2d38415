"""Triangles: for every edge, the neighbours that its ends have in common, which is one masked product.

Wolf, Deveci, Berry, Hammond and Rajamanickam, Fast linear algebra-based triangle counting with KokkosKernels (2017),
section III; LAGraph calls its two forms Sandia_LL and Sandia_LUT.

L   the arcs from every vertex to those before it, vertices of high degree standing first: no row is longer than √2m

Of each triangle's corners i > k > j, C⟨L⟩ = L · L meets k at (i, j), and C⟨L⟩ = L · Lᵀ meets j at (i, k).
"""

from __future__ import annotations

from typing import Any

from hopwave.linalg.algorithms.operands import loopless, square
from hopwave.linalg.elementwise import reduce, select
from hopwave.linalg.engine import module_of
from hopwave.linalg.matrix import Matrix
from hopwave.linalg.placing import assign, extract
from hopwave.linalg.products import mxm
from hopwave.linalg.vector import Vector
from hopwave.operators import binary
from hopwave.semiring import semiring

plus_pair = semiring.plus_pair


def triangle_count(A: Any, *, device: str = "auto") -> int:
    """How many triangles there are. A is symmetric; loops do not count.

    >>> from hopwave import linalg as la
    >>> import hopwave as hw
    >>> la.algorithms.triangle_count(hw.generate.complete(5))
    10
    """
    L, _ = lower(loopless(square(A, device)))
    return int(reduce(mxm(L, L, plus_pair, mask=L)))


def triangles(A: Any, *, device: str = "auto") -> Vector:
    """How many triangles each vertex is in.

    >>> from hopwave import linalg as la
    >>> import hopwave as hw
    >>> la.algorithms.triangles(hw.generate.complete(4)).values.tolist()
    [3, 3, 3, 3]
    """
    L, order = lower(loopless(square(A, device)))
    n = L.shape[0]
    first_and_last = mxm(L, L, plus_pair, mask=L)
    middle = mxm(L, L.T, plus_pair, mask=L)
    t = Vector.full(n, 0, "int64", device=L.device)
    for corner in (reduce(first_and_last, axis=0), reduce(first_and_last, axis=1), reduce(middle, axis=0)):
        assign(t, corner, accum=binary.plus)
    return assign(Vector.full(n, 0, "int64", device=L.device), t, order)


def lower(A: Matrix) -> tuple[Matrix, Any]:
    """L, and which vertex each of its rows is; kept with the matrix."""
    if "lower" not in A.prepared:
        xp = module_of(A.rows.indices)
        degrees = xp.diff(A.rows.indptr).astype(xp.int64)
        order = xp.argsort(-degrees, kind="stable").astype(xp.int32)
        A.prepared["lower"] = select(extract(A, order, order), "tril", -1), order
    found: tuple[Matrix, Any] = A.prepared["lower"]
    return found
