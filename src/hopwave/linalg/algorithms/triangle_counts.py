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
from hopwave.linalg.masking import assign, extract
from hopwave.linalg.products import mxm, reduce

plus_pair = semiring.plus_pair
PIECE = 1 << 22  # pairs of arcs that triangle_list looks at together
WORTH_SORTING = 250  # from this many reads per entry on, sorting the vertices by degree pays


def triangle_count(A: Any, *, device: str = "auto") -> int:
    """How many triangles there are. A is symmetric; loops do not count.

    Examples
    --------
    >>> la.algorithms.triangle_count(hw.generate.complete(5))
    10
    """
    A = pattern(square(A, device))
    engine = algebra(A.device)
    if engine.why_not_operation("count_triangles") is None:  # computes the sum without making L and C
        found = engine.count_triangles(A.rows)
        if found is not None:
            return found
    L, _ = lower(A)
    return int(reduce(mxm(L, L.T, plus_pair, mask=L, direction="pull")))


def triangles(A: Any, *, device: str = "auto") -> Vector:
    """How many triangles each vertex is in.

    Examples
    --------
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


def triangle_list(A: Any, *, device: str = "auto") -> Any:
    """Every triangle once: its three vertices. A is symmetric; loops do not count.

    Returns
    -------
    array of shape (triangles, 3)
        The vertices of a triangle ascend, and so do the rows. On a GPU it is CuPy's.

    Notes
    -----
    These are the terms that triangle_count adds up: for each entry (i, k) of the mask L the columns j that rows i and k
    of L have in common. It takes memory for the list, and for PIECE looks at a time.

    Examples
    --------
    >>> la.algorithms.triangle_list(hw.generate.complete(4)).tolist()
    [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    """
    L, order = lower(pattern(square(A, device)))
    n, offsets, columns = L.shape[0], L.rows.indptr, L.rows.indices
    xp: Any = module_of(columns)
    rows = (xp.searchsorted(offsets, xp.arange(len(columns)), side="right") - 1).astype(xp.int64)
    keys = rows * n + columns  # the entries of L in order: each row ascends
    looks = xp.diff(offsets)[columns].astype(xp.int64)  # of the entry (i, k): the length of row k
    ends = xp.cumsum(looks)
    found, first = [], 0
    while first < len(columns):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(xp.searchsorted(ends, before + PIECE, side="right")))
        look = xp.arange(before, int(ends[last - 1]))
        some = first + xp.searchsorted(ends[first:last], look, side="right")  # the entry that each look belongs to
        place = look - (ends[some] - looks[some])
        i, k = rows[some], columns[some].astype(xp.int64)
        wanted = i * n + columns[offsets[k] + place]
        there = xp.searchsorted(keys, wanted)
        there[there == len(keys)] = 0
        kept = keys[there] == wanted
        found.append(xp.stack([wanted[kept] % n, k[kept], i[kept]], axis=1))
        first = last
    if not found:
        return xp.zeros((0, 3), xp.int64)
    vertices = xp.concatenate(found)
    vertices = xp.sort(vertices if order is None else xp.asarray(order)[vertices].astype(xp.int64), axis=1)
    return vertices[xp.lexsort(vertices.T[::-1])]


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
