"""Graphs drawn and built on the GPU, where the host would take minutes, and the GPU's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

import hopwave as hw
from benchmarks.setting import GRAPHS
from hopwave import Graph
from hopwave.papers.graphs import mycielskian_ends

# Keeps the GPU busy for some nanoseconds, until Python has queued what is timed.
SPIN = cupy.RawKernel(
    r"""extern "C" __global__ void spin(long long ns) {
      long long begin, now;
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
      do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      while (now - begin < ns);
    }""",
    "spin",
)
Ends = tuple[int, Any, Any]  # vertices, and the two ends of every edge


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


def uniform(n: int, m: int) -> Graph:
    return made(*uniform_ends(n, m))


def mycielskian(k: int) -> Graph:
    return made(*mycielskian_ends(k))


MADE: dict[str, Callable[[], Graph]] = {
    "kron18": lambda: kronecker(18, 43),
    "kron21": lambda: kronecker(21, 44),
    "kron24": lambda: kronecker(24, 16),
    "uniform20": lambda: uniform(1 << 20, 16 << 20),
    "grid1000": GRAPHS["grid1000"],
    "delaunay20": GRAPHS["delaunay20"],
}


def sources_of(graph: Graph, count: int) -> list[int]:
    """Sources in the largest component, found from the vertex of highest degree."""
    found = hw.bfs(graph, int(np.argmax(graph.degrees)), device="cuda", predecessors=False).distances
    inside = np.flatnonzero((cupy.asnumpy(found) >= 0) & (graph.degrees > 0))
    return [int(s) for s in np.random.default_rng(7).choice(inside, count, replace=len(inside) < count)]


def milliseconds(search: Callable[[int], Any], sources: list[int]) -> list[float]:
    """For every source the median of 5, between two events. search: puts the search from one source into the stream."""
    medians = []
    for source in sources:
        times = []
        for repeat in range(6):
            events = cupy.cuda.Event(), cupy.cuda.Event()
            SPIN((1,), (1,), (np.int64(150_000),))  # otherwise the GPU would wait for Python after the first event
            events[0].record()
            search(source)
            events[1].record()
            events[1].synchronize()
            if repeat:
                times.append(cupy.cuda.get_elapsed_time(*events))
        medians.append(float(np.median(times)))
    return medians
