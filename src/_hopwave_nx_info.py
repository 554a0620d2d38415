"""What NetworkX reads about hopwave when NetworkX is imported. It imports nothing that takes time, not even hopwave.

With HOPWAVE_AUTOCONFIG=1 in the environment NetworkX sends hopwave every call that hopwave serves, converts each graph
once, and runs everything else itself. The user's code does not change.
"""

from __future__ import annotations

import os
from typing import Any

PLACE = {
    "device : str, optional": '"auto" (default), "cpu", or "cuda" for the GPU.',
    "threads : int, optional": "Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, else every core.",
}
PLAN = {"plan : str, optional": 'A name from hopwave.plans(); "auto" (default) chooses by the graph.'}

ALONG = "Along an edge attribute, in NetworkX's order."
BOTH = "In hops, or along an edge attribute by Dijkstra's algorithm; in NetworkX's order."
CORNERS = "Unweighted, of all vertices, in undirected graphs without parallel edges."
EVERY_NODE = "Where `nstart`, if given, names every node."
ORDER = "Counted in hops, in NetworkX's order."
PAIR = "Runs where the graph has been converted before; otherwise NetworkX's own search finishes sooner."
HOPS = "Counted in hops; all sources at once, 64 per machine word."
LENGTHS = "In hops, 64 sources per machine word, or along an edge attribute, one source per thread."
CHECKED = "Path counts never overflow; every run is checked against an identity of exact scores."
CERTIFIED = "In hops, or along an edge attribute. " + CHECKED
BRANDES = CERTIFIED + " Samples (k, seed) are those that NetworkX draws."

# name: (family, what to add to NetworkX's page, additional keywords)
FUNCTIONS: dict[str, tuple[str, str, dict[str, str]]] = {
    "generic_bfs_edges": ("traversal", ORDER, {}),
    "bfs_edges": ("traversal", ORDER, {}),
    "bfs_tree": ("traversal", ORDER, {}),
    "bfs_predecessors": ("traversal", ORDER, {}),
    "bfs_successors": ("traversal", ORDER, {}),
    "bfs_layers": ("traversal", ORDER, {}),
    "bfs_labeled_edges": ("traversal", ORDER, {}),
    "descendants_at_distance": ("traversal", "", {}),
    "descendants": ("dag", "", {}),
    "ancestors": ("dag", "", {}),
    "ego_graph": ("ego", "Unweighted; the attributes are copied from the graph itself.", {}),
    "single_source_shortest_path": ("unweighted", ORDER, {}),
    "single_source_shortest_path_length": ("unweighted", ORDER, {}),
    "single_target_shortest_path": ("unweighted", ORDER, {}),
    "single_target_shortest_path_length": ("unweighted", ORDER, {}),
    "all_pairs_shortest_path": ("unweighted", ORDER, {}),
    "all_pairs_shortest_path_length": ("unweighted", ORDER, {}),
    "all_pairs_dijkstra_path_length": ("weighted", ALONG, {}),
    "bidirectional_shortest_path": ("unweighted", PAIR, {}),
    "predecessor": ("unweighted", ORDER, {}),
    "has_path": ("generic", PAIR, {}),
    "shortest_path": ("generic", BOTH + " Both ends given: " + PAIR, {}),
    "shortest_path_length": ("generic", BOTH + " Both ends given: " + PAIR, {}),
    "all_shortest_paths": ("generic", BOTH, {}),
    "single_source_all_shortest_paths": ("generic", BOTH, {}),
    "all_pairs_all_shortest_paths": ("generic", BOTH, {}),
    "single_source_dijkstra": ("weighted", ALONG, {}),
    "single_source_dijkstra_path": ("weighted", ALONG, {}),
    "single_source_dijkstra_path_length": ("weighted", ALONG, {}),
    "multi_source_dijkstra": ("weighted", ALONG, {}),
    "multi_source_dijkstra_path": ("weighted", ALONG, {}),
    "multi_source_dijkstra_path_length": ("weighted", ALONG, {}),
    "dijkstra_predecessor_and_distance": ("weighted", ALONG, {}),
    "dijkstra_path": ("weighted", ALONG + " " + PAIR, {}),
    "dijkstra_path_length": ("weighted", ALONG + " " + PAIR, {}),
    "bidirectional_dijkstra": ("weighted", ALONG + " " + PAIR, {}),
    "all_pairs_dijkstra": ("weighted", ALONG, {}),
    "all_pairs_dijkstra_path": ("weighted", ALONG, {}),
    "average_shortest_path_length": ("distance_measures", LENGTHS, PLACE),
    "betweenness_centrality": ("betweenness", BRANDES, PLACE | PLAN),
    "edge_betweenness_centrality": ("betweenness", BRANDES + " Graphs without parallel edges.", PLACE | PLAN),
    "betweenness_centrality_subset": ("betweenness", CERTIFIED, PLACE | PLAN),
    "edge_betweenness_centrality_subset": (
        "betweenness",
        CERTIFIED + " Graphs without parallel edges. By the definition, where NetworkX's own values differ from it: "
        "at a vertex that is no target, dependencies are divided by path counts.",
        PLACE | PLAN,
    ),
    "group_betweenness_centrality": (
        "group",
        "Unweighted. By the definition, where NetworkX's own values before 3.7 differ from it: for some groups of "
        "three and more, and in directed graphs that are not strongly connected.",
        {},
    ),
    "newman_betweenness_centrality": ("betweenness", "Unweighted load centrality.", {}),
    "bipartite_betweenness_centrality": ("betweenness", "Counted in hops. " + CHECKED, PLACE | PLAN),
    "closeness_centrality": ("closeness", LENGTHS, PLACE),
    "harmonic_centrality": ("closeness", LENGTHS, PLACE),
    "group_closeness_centrality": ("closeness", "Unweighted.", {}),
    "bipartite_closeness_centrality": ("closeness", HOPS, PLACE),
    "local_reaching_centrality": ("closeness", "Unweighted, without given paths.", {}),
    "global_reaching_centrality": ("closeness", HOPS, PLACE),
    "eccentricity": ("distance_measures", LENGTHS, PLACE),
    "diameter": ("distance_measures", LENGTHS, PLACE),
    "radius": ("distance_measures", LENGTHS, PLACE),
    "center": ("distance_measures", LENGTHS, PLACE),
    "periphery": ("distance_measures", LENGTHS, PLACE),
    "barycenter": ("distance_measures", LENGTHS, PLACE),
    "centroid": ("distance_measures", "The name of `barycenter` since NetworkX 3.7.", PLACE),
    "harmonic_diameter": ("distance_measures", LENGTHS, PLACE),
    "wiener_index": ("distance_measures", LENGTHS, PLACE),
    "hyper_wiener_index": ("distance_measures", LENGTHS, PLACE),
    "schultz_index": ("distance_measures", LENGTHS, PLACE),
    "gutman_index": ("distance_measures", LENGTHS, PLACE),
    "efficiency": ("efficiency_measures", PAIR, {}),
    "global_efficiency": ("efficiency_measures", HOPS, PLACE),
    "local_efficiency": ("efficiency_measures", HOPS, PLACE),
    "connected_components": ("components", "", {}),
    "number_connected_components": ("components", "", {}),
    "is_connected": ("components", "", {}),
    "node_connected_component": ("components", PAIR, {}),
    "weakly_connected_components": ("components", "", {}),
    "number_weakly_connected_components": ("components", "", {}),
    "is_weakly_connected": ("components", "", {}),
    "strongly_connected_components": ("components", "In the order in which NetworkX closes them.", {}),
    "number_strongly_connected_components": ("components", "", {}),
    "is_strongly_connected": ("components", "", {}),
    "condensation": ("components", "Numbered as NetworkX numbers them.", {}),
    "attracting_components": ("components", "", {}),
    "number_attracting_components": ("components", "", {}),
    "is_attracting_component": ("components", "", {}),
    "is_semiconnected": ("components", "", {}),
    "color": ("bipartite", "", {}),
    "is_bipartite": ("bipartite", "", {}),
    "sets": ("bipartite", "", {}),
    "triangles": ("structure", "Of all vertices, in graphs without parallel edges.", {}),
    "clustering": ("structure", CORNERS, {}),
    "average_clustering": ("structure", CORNERS, {}),
    "transitivity": ("structure", "Undirected graphs without parallel edges.", {}),
    "core_number": ("structure", "", {}),
    "square_clustering": ("structure", "Of all vertices, in undirected graphs.", {}),
    "pagerank": ("link_analysis", "In graphs without parallel edges.", {}),
    "eigenvector_centrality": ("link_analysis", EVERY_NODE, {}),
    "katz_centrality": ("link_analysis", EVERY_NODE, {}),
    "hits": (
        "link_analysis",
        "In graphs without parallel edges. Where several answers are right, as in undirected bipartite graphs, the one "
        "nearest to `nstart`; NetworkX's is random.",
        {},
    ),
}


def get_info() -> dict[str, Any]:
    """The entry point "networkx.backend_info".

    >>> sorted(get_info())[:3]
    ['backend_name', 'description', 'functions']
    """
    if os.environ.get("HOPWAVE_AUTOCONFIG", "").strip().lower() in ("1", "true", "yes", "on"):
        autoconfigure(os.environ)
    return {
        "backend_name": "hopwave",
        "project": "hopwave",
        "package": "hopwave",
        "short_summary": "Searches, shortest paths, betweenness and other centralities, on the CPU and the GPU.",
        "description": "Breadth-first search and betweenness centrality at the speed of the hardware.",
        "functions": {
            name: {key: value for key, value in (("additional_docs", docs), ("additional_parameters", extra)) if value}
            for name, (_, docs, extra) in FUNCTIONS.items()
        },
    }


def autoconfigure(environment: Any) -> None:
    """Add hopwave to NetworkX's priorities and let NetworkX run the rest. What the user has set is kept.

    NetworkX reads these variables right after `get_info`.

    >>> settings = {"NETWORKX_BACKEND_PRIORITY_ALGOS": "other"}
    >>> autoconfigure(settings)
    >>> settings["NETWORKX_BACKEND_PRIORITY_ALGOS"], settings["NETWORKX_FALLBACK_TO_NX"]
    ('other,hopwave', 'True')
    """
    common = environment.get("NETWORKX_BACKEND_PRIORITY", environment.get("NETWORKX_AUTOMATIC_BACKENDS", ""))
    for variable, now in (
        ("NETWORKX_BACKEND_PRIORITY_ALGOS", common),
        ("NETWORKX_BACKEND_PRIORITY_GENERATORS", ""),  # bfs_tree and others that return graphs
        ("NETWORKX_WARNINGS_TO_IGNORE", ""),
    ):
        wanted = "cache" if variable.endswith("IGNORE") else "hopwave"
        listed = [item.strip() for item in environment.get(variable, now).split(",") if item.strip()]
        environment[variable] = ",".join(listed if wanted in listed else [*listed, wanted])
    environment.setdefault("NETWORKX_FALLBACK_TO_NX", "True")
    environment.setdefault("NETWORKX_CACHE_CONVERTED_GRAPHS", "True")
