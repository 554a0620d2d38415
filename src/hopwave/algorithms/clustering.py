"""Clustering: the fraction of pairs of a vertex's neighbours that are adjacent.

B   A, or A + Aᵀ in a directed graph, without self-loops; along weights, the cube root of each weight / the maximum

(B³)ᵤᵤ sums the closed walks u → v → w → u. Watts and Strogatz (1998); directed: Fagiolo (2007); weights: Onnela et al.
(2005).
"""

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.arrays import Array, module_of, on_host
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.linalg.algorithms import triangles
from hopwave.linalg.algorithms.operands import square
from hopwave.linalg.algorithms.structure import closed_walks
from hopwave.linalg.elementwise import ewise_add, select
from hopwave.planning.jobs import Floats, Integers


def corners(graph: Graph, weighted: bool, device: str) -> tuple[Array, Integers]:
    """Per vertex: closed walks of three steps, on the device that counted them, and the maximum possible number."""
    rows = graph._rows_somewhere
    there = rows.indices == arc_tails(rows)
    loops = np.bincount(on_host(rows.indices[there]), minlength=graph.n)
    degrees = graph.degrees.astype(np.int64) - loops
    if not graph.directed and not weighted:  # a triangle is two walks
        return 2 * triangles(graph, device=device).to_dense(), degrees * (degrees - 1)
    B = select(square(Matrix.from_graph(graph, _roots(graph, weighted)), device).checked(), "offdiag")
    if not graph.directed:
        return closed_walks(B).to_dense(), degrees * (degrees - 1)
    B = ewise_add(B, B.T)
    degrees += graph.in_degrees - loops
    both_ways = degrees - np.diff(B.to("cpu").rows.indptr)
    return closed_walks(B).to_dense(), 2 * (degrees * (degrees - 1) - 2 * both_ways)


def _roots(graph: Graph, weighted: bool) -> Floats:
    if not weighted:
        return np.ones(graph.m)
    weights = np.asarray(graph.weights, np.float64)
    if graph.m and weights.max() <= 0:
        raise GraphError("every weight is 0, so weights cannot be divided by the maximum; omit weights=")
    return np.asarray(np.cbrt(weights / weights.max(initial=0.0)))


def shares(found: Array, possible: Integers) -> Array:
    """found / possible, 0 if nothing was found; on the device of `found`."""
    xp = module_of(found)
    return xp.where(found > 0, found / xp.maximum(xp.asarray(possible), 1), 0.0)
