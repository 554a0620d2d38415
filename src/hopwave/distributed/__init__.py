"""Graphs over the ranks of an MPI job: every rank owns part of the vertices and computes on its CPU or its GPU.

    mpiexec -n 4 python search.py

>>> from hopwave import distributed
>>> G = distributed.kronecker(scale=6)
>>> distributed.bfs(G, source=1).reached > 1
True
"""

from hopwave.checks.keywords import offer
from hopwave.distributed.betweenness import (
    DistributedBetweennessResult,
    betweenness_centrality,
    edge_betweenness_centrality,
)
from hopwave.distributed.construct import from_edges, kronecker, read, spread, uniform
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.layout import Layout
from hopwave.distributed.ranks import World, world
from hopwave.distributed.search import DistributedBFSResult, bfs

__all__ = [
    "DistributedBFSResult", "DistributedBetweennessResult", "DistributedGraph", "Layout", "World",
    "betweenness_centrality", "bfs", "edge_betweenness_centrality", "from_edges", "kronecker", "read", "spread",
    "uniform", "world",
]  # fmt: skip

offer(globals(), __all__)
