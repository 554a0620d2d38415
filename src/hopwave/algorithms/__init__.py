"""Algorithms, one short file each. They read like their papers and run on any engine.

bfs                    one search, level by level
many_sources           searches from many sources, and what is kept of them
brandes                betweenness: running the sum over sources, and checking it
scaling                from sums of dependencies to the scores that NetworkX defines
checkpoint             a long betweenness run on disk
betweenness_sampling   betweenness from a sample of sources or of random paths: a folder
distances              closeness, connectivity, eccentricities from bounds
distance_sampling      closeness, path lengths and histograms from a sample of sources
mean_intervals         where the mean of many numbers lies, given some of them
draws                  which sources a sample draws, and how far the mean over them may be off
top_scores             the highest closeness scores without all searches
components             what follows from the numbers of components
shortest_paths         one search along arcs with lengths, and the choice of its method
paths_between          all shortest paths between two vertices
"""
