"""Algorithms, one short file each. They read like their papers and run on any engine.

bfs            one search, level by level
many_sources   searches from many sources, and what is kept of them
brandes        betweenness: running the sum over sources, and checking it
scaling        from sums of dependencies to the scores that NetworkX defines
sampling       which sources a betweenness sample draws, and when it is large enough
checkpoint     a long betweenness run on disk
distances      closeness, connectivity, eccentricities from bounds
estimates      closeness, path lengths and histograms from a sample of sources
components     what follows from the numbers of components
paths          all shortest paths between two vertices
"""
