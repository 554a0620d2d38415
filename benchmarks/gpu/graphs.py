"""Graphs drawn and built on the GPU, where the host would take minutes."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np
from scipy.sparse import csgraph

import hopwave as hw
from hopwave import Graph
from hopwave.engines.cuda.kronecker import edges
from hopwave.papers.graphs import mycielskian_ends

Ends = tuple[int, Any, Any]  # vertices, and the two ends of every edge
MOST_FOR_SCIPY = 5_000_000  # most arcs of a graph for SciPy, which it searches in well under a second


def kronecker_ends(scale: int, edge_factor: int) -> Ends:
    """Graph500's generator, with its initiator 0.57, 0.19, 0.19, 0.05."""
    n, m = 1 << scale, edge_factor << scale
    random = cupy.random.default_rng(1)
    source, target = cupy.zeros(m, cupy.int32), cupy.zeros(m, cupy.int32)
    for bit in range(scale):
        low = random.random(m, dtype=cupy.float32) > 0.76
        right = random.random(m, dtype=cupy.float32) > cupy.where(low, cupy.float32(0.19 / 0.24), cupy.float32(0.75))
        source += low.astype(cupy.int32) << bit
        target += right.astype(cupy.int32) << bit
    names = cupy.asarray(np.random.default_rng(1).permutation(n).astype(np.int32))
    return n, names[source], names[target]


def uniform_ends(n: int, m: int, drawn: Any = cupy.int32) -> Ends:
    """m edges between random vertices; `drawn`: the type in which ids are drawn, which changes the graph."""
    random = cupy.random.default_rng(1)
    source, target = (random.integers(0, n, m, dtype=drawn).astype(cupy.int32, copy=False) for _ in range(2))
    return n, source, target


def arc_keys(n: int, source: Any, target: Any) -> Any:
    """row · n + column of every arc, ascending: edges both ways, without loops and repeats."""
    keep = source != target
    source, target = source[keep], target[keep]
    keys = cupy.empty(2 * len(source), cupy.int64)
    keys[: len(source)] = source.astype(cupy.int64) * n + target
    keys[len(source) :] = target.astype(cupy.int64) * n + source
    del source, target, keep
    keys.sort()
    first = cupy.ones(len(keys), cupy.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def made(n: int, source: Any, target: Any) -> Graph:
    """An undirected graph of these edges."""
    keys = arc_keys(n, source, target)
    rows = cupy.searchsorted(keys, cupy.arange(n + 1, dtype=cupy.int64) * n).astype(cupy.int32)
    graph = Graph(rows.get(), (keys % n).astype(cupy.int32).get(), directed=False)
    del keys, rows
    cupy.get_default_memory_pool().free_all_blocks()
    return graph


def made_on_gpu(n: int, source: Any, target: Any) -> Graph:
    """An undirected graph of these edges, left on the GPU."""
    keys = arc_keys(n, source, target)
    rows = cupy.searchsorted(keys, cupy.arange(n + 1, dtype=cupy.int64) * n).astype(cupy.int32)
    keys %= n
    graph = Graph.from_csr(rows, keys.astype(cupy.int32), directed=False, check=False)
    del keys
    cupy.get_default_memory_pool().free_all_blocks()
    return graph


def kronecker(scale: int, edge_factor: int) -> Graph:
    return made(*kronecker_ends(scale, edge_factor))


def kronecker_on_gpu(scale: int, edge_factor: int) -> Graph:
    """The graph of generate.kronecker(scale, edge_factor, seed=1), drawn, built and left on the GPU."""
    source, target = edges(scale, 1, 0, edge_factor << scale, np.int32)
    graph = Graph.from_edges(source, target, n=1 << scale)
    del source, target
    cupy.get_default_memory_pool().free_all_blocks()
    return graph


LARGE = {  # the R-MAT graphs of push-pull's Table 3
    "rmat22e64": lambda: kronecker_on_gpu(22, 64),
    "rmat23e32": lambda: kronecker_on_gpu(23, 32),
    "rmat24e16": lambda: kronecker_on_gpu(24, 16),
}


def uniform(n: int, m: int) -> Graph:
    return made(*uniform_ends(n, m))


def mycielskian(k: int) -> Graph:
    return made(*mycielskian_ends(k))


def sources_of(graph: Graph, count: int) -> list[int]:
    """Sources in the largest component, found from the vertex of highest degree."""
    reached = hw.bfs(graph, int(np.argmax(graph.degrees)), device="cpu", predecessors=False).distances >= 0
    random = np.random.default_rng(7)
    inside = np.flatnonzero(reached & (graph.degrees > 0))
    return [int(s) for s in random.choice(inside, min(count, len(inside)), replace=False)]


def verified_searches(graph: Graph, count: int) -> tuple[list[int], list[Any]]:
    """Sources in the largest component and their distances on the GPU, by `hopwave-gpu`.

    Those of the first source are compared with SciPy's, unless the graph is too large.
    """
    own = {"predecessors": False, "plan": "hopwave-gpu", "device": "cuda"}
    degrees = cupy.asarray(graph.degrees)
    reached = cupy.asarray(hw.bfs(graph, int(degrees.argmax()), **own).distances) >= 0  # type: ignore[arg-type]
    inside = cupy.flatnonzero(reached & (degrees > 0)).get()
    sources = np.random.default_rng(7).choice(inside, count, replace=len(inside) < count).tolist()
    right = [cupy.asarray(hw.bfs(graph, source, **own).distances) for source in sources]  # type: ignore[arg-type]
    if graph.m <= MOST_FOR_SCIPY:
        order, before = csgraph.breadth_first_order(graph.to("cpu").to_scipy(np.float64), sources[0])
        found = right[0].get()
        if not np.array_equal(found[order[1:]], found[before[order[1:]]] + 1) or (found >= 0).sum() != len(order):
            raise SystemExit("hopwave-gpu disagrees with SciPy")
    return sources, right
