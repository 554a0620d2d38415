"""Lengths that can be added in any order: every sum of them is exact."""

from __future__ import annotations

import numpy as np

from hopwave.graph import Graph


def are_exact(graph: Graph) -> bool:
    """Whether all sums of lengths of different arcs are exact in float64, and no length is 0.

    Then every length is a multiple of one power of 2, and all together are less than 2^53 times it.

    >>> road = Graph.from_edges([0, 1], [1, 2], weights=[0.5, 1.25])
    >>> are_exact(road), are_exact(road.with_weights(road.weights / 10))
    (True, False)
    """
    lengths = np.asarray(graph.weights, np.float64)
    if not len(lengths):
        return True
    if not (lengths > 0).all():
        return False
    mantissa, exponent = np.frexp(lengths)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = exponent - 53 + np.round(np.log2((whole & -whole).astype(np.float64))).astype(np.int64)
    return bool(np.ldexp(lengths, -int(lowest.min())).sum() < 2.0**53)
