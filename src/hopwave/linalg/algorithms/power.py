"""Power iteration: eigenvector centrality, Katz centrality, HITS, and code shared with PageRank.

A   the arcs, with or without weights     x   one number per vertex, an array on the device of the matrix

A round turns x into the next x and returns Σ |change|. Rounds repeat until this sum is below a limit: n · tol, as in
NetworkX, except for HITS.

    eigenvector (Bonacich, 1972)    x = x · (A + I) / |x · (A + I)|
    Katz (1953)                     x = α x · A + b, with b the base score of a vertex and |α| < 1/λ

λ is the largest eigenvalue of A. The identity I changes no eigenvector. Without it, x would oscillate between the two
sides of a bipartite graph.

    HITS (Kleinberg, 1999)          hubs h = A a, authorities a = Aᵀ h scaled to length 1

So a is the eigenvector of AᵀA with the largest eigenvalue. As in ARPACK, which NetworkX uses, a round finds the linear
combination of a, AᵀA a, (AᵀA)² a … that AᵀA stretches most (Lanczos, 1950), starts from the best few vectors of the
last round and makes ten more products (Wu and Simon, Thick-restart Lanczos method, 2000). If several eigenvectors share
the largest eigenvalue, as in a bipartite graph, a is the eigenvector nearest to the first a.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.semiring import semiring
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array, float64s, ignoring, module_of, on_gpu, on_host
from hopwave.checks.numbers import is_number, is_whole, shown
from hopwave.checks.options import flag
from hopwave.engines import algebra
from hopwave.errors import ConvergenceError, GraphError
from hopwave.linalg.algorithms.operands import check_weights, extremes, square
from hopwave.linalg.products import vxm
from hopwave.planning.jobs import PowerJob
from hopwave.system.threads import in_parts

Step = Callable[[Any], tuple[Any, float]]
FAR = 1e6  # Katz diverges if scores change by more than this factor times b in a round
LARGEST = 1e100  # if max weight × n is below this, no sum of squares overflows

VECTORS, KEPT = 20, 10  # vectors per round, and vectors that start the next round (as in ARPACK)
EIGENVECTOR = 1e-12  # a residual below this share of the eigenvalue is only rounding
SAME = 1e-10  # eigenvalues are equal if they differ by less than this share of the largest one
NEAR = 0.5  # the authorities are settled if their error is below this share of the limit
MOST_ROUNDS = 2**62  # compiled code counts in 64 bits
FINEST = 1e-14  # changes below FINEST · √n are float64 rounding, so no smaller limit is useful


def eigenvector_centrality(
    A: Any, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, *, device: str = "auto"
) -> Vector:
    """Eigenvector centrality of every vertex.

    Parameters
    ----------
    nstart : array of n numbers, optional
        The first x.
    max_iter, tol
        As in `pagerank`, including the errors raised.

    Examples
    --------
    >>> la.algorithms.eigenvector_centrality(hw.generate.path(4)).values.round(2).tolist()
    [0.37, 0.6, 0.6, 0.37]
    """
    A = weighted_square(A, device)
    tol, max_iter = check_rounds(tol, max_iter)
    n = A.shape[0]
    if n == 0:
        return Vector(0)
    job = PowerJob(shares(nstart, "nstart", A), n * tol, max_iter, normed=True)
    return Vector.from_dense(iterated(A, job, "the centralities"))


def katz_centrality(
    A: Any, alpha: float = 0.1, beta: Any = 1.0, max_iter: int = 1000, tol: float = 1e-6, nstart: Any = None,
    normalized: bool = True, *, device: str = "auto",
) -> Vector:  # fmt: skip
    """Katz centrality of every vertex.

    Parameters
    ----------
    alpha : float, optional
        α; it must be below 1 / the largest eigenvalue.
    beta : float or array of n numbers, optional
        b, the base score of every vertex.
    nstart : array of n numbers, optional
        The first x.
    normalized : bool, optional
        Whether the squares of the scores add up to 1.
    max_iter, tol
        As in `pagerank`, including the errors raised.

    Examples
    --------
    >>> la.algorithms.katz_centrality(hw.generate.path(4), 0.6).values.round(2).tolist()
    [0.37, 0.6, 0.6, 0.37]
    """
    A = weighted_square(A, device)
    tol, max_iter = check_rounds(tol, max_iter, normalized=normalized)
    if not is_number(alpha) or not math.isfinite(alpha):
        raise GraphError(f"alpha={alpha!r} is not a factor per arc; pass a number below 1 / the largest eigenvalue")
    n = A.shape[0]
    if n == 0:
        return Vector(0)
    alpha = float(alpha)
    b, start = numbers(beta, "beta", A), numbers(0.0 if nstart is None else nstart, "nstart", A)
    smaller = f", or alpha={alpha:g} closer to 0: it must be below 1 / the largest eigenvalue of the matrix"
    try:
        x = iterated(A, PowerJob(start, n * tol, max_iter, alpha, base=b), "the centralities", smaller)
    except ConvergenceError as error:
        own = abs(b) if isinstance(b, float) else float(abs(b).max())
        if error.left <= FAR * n * own:
            raise
        most = float(arriving(as_vector(1.0, A).arrays()[0], A).max())
        raise ConvergenceError(
            f"Katz diverged: alpha={alpha:g} is too large for this graph; it must be below 1 / the largest eigenvalue, "
            f"which is at most {most:.4g}, the largest sum of in-weights; alpha={0.9 / most:.2g} converges"
        ) from None
    return Vector.from_dense(x / (length(x) or 1.0) if normalized else x)


def hits(
    A: Any, max_iter: int = 100, tol: float = 1e-8, nstart: Any = None, normalized: bool = True, *,
    device: str = "auto",
) -> tuple[Vector, Vector]:  # fmt: skip
    """Hubs and authorities. Hubs h add up to 1, and so do authorities a; with normalized=False, Σ a² = 1 and h = A a.

    All scores are 0 if the graph has no arcs or all weights are 0.

    Parameters
    ----------
    tol : float, optional
        Stop when ``Σ |change of a| < tol``.
    nstart : array of n numbers, optional
        The first a.
    normalized : bool, optional
        Whether the scores add up to 1.
    max_iter
        As in `pagerank`, including the errors raised.

    Examples
    --------
    >>> h, a = la.algorithms.hits(la.Matrix.from_edges([0, 1, 1], [2, 2, 3], shape=4))
    >>> h.values.round(3).tolist(), a.values.round(3).tolist()
    ([0.382, 0.618, 0.0, 0.0], [0.0, 0.0, 0.618, 0.382])
    """
    A = weighted_square(A, device)
    tol, max_iter = check_rounds(tol, max_iter, normalized=normalized)
    n = A.shape[0]
    if n == 0:
        return Vector(0), Vector(0)
    given = shares(nstart, "nstart", A)
    a = algebra(A.device).xp.full(n, n**-0.5) if isinstance(given, float) else given / length(given)
    if not A.nnz or extremes(A)[1] == 0:
        return Vector.from_dense(0 * a), Vector.from_dense(0 * a)
    if nstart is not None and length(arriving_evenly(a, A.T)) == 0:
        raise GraphError("nstart is 0 at every vertex with in-arcs; omit it, or make one of these values positive")

    enough = max(tol, FINEST * n**0.5)
    a = settle(Authorities(A, a, enough).round, a, enough, max_iter, "the authorities")
    h = arriving_evenly(a, A.T)
    if normalized:
        h, a = h / h.sum(), a / a.sum()
    return Vector.from_dense(h), Vector.from_dense(a)


def combined(weights: Array, Q: Array) -> Array:
    """weights @ Q. On the CPU without BLAS, whose threads spin for milliseconds after each product."""
    if on_gpu(Q):
        return module_of(Q).asarray(weights) @ Q
    found = np.empty((len(weights), Q.shape[1]))
    in_parts(lambda q, out: np.einsum("vk,wk->vw", q, weights, out=out), Q.T, found.T)
    return found


class Authorities:
    """Rounds of Lanczos' algorithm on AᵀA, from a vector of length 1.

    Q contains orthogonal vectors of length 1: first the `kept` best vectors of the last round, then new vectors, each
    a product with the previous vector. T = Q AᵀA Qᵀ.
    """

    def __init__(self, A: Matrix, start: Array, enough: float) -> None:
        most = min(VECTORS, len(start))
        self.A, self.start, self.enough = A, start, enough
        self.Q, self.T, self.kept = module_of(start).empty((most + 1, len(start))), np.zeros((most, most)), 0
        self.Q[0] = start

    def round(self, before: Array) -> tuple[Array, float]:
        """One more round; returns the authorities and the sum of all changes, or a bound on it."""
        Q, T, xp = self.Q, self.T, module_of(self.start)
        made: list[tuple[Array, float]] = []
        for k in range(self.kept, len(T)):
            made = made or self.steps(k)
            parts, rest = made.pop(0)
            T[k, : k + 1] = T[: k + 1, k] = parts
            values, sums = np.linalg.eigh(T[: k + 1, : k + 1])
            greatest = values >= (1 - SAME) * values[-1]
            error = 0.0 if rest <= EIGENVECTOR * values[-1] else self.error(rest * abs(sums[-1]), values, greatest)
            done = error < NEAR * self.enough
            if done:
                break
        best = combined(sums[:, greatest].T, Q[: k + 1])
        along = best @ self.start if on_gpu(best) else (best * self.start).sum(axis=1)
        nearest = xp.maximum(combined(along[None], best)[0], 0.0)  # no authority is negative, except by rounding
        x = nearest / xp.sqrt((nearest * nearest).sum())  # stays on the GPU without synchronising
        if done:
            return x, error
        self.kept = min(KEPT, k)
        Q[: self.kept] = combined(sums[:, k + 1 - self.kept :].T, Q[: k + 1])
        Q[self.kept] = Q[k + 1]
        T[:] = np.diag(np.pad(values[k + 1 - self.kept :], (0, len(T) - self.kept)))
        return x, total_change(x, before)

    def steps(self, k: int) -> list[tuple[Array, float]]:
        """One or more steps: Q[k + 1] is AᵀA Q[k] minus its components along Q[: k + 1], scaled to length 1.

        Returns the components and the length before scaling.
        """
        engine, Q = algebra(self.A.device), self.Q[: k + 1]
        if not self.A.has_values and engine.why_not_operation("lanczos") is None:
            found = engine.lanczos(self.A, self.Q, k)
            if found is not None:
                return found
        y = arriving_evenly(arriving_evenly(Q[k], self.A.T), self.A)
        parts = Q @ y
        y -= parts @ Q
        y -= (Q @ y) @ Q  # a second pass, because one pass loses precision if y is almost in the span of Q
        rest = length(y)
        self.Q[k + 1] = y / rest if rest else y
        return [(on_host(parts), rest)]

    def error(self, left: npt.NDArray[np.float64], values: npt.NDArray[np.float64], greatest: Any) -> float:
        """A bound on Σ |error| of the best vector: residual / gap between eigenvalues (‖·‖₁ ≤ √n ‖·‖₂)."""
        if greatest.all():
            return float(np.inf)
        apart = values[-1] - values[~greatest][-1]
        return float(left[greatest].max() / apart * len(self.start) ** 0.5)


# ------------------------------------------------------------------ rounds


@ignoring("over", "invalid")
def settle(step: Step, x: Any, enough: float, max_iter: int, what: str, remedy: str = "", before: int = 0) -> Any:
    """x after rounds of x, Σ |change| = step(x), until the change is below `enough`; `before`: earlier rounds."""
    rounds, left = 0, 0.0
    while rounds < max_iter and left < np.inf:  # stop if x diverges
        rounds, (x, left) = rounds + 1, step(x)
        if left < enough:
            return x
    raise not_settled(before + rounds, left, enough, what, remedy)


def iterated(A: Matrix, job: PowerJob, what: str, remedy: str = "", before: int = 0) -> Array:
    """All rounds of a power iteration: one call of the engine, or one product per round if it has no such call."""
    engine = algebra(A.device)
    end = engine.power_iteration(A, job)
    if end is not None:
        if not end.change < job.enough:
            raise not_settled(before + end.rounds, end.change, job.enough, what, remedy)
        return end.x
    totals = engine.xp.ones(1) if job.totals is None else job.totals()
    ends = totals == 0
    share = 1 / engine.xp.where(ends, np.inf, totals)

    def step(x: Array) -> tuple[Array, float]:
        y = arriving(x * share, A)
        if job.normed:
            y += x
            y /= length(y)
        else:
            y = job.factor * (y + engine.xp.where(ends, x, 0.0).sum() * job.dead) + job.base
        return y, total_change(y, x)

    return settle(step, as_vector(job.start, A).arrays()[0], job.enough, job.max_iter, what, remedy, before)


def not_settled(rounds: int, left: float, enough: float, what: str, remedy: str) -> ConvergenceError:
    """The error for an iteration that did not converge; `left` is the change in its last round."""
    error = ConvergenceError(
        f"{what} did not converge: round {rounds} changed them by {left:.3g} in total, the limit is {enough:.3g}; "
        f"pass a larger max_iter or tol{remedy}"
    )
    error.left = left
    return error


def check_rounds(tol: float, max_iter: int, **flags: Any) -> tuple[float, int]:
    """tol and max_iter; raises a GraphError for invalid values, or for flags that are not bools."""
    for name, value in flags.items():
        flag(name, value)
    if not is_number(tol) or tol < 0:
        raise GraphError(f"tol={tol!r} is not a tolerance; pass a number of at least 0")
    if not is_whole(max_iter) or max_iter < 1:
        raise GraphError(f"max_iter={max_iter!r} is not a number of rounds; pass an integer of at least 1")
    return float(tol), min(int(max_iter), MOST_ROUNDS)


def weighted_square(A: Any, device: str) -> Matrix:
    """The matrix of a graph with its weights; raises a GraphError if sums or squares of weights could overflow."""
    matrix = square(A, device, weights=True)
    check_weights(matrix, "centrality", finite=True)
    greatest = extremes(matrix)[1]
    if matrix.has_values and greatest > 0 and not 1 / LARGEST < greatest < LARGEST / matrix.shape[0]:
        raise GraphError(f"the largest weight is {greatest:g}, so sums may overflow; scale the weights towards 1")
    return matrix


def arriving(x: Array, A: Matrix) -> Array:
    """x · A: for every vertex v, the sum of x(u) · weight over the arcs u → v."""
    arcs = semiring.plus_times if A.has_values else semiring.plus_first
    return vxm(Vector.from_dense(x), A, arcs, direction="pull").to_dense(0.0)


def arriving_evenly(x: Array, A: Matrix) -> Array:
    """Like `arriving`, by one round of the engine's power iteration, which balances the rows once per matrix."""
    end = algebra(A.device).power_iteration(A, PowerJob(x, 0.0, 1))
    return arriving(x, A) if end is None else end.x


def total_change(x: Array, before: Array) -> float:
    """Σ |x − before|."""
    return float(module_of(x).abs(x - before).sum())


def length(x: Array) -> float:
    """√Σ x², without overflow or underflow of the squares; 0 if all are 0."""
    xp = module_of(x)
    most = float(xp.abs(x).max())
    return most * float(xp.sqrt(((x / most) ** 2).sum())) if 0 < most < np.inf else most


def numbers(given: Any, what: str, A: Matrix) -> Array | float:
    """One finite number per vertex, an array on the device of the matrix; or one number for all."""
    array = floats(given, what, (A.shape[0],), ())
    if not np.isfinite(array).all():
        raise GraphError(f"{what} contains a number that is not finite; pass one finite number for each vertex")
    return algebra(A.device).xp.asarray(array) if array.ndim else float(array)


def floats(given: Any, what: str, *shapes: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """A float64 array with one of these shapes; otherwise raises a GraphError that names the argument."""
    array = float64s(given)
    if array is None:
        raise GraphError(f"{what}={shown(given)} does not contain 64-bit numbers; pass one for each vertex")
    if array.shape not in shapes:
        raise GraphError(f"{what} has shape {array.shape}; pass one number for each of the {shapes[0][0]} vertices")
    return array


def as_vector(given: Array | float, A: Matrix) -> Vector:
    """A vector on the device of the matrix, from one number per vertex or one number for all."""
    return Vector.full(A.shape[0], given, device=A.device) if isinstance(given, float) else Vector.from_dense(given)


@ignoring("over")
def shares(weights: Any, what: str, A: Matrix) -> Array | float:
    """The weights scaled to add up to 1, on the device of the matrix; 1/n for all if `weights` is None."""
    if weights is None:
        return 1.0 / A.shape[0]
    array = floats(weights, what, (A.shape[0],))
    total = float(array.sum())
    if not (array >= 0).all() or not 0 < total < np.inf:
        problem = f"{what} has the sum {total:g} and the minimum {array.min():g}"
        raise GraphError(f"{problem}; pass weights of at least 0, not all 0")
    return algebra(A.device).xp.asarray(array / total)
