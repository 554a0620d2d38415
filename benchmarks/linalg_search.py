"""BFS as six lines of linear algebra beside the dedicated search and python-graphblas, in one run.

    python -m benchmarks.linalg_search [graph …] [--device cpu | cuda] [--sources 16]

All give hops alone. Every answer is compared with the dedicated search's before anything is timed; the libraries take
turns, and each source counts with its best of three.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cpu_search import graphblas_search
from benchmarks.setting import GRAPHS, giant_sources, hw, publish

EACH = 3
ON_CPU = ["kron18", "rmat18-directed", "uniform20", "delaunay18"]
ON_GPU = ["kron18e43", "kron21e44"]


def searches(graph: hw.Graph, device: str) -> dict[str, Callable[[int], Any]]:
    A = hw.linalg.Matrix.from_graph(graph).to(device)
    found: dict[str, Callable[[int], Any]] = {
        "hw.bfs": lambda s: hw.bfs(graph, s, predecessors=False, device=device),
        "linalg.bfs": lambda s: hw.linalg.bfs(A, s, device=device),
    }
    if device == "cpu":
        found["python-graphblas"] = graphblas_search(graph)
    else:  # the same level by level, without linalg in between
        found["plan pushpull"] = lambda s: hw.bfs(graph, s, predecessors=False, device=device, plan="pushpull")
    return found


def graph_of(name: str, device: str) -> hw.Graph:
    if device == "cpu":
        return GRAPHS[name]()
    from benchmarks.gpu_search import GENERATED  # drawn on the GPU: the host would take minutes

    return (GENERATED.get(name) or GRAPHS[name])()


def measure(name: str, device: str, count: int) -> dict[str, Any]:
    graph = graph_of(name, device)
    sources = giant_sources(graph, count)
    ways = searches(graph, device)
    for source in sources:  # verified, and everything prepared that a run of searches prepares
        right = hw.bfs(graph, source, predecessors=False, device=device).distances
        assert np.array_equal(ways["linalg.bfs"](source).to("cpu").to_dense(-1), right), (name, source)
        if "python-graphblas" in ways:
            assert ways["python-graphblas"](source) == np.count_nonzero(right >= 0), (name, source)
    best: dict[str, list[float]] = {way: [] for way in ways}
    for source in sources:
        for way, search in ways.items():
            times = []
            for _ in range(EACH):
                began = time.perf_counter()
                search(source)
                times.append(time.perf_counter() - began)
            best[way].append(min(times))
    row: dict[str, Any] = {"graph": name, "n": graph.n, "arcs": graph.m}
    row |= {f"{way} ms": statistics.median(times) * 1e3 for way, times in best.items()}
    row["linalg / dedicated"] = row["linalg.bfs ms"] / row["hw.bfs ms"]
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", help=f"by default {', '.join(ON_CPU)}; on a GPU {', '.join(ON_GPU)}")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--sources", type=int, default=16)
    options = parser.parse_args()
    graphs = options.graphs or (ON_GPU if options.device == "cuda" else ON_CPU)
    rows = [measure(name, options.device, options.sources) for name in graphs]
    name = "linalg-search" if options.device == "cpu" else "linalg-search-cuda"
    publish(name, "BFS in six lines beside the dedicated search: median ms a source", rows)


if __name__ == "__main__":
    main()
