"""What the reduction of betweenness (algorithms/reduction) computes on the CPU, compiled.

block_tree   what hangs on each vertex of each block
"""
