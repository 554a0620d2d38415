"""hopwave: breadth-first search and betweenness centrality at the speed of the hardware."""

# ruff: noqa: F403, F405  (`import *` is for type checkers; __all__ has every public name)

from __future__ import annotations

from typing import TYPE_CHECKING

from hopwave import errors
from hopwave.system import threads as _threads

if TYPE_CHECKING:  # at run time, __getattr__ below imports each name on first use
    from hopwave import datasets, generate, linalg
    from hopwave.algorithms.brandes import Certificate
    from hopwave.api.accessibility import accessibility, isochrone, nearest_of
    from hopwave.api.betweenness import betweenness_centrality, edge_betweenness_centrality, percolation_centrality
    from hopwave.api.closeness import *
    from hopwave.api.clustering import *
    from hopwave.api.connectivity import *
    from hopwave.api.distances import *
    from hopwave.api.link_analysis import *
    from hopwave.api.many import bfs_many, distance_blocks, distance_table, pairs_within, sssp_many
    from hopwave.api.memory_estimate import estimate_memory
    from hopwave.api.search import bfs, bfs_each, k_hop
    from hopwave.api.shortest_paths import *
    from hopwave.api.validate import Validation, validate
    from hopwave.arrays import ScaledCounts
    from hopwave.errors import *
    from hopwave.graph import Graph
    from hopwave.graph.statistics import Statistics
    from hopwave.io import formats, read, write
    from hopwave.planning.catalogue import plan, plans
    from hopwave.planning.trace import Bucket, BucketTrace, Level, Trace
    from hopwave.results.accessibility import Accessibility, DistanceTable, Isochrone, NearestOf, Routes
    from hopwave.results.components import Blocks, Communities, Components
    from hopwave.results.estimates import DistanceHistogram, Estimate, HyperBall, MemoryEstimate
    from hopwave.results.scores import BetweennessResult, EdgeBetweennessResult, HubsAndAuthorities, VertexScores
    from hopwave.results.search import BFSResult, ShortestPaths
    from hopwave.system.devices import Device, devices
else:

    def __getattr__(name: str) -> object:
        """Import a public name or a module of hopwave on first use; signals wait until the import is complete."""
        find = _threads.imported("hopwave.checks.keywords").find
        return globals().setdefault(name, _threads.aside(find, __name__, __file__, name))

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


def _gpu_part(name: str) -> object:
    """A module of the GPU engine, for packages below the engines."""
    from hopwave import engines

    if name != "errors":  # the module errors explains errors of CuPy even without a usable GPU
        engines.engine("cuda")  # raises an EngineError that says what is missing
    return _threads.imported(f"hopwave.engines.cuda.{name}")


errors.gpu_part = _gpu_part
__version__ = "0.1.0"
__all__ = [
    "Accessibility", "BFSResult", "BetweennessResult", "Blocks", "Bucket", "BucketTrace", "Certificate", "Communities",
    "Components", "ConvergenceError", "Device", "DistanceHistogram", "DistanceTable", "DownloadError",
    "EdgeBetweennessResult", "EngineError", "Estimate", "ExecutorError", "FormatError", "Graph", "GraphError",
    "HopwaveError", "HubsAndAuthorities", "HyperBall", "IgnoredColumnWarning", "IgnoredWeightsWarning", "Isochrone",
    "Level", "LinalgError", "LostDirectionWarning", "MemoryEstimate", "NearestOf", "PlanError", "Routes",
    "ScaledCounts", "ShortestPaths", "SparseIdsWarning", "Statistics", "Trace", "Validation", "VertexScores",
    "accessibility", "all_shortest_paths", "articulation_points", "average_clustering", "average_shortest_path_length",
    "barycenter", "betweenness_centrality", "bfs", "bfs_each", "bfs_many", "biconnected_components", "bipartite_sides",
    "bridges", "center", "closeness_centrality", "clustering", "condensation", "connected_components", "core_numbers",
    "datasets", "degree_centrality", "devices", "diameter", "distance_blocks", "distance_histogram", "distance_table",
    "eccentricity", "edge_betweenness_centrality", "eigenvector_centrality", "estimate_memory", "formats", "generate",
    "global_efficiency", "group_betweenness_centrality", "group_closeness_centrality", "harmonic_centrality",
    "has_path", "hits", "hyperball", "in_degree_centrality", "is_bipartite", "is_connected",
    "is_directed_acyclic_graph", "is_strongly_connected", "is_weakly_connected", "isochrone", "k_core", "k_hop",
    "k_shortest_paths", "katz_centrality", "label_propagation", "linalg", "load_centrality", "local_efficiency",
    "maximal_independent_set", "modularity", "nearest", "nearest_of", "out_degree_centrality", "pagerank",
    "pairs_within", "percolation_centrality", "periphery", "plan", "plans", "radius", "read", "shortest_path",
    "shortest_paths", "square_clustering", "sssp", "sssp_each", "sssp_many", "strength", "stress_centrality",
    "strongly_connected_components", "topological_order", "transitivity", "triangle_count", "triangles", "validate",
    "weakly_connected_components", "wiener_index", "write",
]  # fmt: skip
