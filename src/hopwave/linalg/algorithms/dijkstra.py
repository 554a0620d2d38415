"""Shortest paths, nearest vertex first (Dijkstra, A note on two problems in connexion with graphs, 1959).

One vertex at a time keeps only one thread busy, but no arc is followed twice: on one core nothing is faster.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hopwave.engines import algebra
from hopwave.linalg.algorithms.operands import check_weights
from hopwave.matrix import Matrix


def dijkstra(A: Matrix, sources: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """The distance of every vertex from the nearest source, infinite where there is no path."""
    check_weights(A, "distance")
    return algebra("cpu").dijkstra(A.to("cpu").rows, sources)
