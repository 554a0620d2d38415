"""HITS: hubs have arcs to authorities, and authorities have arcs from hubs (Kleinberg, 1999).

A   the arcs, with or without weights     h   the hubs: h = A a     a   the authorities: a = Aᵀ h, scaled to length 1

So a is the eigenvector of AᵀA with the greatest eigenvalue, to which power iteration converges. NetworkX uses ARPACK,
which needs far fewer products. The rounds here work like ARPACK: of all linear combinations of a, AᵀA a, (AᵀA)² a …
they take the one that AᵀA stretches most (Lanczos, 1950). A round starts from the best few vectors of the last round
and makes ten more products (Wu and Simon, Thick-restart Lanczos method for large symmetric eigenvalue problems, 2000).
If several eigenvectors share the greatest eigenvalue, as in a bipartite graph, a is the one nearest to the first a;
ARPACK returns any of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array, module_of, on_gpu, on_host
from hopwave.engines import algebra
from hopwave.errors import GraphError
from hopwave.linalg.algorithms import power
from hopwave.linalg.algorithms.operands import extremes
from hopwave.system.threads import each, in_parts, thread_count

VECTORS, KEPT = 20, 10  # vectors per round, and how many of them start the next round (as in ARPACK)
FIRST = 9  # vectors that there is room for at first
BLOCK = 1 << 13  # entries of a vector
EIGENVECTOR = 1e-12  # a residual below this share of the eigenvalue is only rounding
SAME = 1e-10  # eigenvalues closer than this share of the greatest count as equal
NEAR = 0.5  # the authorities are settled if their error is below this share of the limit
FINEST = 1e-14  # changes below FINEST · √n are float64 rounding, so no smaller limit is useful


def hits(
    A: Any, max_iter: int = 100, tol: float = 1e-8, nstart: Any = None, normalized: bool = True, *,
    device: str = "auto",
) -> tuple[Vector, Vector]:  # fmt: skip
    """Hubs and authorities. Each add up to 1; with normalized=False, Σ a² = 1 and h = A a.

    All are 0 if there are no arcs, or if all weights are 0.

    Parameters
    ----------
    tol : float, optional
        Stop when less than this can change in a: ``Σ |change of a| < tol``.
    nstart : array of n numbers, optional
        The first a.
    normalized : bool, optional
        Whether the scores add up to 1.
    max_iter
        As for `pagerank`.

    Raises
    ------
    ConvergenceError
        The scores did not converge within `max_iter` rounds.

    Examples
    --------
    >>> h, a = la.algorithms.hits(la.Matrix.from_edges([0, 1, 1], [2, 2, 3], shape=4))
    >>> h.values.round(3).tolist(), a.values.round(3).tolist()
    ([0.382, 0.618, 0.0, 0.0], [0.0, 0.0, 0.618, 0.382])
    """
    A = power.weighted_square(A, device)
    power.check_rounds(tol, max_iter, normalized=normalized)
    n = A.shape[0]
    if n == 0:
        return Vector(0), Vector(0)
    given = power.shares(nstart, "nstart", A)
    a = algebra(A.device).xp.full(n, n**-0.5) if isinstance(given, float) else given / power.length(given)
    if not A.nnz or extremes(A)[1] == 0:
        return Vector.from_dense(0 * a), Vector.from_dense(0 * a)
    if nstart is not None and power.length(power.arriving_evenly(a, A.T)) == 0:
        raise GraphError("nstart is 0 at every vertex that an arc leads to; leave it out, or name one of these")

    enough = max(tol, FINEST * n**0.5)
    a = power.settle(Authorities(A, a, enough), enough, max_iter, "the authorities")
    h = power.arriving_evenly(a, A.T)
    if normalized:
        h, a = h / h.sum(), a / a.sum()
    return Vector.from_dense(h), Vector.from_dense(a)


def combined(weights: Array, Q: Array) -> Array:
    """weights @ Q. On the host not by BLAS: for milliseconds after each product its threads keep the cores busy that
    the next step needs."""
    if on_gpu(Q):
        return module_of(Q).asarray(weights) @ Q
    found = np.empty((len(weights), Q.shape[1]))
    in_parts(lambda q, out: np.einsum("vk,wk->vw", q, weights, out=out), Q.T, found.T)
    return found


def along(Q: Array, y: Array) -> Array:
    """Q @ y. On the host not by BLAS, as in `combined`; the blocks are the same for any number of threads."""
    if on_gpu(Q):
        return Q @ y
    return sum(each(thread_count(), blocks(y), lambda block: np.einsum("ki,i->k", Q[:, block], y[block])))


def take_out(parts: Array, Q: Array, y: Array) -> None:
    """y -= parts @ Q, likewise."""
    if on_gpu(Q):
        y -= parts @ Q
        return

    def one(block: slice) -> None:
        y[block] -= np.einsum("k,ki->i", parts, Q[:, block])

    each(thread_count(), blocks(y), one)


def blocks(y: Array) -> list[slice]:
    """Stretches of a vector that fit into a cache."""
    return [slice(begin, begin + BLOCK) for begin in range(0, len(y), BLOCK)]


class Authorities:
    """Rounds of Lanczos' algorithm on AᵀA, from a vector of length 1.

    Q holds orthogonal vectors of length 1: first the `kept` best vectors of the last round, then new ones, each made
    from the vector before it by a product. T = Q AᵀA Qᵀ.
    """

    def __init__(self, A: Matrix, start: Array, enough: float) -> None:
        most = min(VECTORS, len(start))
        self.A, self.start, self.x, self.enough = A, start, start, enough
        self.Q, self.T, self.kept = start[None], np.zeros((most, most)), 0
        self.make_room(min(FIRST, most + 1))

    def round(self) -> float:
        """One more round; returns the sum of all changes, or how much it can still be."""
        Q, T, xp, before = self.Q, self.T, module_of(self.start), self.x
        made: list[tuple[Array, float]] = []
        for k in range(self.kept, len(T)):
            if k + 1 == len(Q):
                self.make_room(len(T) + 1)
                Q = self.Q
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
        self.x = nearest / xp.sqrt((nearest * nearest).sum())  # which nothing waits for on a GPU
        if done:
            return error
        self.kept = min(KEPT, k)
        Q[: self.kept] = combined(sums[:, k + 1 - self.kept :].T, Q[: k + 1])
        Q[self.kept] = Q[k + 1]
        T[:] = np.diag(np.pad(values[k + 1 - self.kept :], (0, len(T) - self.kept)))
        return power.total_change(self.x, before)

    def make_room(self, vectors: int) -> None:
        """Room for more vectors of Q: most graphs need a few, and new memory takes longer to fill than to compute."""
        Q = module_of(self.start).empty((vectors, len(self.start)))
        Q[: len(self.Q)] = self.Q
        self.Q = Q

    def steps(self, k: int) -> list[tuple[Array, float]]:
        """One step or more, each: Q[k + 1] is AᵀA Q[k] without its parts along Q[: k + 1], scaled to length 1.

        Returns these parts, and the length before.
        """
        engine, Q = algebra(self.A.device), self.Q[: k + 1]
        if not self.A.has_values and engine.why_not_operation("lanczos") is None:
            found = engine.lanczos(self.A, self.Q, k)
            if found is not None:
                return found
        y = power.arriving_evenly(power.arriving_evenly(Q[k], self.A.T), self.A)
        parts = along(Q, y)
        take_out(parts, Q, y)
        take_out(along(Q, y), Q, y)  # twice: rounding spoils one pass if y is almost a combination of them
        rest = power.length(y)
        self.Q[k + 1] = y / rest if rest else y
        return [(on_host(parts), rest)]

    def error(self, left: npt.NDArray[np.float64], values: npt.NDArray[np.float64], greatest: Any) -> float:
        """A bound of Σ |error| of the best vector: its residual beside the gap between eigenvalues (‖·‖₁ ≤ √n ‖·‖₂)."""
        if greatest.all():
            return float(np.inf)
        apart = values[-1] - values[~greatest][-1]
        return float(left[greatest].max() / apart * len(self.start) ** 0.5)
