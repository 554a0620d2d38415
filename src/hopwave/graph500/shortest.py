"""Graph500's third kernel: shortest paths along edges of random length, from the same roots, and their validation.

The length of an edge is a hash of its two ends, uniform in (0, 1], with 24 bits. All repeats of an edge therefore have
the same length (the reference generator gives each its own), and distances are exact sums, the same on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.api.shortest_paths import sssp
from hopwave.distributed.delta_stepping import NEVER, UNIT, Paths
from hopwave.distributed.sides import GraphInParts
from hopwave.generate import counter
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.graph500.outcome import Searched
from hopwave.linalg import Matrix

STREAM = "graph500 lengths"


class ShortestPaths:
    """The graph with the lengths of its edges, in one process. `tuples`: see OnCpu."""

    def __init__(self, graph: Graph, tuples: Any, seed: int) -> None:
        self.graph, self.tuples = graph, tuples
        self.tails = arc_tails(graph)
        self.lengths = lengths(self.tails, graph.indices, graph.n, seed)
        self.matrix = Matrix.from_graph(graph, self.lengths)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed; then validated."""
        began = time.perf_counter()
        found = sssp(self.matrix, root, device="cpu")
        parents = found.predecessors
        seconds = time.perf_counter() - began
        edges = int(self.tuples[np.isfinite(found.distances)].sum()) // 2
        return Searched(root, seconds, edges, 0, self.broken(root, found.distances, parents))

    def broken(self, root: int, distances: npt.NDArray[np.float64], parents: Any) -> tuple[str, ...]:
        """The names of the rules that a result breaks: Graph500's five, with distances instead of levels."""
        reached = np.isfinite(distances)
        ids = np.arange(self.graph.n)
        at_root, heads = ids == root, self.graph.indices
        through = distances[self.tails] + self.lengths
        linked = np.zeros(self.graph.n, bool)
        is_link = parents[heads] == self.tails
        linked[heads[is_link]] = True
        found = {
            "roots": (parents[root] != root) or bool((~at_root & (parents == ids)).any()),
            "levels": distances[root] != 0 or bool((is_link & (through != distances[heads]) & (heads != root)).any()),
            "edges": bool((through < distances[heads]).any()),
            "span": bool((reached != (parents >= 0)).any() or (reached[self.tails] & ~reached[heads]).any()),
            "links": bool((reached & ~at_root & ~linked).any()),
        }
        return tuple(rule for rule, failed in found.items() if failed)


class InParts:
    """The third kernel over ranks, or on one GPU; each rank computes the lengths that it needs.

    `edges_within(reached)` counts the input edges between reached vertices.
    """

    def __init__(self, graph: GraphInParts, edges_within: Callable[[Any], int], seed: int) -> None:
        self.graph, self.edges_within = graph, edges_within
        self.paths = Paths(graph, counter.start(seed, STREAM))

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed on all ranks together; then validated."""
        world, paths = self.graph.world, self.paths
        world.barrier()
        began = time.perf_counter()
        paths.run(root)
        self.graph.part.finish()
        seconds = max(world.allgather(time.perf_counter() - began))
        return Searched(root, seconds, self.edges_within(paths.distance != NEVER), 0, paths.broken(root))


def lengths(u: Any, v: Any, n: int, seed: int) -> npt.NDArray[np.float64]:
    """The length of every arc u → v, equal to that of v → u: a multiple of 2^-24 in (0, 1].

    >>> both = lengths(np.array([3, 5]), np.array([5, 3]), 8, seed=1)
    >>> bool(both[0] == both[1] > 0)
    True
    """
    pair = np.minimum(u, v).astype(np.uint64) * np.uint64(n) + np.maximum(u, v).astype(np.uint64)
    drawn = counter.mixed(pair, seed, STREAM) >> np.uint64(40)
    return (drawn + np.uint64(1)).astype(np.float64) / UNIT
