"""Shortest paths with lengths on the CPU, compared in one run with SciPy and igraph.

    python -m benchmarks.cpu.sssp [graph …] [--sources 5]

Every library gets the same graph, the same lengths (1 to 255, drawn per edge) and the same sources, in turns, and
returns distances. All three compute all distances: SciPy's Dijkstra on one core, igraph's too. Before anything is
timed, hopwave's distances must equal SciPy's exactly, for every method. The machine's load is recorded: on a quiet
machine it is at most the number of cores that this benchmark uses.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from benchmarks.setting import GRAPHS, command_line, giant_sources, hw, publish, real_graphs, tell, timed, with_weights

ROUNDS = 5
NAMES = ("luxembourg_osm", "grid1000", "delaunay18", "smallworld", "kron18")
NOTE = (
    "ms per source, median over the sources; the best of five rounds each (igraph: one). igraph reads its weights anew "
    "in every call, which is part of its time."
)


BUSY = " The machine was busy: other programs had most of its cores, so that a second thread gains little or nothing."


def with_lengths(graph: hw.Graph) -> hw.Graph:
    """The graph with a length from 1 to 255 for every edge."""
    return with_weights(graph, seed=1)


def load(name: str) -> hw.Graph | None:
    """A generated or a real graph; None, with a printed line, if the file is missing."""
    return GRAPHS[name]() if name in GRAPHS else real_graphs([name], weights=False).get(name)


def igraph_distances(graph: hw.Graph) -> Callable[[int], Any]:
    g = graph.to_igraph()
    lengths = g.es["weight"]
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
            times[who].append(1e3 * timed(partial(ask, source), 1 if who == "igraph" else ROUNDS)[0])
    middle = {who: statistics.median(taken) for who, taken in times.items()}
    row = {"graph": name, "arcs": graph.m, **{f"{who} ms": taken for who, taken in middle.items()}}
    row |= {f"times faster than {who}": middle[who] / middle["hopwave"] for who in ("SciPy", "igraph")}
    return tell(row)


def main() -> None:
    options = command_line(__doc__, {"graphs": NAMES}, sources=5)
    before = os.getloadavg()[0]
    rows = []
    for name in options.graphs:
        if (graph := load(name)) is not None:
            rows.append(measure(name, with_lengths(graph), options.sources))
    if not rows:
        raise SystemExit("none of the graphs is there; nothing was measured")
    about = {"load before": round(before, 1), "load after": round(os.getloadavg()[0], 1)}
    busy = before > len(os.sched_getaffinity(0))
    publish("cpu-sssp", "Shortest paths with lengths, on the CPU", rows, NOTE + BUSY * busy, about)


if __name__ == "__main__":
    main()
