"""Searches on the CPU, compared in one run with SciPy, igraph and python-graphblas.

    python -m benchmarks.cpu.search [graph …] [--sources 16]

Every library gets the same graph and the same sources, in turns. Before anything is timed, all must agree with SciPy on
the number of vertices reached, and hopwave's tree must pass the Graph500 rules. hopwave and SciPy compute predecessors,
with distances (hopwave) or the order of visits (SciPy). python-graphblas computes levels by masked products and chooses
push or pull itself.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from benchmarks.setting import GRAPHS, LEFT_OUT, command_line, giant_sources, hw, publish, tell, timed

SLOW = 400_000_000  # arcs × sources beyond which the slow libraries get fewer sources


def graphblas_search(graph: hw.Graph) -> Callable[[int], int]:
    """q⟨¬v⟩ = q any.pair A, level after level."""
    import graphblas as gb

    A = gb.Matrix.from_csr(graph.indptr.astype(np.uint64), graph.indices.astype(np.uint64), True, ncols=graph.n)

    def search(source: int) -> int:
        v = gb.Vector(int, graph.n)
        q = gb.Vector(bool, graph.n)
        q[source] = True
        depth = 0
        while q.nvals:
            v(q.S) << depth
            depth += 1
            q(~v.S, replace=True) << gb.semiring.any_pair(q @ A)
        return int(v.nvals)

    return search


def igraph_search(graph: hw.Graph) -> Callable[[int], int]:
    g = graph.to_igraph()
    return lambda s: len(g.bfs(s, mode="out")[0])


def peers(graph: hw.Graph) -> dict[str, Callable[[int], int]]:
    A = graph.to_scipy(np.float64)
    found: dict[str, Callable[[int], int]] = {
        "hopwave": lambda s: hw.bfs(graph, s).reached,
        "scipy": lambda s: len(breadth_first_order(A, s)[0]),
    }
    for name, make in (("igraph", igraph_search), ("python-graphblas", graphblas_search)):
        try:
            found[name] = make(graph)
        except (ImportError, hw.EngineError):
            print(f"{LEFT_OUT}{name}; it is not installed", flush=True)
    return found


def measure(name: str, count: int) -> dict[str, Any]:
    graph = GRAPHS[name]()
    sources = giant_sources(graph, count)
    libraries = peers(graph)
    first = sources[0]
    result = hw.bfs(graph, first)
    hw.validate(graph, first, result.distances, result.predecessors).ok or exit(f"{name}: hopwave's tree is wrong")
    reached = {library: search(first) for library, search in libraries.items()}
    if len(set(reached.values())) != 1:
        raise SystemExit(f"{name}: the libraries disagree: {reached}")
    for _ in range(20):  # enough for hopwave to prepare what pays only after many searches on one graph
        hw.bfs(graph, first)
    times: dict[str, list[float]] = {library: [] for library in libraries}
    for i, source in enumerate(sources):
        for library, search in libraries.items():
            if library in ("igraph", "python-graphblas") and graph.m * i > SLOW:
                continue
            search(source)  # so that each library starts with warm caches
            times[library].append(timed(partial(search, source), 1)[0])
    ms = {library: statistics.median(taken) * 1e3 for library, taken in times.items()}
    row: dict[str, Any] = {"graph": name, "n": graph.n, "arcs": graph.m}
    row |= {f"{library} ms": value for library, value in ms.items()}
    row |= {f"× {library}": ms[library] / ms["hopwave"] for library in ms if library != "hopwave"}
    return tell(row)


def main() -> None:
    standard = [name for name in GRAPHS if name != "delaunay20"]
    options = command_line(__doc__, {"graphs": standard}, sources=16)
    rows = [measure(name, options.sources) for name in options.graphs]
    publish("cpu-search", "Searches on the CPU: median ms per source, and how many times faster hopwave is", rows)


if __name__ == "__main__":
    main()
