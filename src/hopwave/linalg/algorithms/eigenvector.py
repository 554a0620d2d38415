"""Eigenvector centrality: proportional to the sum over the vertices with arcs to it (Bonacich, 1972).

A   the arcs, with or without weights     x   the centralities, of length 1

    x = x · (A + I) / |x · (A + I)|        until Σ |change| < n · tol, as in NetworkX

The identity I changes no eigenvector. Without it, x would oscillate between the two sides of a bipartite graph.
"""

from __future__ import annotations

from typing import Any

from hopwave.algebra.vector import Vector
from hopwave.arrays import Array
from hopwave.linalg.algorithms import power
from hopwave.planning.jobs import PowerJob


def eigenvector_centrality(
    A: Any, max_iter: int = 100, tol: float = 1e-6, nstart: Any = None, *, device: str = "auto"
) -> Vector:
    """The centrality of every vertex. `nstart`: the first x, an array of n weights.

    Parameters
    ----------
    nstart : array of n numbers, optional
        The first x.
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
    katz_centrality, hopwave.eigenvector_centrality

    Examples
    --------
    >>> la.algorithms.eigenvector_centrality(hw.generate.path(4)).values.round(2).tolist()
    [0.37, 0.6, 0.6, 0.37]
    """
    A = power.weighted_square(A, device)
    power.check_rounds(tol, max_iter)
    n = A.shape[0]
    if n == 0:
        return Vector(0)

    start = power.shares(nstart, "nstart", A)
    found = power.settle_at_once(A, PowerJob(start, n * tol, max_iter, normed=True), "the centralities")
    if found is not None:
        return Vector.from_dense(found)

    def step(x: Array) -> tuple[Array, float]:
        y = x + power.arriving(x, A)
        y /= power.length(y)
        return y, power.total_change(y, x)

    run = power.Rounds(step, power.as_vector(start, A).arrays()[0])
    return Vector.from_dense(power.settle(run, n * tol, max_iter, "the centralities"))
