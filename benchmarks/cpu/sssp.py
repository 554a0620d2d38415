"""Shortest paths with lengths on the CPU, compared in one run with SciPy and igraph.

    python -m benchmarks.cpu.sssp [graph …] [--sources 5] [--data ../shared/data]

Every library gets the same graph, the same lengths (1 to 255, drawn per edge) and the same sources, in turns, and
returns distances. All three compute all distances: SciPy's Dijkstra on one core, igraph's too. Before anything is
timed, hopwave's distances must equal SciPy's exactly, for every method. The machine's load is recorded: on a quiet
machine it is at most the number of cores that this benchmark uses.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from benchmarks.setting import DATA, GRAPHS, giant_sources, hw, publish, real_graphs

ROUNDS = 5
NAMES = ("luxembourg_osm", "grid1000", "delaunay18", "smallworld", "kron18")
NOTE = (
    "ms per source, median over the sources; the best of five rounds each (igraph: one). igraph reads its weights anew "
    "in every call, which is part of its time."
)


BUSY = " The machine was busy: other programs had most of its cores, so that a second thread gains little or nothing."


def with_lengths(graph: hw.Graph) -> hw.Graph:
    """The graph with a length from 1 to 255 for every edge."""
    source, target = graph.to_edges()[:2]
    lengths = np.random.default_rng(1).integers(1, 256, len(source)).astype(np.float64)
    return hw.Graph.from_edges(source, target, graph.n, graph.directed, weights=lengths, combine="min")


def load(name: str, data: Path) -> hw.Graph | None:
    """A generated or a real graph; None, with a printed line, if the file is missing."""
    return GRAPHS[name]() if name in GRAPHS else real_graphs([name], data, weights=False).get(name)


def igraph_distances(graph: hw.Graph) -> Callable[[int], Any]:
    import igraph

    edges = graph.edges()
    ends = np.stack([edges.source, edges.target], 1)
    g = igraph.Graph(n=graph.n, edges=ends, directed=graph.directed)
    lengths = np.asarray(edges.weights).tolist()
    return lambda s: g.distances([s], weights=lengths)


def peers(graph: hw.Graph) -> dict[str, Callable[[int], Any]]:
    A = sp.csr_array((np.asarray(graph.weights), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    return {
        "hopwave": lambda s: hw.sssp(graph, s, device="cpu").distances,
        "1 thread": lambda s: hw.sssp(graph, s, threads=1).distances,
        "SciPy": lambda s: dijkstra(A, indices=s),
        "igraph": igraph_distances(graph),
    }


def check(name: str, graph: hw.Graph, run: dict[str, Callable[[int], Any]], source: int) -> None:
    """Every method, with both numbers of threads, must agree with SciPy."""
    right = run["SciPy"](source)
    found = {method: hw.sssp(graph, source, method=method).distances for method in ("dijkstra", "delta-stepping")}
    found |= {who: run[who](source) for who in ("hopwave", "1 thread")}
    for who, distances in found.items():
        if not np.array_equal(distances, right):
            raise SystemExit(f"{name}: {who} and SciPy disagree")
    if not np.allclose(np.ravel(run["igraph"](source)), right):
        raise SystemExit(f"{name}: igraph and SciPy disagree")


def measure(name: str, graph: hw.Graph, count: int) -> dict[str, Any]:
    run, sources = peers(graph), giant_sources(graph, count)
    check(name, graph, run, sources[0])
    times: dict[str, list[float]] = {who: [] for who in run}
    for source in sources:
        for who, ask in run.items():
            best = float("inf")
            for _ in range(ROUNDS if who != "igraph" else 1):
                began = time.perf_counter()
                ask(source)
                best = min(best, time.perf_counter() - began)
            times[who].append(best * 1e3)
    middle = {who: statistics.median(taken) for who, taken in times.items()}
    row = {"graph": name, "arcs": graph.m, **{f"{who} ms": taken for who, taken in middle.items()}}
    row |= {f"times faster than {who}": middle[who] / middle["hopwave"] for who in ("SciPy", "igraph")}
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=NAMES)
    parser.add_argument("--sources", type=int, default=5)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    before = os.getloadavg()[0]
    rows = []
    for name in options.graphs:
        if (graph := load(name, options.data)) is not None:
            rows.append(measure(name, with_lengths(graph), options.sources))
    if not rows:
        raise SystemExit("none of the graphs is there; nothing was measured")
    about = {"load before": round(before, 1), "load after": round(os.getloadavg()[0], 1)}
    busy = before > len(os.sched_getaffinity(0))
    publish("cpu-sssp", "Shortest paths with lengths, on the CPU", rows, NOTE + BUSY * busy, about)


if __name__ == "__main__":
    main()
