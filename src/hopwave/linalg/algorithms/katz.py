"""Katz centrality: how many walks lead to a vertex, each counted less the longer it is (Katz, 1953).

A   the arcs, with or without weights     α   the factor per arc of a walk     b   a vertex's own centrality
x   the centralities

    x = α x · A + b        until Σ |change| < n · tol, as in NetworkX

It settles if |α| is below 1/λ, where λ is the greatest eigenvalue of A.
"""

from __future__ import annotations

import math
from typing import Any

from hopwave.algebra.vector import Vector
from hopwave.arrays import Array
from hopwave.checks.numbers import is_number
from hopwave.errors import ConvergenceError, GraphError
from hopwave.linalg.algorithms import power
from hopwave.planning.jobs import PowerJob

FAR = 1e6  # times b: centralities that change by more than this in a round grow without end


def katz_centrality(
    A: Any, alpha: float = 0.1, beta: Any = 1.0, max_iter: int = 1000, tol: float = 1e-6, nstart: Any = None,
    normalized: bool = True, *, device: str = "auto",
) -> Vector:  # fmt: skip
    """The centrality of every vertex. `beta`: b, one number or n numbers. `nstart`: the first x, n numbers.

    Parameters
    ----------
    alpha : float, optional
        α; it must be below 1 / the greatest eigenvalue.
    beta : float or array of n numbers, optional
        b, the centrality that a vertex has without any walks.
    nstart : array of n numbers, optional
        The first x.
    normalized : bool, optional
        Whether the squares of the scores add up to 1.
    A, max_iter, tol, device
        As for `pagerank`.

    Returns
    -------
    Vector
        One score per vertex.

    Raises
    ------
    ConvergenceError
        If `max_iter` rounds are not enough.

    See Also
    --------
    eigenvector_centrality, hopwave.katz_centrality

    Examples
    --------
    >>> la.algorithms.katz_centrality(hw.generate.path(4), 0.6).values.round(2).tolist()
    [0.37, 0.6, 0.6, 0.37]
    """
    A = power.weighted_square(A, device)
    power.check_rounds(tol, max_iter, normalized=normalized)
    if not is_number(alpha) or not math.isfinite(alpha):
        raise GraphError(f"alpha={alpha!r} is no factor per arc; give a number below 1 / the greatest eigenvalue")
    n = A.shape[0]
    if n == 0:
        return Vector(0)
    alpha = float(alpha)
    b, start = power.numbers(beta, "beta", A), power.numbers(0.0 if nstart is None else nstart, "nstart", A)

    def step(x: Array) -> tuple[Array, float]:
        y = alpha * power.arriving(x, A) + b
        return y, power.total_change(y, x)

    smaller = f", or alpha={alpha:g} closer to 0: it must be below 1 / the greatest eigenvalue of the matrix"
    try:
        x = power.settle_at_once(A, PowerJob(start, n * tol, max_iter, alpha, base=b), "the centralities", smaller)
        if x is None:
            run = power.Rounds(step, power.as_vector(start, A).arrays()[0])
            x = power.settle(run, n * tol, max_iter, "the centralities", smaller)
    except ConvergenceError as error:
        own = abs(b) if isinstance(b, float) else float(abs(b).max())
        if error.left < FAR * n * own:
            raise
        most = float(power.arriving(power.as_vector(1.0, A).arrays()[0], A).max())
        raise ConvergenceError(
            f"Katz diverged: alpha={alpha:g} is too large for this graph; it must be below 1 / the largest eigenvalue. "
            f"That is at most {most:.4g}, the greatest sum of weights into a vertex: alpha={0.9 / most:.2g} converges"
        ) from None
    return Vector.from_dense(x / (power.length(x) or 1.0) if normalized else x)
