"""TurboBC's Algorithm 1 as one thread computes it, with the matrix in CSC: the papers' sequential column and check.

CP, row   the columns of A          s   the source          σ, S, δ   path counts, depths, dependencies
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.graph import Graph
from hopwave.system.numba_cache import njit


def dependencies(graph: Graph, source: int) -> Any:
    """δ of every vertex for one source.

    >>> dependencies(hw.generate.path(4), 0).tolist()
    [0.0, 2.0, 1.0, 0.0]
    """
    columns = (graph.reversed() if graph.directed else graph).to("cpu")
    return _dependencies(columns.indptr, columns.indices, graph.n, source)


@njit(nogil=True, cache=True, boundscheck=False)
def _dependencies(CP: Any, row: Any, n: int, s: int) -> Any:
    sigma, f, f_t = np.zeros(n), np.zeros(n), np.zeros(n)
    S = np.full(n, -1, np.int32)
    sigma[s], f[s], S[s], d, found = 1.0, 1.0, 0, 0, True
    while found:
        d, found = d + 1, False
        for v in range(n):  # f_t = Aᵀ f, masked by σ = 0 (Algorithm 3)
            f_t[v] = 0.0
            if sigma[v] == 0.0:
                total = 0.0
                for k in range(CP[v], CP[v + 1]):
                    total += f[row[k]]
                f_t[v] = total
        for v in range(n):
            f[v] = f_t[v]
            if f[v] != 0.0:
                sigma[v], S[v], found = sigma[v] + f[v], d, True
    delta, share, sums = np.zeros(n), np.zeros(n), np.zeros(n)
    for depth in range(d - 1, 1, -1):
        for w in range(n):
            share[w] = (1.0 + delta[w]) / sigma[w] if S[w] == depth else 0.0
            sums[w] = 0.0
        for w in range(n):  # A · share: column w adds to its rows
            if share[w] > 0.0:
                for k in range(CP[w], CP[w + 1]):
                    sums[row[k]] += share[w]
        for v in range(n):
            if S[v] == depth - 1:
                delta[v] += sums[v] * sigma[v]
    return delta
