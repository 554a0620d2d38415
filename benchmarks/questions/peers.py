"""Peers that answer a question: igraph, SciPy and NetworkX, which are installed with the tests, and NetworKit.

Each entry prepares what the peer needs, outside the time, and returns the call. NetworkX is asked where neither of the
others answers, and about small graphs alone. NetworKit has threads, and is asked on all cores (THREADED); it need not
be installed. Left out are questions whose answer igraph keeps with the graph: whether it is acyclic or connected.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import igraph
import networkx as nx
import numpy as np
import scipy
import scipy.sparse.csgraph as csgraph

from benchmarks.questions.calls import Case
from benchmarks.setting import hw

Prepare = Callable[[Case], Callable[[], Any]]


def versions() -> dict[str, str]:
    found = {"igraph": igraph.__version__, "scipy": scipy.__version__, "networkx": nx.__version__}
    return found | ({"networkit": import_module("networkit").__version__} if find_spec("networkit") else {})


def converted(case: Case, graph: str, convert: Callable[[hw.Graph], Any]) -> Any:
    """The graph as a peer's, made once."""
    kept = vars(case).setdefault("converted", {})
    if (graph, convert) not in kept:
        kept[graph, convert] = convert(getattr(case, graph))
    return kept[graph, convert]


def by_igraph(method: str, *arguments: Any, graph: str = "large", **keywords: Any) -> Prepare:
    """A method of igraph's Graph; arguments that are functions are called with the case."""

    def prepare(case: Case) -> Callable[[], Any]:
        g = converted(case, graph, hw.Graph.to_igraph)
        given = [one(case) if callable(one) else one for one in arguments]
        named = {name: one(case) if callable(one) else one for name, one in keywords.items()}
        return lambda: getattr(g, method)(*given, **named)

    return prepare


def by_scipy(function: Callable[..., Any], graph: str = "large", **keywords: Any) -> Prepare:
    """A function of scipy.sparse.csgraph."""

    def prepare(case: Case) -> Callable[[], Any]:
        A = getattr(case, graph).to_scipy("float64")
        named = {name: one(case) if callable(one) else one for name, one in keywords.items()}
        return lambda: function(A, **named)

    return prepare


def by_networkx(function: str, graph: str = "small", *arguments: Any) -> Prepare:
    """A function of NetworkX; what it returns piece by piece is taken to its end."""

    def prepare(case: Case) -> Callable[[], Any]:
        g = getattr(case, graph).to_networkx()
        given = [one(case) if callable(one) else one for one in arguments]

        def ask() -> Any:
            answer = getattr(nx, function)(g, *given, backend="networkx")
            return list(answer) if hasattr(answer, "__next__") else answer

        return ask

    return prepare


def to_networkit(graph: hw.Graph) -> Any:
    edges = graph.edges()
    lengths = np.ones(len(edges.source)) if edges.weights is None else edges.weights.astype(np.float64)
    make = import_module("networkit").GraphFromCoo
    triples = (lengths, (edges.source.astype(np.int64), edges.target.astype(np.int64)))
    made = make(triples, n=graph.n, weighted=edges.weights is not None, directed=graph.directed)
    made.removeSelfLoops()  # cores and clustering refuse them
    return made


def by_networkit(algorithm: str, *arguments: Any, graph: str = "large") -> Prepare:
    """A class of NetworKit, run to its end."""

    def prepare(case: Case) -> Callable[[], Any]:
        module, _, name = algorithm.partition(".")
        make = getattr(getattr(import_module("networkit"), module), name)
        g = converted(case, graph, to_networkit)
        given = [one(case) if callable(one) else one for one in arguments]
        return lambda: make(g, *given).run()

    return prepare


def first(case: Case) -> int:
    return case.sources[0]


def second(case: Case) -> int:
    return case.sources[1]


def sixteen(case: Case) -> list[int]:
    return case.sources[:16]


def two(case: Case) -> list[int]:
    return list(range(0, case.large.n, 2))


ANSWERS: dict[str, dict[str, Prepare]] = {
    "all_shortest_paths": {"igraph": by_igraph("get_all_shortest_paths", first, second)},
    "articulation_points": {"igraph": by_igraph("articulation_points")},
    "average_clustering": {"igraph": by_igraph("transitivity_avglocal_undirected", mode="zero")},
    "average_shortest_path_length": {"igraph": by_igraph("average_path_length", graph="small")},
    "barycenter": {"NetworkX": by_networkx("barycenter")},
    "biconnected_components": {"igraph": by_igraph("biconnected_components")},
    "bridges": {"igraph": by_igraph("bridges")},
    "connected_components": {
        "igraph": by_igraph("connected_components"),
        "SciPy": by_scipy(csgraph.connected_components, directed=False),
    },
    "degree_centrality": {"igraph": by_igraph("degree")},
    "distance_table": {
        "igraph": by_igraph("distances", source=lambda case: case.sources, target=lambda case: case.sources)
    },
    "isochrone": {"igraph": by_igraph("neighborhood", first, order=2)},
    "k_shortest_paths": {"igraph": by_igraph("get_k_shortest_paths", first, second, k=8)},
    "nearest": {"SciPy": by_scipy(csgraph.dijkstra, graph="weighted", indices=first)},
    "nearest_of": {
        "SciPy": by_scipy(csgraph.dijkstra, indices=lambda case: case.sources, unweighted=True, min_only=True)
    },
    "percolation_centrality": {"NetworkX": by_networkx("percolation_centrality")},
    "diameter": {"igraph": by_igraph("diameter", graph="middle")},
    "distance_blocks": {"igraph": by_igraph("distances", graph="small")},
    "edge_betweenness_centrality": {"igraph": by_igraph("edge_betweenness", sources=lambda case: case.sources[:16])},
    "global_efficiency": {"NetworkX": by_networkx("global_efficiency")},
    "group_betweenness_centrality": {"NetworkX": by_networkx("group_betweenness_centrality", "small", [1, 2, 3])},
    "k_hop": {"igraph": by_igraph("neighborhood", first, order=2)},
    "load_centrality": {"NetworkX": by_networkx("load_centrality")},
    "local_efficiency": {"NetworkX": by_networkx("local_efficiency")},
    "modularity": {"igraph": by_igraph("modularity", lambda case: [0] * case.large.n)},
    "radius": {"igraph": by_igraph("radius", graph="middle")},
    "square_clustering": {"NetworkX": by_networkx("square_clustering")},
    "strongly_connected_components": {
        "igraph": by_igraph("connected_components", graph="one_way", mode="strong"),
        "SciPy": by_scipy(csgraph.connected_components, graph="one_way", connection="strong"),
    },
    "triangle_count": {"igraph": by_igraph("list_triangles")},
    "weakly_connected_components": {"SciPy": by_scipy(csgraph.connected_components, graph="one_way")},
    "wiener_index": {"NetworkX": by_networkx("wiener_index")},
    "Graph.subgraph": {"igraph": by_igraph("induced_subgraph", two)},
    "Graph.to_undirected": {"igraph": by_igraph("as_undirected", graph="one_way")},
    "bfs": {
        "igraph": by_igraph("bfs", first),
        "SciPy": by_scipy(csgraph.breadth_first_order, i_start=first, directed=False),
    },
    "bfs_many": {"igraph": by_igraph("distances", source=lambda case: case.sources)},
    "betweenness_centrality": {"igraph": by_igraph("betweenness", sources=lambda case: case.sources)},
    "bipartite_sides": {"igraph": by_igraph("is_bipartite", graph="grid", return_types=True)},
    "closeness_centrality": {"igraph": by_igraph("closeness", vertices=lambda case: list(range(256)))},
    "clustering": {"igraph": by_igraph("transitivity_local_undirected", mode="zero")},
    "core_numbers": {"igraph": by_igraph("coreness")},
    "eccentricity": {"igraph": by_igraph("eccentricity", vertices=lambda case: list(range(256)))},
    "eigenvector_centrality": {"igraph": by_igraph("eigenvector_centrality")},
    "harmonic_centrality": {"igraph": by_igraph("harmonic_centrality", vertices=lambda case: list(range(256)))},
    "hits": {"igraph": by_igraph("authority_score")},
    "k_core": {"igraph": by_igraph("k_core")},
    "label_propagation": {"igraph": by_igraph("community_label_propagation")},
    "pagerank": {"igraph": by_igraph("pagerank")},
    "shortest_path": {"igraph": by_igraph("get_shortest_path", first, second)},
    "shortest_path, weights": {
        "igraph": by_igraph("get_shortest_path", first, second, graph="weighted", weights="weight")
    },
    "sssp": {
        "igraph": by_igraph("distances", source=first, graph="weighted", weights="weight"),
        "SciPy": by_scipy(csgraph.dijkstra, graph="weighted", indices=first),
    },
    "sssp_many": {
        "igraph": by_igraph("distances", source=sixteen, graph="weighted", weights="weight"),
        "SciPy": by_scipy(csgraph.dijkstra, graph="weighted", indices=sixteen),
    },
    "topological_order": {"igraph": by_igraph("topological_sorting", graph="one_way")},
    "transitivity": {"igraph": by_igraph("transitivity_undirected")},
}
THREADED: dict[str, dict[str, Prepare]] = {
    question: {"NetworKit": prepare}
    for question, prepare in {
        "betweenness_centrality": by_networkit("centrality.EstimateBetweenness", 64, False, True),
        "bfs": by_networkit("distance.BFS", first, False),
        "bfs_many": by_networkit("distance.SPSP", lambda case: case.sources),
        "biconnected_components": by_networkit("components.BiconnectedComponents"),
        "clustering": by_networkit("centrality.LocalClusteringCoefficient", True),
        "connected_components": by_networkit("components.ParallelConnectedComponents", False),
        "core_numbers": by_networkit("centrality.CoreDecomposition"),
        "diameter": by_networkit("distance.Diameter", graph="middle"),
        "distance_blocks": by_networkit("distance.APSP", graph="small"),
        "eigenvector_centrality": by_networkit("centrality.EigenvectorCentrality", 1e-4),
        "katz_centrality": by_networkit("centrality.KatzCentrality", 1e-4),
        "label_propagation": by_networkit("community.PLP"),
        "pagerank": by_networkit("centrality.PageRank", 0.85, 1e-6),
        "shortest_path": by_networkit("distance.BidirectionalBFS", first, second),
        "shortest_path, weights": by_networkit("distance.BidirectionalDijkstra", first, second, graph="weighted"),
        "sssp": by_networkit("distance.Dijkstra", first, False, graph="weighted"),
        "sssp_many": by_networkit("distance.SPSP", sixteen, graph="weighted"),
        "strongly_connected_components": by_networkit("components.StronglyConnectedComponents", graph="one_way"),
    }.items()
}
