"""Peers that answer a question: igraph and SciPy, which are installed with the tests.

Each entry prepares what the peer needs, outside the time, and returns the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import igraph
import scipy
import scipy.sparse.csgraph as csgraph

from benchmarks.questions.calls import Case

Prepare = Callable[[Case], Callable[[], Any]]


def versions() -> dict[str, str]:
    return {"igraph": igraph.__version__, "scipy": scipy.__version__}


def by_igraph(method: str, *arguments: Any, graph: str = "large", **keywords: Any) -> Prepare:
    """A method of igraph's Graph; arguments that are functions are called with the case."""

    def prepare(case: Case) -> Callable[[], Any]:
        g = getattr(case, graph).to_igraph()
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


def first(case: Case) -> int:
    return case.sources[0]


def second(case: Case) -> int:
    return case.sources[1]


def sixteen(case: Case) -> list[int]:
    return case.sources[:16]


ANSWERS: dict[str, dict[str, Prepare]] = {
    "bfs": {
        "igraph": by_igraph("bfs", first),
        "SciPy": by_scipy(csgraph.breadth_first_order, i_start=first, directed=False),
    },
    "bfs_many": {"igraph": by_igraph("distances", source=lambda case: case.sources)},
    "betweenness_centrality": {"igraph": by_igraph("betweenness", sources=lambda case: case.sources)},
    "bipartite_sides": {"igraph": by_igraph("is_bipartite", graph="grid", return_types=True)},
    "closeness_centrality": {"igraph": by_igraph("closeness", vertices=lambda case: list(range(256)))},
    "clustering": {"igraph": by_igraph("transitivity_local_undirected", mode="zero")},
    "connected_components": {
        "igraph": by_igraph("connected_components"),
        "SciPy": by_scipy(csgraph.connected_components, directed=False),
    },
    "core_numbers": {"igraph": by_igraph("coreness")},
    "eccentricity": {"igraph": by_igraph("eccentricity", vertices=lambda case: list(range(256)))},
    "eigenvector_centrality": {"igraph": by_igraph("eigenvector_centrality")},
    "harmonic_centrality": {"igraph": by_igraph("harmonic_centrality", vertices=lambda case: list(range(256)))},
    "hits": {"igraph": by_igraph("authority_score")},
    "is_bipartite": {"igraph": by_igraph("is_bipartite")},
    "is_connected": {"igraph": by_igraph("is_connected")},
    "is_directed_acyclic_graph": {"igraph": by_igraph("is_dag", graph="one_way")},
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
    "strongly_connected_components": {
        "igraph": by_igraph("connected_components", graph="one_way", mode="strong"),
        "SciPy": by_scipy(csgraph.connected_components, graph="one_way", connection="strong"),
    },
    "topological_order": {"igraph": by_igraph("topological_sorting", graph="one_way")},
    "transitivity": {"igraph": by_igraph("transitivity_undirected")},
}
