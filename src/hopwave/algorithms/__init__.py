"""Algorithms, one short file each. They read like their papers and run on any engine.

bfs                    one search, level by level
many_sources           searches from many sources, and what is kept of them
brandes                betweenness: the sum over sources, its check, the scores that NetworkX defines; stress and load
checkpoint             a long betweenness run on disk
betweenness_sampling   betweenness from a sample of sources or of random paths: a folder
distances              closeness, connectivity, eccentricities from bounds
distance_sampling      closeness, path lengths and histograms from a sample of sources
draws                  which sources a sample draws, and how far the mean over them may be off
top_scores             the highest closeness scores without all searches
components             what follows from the numbers of components
shortest_paths         one search along arcs with lengths, the choice of its method, and paths between two vertices
tables                 tables of distances, and sums of values within reach
reduction              betweenness and distances of less than the whole graph: a folder
"""
