"""The k shortest simple paths, compared in one run with NetworkX, igraph and SciPy.

    python -m benchmarks.cpu.k_paths [--scales 12 20] [--limit 120] [--paths 128] [--pairs 3] [--note "…"]

Kronecker graphs of 16 edges per vertex with weights n/7 for n from 1 to 999, the same in every run; pairs of vertices
of the giant component. The others run in processes of their own, which are ended after --limit seconds, preparation
and all pairs together; SciPy searches the whole graph for every spur. Lengths are compared before anything is
published. A time is the median over the pairs, of one call each after a call that compiles.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.cpu.tables import with_lengths
from benchmarks.setting import giant_sources, hw, publish, timed

Ask = Callable[[int, int], list[float]]


def by_scipy(graph: hw.Graph, k: int) -> Ask:
    """The lengths of the k shortest paths."""
    from scipy.sparse.csgraph import yen

    matrix = graph.to_scipy()
    return lambda s, t: yen(matrix, s, t, k).tolist()


def by_networkx(graph: hw.Graph, k: int) -> Ask:
    """The same."""
    import networkx as nx

    g = graph.to_networkx()
    return lambda s, t: [
        nx.path_weight(g, path, "weight") for path in islice(nx.shortest_simple_paths(g, s, t, "weight"), k)
    ]


def by_igraph(graph: hw.Graph, k: int) -> Ask:
    """The same."""
    import igraph

    edges = graph.edges()
    other, weights = igraph.Graph(n=graph.n, edges=np.stack([edges.source, edges.target], 1)), edges.weights
    return lambda s, t: [
        float(weights[path].sum())
        for path in other.get_k_shortest_paths(s, t, k=k, weights=weights.tolist(), output="epath")
    ]


PEERS = {"SciPy": by_scipy, "NetworkX": by_networkx, "igraph": by_igraph}


def within(
    limit: float, prepare: Callable[[hw.Graph, int], Ask], graph: hw.Graph, k: int, pairs: list[Any]
) -> list[tuple[float, list[float]]]:
    """(seconds, lengths) of each pair, by a process of its own; of fewer if it did not end in time."""
    context = multiprocessing.get_context("fork")
    mine, other = context.Pipe(duplex=False)

    def work() -> None:
        ask = prepare(graph, k)
        for s, t in pairs:
            other.send(timed(lambda s=s, t=t: ask(s, t), 1))

    process, found, until = context.Process(target=work), [], time.perf_counter() + limit
    process.start()
    other.close()
    try:
        while len(found) < len(pairs) and mine.poll(max(0.0, until - time.perf_counter())):
            found.append(mine.recv())
    except EOFError:  # it is not installed, or was ended
        pass
    process.kill()
    process.join()
    return found


def measured(scale: int, k: int, pairs: int, limit: float) -> dict[str, Any]:
    """One row: the median time of each library."""
    graph = with_lengths(hw.generate.kronecker(scale, 16, seed=1))
    chosen = np.array(giant_sources(graph, 2 * pairs)).reshape(-1, 2).tolist()
    hw.k_shortest_paths(graph, *chosen[0], 2, device="cpu")
    ours = [timed(lambda s=s, t=t: hw.k_shortest_paths(graph, s, t, k, device="cpu"), 1) for s, t in chosen]
    row: dict[str, Any] = {"graph": f"kron{scale}", "n": graph.n, "m": graph.m, "paths": k}
    row["hopwave s"] = float(np.median([seconds for seconds, _ in ours]))
    for name, prepare in PEERS.items():
        theirs = within(limit, prepare, graph, k, chosen)
        for (s, t), (_, found), (_, lengths) in zip(chosen, ours, theirs, strict=False):
            if not np.allclose(sorted(lengths), [one for one, _ in found], rtol=1e-12):
                raise SystemExit(f"kron{scale}, {s} to {t}: {name} has other lengths")
        ended = len(theirs) == pairs
        row[f"{name} s"] = float(np.median([seconds for seconds, _ in theirs])) if ended else f"not in {limit:g}"
        row[f"times {name}"] = row[f"{name} s"] / row["hopwave s"] if ended else None
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", type=int, nargs="+", default=[12, 20])
    parser.add_argument("--limit", type=float, default=120, help="seconds for each of the others on each graph")
    parser.add_argument("--paths", type=int, default=128)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine did")
    options = parser.parse_args()
    rows = [measured(scale, options.paths, options.pairs, options.limit) for scale in options.scales]
    note = f"{options.note} Median over {options.pairs} pairs. The others were ended after {options.limit:g} s on a "
    note += "graph, with preparation and all pairs: SciPy searches the whole graph for every spur."
    publish("k-paths", "The k shortest simple paths", rows, note.strip())


if __name__ == "__main__":
    main()
