"""Biconnected components of every data graph, compared in one run with igraph and NetworKit.

    python -m benchmarks.cpu.blocks [--scale 20] [--note "…"]

Every graph of the folder as an undirected one without loops, and a Kronecker graph of that scale (0: none). The others
get the graph before the clock starts. A time is the best of three calls, each on a graph of which nothing is prepared.
The numbers of components are compared before anything is published.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

from benchmarks.setting import command_line, files, hw, publish, real_graphs, tell, timed


def by_igraph(graph: hw.Graph) -> tuple[float, int] | None:
    """Seconds, and how many components; igraph's own list of them is made too."""
    try:
        other = graph.to_igraph()
    except hw.EngineError:
        return None
    seconds, found = timed(other.biconnected_components)
    return seconds, len(found)


def by_networkit(graph: hw.Graph) -> tuple[float, int] | None:
    """Seconds, and how many components."""
    try:
        import networkit
    except ImportError:
        return None
    source, target = graph.to_edges()
    arrays = (np.ones(len(source)), (source.astype(np.int64), target.astype(np.int64)))
    other = networkit.GraphFromCoo(arrays, n=graph.n, directed=False)

    def ask() -> Any:
        found = networkit.components.BiconnectedComponents(other)
        found.run()
        return found

    seconds, found = timed(ask)
    return seconds, found.numberOfComponents()


def measured(name: str, graph: hw.Graph) -> dict[str, Any]:
    """One row."""

    def fresh() -> hw.Graph:
        return hw.Graph.from_csr(graph.indptr, graph.indices, directed=False, check=False)

    hw.biconnected_components(fresh(), device="cpu")
    best = np.inf
    for _ in range(3):
        asked = fresh()
        gc.collect()
        seconds, found = timed(lambda asked=asked: hw.biconnected_components(asked, device="cpu"), 1)
        best = min(best, seconds)
    row: dict[str, Any] = {"graph": name, "vertices": graph.n, "edges": graph.m // 2, "components": found.count}
    row["hopwave ms"] = 1e3 * best
    for peer, ask in (("igraph", by_igraph), ("NetworKit", by_networkit)):
        theirs = ask(graph)
        if theirs is not None and theirs[1] != found.count:
            raise SystemExit(f"{name}: {peer} has {theirs[1]} components, not {found.count}")
        row[f"{peer} ms"] = theirs and 1e3 * theirs[0]
        row[f"times {peer}"] = theirs and theirs[0] / best
    return tell(row)


def main() -> None:
    given = command_line(__doc__, scale=20, note="")
    graphs = real_graphs(files(), directed=False, weights=False)
    rows = [measured(name, graph.remove_self_loops()) for name, graph in graphs.items()]
    if given.scale:
        rows.append(measured(f"kron{given.scale}", hw.generate.kronecker(given.scale, 16, seed=1)))
    publish("cpu-blocks", "Biconnected components", rows, f"Best of three calls. {given.note}".strip())


if __name__ == "__main__":
    main()
