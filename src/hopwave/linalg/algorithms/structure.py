"""Components and triangles by products; cores, independent sets and communities by rounds of the engine.

Components: FastSV joins trees of parents until each component is one star (Zhang, Azad and Hu, FastSV: a
distributed-memory connected component algorithm with fast convergence, 2020, section 4).

    f   f(v) ≤ v: every vertex's parent      g   its grandparent      m   the lowest grandparent among its neighbours

Core numbers: peeling in rounds (Batagelj and Zaveršnik, An O(m) algorithm for cores decomposition of networks, 2003; in
rounds as in Dasari, Desh and Zubair, ParK, 2014): every vertex with at most k remaining neighbours is removed.

Independent sets: Luby, A simple parallel algorithm for the maximal independent set problem (1986). Every candidate
draws a number. A vertex whose number is higher than the numbers of all its neighbours joins the set, and its neighbours
leave. About log n rounds are expected.

Communities: Raghavan, Albert and Kumara, Near linear time algorithm to detect community structures in large-scale
networks (2007), section III. If all vertices moved simultaneously, two sides of a bipartite part would swap labels
forever (their figure 2). Instead of their random order, which is sequential, a coin decides for each vertex whether it
moves in this round.

Triangles: for every edge, the common neighbours of its endpoints (Wolf, Deveci, Berry, Hammond and Rajamanickam,
Fast linear algebra-based triangle counting with KokkosKernels, 2017, section III; LAGraph's Sandia_LL and Sandia_LUT).
L has the arcs from every vertex to lower vertices. For a triangle i > k > j, C⟨L⟩ = L · Lᵀ counts j at (i, k), and
C⟨Lᵀ⟩ = Lᵀ · L counts i at (j, k).
"""

from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import binary, monoid
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import module_of
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag_or_none
from hopwave.engines import algebra
from hopwave.errors import GraphError
from hopwave.generate import counter
from hopwave.linalg.algorithms.operands import generator, is_symmetric, square, without_repeats
from hopwave.linalg.elementwise import ewise_add, ewise_mult, select
from hopwave.linalg.masking import assign, extract
from hopwave.linalg.products import mxm, mxv, reduce, vxm

plus_pair = semiring.plus_pair
PIECE = 1 << 22  # pairs of arcs that triangle_list checks per batch
WORTH_SORTING = 250  # minimum reads per entry at which sorting the vertices by degree is faster


def connected_components(A: Any, *, device: str = "auto") -> Vector:
    """For every vertex, the lowest vertex of its component; directions are ignored.

    `hopwave.connected_components` is faster.

    Returns
    -------
    Vector
        One vertex id per vertex.

    Examples
    --------
    >>> la.algorithms.connected_components(la.Matrix.from_edges([4, 1], [2, 3], shape=5)).values.tolist()
    [0, 1, 2, 1, 2]
    """
    A = square(A, device)
    n = A.shape[0]
    xp = module_of(A.rows.indices)
    f = Vector.from_dense(xp.arange(n, dtype=xp.int32))
    g, moves = f, n > 0
    while moves:
        m = mxv(A, g, semiring.min_second)
        if not is_symmetric(A):
            m = ewise_add(m, vxm(g, A, semiring.min_first), binary.min)
        hooked = f.copy()
        assign(hooked, extract(m, m.indices), extract(f, m.indices).values, accum=binary.min)  # stochastic hooking
        f = ewise_add(hooked, m, binary.min)  # aggressive hooking
        f = ewise_add(f, g, binary.min)  # shortcutting
        g, before = extract(f, f.values), g
        moves = reduce(ewise_mult(g, before, binary.ne), monoid.lor)
    return f


def core_numbers(A: Any, directed: bool | None = None, *, device: str = "auto") -> Vector:
    """Core number of every vertex. Self-loops are ignored, and parallel arcs count as one.

    Parameters
    ----------
    directed : bool, optional
        Whether an in-arc and an out-arc count as two neighbours; default: True if the matrix is not symmetric.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 1, 2, 2], [1, 2, 0, 3], shape=4)
    >>> la.algorithms.core_numbers(A).values.tolist()
    [2, 2, 2, 1]
    """
    A = square(A, device)
    A = A.pattern() if A.has_values else A
    both = flag_or_none("directed", directed)
    both = not is_symmetric(A) if both is None else both
    return Vector.from_dense(algebra(A.device).core_numbers(without_repeats(A), both))


def maximal_independent_set(A: Any, seed: Any = None, *, device: str = "auto") -> Vector:
    """Maximal independent set, as a vector of True at its vertices. A must be symmetric; self-loops are ignored.

    Parameters
    ----------
    seed : int or Generator, optional
        The same seed gives the same set.

    Examples
    --------
    >>> la.algorithms.maximal_independent_set(hw.generate.star(5), seed=2).indices.tolist()
    [1, 2, 3, 4]
    """
    A, drawn = square(A, device), int(generator(seed).integers(2**63))
    found = algebra(A.device).independent_set(A, drawn)
    return Vector.from_dense(found, found)


def label_propagation(A: Any, seed: Any = None, max_rounds: int = 100, *, device: str = "auto") -> tuple[Vector, bool]:
    """Label of every vertex (the number of some vertex), and whether the labels converged within max_rounds.

    Initially, every vertex is its own label. In a round, a vertex whose label is not among the most frequent labels of
    its neighbours may switch to the last of these in a random order of labels. A coin decides whether it does. Labels
    have converged when no vertex would switch. A must be symmetric; self-loops are ignored.

    Parameters
    ----------
    seed : int or Generator, optional
        Seed of the order and the coins.
    max_rounds : int, optional
        Maximum number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> A = la.Matrix.from_dense(np.kron(np.eye(2), np.ones((4, 4))))
    >>> f, settled = la.algorithms.label_propagation(A, seed=1)
    >>> len(set(f.values[:4].tolist())), len(set(f.values[4:].tolist())), settled
    (1, 1, True)
    """
    if not is_whole(max_rounds) or max_rounds < 0:
        raise GraphError(f"max_rounds={max_rounds!r} is not a number of rounds; pass an integer of at least 0")
    A, rng = pattern(square(A, device)), generator(seed)
    n, tossed = A.shape[0], int(rng.integers(2**62))
    order = counter.scramble(module_of(A.rows.indices).arange(n), n, tossed)  # ties go to the last label in this order
    labels = algebra(A.device).label_propagation(A, order)
    settled = labels.settle(tossed, max_rounds)
    return Vector.from_dense(labels.f), settled


def triangle_count(A: Any, *, device: str = "auto") -> int:
    """Number of triangles. A must be symmetric; self-loops are ignored.

    Examples
    --------
    >>> la.algorithms.triangle_count(hw.generate.complete(5))
    10
    """
    A = pattern(square(A, device))
    found = algebra(A.device).count_triangles(A.rows)  # without building L and C
    if found is not None:
        return found
    L, _ = lower(A)
    return int(reduce(mxm(L, L.T, plus_pair, mask=L, direction="pull")))


def triangles(A: Any, *, device: str = "auto") -> Vector:
    """Number of triangles that contain each vertex.

    Examples
    --------
    >>> la.algorithms.triangles(hw.generate.complete(4)).values.tolist()
    [3, 3, 3, 3]
    """
    A = pattern(square(A, device))
    found = algebra(A.device).triangles(A.rows)
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
    """Each triangle once, as its three vertices. A must be symmetric; self-loops are ignored.

    Returns
    -------
    array of shape (triangles, 3)
        Vertices ascend in each row, and rows are sorted. A CuPy array for a matrix on a GPU.

    Notes
    -----
    These are the terms of the sum in triangle_count: for each entry (i, k) of the mask L, the columns j that rows i and
    k of L have in common. Memory is used for the list and for one batch of PIECE pairs.

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
    looks = xp.diff(offsets)[columns].astype(xp.int64)  # for the entry (i, k): the length of row k
    ends = xp.cumsum(looks)
    found, first = [], 0
    while first < len(columns):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(xp.searchsorted(ends, before + PIECE, side="right")))
        look = xp.arange(before, int(ends[last - 1]))
        some = first + xp.searchsorted(ends[first:last], look, side="right")  # the entry of each look
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
    return reduce(ewise_mult(C, B), axis=1)  # type: ignore[no-any-return]


def pattern(A: Matrix) -> Matrix:
    """The pattern of A; raises an error if an entry is repeated."""
    return (A.pattern() if A.has_values else A).checked()


def lower(A: Matrix) -> tuple[Matrix, Any]:
    """L, and the vertex of each row of L or None. If hubs have long rows, vertices are sorted by descending degree."""
    L = select(A, "tril", -1)
    xp = module_of(L.rows.indices)
    after = xp.diff(A.rows.indptr) - xp.diff(L.rows.indptr)
    looks = float(xp.dot(after.astype(xp.float64), xp.diff(L.rows.indptr).astype(xp.float64)))
    if looks <= WORTH_SORTING * A.nnz:
        return L, None
    order = xp.argsort(-xp.diff(A.rows.indptr).astype(xp.int64), kind="stable").astype(xp.int32)
    return select(extract(A, order, order), "tril", -1), order
