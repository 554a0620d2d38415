"""Tables of distances and accessibility of roads, compared in one run with SciPy, igraph and pandana.

    python -m benchmarks.cpu.tables [--data ../shared/data] [--size 1000] [--device cpu] [--note "…"]

Weights are n/7 for n from 1 to 999, the same in every run. SciPy and igraph search from some of the sources, hopwave
adds up values for some vertices, and their times are extrapolated. pandana adds up for all vertices of the smaller
graph with --pandana, its contraction hierarchies included; that takes minutes. Of igraph and pandana, those that are
not installed are left out. Distances are compared with SciPy's to the last bit before anything is published.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import DATA, hw, publish, real_graphs, timed

SAMPLE = 20  # sources of SciPy and igraph


def with_lengths(graph: hw.Graph) -> hw.Graph:
    """The graph with weights: sevenths, so that sums of them are rounded."""
    source, target = graph.without_weights().relabel(None).to_edges()
    drawn = np.random.default_rng(1).integers(1, 1000, len(source)) / 7
    return hw.Graph.from_edges(source, target, graph.n, weights=drawn)


def measured(name: str, graph: hw.Graph, size: int, device: str, pandana: bool) -> dict[str, Any]:
    """One row: a table of size × size, and the sums within a limit that holds about a tenth of the vertices."""
    from scipy.sparse.csgraph import dijkstra

    rng = np.random.default_rng(2)
    sources, targets = rng.integers(0, graph.n, size), rng.permutation(graph.n)[:size]
    ask: dict[str, Any] = {"device": device, "progress": False}
    matrix = graph.to_scipy()
    hw.distance_table(graph, sources[:2], targets, **ask)  # compile
    ours, table = timed(lambda: hw.distance_table(graph, sources, targets, **ask).values, 3)
    scipys, rows = timed(lambda: dijkstra(matrix, indices=sources[:SAMPLE]), 1)
    if not (table[:SAMPLE] == rows[:, targets]).all():
        raise SystemExit(f"{name}: distances are not SciPy's")
    igraphs = igraph_seconds(graph, sources, targets)
    limit = float(np.median(np.quantile(rows, 0.1, axis=1)))
    values = rng.integers(0, 9, graph.n).astype(float)
    some = np.arange(graph.n) if device == "cuda" else np.sort(rng.choice(graph.n, 10 * size, replace=False))
    hw.accessibility(graph, values, limit, sources=some[:2], **ask)
    sums, reach = timed(lambda: hw.accessibility(graph, values, limit, sources=some, **ask).sums[:, 0, 0], 1)
    if some[0] == 0 and (reach[0] != values[dijkstra(matrix, indices=[0], limit=limit)[0] < np.inf].sum()):
        raise SystemExit(f"{name}: sums are not those over SciPy's distances")
    scipy_all, igraph_all = scipys / SAMPLE * size, igraphs and igraphs / SAMPLE * size
    row = {
        "graph": name, "n": graph.n, "device": device, "table": f"{size:,} × {size:,}", "hopwave s": ours,
        "SciPy s *": scipy_all, "igraph s *": igraph_all, "times SciPy": scipy_all / ours,
        "times igraph": igraph_all and igraph_all / ours, "limit": limit,
        "accessibility of all, hopwave s *": sums / len(some) * graph.n,
        "pandana s": pandanas(graph, values, limit) if pandana and graph.n < 200_000 else None,
    }  # fmt: skip
    print(row, flush=True)
    return row


def igraph_seconds(graph: hw.Graph, sources: Any, targets: Any) -> float | None:
    """The time of igraph for some sources; None if it is not installed."""
    try:
        import igraph
    except ImportError:
        return None
    edges = graph.edges()
    other = igraph.Graph(n=graph.n, edges=np.stack([edges.source, edges.target], 1))
    lengths = edges.weights.tolist()
    return timed(lambda: other.distances(sources[:SAMPLE].tolist(), targets.tolist(), lengths), 1)[0]


def pandanas(graph: hw.Graph, values: Any, limit: float) -> float | None:
    """The time of pandana's aggregate over all nodes with its preparation; None if it is not installed."""
    try:
        import pandana
        import pandas as pd
    except ImportError:
        return None
    edges = graph.edges()
    nodes = pd.Series(np.arange(graph.n, dtype=float))
    frame = pd.DataFrame({"weight": edges.weights})
    source, target = pd.Series(edges.source), pd.Series(edges.target)

    def run() -> Any:
        network = pandana.Network(nodes, nodes, source, target, frame)
        network.set(pd.Series(np.arange(graph.n)), variable=pd.Series(values), name="values")
        return network.aggregate(limit, type="sum", decay="flat", name="values")

    return timed(run, 1)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--pandana", action="store_true", help="also measure pandana")
    parser.add_argument("--name", default="tables", help="the page of benchmarks/results")
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine did")
    options = parser.parse_args()
    graphs = real_graphs(("luxembourg_osm", "osm-netherlands-cities"), options.data, weights=False)
    rows = [
        measured(name, with_lengths(graph), options.size, options.device, options.pandana)
        for name, graph in graphs.items()
    ]
    note = f"{options.note} \\* extrapolated from some sources. With preparation.".strip()
    publish(options.name, "Tables of distances and accessibility", rows, note)


if __name__ == "__main__":
    main()
