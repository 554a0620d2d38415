"""Closeness and diameter along weights on the CPU, compared in one run with SciPy and igraph.

    python -m benchmarks.cpu.many_weighted [--note "what else the machine did"]

Measures closeness of some vertices, in ms per vertex. The diameter takes hopwave a few searches; the other two search
from every vertex, and their time is extrapolated from the same vertices. Weights are whole numbers from 1 to 255, or
fractions, the same in every run. Answers are compared before anything is published.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.setting import WEIGHTS, agree, command_line, hw, publish, real_graphs, tell, timed, with_weights
from hopwave.algorithms import distances

SAMPLE = 32  # vertices whose closeness is computed


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
    from scipy.sparse.csgraph import dijkstra

    graph = with_weights(graph, kind)
    some = np.random.default_rng(1).choice(graph.n, SAMPLE, replace=False).tolist()
    matrix, other = graph.to_scipy(), graph.to_igraph()
    weights = other.es["weight"]
    hw.closeness_centrality(graph, some, weights=True)  # compile
    ours, scores = timed(lambda: hw.closeness_centrality(graph, some, weights=True, progress=False).scores, 3)
    scipys, rows = timed(lambda: dijkstra(matrix, indices=some), 1)
    igraphs, theirs = timed(lambda: other.closeness(some, weights=weights, normalized=True), 1)
    agree(f"{name}, SciPy", scores, (graph.n - 1) / rows.sum(1), 1e-11)
    agree(f"{name}, igraph", scores, theirs, 1e-11)
    agree(f"{name}, SciPy", hw.eccentricity(graph, some, weights=True).scores, rows.max(1), 1e-11)
    extent, value = timed(lambda: hw.diameter(graph, weights=True, progress=False), 1)
    if not rows.max() <= value <= 2 * rows.max(1).min() * (1 + 1e-9):
        raise SystemExit(f"{name}: {value} is not between the bounds on the diameter")
    return tell(
        {
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
    )


def main() -> None:
    options = command_line(__doc__, note="")
    graphs = real_graphs(("luxembourg_osm", "delaunay_n16", "email-Enron"), weights=False)
    graphs["kronecker 14"] = hw.generate.kronecker(14, 16, seed=1)
    rows = []
    for name, graph in graphs.items():
        plain = graph.to_undirected().remove_self_loops().largest_component().relabel(None)
        rows += [measured(name, plain, kind) for kind in WEIGHTS]
    note = f"{options.note} \\* extrapolated from {SAMPLE} vertices.".strip()
    publish("cpu-many-weighted", "Closeness and diameter along weights, on the CPU", rows, note)


if __name__ == "__main__":
    main()
