"""The public functions of hopwave. Each one checks its arguments, chooses an engine and a plan, runs, and wraps.

    search         bfs, bfs_each, k_hop
    many           tables of distances from many sources: bfs_many, sssp_many, distance_table, distance_blocks
    shortest_paths sssp, sssp_each, nearest; paths between two vertices: has_path, shortest_path, k_shortest_paths
    accessibility  values within reach, nearest facilities, isochrones
    betweenness    betweenness of vertices and edges, percolation
    closeness      closeness, harmonic centrality, barycenter; stress, load, centralities of groups
    link_analysis  degrees; by power iteration pagerank, eigenvector and Katz centrality, hits
    distances      eccentricity, diameter, center; means, sums and histograms of distances; efficiency; hyperball
    connectivity   components, bipartite graphs, biconnected components, acyclic graphs
    clustering     triangles, cores, communities; clustering coefficients, transitivity, modularity

    options        arguments that many functions share
    arguments      every check of an argument, once
    weights        weights in every form that callers pass
    choice         the engine and the plan, if the caller names none
    betweenness_request   the records of a betweenness call

Functions that count hops ignore weights. Functions of distances follow them if `weights=` says so. Paths between two
vertices, `sssp` and its siblings, tables, and centralities by power iteration use the graph's own weights by default.
`import hopwave` offers all of these functions; no lower layer imports this folder.
"""
