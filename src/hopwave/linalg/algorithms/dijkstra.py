"""Shortest paths, nearest vertex first (Dijkstra, A note on two problems in connexion with graphs, 1959).

One vertex at a time is no work for many threads, but no arc is followed twice: on one core the best there is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.engines import algebra
from hopwave.linalg.algorithms.operands import check_weights
from hopwave.linalg.matrix import Matrix


def dijkstra(A: Matrix, sources: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """The distance of every vertex from the nearest source, infinite where there is no way."""
    check_weights(A, "distance")
    engine: Any = algebra("cpu")
    found: npt.NDArray[np.float64] = engine.dijkstra(A.to("cpu").rows, sources)
    return found
