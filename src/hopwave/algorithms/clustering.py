"""Clustering: of the pairs of neighbours that a vertex has, the share that are neighbours themselves.

B   A, or A + Aᵀ in a directed graph, without loops; along weights, the cube root of every weight over the greatest

(B³)ᵤᵤ sums the closed walks u → v → w → u. Watts and Strogatz (1998); directed: Fagiolo (2007); weights: Onnela et al.
(2005).
"""

from __future__ import annotations

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.vector import Vector
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.linalg.algorithms import triangles
from hopwave.linalg.algorithms.operands import square
from hopwave.linalg.algorithms.triangles import closed_walks
from hopwave.linalg.elementwise import ewise_add, select
from hopwave.planning.jobs import Floats, Integers


def corners(graph: Graph, weighted: bool, device: str) -> tuple[Floats, Integers]:
    """Per vertex: its closed walks of three steps, and how many there could be."""
    loops = np.bincount(graph.indices[graph.indices == arc_tails(graph)], minlength=graph.n)
    degrees = graph.degrees.astype(np.int64) - loops
    if not graph.directed and not weighted:  # a triangle is two walks
        return 2 * _dense(triangles(graph, device=device)), degrees * (degrees - 1)
    B = select(square(Matrix.from_graph(graph, _roots(graph, weighted)), device).checked(), "offdiag")
    if not graph.directed:
        return _dense(closed_walks(B)), degrees * (degrees - 1)
    B = ewise_add(B, B.T)
    degrees += graph.in_degrees - loops
    both_ways = degrees - np.diff(B.to("cpu").rows.indptr)
    return _dense(closed_walks(B)), 2 * (degrees * (degrees - 1) - 2 * both_ways)


def _roots(graph: Graph, weighted: bool) -> Floats:
    if not weighted:
        return np.ones(graph.m)
    weights = np.asarray(graph.weights, np.float64)
    if graph.m and weights.max() <= 0:
        raise GraphError("every weight is 0, so that none can be compared with the greatest; leave out weights=")
    return np.asarray(np.cbrt(weights / weights.max(initial=0.0)))


def _dense(found: Vector) -> Floats:
    return np.asarray(found.to("cpu").to_dense())


def shares(found: Floats, possible: Integers) -> Floats:
    """found / possible, and 0 where nothing was found.

    >>> shares(np.array([1.0, 0.0]), np.array([2, 0])).tolist()
    [0.5, 0.0]
    """
    return np.divide(found, possible, out=np.zeros(len(found)), where=found > 0)
