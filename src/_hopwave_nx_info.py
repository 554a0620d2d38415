"""What NetworkX reads about hopwave when NetworkX is imported. It imports nothing that takes time, not even hopwave.

With HOPWAVE_AUTOCONFIG=1 in the environment NetworkX sends hopwave every call that hopwave serves, converts each graph
once, and runs everything else itself. The user's code does not change.
"""

from __future__ import annotations

import os
import re
from typing import Any

# Functions, and what to add to their pages; in brackets the keywords beyond NetworkX's, if any. `python -m docs` writes
# this from the decorators in hopwave/networkx_backend.
TABLE = """
<functions>
generic_bfs_edges bfs_edges bfs_tree bfs_predecessors bfs_successors bfs_layers bfs_labeled_edges
  single_source_shortest_path_length single_target_shortest_path_length all_pairs_shortest_path_length
  single_source_shortest_path single_target_shortest_path all_pairs_shortest_path predecessor: [] Counted in hops, in
  NetworkX's order.
descendants_at_distance descendants ancestors is_directed_acyclic_graph connected_components
  number_connected_components is_connected weakly_connected_components number_weakly_connected_components
  is_weakly_connected number_strongly_connected_components is_strongly_connected attracting_components
  number_attracting_components is_attracting_component is_semiconnected is_biconnected bridges has_bridges is_bipartite
  sets core_number: []
ego_graph: [] Unweighted; attributes are copied from the graph.
strongly_connected_components: [] In the order in which NetworkX completes them.
node_connected_component bidirectional_shortest_path has_path efficiency: [] Runs if a converted graph is cached;
  otherwise NetworkX is faster.
condensation: [] Numbered as NetworkX numbers them.
biconnected_component_edges biconnected_components articulation_points: [] In the order in which NetworkX finds them.
color: [] Runs in Python to keep NetworkX's order (last in, first out).
shortest_path shortest_path_length: [] In hops, or along an edge attribute by Dijkstra's algorithm; in NetworkX's
  order. With both endpoints: runs if a converted graph is cached; otherwise NetworkX is faster.
all_shortest_paths single_source_all_shortest_paths all_pairs_all_shortest_paths: [] In hops, or along an edge
  attribute by Dijkstra's algorithm; in NetworkX's order.
all_pairs_dijkstra multi_source_dijkstra_path_length single_source_dijkstra_path_length all_pairs_dijkstra_path_length
  multi_source_dijkstra_path single_source_dijkstra_path all_pairs_dijkstra_path multi_source_dijkstra
  single_source_dijkstra dijkstra_predecessor_and_distance: [] Along an edge attribute, in NetworkX's order.
dijkstra_path dijkstra_path_length: [] Along an edge attribute, in NetworkX's order. Runs if a converted graph is
  cached; otherwise NetworkX is faster.
bidirectional_dijkstra: [] Along an edge attribute, in NetworkX's order. Runs with `backend="hopwave"` only.
shortest_simple_paths: [] In hops, or along an edge attribute; equally long paths in NetworkX's order.
eccentricity diameter radius periphery center barycenter average_shortest_path_length harmonic_diameter wiener_index
  hyper_wiener_index schultz_index gutman_index closeness_centrality harmonic_centrality: [device threads] In hops (64
  sources per machine word), or along an edge attribute (1 or 32 sources per thread).
group_closeness_centrality: [] Unweighted.
bipartite_closeness_centrality global_reaching_centrality global_efficiency local_efficiency: [device threads] Counted
  in hops (64 sources per machine word).
local_reaching_centrality: [] Unweighted, without `paths=`.
centroid: [device threads] Name of `barycenter` since NetworkX 3.7.
betweenness_centrality: [device threads plan] In hops, or along an edge attribute. Path counts never overflow; every
  run is checked against an identity of exact scores. The samples (k, seed) are NetworkX's.
edge_betweenness_centrality: [device threads plan] In hops, or along an edge attribute. Path counts never overflow;
  every run is checked against an identity of exact scores. The samples (k, seed) are NetworkX's. Graphs without
  parallel edges.
betweenness_centrality_subset: [device threads plan] In hops, or along an edge attribute. Path counts never overflow;
  every run is checked against an identity of exact scores.
edge_betweenness_centrality_subset: [device threads plan] In hops, or along an edge attribute. Path counts never
  overflow; every run is checked against an identity of exact scores. Graphs without parallel edges. hopwave follows the
  definition; at vertices that are not targets, NetworkX splits dependencies evenly among predecessors.
percolation_centrality: [device threads plan] In hops, or along an edge attribute. Path counts never overflow; every
  run is checked against an identity of exact scores. With `states=`.
newman_betweenness_centrality: [] Unweighted load centrality.
bipartite_betweenness_centrality: [device threads plan] Counted in hops. Path counts never overflow; every run is
  checked against an identity of exact scores.
group_betweenness_centrality: [] Unweighted. hopwave follows the definition; NetworkX deviates from it for some
  groups, and before 3.7 in directed graphs that are not strongly connected.
pagerank: [] In graphs without parallel edges.
eigenvector_centrality katz_centrality: [] If `nstart` is omitted or contains every node.
hits: [] Graphs without parallel edges. If several results are correct, as in undirected bipartite graphs, hopwave
  returns the one nearest to `nstart`, NetworkX a random one.
average_clustering clustering: [] Unweighted, of all vertices, in graphs without parallel edges.
triangles: [] For all vertices, in graphs without parallel edges.
transitivity: [] Undirected graphs without parallel edges.
square_clustering: [] For all vertices, in undirected graphs; a score of 0 is an int.
degree_centrality in_degree_centrality out_degree_centrality modularity: [] Graphs without parallel edges, if a
  converted graph is cached.
</functions>
"""
MEANING = {
    "device": ("device : str, optional", '"auto" (default), "cpu", or "cuda" for the GPU.'),
    "threads": ("threads : int, optional", "Threads of the CPU; by default HOPWAVE_NUM_THREADS, or all cores."),
    "plan": ("plan : str, optional", 'A name from hopwave.plans(); "auto" (default) chooses by the graph.'),
}
FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {  # by name: notes, and keywords with what they mean
    name: (notes, dict(MEANING[keyword] for keyword in keywords.split()))
    for names, keywords, notes in re.findall(r"^(\w.*): \[(.*)\] ?(.*)$", TABLE.replace("\n  ", " "), re.MULTILINE)
    for name in names.split()
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
            for name, (docs, extra) in FUNCTIONS.items()
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
