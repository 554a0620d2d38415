"""PageRank: stationary distribution of a random walk with restarts (Page, Brin, Motwani, Winograd, 1999).

A   the arcs, with or without weights     S   the sum of every vertex's weights     x   the ranks; they add up to 1
α   the probability to follow an arc      p   distribution of restarts              q   distribution after a dead end

    x = α (x/S · A + (Σ x at dead ends) q) + (1 − α) p        until Σ |change| < n · tol, as in NetworkX

If p, q and the first x have few entries (personalised, from the same vertices), the first rounds push along the arcs
of x, like the first levels of a search; once x is no longer sparse, all further rounds pull (Yang, Buluç and Owens,
Implementing push-pull efficiently in GraphBLAS, 2018, section 5.6).

Adaptive: Kamvar, Haveliwala and Golub, Adaptive methods for the computation of PageRank (2004). Most ranks converge
long before the last rank. A mask excludes converged ranks from the computation.
"""

import math
from typing import Any

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import binary, monoid, unary
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array, module_of
from hopwave.checks.numbers import is_number
from hopwave.errors import GraphError
from hopwave.linalg.algorithms import power
from hopwave.linalg.algorithms.operands import check_weights, square
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult, select
from hopwave.linalg.masking import assign, extract
from hopwave.linalg.products import reduce, vxm
from hopwave.planning.jobs import PowerJob

SMALLEST = 1e-200  # sums of weights between this and its reciprocal are safe divisors
PUSHED_FROM = 1 << 21  # minimum arcs for pushing; in smaller graphs a compiled pull is faster


def pagerank(
    A: Any, alpha: float = 0.85, personalization: Any = None, dangling: Any = None, nstart: Any = None,
    tol: float = 1e-6, max_iter: int = 100, *, adaptive: bool = False, device: str = "auto",
) -> Vector:  # fmt: skip
    """PageRank of every vertex. The scores add up to 1.

    Parameters
    ----------
    alpha : float, optional
        Probability to follow an arc.
    personalization, dangling, nstart : array of n numbers, optional
        p, q and the first x.
    tol : float, optional
        Stop when ``Σ |change| < n · tol``.
    max_iter : int, optional
        Maximum number of rounds.
    adaptive : bool, optional
        Whether to skip scores that have converged.

    Raises
    ------
    ConvergenceError
        The scores did not converge within `max_iter` rounds.

    Examples
    --------
    >>> la.algorithms.pagerank(la.Matrix.from_edges([0, 1, 2], [2, 2, 0], shape=3)).values.round(3).tolist()
    [0.464, 0.05, 0.486]
    """
    A = square(A, device, weights=True)
    check_weights(A, "rank", finite=True)
    n = A.shape[0]
    tol, max_iter = power.check_rounds(tol, max_iter, adaptive=adaptive)
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise GraphError(f"alpha={alpha!r} is not a probability; it must be between 0 and 1")
    if n == 0:
        return Vector(0)
    alpha = float(alpha)
    jumps = power.shares(personalization, "personalization", A)
    ends = jumps if dangling is None else power.shares(dangling, "dangling", A)
    start = power.shares(nstart, "nstart", A)
    if A.has_values:
        out_weights(A)  # raises an error if a sum is not a safe divisor
    if adaptive:
        p, q, x = (power.as_vector(given, A) for given in (jumps, ends, start))
        return adaptively(A, alpha, p, q, x, tol, max_iter)
    ranks, rounds, change = pushed(A, start, jumps, ends, alpha, n * tol, max_iter)
    if change < n * tol:
        return Vector.from_dense(ranks)
    if rounds == max_iter:
        raise power.not_settled(rounds, change, n * tol, "the ranks", "")
    base: Any = (1 - alpha) * jumps
    job = PowerJob(ranks, n * tol, max_iter - rounds, alpha, base=base, dead=ends, totals=lambda: totals(A))
    return Vector.from_dense(power.iterated(A, job, "the ranks", before=rounds))


def pushed(
    A: Matrix, start: Any, jumps: Any, ends: Any, alpha: float, enough: float, max_iter: int
) -> tuple[Any, int, float]:
    """The first rounds, while x has few entries: the ranks, the number of rounds, and the last change.

    A GPU pulls all rounds, because they are one launch.
    """
    rounds, change = 0, math.inf
    if A.nnz < PUSHED_FROM or A.device == "cuda" or any(isinstance(given, float) for given in (start, jumps, ends)):
        return start, rounds, change
    S = out_weights(A)
    x, p, q = (select(Vector.from_dense(given), binary.ne, 0.0) for given in (start, jumps, ends))
    arcs = semiring.plus_times if A.has_values else semiring.plus_first
    while rounds < max_iter and change >= enough and x._decide() == "sparse":
        alive = ewise_mult(x, S, binary.first)
        lost = alpha * max(0.0, reduce(x) - reduce(alive))
        y = ewise_add(apply(p, binary.times, right=1 - alpha), apply(q, binary.times, right=lost))
        w = apply(ewise_mult(alive, S, binary.div), binary.times, right=alpha)
        vxm(w, A, arcs, out=y, accum=binary.plus, direction="push")
        # A vertex with a rank in only one of x and y changes by that rank.
        change = reduce(apply(ewise_add(y, x, binary.minus), unary.abs))
        x, rounds = y._follow(x), rounds + 1
    return x.to_dense(0.0) if rounds else start, rounds, change


def totals(A: Matrix) -> Array:
    """The sum of every vertex's weights as an array; the number of its arcs if the matrix has no values."""
    if A.has_values:
        return out_weights(A).to_dense(0.0)
    return module_of(A.rows.indptr).diff(A.rows.indptr).astype("float64")


def out_weights(A: Matrix) -> Vector:
    """The sum of every vertex's weights, absent at dead ends; cached with the matrix."""
    return A._prepared.made((out_weights, A._turned), lambda: _out_weights(A))


def _out_weights(A: Matrix) -> Vector:
    if A.has_values:
        S = reduce(A, monoid.plus, axis=1).astype("float64")
    else:
        S = Vector.from_dense(module_of(A.rows.indptr).diff(A.rows.indptr), dtype="float64")
    S = select(S, binary.gt, 0.0)
    least, most = reduce(S, monoid.min), reduce(S, monoid.max)
    if S.nnz and not SMALLEST < least <= most < 1 / SMALLEST:
        raise GraphError(f"sums of weights range from {least:g} to {most:g}, too extreme; scale the weights towards 1")
    return S  # type: ignore[no-any-return]


def adaptively(A: Matrix, alpha: float, p: Vector, q: Vector, x: Vector, tol: float, max_iter: int) -> Vector:
    """Rounds that compute only ranks that have not converged; a round of all ranks decides when to stop."""
    n, S, active = A.shape[0], out_weights(A), None
    dead = select(Vector.full(n, True, device=A.device), unary.one, mask=S, complement=True, structural=True).indices
    follow = apply(S, binary.div, left=alpha).to_dense(0.0)  # α/S; 0 at dead ends, where the value is not read
    arcs = semiring.plus_times if A.has_values else semiring.plus_first

    def one_round(x: Vector) -> tuple[Vector, float]:
        nonlocal active
        mask, lost = active, alpha * reduce(extract(x, dead)) if len(dead) else 0.0
        t = vxm(ewise_mult(x, follow), A, arcs, mask=mask, structural=mask is not None, direction="pull")
        y = ewise_add(apply(p, binary.times, right=1 - alpha), apply(q, binary.times, right=lost))
        y = ewise_add(y, t)
        y = y if mask is None else assign(x.copy(), y, mask=mask, structural=True)
        change = apply(ewise_mult(y, x, binary.minus), unary.abs)
        left: float = reduce(change)
        active = select(change, binary.ge, (1 - alpha) * tol)
        if left < n * tol or active.nnz == 0:
            active = None
        return y, left if mask is None else max(left, n * tol)

    return power.settle(one_round, x, n * tol, max_iter, "the ranks")  # type: ignore[no-any-return]
