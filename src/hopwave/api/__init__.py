"""The public functions of hopwave. Each one checks its arguments, chooses an engine and a plan, runs, and wraps.

    search         bfs, bfs_each, k_hop
    many           tables of distances from many sources: bfs_many, sssp_many, distance_blocks, pairs_within
    betweenness    betweenness_centrality, edge_betweenness_centrality, percolation_centrality
    path_sums      stress_centrality, load_centrality, group centralities
    closeness      closeness_centrality, harmonic_centrality, barycenter
    degrees        degree_centrality, and of arcs in and arcs out
    eccentricity   eccentricity, diameter, radius, center, periphery
    distances      means, sums and histograms of distances; efficiency
    hyperball      means of distances and closeness of very large graphs, from small counters
    connectivity   components, bipartite graphs
    dag            topological order, condensation
    clustering     clustering coefficients, transitivity, modularity
    paths          has_path, shortest_path, all_shortest_paths: paths between two vertices
    shortest_paths sssp, sssp_each, nearest: paths from one vertex along arcs with lengths
    ranks          centralities by power iteration: pagerank, eigenvector and Katz centrality, hits
    algebra        results of products over a semiring: triangles, cores, communities

    arguments      every check of an argument, once
    weights        weights in every form that callers give them
    choice         which engine and which plan run when the caller does not say
    betweenness_request, betweenness_epsilon   the records of a betweenness call; scores within ± epsilon

Questions about hops ignore weights. Functions of distances, and paths between two vertices, follow them if `weights=`
says so; `sssp`, `sssp_each`, `sssp_many`, `nearest`, `pagerank` and the centralities beside it use the graph's own
weights when it has them, or those of `weights=`.

Everywhere G is a Graph, a SciPy sparse matrix or a NetworkX graph, and a vertex is an id, or a label if the graph has
labels. `import hopwave` offers all of these functions; no lower layer imports this folder.
"""
