"""Closeness and diameter along weights on the CPU, compared in one run with SciPy and igraph.

    python -m benchmarks.cpu.many_weighted [--data ../shared/data] [--note "what else the machine did"]

Measures closeness of some vertices, in ms per vertex. The diameter takes hopwave a few searches; the other two search
from every vertex, and their time is extrapolated from the same vertices. Weights are whole numbers from 1 to 255, or
fractions, the same in every run. Answers are compared before anything is published.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import DATA, generate, hw, publish, real_graphs, timed
from hopwave.algorithms import distances

SAMPLE = 32  # vertices whose closeness is computed

KINDS: dict[str, Callable[[Any, int], Any]] = {
    "1 to 255": lambda rng, m: rng.integers(1, 256, m).astype(np.float64),
    "fractions": lambda rng, m: rng.random(m),
}


def with_weights(graph: hw.Graph, kind: str) -> hw.Graph:
    """The largest component, undirected, with a weight on every edge."""
    graph = graph.without_weights().to_undirected().remove_self_loops().largest_component().relabel(None)
    source, target = graph.to_edges()
    drawn = KINDS[kind](np.random.default_rng(5), len(source))
    return hw.Graph.from_edges(source, target, graph.n, weights=drawn)


def searches_of(run: Callable[[], Any]) -> int:
    """The number of searches that a run makes."""
    made, sweep = [], distances.sweep

    def counted(engine: Any, graph: Any, job: Any, *rest: Any) -> Any:
        made.append(len(job.sources) if job.weighted else 0)
        return sweep(engine, graph, job, *rest)

    distances.sweep = counted
    try:
        run()
    finally:
        distances.sweep = sweep
    return sum(made)


def measured(name: str, graph: hw.Graph, kind: str) -> dict[str, Any]:
    """One row: the times of all three libraries, and how many times faster hopwave is."""
    import igraph
    from scipy.sparse.csgraph import dijkstra

    graph = with_weights(graph, kind)
    some = np.random.default_rng(1).choice(graph.n, SAMPLE, replace=False).tolist()
    matrix, edges = graph.to_scipy(), graph.edges()
    other = igraph.Graph(n=graph.n, edges=np.stack([edges.source, edges.target], 1))
    weights = edges.weights.tolist()
    hw.closeness_centrality(graph, some, weights=True)  # compile
    ours, scores = timed(lambda: hw.closeness_centrality(graph, some, weights=True, progress=False).scores, 3)
    scipys, rows = timed(lambda: dijkstra(matrix, indices=some), 1)
    igraphs, theirs = timed(lambda: other.closeness(some, weights=weights, normalized=True), 1)
    compare(name, scores, (graph.n - 1) / rows.sum(1))
    compare(name, scores, theirs)
    compare(name, hw.eccentricity(graph, some, weights=True).scores, rows.max(1))
    extent, value = timed(lambda: hw.diameter(graph, weights=True, progress=False), 1)
    if not rows.max() <= value <= 2 * rows.max(1).min() * (1 + 1e-9):
        raise SystemExit(f"{name}: {value} is not between the bounds on the diameter")
    row = {
        "graph": name,
        "weights": kind,
        "n": graph.n,
        "arcs": graph.m,
        "closeness, hopwave ms": ours / SAMPLE * 1e3,
        "SciPy ms": scipys / SAMPLE * 1e3,
        "igraph ms": igraphs / SAMPLE * 1e3,
        "times SciPy": scipys / ours,
        "times igraph": igraphs / ours,
        "diameter, hopwave s": extent,
        "searches": searches_of(lambda: hw.diameter(graph, weights=True, progress=False)),
        "SciPy s, all vertices *": scipys / SAMPLE * graph.n,
        "igraph s, all vertices *": igraphs / SAMPLE * graph.n,
    }
    print(row, flush=True)
    return row


def compare(name: str, ours: Any, theirs: Any) -> None:
    """End the run if an answer differs."""
    if not np.allclose(ours, theirs, rtol=1e-11, atol=0):
        raise SystemExit(f"{name}: hopwave and its peer disagree")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine did")
    options = parser.parse_args()
    graphs = real_graphs(("luxembourg_osm", "delaunay_n16", "email-Enron"), options.data, weights=False)
    graphs["kronecker 14"] = generate.kronecker(14, 16, seed=1)
    rows = [measured(name, graph, kind) for name, graph in graphs.items() for kind in KINDS]
    note = f"{options.note} \\* extrapolated from {SAMPLE} vertices.".strip()
    publish("cpu-many-weighted", "Closeness and diameter along weights, on the CPU", rows, note)


if __name__ == "__main__":
    main()
