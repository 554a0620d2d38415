"""Core numbers: the largest k such that a vertex is in a subgraph whose vertices all have at least k neighbours.

Peeling in rounds (Batagelj and Zaveršnik, An O(m) algorithm for cores decomposition of networks, 2003; in rounds as in
Dasari, Desh and Zubair, ParK, 2014): every vertex with at most k neighbours left is removed, with its arcs.

d   neighbours left        peel   the vertices removed in this round        lost   how many neighbours the rest lose
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.operators import binary, monoid, unary
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.checks.options import flag_or_none
from hopwave.engines import algebra
from hopwave.linalg.algorithms.operands import is_symmetric, loopless, square, without_repeats
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult, select
from hopwave.linalg.monoid_sums import reduce
from hopwave.linalg.placing import assign
from hopwave.linalg.products import mxv, vxm


def core_numbers(A: Any, directed: bool | None = None, *, device: str = "auto") -> Vector:
    """The core number of every vertex. In a directed graph, arcs in and out both count.

    Loops do not count, and parallel arcs count as one.

    If `directed` is None, the graph counts as directed if the matrix is not symmetric.

    Parameters
    ----------
    directed : bool, optional
        Whether an arc in and an arc out count as two neighbours.
    A, device
        As for `bfs`.

    Returns
    -------
    Vector
        One core number per vertex.

    See Also
    --------
    hopwave.core_numbers

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
    engine = algebra(A.device)
    if engine.why_not_operation("core_numbers") is None:
        return Vector.from_dense(engine.core_numbers(without_repeats(A), both))
    A = without_repeats(loopless(A))
    n = A.shape[0]
    d = Vector.full(n, 0, "int64", device=A.device)
    for axis in (1, 0) if both else (1,):
        assign(d, reduce(A, monoid.plus, axis=axis), accum=binary.plus)
    core = Vector(n, "int64").to(A.device)
    unpeeled: dict[str, Any] = {"mask": core, "complement": True, "structural": True}
    while core.nnz < n:
        left = apply(d, unary.identity, **unpeeled)
        k = reduce(left, monoid.min)
        peel = select(left, binary.le, k)
        while peel.nnz:
            assign(core, k, mask=peel, structural=True)
            lost = vxm(peel, A, semiring.plus_pair, **unpeeled)
            if both:
                lost = ewise_add(lost, mxv(A, peel, semiring.plus_pair, **unpeeled))
            assign(d, lost, accum=binary.minus)
            peel = select(ewise_mult(lost, d, binary.second), binary.le, k)
    return core
