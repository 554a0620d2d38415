"""Searches, ranks and shortest paths over ranks, written as products: the algorithms of hopwave.linalg.algorithms.

f   the frontier, or what became shorter     v   visited vertices     d   depth, or distances     x   ranks
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import binary, unary
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Shares, Vector
from hopwave.checks.numbers import is_number, is_whole
from hopwave.distributed.linalg.matrix import DistributedMatrix, DistributedVector
from hopwave.distributed.linalg.products import agree, product, reduce
from hopwave.errors import GraphError, LinalgError
from hopwave.linalg.algorithms.operands import check_lengths, check_weights
from hopwave.linalg.algorithms.power import check_rounds, not_settled
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult, select
from hopwave.linalg.masking import Writing
from hopwave.linalg.placing import assign


def bfs(A: DistributedMatrix, source: int) -> DistributedVector:
    """Hops from the source to every vertex it reaches (push-pull, Algorithm 1); called by all ranks.

    Weights are not read: hops are counted, as int32. A vertex without a path has no entry.

    Parameters
    ----------
    A : DistributedMatrix
        The graph: an entry (i, j) is an arc from i to j.
    source : int
        The vertex where it starts.

    Examples
    --------
    >>> da.bfs(da.DistributedMatrix.from_matrix(hw.generate.star(4)), 1).gather().values.tolist()
    [1, 0, 2, 2]
    """
    agree("bfs", A, source=source)
    f, v, depth = A.vector([_place(A, source)], True), A.vector(dtype="int32", values=0), 0
    while f.nnz:
        assign(v.own, depth, mask=f.own, structural=True)
        f = product(A, f, semiring.any_pair, True, Writing(mask=v, complement=True, structural=True))
        depth += 1
    return v


def pagerank(A: DistributedMatrix, alpha: float = 0.85, tol: float = 1e-6, max_iter: int = 100) -> DistributedVector:
    """The rank of every vertex, as `hopwave.pagerank`; called by all ranks.

    Arcs are followed in proportion to their weights, the values of the matrix.

    Parameters
    ----------
    A
        As for `bfs`.
    alpha : float, optional
        The share of rank that follows arcs.
    tol : float, optional
        Stop when ``Σ |change| < n · tol``.
    max_iter : int, optional
        The most rounds.

    Raises
    ------
    ConvergenceError
        If `max_iter` rounds are not enough.

    Examples
    --------
    >>> A = da.DistributedMatrix.from_entries([0, 1, 2], [2, 2, 0])
    >>> da.pagerank(A).gather().values.round(3).tolist()
    [0.464, 0.05, 0.486]
    """
    agree("pagerank", A, alpha=alpha, tol=tol, max_iter=max_iter)
    check_rounds(tol, max_iter)
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise GraphError(f"alpha={alpha!r} is no probability; give a number from 0 to 1")
    _check(A, lambda matrix: check_weights(matrix, "rank", finite=True))
    if A.n == 0:
        return A.full(0.0)
    arcs = semiring.plus_times if A.has_values else semiring.plus_first
    sums = product(A, A.full(1.0), semiring.plus_times, False, direction="pull")
    S = select(sums.own, binary.gt, 0.0)
    follow = apply(S, binary.div, left=float(alpha))  # absent at dead ends
    x, change = A.full(1 / A.n), math.inf
    for _ in range(max_iter):
        alive = ewise_mult(x.own, S, binary.first)
        lost = alpha * max(0.0, reduce(x) - reduce(x.like(alive)))
        t = product(A, x.like(ewise_mult(alive, follow)), arcs, True, direction="pull")
        y = ewise_add(Vector.full(A.own, (1 - alpha + lost) / A.n, device=A.device), t.own)
        change = reduce(x.like(apply(ewise_mult(y, x.own, binary.minus), unary.abs)))
        x = x.like(y)
        if change < A.n * tol:
            return x
    raise not_settled(max_iter, change, A.n * tol, "the ranks", "")


def sssp(A: DistributedMatrix, source: int) -> DistributedVector:
    """The length of a shortest path from the source to every vertex, infinite without one; called by all ranks.

    Bellman-Ford's rounds over min-plus, as `hopwave.linalg.algorithms.sssp`. The values of the matrix, its weights, are
    the lengths of arcs; without values every arc has length 1.

    Parameters
    ----------
    A, source
        As for `bfs`.

    Raises
    ------
    GraphError
        A length is negative.

    Examples
    --------
    >>> A = da.DistributedMatrix.from_entries([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], n=4)
    >>> da.sssp(A, 0).gather().values.tolist()
    [0.0, 1.0, 3.0, inf]
    """
    agree("sssp", A, source=source)
    _check(A, check_lengths)
    f, d = A.vector([_place(A, source)], 0.0), A.full(math.inf)
    f.rule = Shares(rising=0.3, falling=0.2)  # as for one process
    assign(d.own, f.own, accum=binary.min)
    while f.nnz:
        t = product(A, f, semiring.min_plus, True, dtype="float64")
        f = f.like(select(t.own, binary.lt, d.own))
        assign(d.own, f.own, accum=binary.min)
    return d


def _check(A: DistributedMatrix, check: Callable[[Matrix], None]) -> None:
    """Check every rank's entries; all ranks raise what one of them raises."""

    def own() -> None:
        for block in A.blocks:
            check(block.matrix)

    A.world.together(own)


def _place(A: DistributedMatrix, source: Any) -> int:
    if not is_whole(source) or not 0 <= source < A.n:
        raise LinalgError(f"{source!r} is not a place of this matrix; its places are 0 to {A.n - 1}")
    return int(source)
