"""Graph algorithms in the language of linear algebra: short files, close to their papers."""

from hopwave.checks.keywords import offer
from hopwave.linalg.algorithms.power import eigenvector_centrality, hits, katz_centrality
from hopwave.linalg.algorithms.random_walk import pagerank
from hopwave.linalg.algorithms.shortest_paths import betweenness, bfs, delta_stepping, sssp
from hopwave.linalg.algorithms.structure import (
    connected_components,
    core_numbers,
    label_propagation,
    maximal_independent_set,
    triangle_count,
    triangle_list,
    triangles,
)

__all__ = [
    "betweenness", "bfs", "connected_components", "core_numbers", "delta_stepping", "eigenvector_centrality", "hits",
    "katz_centrality", "label_propagation", "maximal_independent_set", "pagerank", "sssp", "triangle_count",
    "triangle_list", "triangles",
]  # fmt: skip

offer(globals(), __all__)
