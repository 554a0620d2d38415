"""Function names of NetworkX, igraph and other libraries, and their equivalents in hopwave."""

from importlib import import_module

HOMES = ("hopwave", "hopwave.linalg", "hopwave.linalg.algorithms", "hopwave.generate", "hopwave.datasets")
INSTEAD = {  # advice → names
    "`label_propagation` finds communities": "louvain leiden louvain_communities greedy_modularity_communities",
    "use `shortest_path`, or `sssp` for all distances": "dijkstra dijkstra_path shortest_path_length distances "
    "single_source_dijkstra single_source_dijkstra_path_length single_source_shortest_path_length",
    "use `distance_table`": "all_pairs_shortest_path_length all_pairs_dijkstra_path_length floyd_warshall",
    "use `betweenness_centrality`, or `edge_betweenness_centrality`": "betweenness edge_betweenness",
    "use `closeness_centrality`, or `harmonic_centrality`": "closeness harmonic",
    "use `G.degrees`, or `strength` for sums of weights": "degree weighted_degree",
    "use `connected_components`": "number_connected_components components clusters",
    "use `read`": "read_edgelist read_weighted_edgelist read_graphml read_gml read_csv load",
    "use `Graph.from_edges`, with directed=True for arcs": "DiGraph MultiGraph MultiDiGraph from_edgelist from_edges",
    "use `Graph.from_networkx`, `Graph.from_pandas` or `Graph.from_scipy`": "from_networkx from_pandas_edgelist",
    "use `datasets.load`": "karate_club karate_club_graph les_miserables les_miserables_graph",
    "use `generate.uniform`": "erdos_renyi erdos_renyi_graph gnm_random_graph gnp_random_graph",
    "use `generate.smallworld`": "watts_strogatz watts_strogatz_graph",
    "use `generate`": "barabasi_albert_graph path_graph cycle_graph star_graph complete_graph grid_2d_graph",
    "pass threads= to a function, or set HOPWAVE_NUM_THREADS": "set_threads set_num_threads",
    "use `plot(xy=)` of a result, or NetworkX, with `G.to_networkx()`": "plot draw spring_layout",
    "use NetworkX, with `G.to_networkx()`": "maximum_flow max_flow minimum_cut minimum_spanning_tree find_cliques",
    "use `to_pandas()`, which returns a DataFrame": "to_csv to_excel to_json to_parquet sort_values describe head loc",
    "graphs are immutable: build a new one with `Graph.from_edges`": "add_edge add_edges add_edges_from add_node "
    "add_nodes_from add_vertices remove_edge remove_node remove_nodes_from delete_edges delete_vertices",
    "use `G.labels`, or range(G.n)": "nodes vs",
    "use `G.n`": "number_of_nodes vcount order",
    "use `G.number_of_edges`": "ecount size",
    "use `G.directed`": "is_directed",
    "use `G.neighbors`": "adj successors",
    "use `v in G.neighbors(u)`": "has_edge are_adjacent",
}  # fmt: skip
ADVICE = {name: advice for advice, names in INSTEAD.items() for name in names.split()}


def lacks(owner: str, name: str) -> str:
    """The message of an AttributeError, with advice for names of other libraries and of other modules of hopwave."""
    advice = ADVICE.get(name)
    if advice is None and not name.startswith("_"):
        package = owner.partition("'")[2].rstrip("'")
        near = sorted(HOMES, key=lambda home: not home.startswith(package)) if "module" in owner else HOMES[:1]
        advice = next((f"use `{home}.{name}`" for home in near if name in import_module(home).__all__), None)
    return f"{owner} has no attribute {name!r}" + (f"; {advice}" if advice else "")
