"""Function names of NetworkX, igraph and other libraries, and their equivalents in hopwave."""

INSTEAD = {  # advice → names
    "`label_propagation` finds communities": "louvain leiden louvain_communities greedy_modularity_communities",
    "use `shortest_path`, or `sssp` for all distances": "dijkstra dijkstra_path shortest_path_length distances",
    "use `distance_table`": "all_pairs_shortest_path_length all_pairs_dijkstra_path_length floyd_warshall",
    "use `betweenness_centrality`, or `edge_betweenness_centrality`": "betweenness edge_betweenness",
    "use `G.degrees`, or `strength` for sums of weights": "degree weighted_degree",
    "use `connected_components`": "number_connected_components components clusters",
    "use `read`": "read_edgelist read_weighted_edgelist read_graphml read_gml read_csv load",
    "use `Graph.from_edges`, with directed=True for arcs": "DiGraph MultiGraph MultiDiGraph from_edgelist from_edges",
    "use `Graph.from_networkx`, `Graph.from_pandas` or `Graph.from_scipy`": "from_networkx from_pandas_edgelist",
    "use `generate`": "erdos_renyi_graph watts_strogatz_graph barabasi_albert_graph path_graph complete_graph",
    "use NetworkX, with `G.to_networkx()`": "maximum_flow max_flow minimum_cut minimum_spanning_tree find_cliques draw",
    "use `to_pandas()`, which returns a DataFrame": "to_csv to_excel to_json to_parquet sort_values describe head loc",
    "graphs are immutable: build a new one with `Graph.from_edges`": "add_edge add_edges add_edges_from add_node "
    "add_nodes_from add_vertices remove_edge remove_node remove_nodes_from delete_edges delete_vertices",
    "use `G.labels`, or range(G.n)": "nodes vs",
    "use `G.n`": "number_of_nodes vcount order",
    "use `G.number_of_edges`": "ecount size",
    "use `G.directed`": "is_directed",
    "use `G.neighbors`": "adj successors",
}  # fmt: skip
ADVICE = {name: advice for advice, names in INSTEAD.items() for name in names.split()}


def lacks(owner: str, name: str) -> str:
    """The message of an AttributeError, with advice for names used in other libraries."""
    return f"{owner} has no attribute {name!r}" + (f"; {ADVICE[name]}" if name in ADVICE else "")
