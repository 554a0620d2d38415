"""Lengths that can be added in any order: every sum of them is exact."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph


def as_whole(graph: Graph) -> npt.NDArray[np.int64] | None:
    """Lengths in units of a power of 2, if all sums of them are exact in float64, and no length is 0; else None.

    >>> road = Graph.from_edges([0, 1], [1, 2], weights=[0.5, 1.25])
    >>> as_whole(road).tolist(), as_whole(road.with_weights(road.weights / 10))
    ([2, 2, 5, 5], None)
    """
    lengths = np.asarray(graph.weights, np.float64)
    if not len(lengths):
        return np.zeros(0, np.int64)
    if not (lengths > 0).all():
        return None
    mantissa, exponent = np.frexp(lengths)
    bits = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = exponent - 53 + np.round(np.log2((bits & -bits).astype(np.float64))).astype(np.int64)
    whole = np.ldexp(lengths, -int(lowest.min()))
    return whole.astype(np.int64) if whole.sum() < 2.0**53 else None
