"""Triangles: for every edge, the neighbours that its ends have in common. That is one masked product.

Wolf, Deveci, Berry, Hammond and Rajamanickam, Fast linear algebra-based triangle counting with KokkosKernels (2017),
section III; LAGraph calls its two forms Sandia_LL and Sandia_LUT.

L   the arcs from every vertex to lower vertices

For a triangle i > k > j, C⟨L⟩ = L · Lᵀ counts j at (i, k), and C⟨Lᵀ⟩ = Lᵀ · L counts i at (j, k).
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import binary
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import module_of
from hopwave.engines import algebra
from hopwave.linalg.algorithms.operands import square
from hopwave.linalg.elementwise import ewise_mult, select
from hopwave.linalg.placing import assign, extract
from hopwave.linalg.products import mxm
from hopwave.linalg.reduction import reduce

plus_pair = semiring.plus_pair
WORTH_SORTING = 250  # from this many reads per entry on, sorting the vertices by degree pays


def triangle_count(A: Any, *, device: str = "auto") -> int:
    """How many triangles there are. A is symmetric; loops do not count.

    Parameters
    ----------
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The graph: an entry (i, j) is an arc from i to j.
    device : {"auto", "cpu", "cuda"}, optional
        Where it runs; by default where `A` is.

    Returns
    -------
    int

    Raises
    ------
    LinalgError
        If `A` is not square, or an argument has a value that it cannot have.

    See Also
    --------
    triangles, hopwave.triangle_count

    Examples
    --------
    >>> from hopwave import linalg as la
    >>> import hopwave as hw
    >>> la.algorithms.triangle_count(hw.generate.complete(5))
    10
    """
    A = pattern(square(A, device))
    engine = algebra(A.device)
    if engine.why_not_operation("count_triangles") is None:  # computes the sum without making L and C
        found = engine.count_triangles(A.rows, WORTH_SORTING * A.nnz)
        if found is not None:
            return found
    L, _ = lower(A)
    return int(reduce(mxm(L, L.T, plus_pair, mask=L, direction="pull")))


def triangles(A: Any, *, device: str = "auto") -> Vector:
    """How many triangles each vertex is in.

    Parameters
    ----------
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The graph: an entry (i, j) is an arc from i to j.
    device : {"auto", "cpu", "cuda"}, optional
        Where it runs; by default where `A` is.

    Returns
    -------
    Vector
        One number per vertex.

    Raises
    ------
    LinalgError
        If `A` is not square, or an argument has a value that it cannot have.

    See Also
    --------
    triangle_count, hopwave.triangles

    Examples
    --------
    >>> from hopwave import linalg as la
    >>> import hopwave as hw
    >>> la.algorithms.triangles(hw.generate.complete(4)).values.tolist()
    [3, 3, 3, 3]
    """
    A = pattern(square(A, device))
    engine = algebra(A.device)
    if engine.why_not_operation("triangles") is None:
        found = engine.triangles(A.rows)
        if found is not None:
            return Vector.from_dense(found)
    L, order = lower(A)
    n = L.shape[0]
    last_and_middle = mxm(L, L.T, plus_pair, mask=L, direction="pull")
    first = mxm(L.T, L, plus_pair, mask=L.T, direction="pull")
    t = Vector.full(n, 0, "int64", device=L.device)
    for C, axis in ((last_and_middle, 1), (last_and_middle, 0), (first, 1)):
        assign(t, reduce(C, axis=axis), accum=binary.plus)
    return t if order is None else assign(Vector.full(n, 0, "int64", device=L.device), t, order)


def closed_walks(B: Matrix) -> Vector:
    """(B³)ᵤᵤ for a symmetric B without a diagonal: C⟨B⟩ = B · B, then the sums of the rows of C ∘ B."""
    C = mxm(B, B, semiring.plus_times, mask=B, structural=True, direction="pull")
    found: Vector = reduce(ewise_mult(C, B), axis=1)
    return found


def pattern(A: Matrix) -> Matrix:
    """The pattern of A; raises if an entry is repeated."""
    return (A.pattern() if A.has_values else A).checked()


def lower(A: Matrix) -> tuple[Matrix, Any]:
    """(L, the vertex of each row of L, or None if rows are in the order of A).

    A product reads one row of L for every entry of L. If hubs make that too many reads, vertices are sorted by
    descending degree: then no row is longer than √2m.
    """
    L = select(A, "tril", -1)
    xp = module_of(L.rows.indices)
    after = xp.diff(A.rows.indptr) - xp.diff(L.rows.indptr)
    looks = float(xp.dot(after.astype(xp.float64), xp.diff(L.rows.indptr).astype(xp.float64)))
    if looks <= WORTH_SORTING * A.nnz:
        return L, None
    order = xp.argsort(-xp.diff(A.rows.indptr).astype(xp.int64), kind="stable").astype(xp.int32)
    return select(extract(A, order, order), "tril", -1), order
