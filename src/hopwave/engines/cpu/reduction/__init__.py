"""What the reduction of betweenness (algorithms/reduction) computes on the CPU, compiled.

block_tree   what hangs on each vertex of each block
core         a graph without chains of vertices of degree two
rows         all pairs that leave for the core at one vertex
run          workers that take batches of such vertices
"""
