"""The k shortest simple paths, compared in one run with NetworkX, igraph and SciPy.

    python -m benchmarks.cpu.k_paths [--scales 12 20] [--peers 12] [--paths 128] [--pairs 3] [--note "…"]

Kronecker graphs of 16 edges per vertex with weights n/7 for n from 1 to 999, the same in every run; pairs of vertices
of the giant component. The others run on graphs up to --peers alone: SciPy searches the whole graph for every
spur. Lengths are compared before anything is published. A time is the median over the pairs, of one call each after a
call that compiles.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.cpu.tables import with_lengths
from benchmarks.setting import giant_sources, hw, publish, timed


def theirs(graph: hw.Graph, k: int) -> dict[str, Callable[[int, int], list[float]]]:
    """The lengths of the k shortest paths by each library that is installed."""
    from scipy.sparse.csgraph import yen

    edges, matrix, made = graph.edges(), graph.to_scipy(), {}
    made["SciPy s"] = lambda s, t: yen(matrix, s, t, k).tolist()
    try:
        import networkx as nx
    except ImportError:
        pass
    else:
        g = graph.to_networkx()
        made["NetworkX s"] = lambda s, t: [
            nx.path_weight(g, path, "weight") for path in islice(nx.shortest_simple_paths(g, s, t, "weight"), k)
        ]
    try:
        import igraph
    except ImportError:
        return made
    other = igraph.Graph(n=graph.n, edges=np.stack([edges.source, edges.target], 1))
    weights = edges.weights
    made["igraph s"] = lambda s, t: [
        float(weights[path].sum())
        for path in other.get_k_shortest_paths(s, t, k=k, weights=weights.tolist(), output="epath")
    ]
    return made


def measured(scale: int, k: int, pairs: int, peers: bool) -> dict[str, Any]:
    """One row: the median time of each library."""
    graph = with_lengths(hw.generate.kronecker(scale, 16, seed=1))
    chosen = np.array(giant_sources(graph, 2 * pairs)).reshape(-1, 2).tolist()
    hw.k_shortest_paths(graph, *chosen[0], 2, device="cpu")
    others = theirs(graph, k) if peers else {}
    times: dict[str, list[float]] = {"hopwave s": [], **{name: [] for name in others}}
    for s, t in chosen:
        seconds, found = timed(lambda s=s, t=t: hw.k_shortest_paths(graph, s, t, k, device="cpu"), 1)
        times["hopwave s"].append(seconds)
        for name, ask in others.items():
            seconds, lengths = timed(lambda s=s, t=t, ask=ask: ask(s, t), 1)
            times[name].append(seconds)
            if not np.allclose(sorted(lengths), [one for one, _ in found], rtol=1e-12):
                raise SystemExit(f"kron{scale}, {s} to {t}: {name.removesuffix(' s')} has other lengths")
    row = {"graph": f"kron{scale}", "n": graph.n, "m": graph.m, "paths": k}
    row |= {name: float(np.median(found)) for name, found in times.items()}
    row |= {f"times {name.removesuffix(' s')}": row[name] / row["hopwave s"] for name in others}
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", type=int, nargs="+", default=[12, 20])
    parser.add_argument("--peers", type=int, default=12, help="the largest scale on which the others run")
    parser.add_argument("--paths", type=int, default=128)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine did")
    options = parser.parse_args()
    rows = [measured(scale, options.paths, options.pairs, scale <= options.peers) for scale in options.scales]
    note = f"{options.note} Median over {options.pairs} pairs; SciPy searches the whole graph for every spur, so that "
    note += f"the others ran on graphs up to kron{options.peers} alone."
    publish("k-paths", "The k shortest simple paths", rows, note.strip())


if __name__ == "__main__":
    main()
