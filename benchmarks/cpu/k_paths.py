"""The k shortest simple paths, compared in one run with NetworkX, igraph and SciPy.

    python -m benchmarks.cpu.k_paths [--scales 12 20] [--limit 120] [--device cuda] [--pairs 3] [--note "…"]

Kronecker graphs of 16 edges per vertex with weights n/7 for n from 1 to 999, the same in every run; pairs of vertices
of the giant component. First comes hopwave, then the others, all at once, each in a process of its own on one core.
A process is ended after --limit seconds, preparation and all pairs together; SciPy searches the whole graph for every
spur. Lengths are compared before anything is published. A time is the median over the pairs, of one call for each,
after a call that compiles; the others' medians are over the pairs that they finished.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.cpu.tables import with_lengths
from benchmarks.setting import command_line, giant_sources, gpu, hw, publish, timed

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
    other, weights = graph.to_igraph(), graph.edges().weights
    return lambda s, t: [
        float(weights[path].sum())
        for path in other.get_k_shortest_paths(s, t, k=k, weights=weights.tolist(), output="epath")
    ]


PEERS = {"SciPy": by_scipy, "NetworkX": by_networkx, "igraph": by_igraph}


class Started:
    """(seconds, lengths) of each pair, by a process of its own that has begun."""

    def __init__(self, prepare: Callable[[hw.Graph, int], Ask], graph: hw.Graph, k: int, pairs: list[Any]) -> None:
        context = multiprocessing.get_context("fork")
        self.answers, other = context.Pipe(duplex=False)

        def work() -> None:
            ask = prepare(graph, k)
            for s, t in pairs:
                other.send(timed(lambda: ask(s, t), 1))  # noqa: B023

        self.count, self.process = len(pairs), context.Process(target=work, daemon=True)
        self.process.start()
        other.close()

    def found(self, until: float) -> list[tuple[float, list[float]]]:
        """What there is of each pair at that time, when the process is ended."""
        found = []
        try:
            while len(found) < self.count and self.answers.poll(max(0.0, until - time.perf_counter())):
                found.append(self.answers.recv())
        except EOFError:  # it is not installed, or was ended
            pass
        self.process.kill()
        self.process.join()
        return found


def measured(scales: list[int], k: int, pairs: int, limit: float, device: str) -> list[dict[str, Any]]:
    """A row per graph: the median time of each library."""
    rows, asked, started = [], [], []
    for scale in scales:
        graph = with_lengths(hw.generate.kronecker(scale, 16, seed=1))
        chosen = np.array(giant_sources(graph, 2 * pairs)).reshape(-1, 2).tolist()
        row: dict[str, Any] = {"graph": f"kron{scale}", "n": graph.n, "m": graph.m, "paths": k}
        found: dict[str, Any] = {}
        for place in ("cpu", *(["cuda"] if device == "cuda" else [])):
            there = graph.to(place)
            hw.k_shortest_paths(there, *chosen[0], 2, device=place)
            found[place] = [timed(lambda: hw.k_shortest_paths(there, s, t, k, device=place), 1) for s, t in chosen]  # noqa: B023
            row[f"hopwave {place} s"] = float(np.median([seconds for seconds, _ in found[place]]))
            print(row, flush=True)
        rows.append(row)
        asked.append((graph, chosen, found["cpu"]))
    for graph, chosen, _ in asked:
        started.append({name: Started(prepare, graph, k, chosen) for name, prepare in PEERS.items()})
    until = time.perf_counter() + limit
    for row, (_, chosen, ours), others in zip(rows, asked, started, strict=True):
        for name, other in others.items():
            theirs = other.found(until)
            for pair, (_, right), (_, lengths) in zip(chosen, ours, theirs, strict=False):
                if not np.allclose(sorted(lengths), [length for length, _ in right], rtol=1e-12):
                    raise SystemExit(f"{row['graph']}, {pair}: {name} has other lengths")
            middle = float(np.median([seconds for seconds, _ in theirs])) if theirs else None
            row[f"{name} s"] = middle or f"not in {limit:g}"
            row[f"times {name}"] = middle and middle / float(np.median([seconds for seconds, _ in ours[: len(theirs)]]))
        print(row, flush=True)
    return rows


def main() -> None:
    options = command_line(__doc__, scales=[12, 20], limit=120.0, paths=128, pairs=3, device="cpu", note="")
    rows = measured(options.scales, options.paths, options.pairs, options.limit, options.device)
    note = f"{options.note} Median over {options.pairs} pairs, or those that ended in time: the others ran at once, a "
    note += (
        f"core each, and were ended after {options.limit:g} s, with preparation. SciPy searches the whole graph for "
    )
    note += "every spur."
    publish("k-paths", "The k shortest simple paths", rows, note.strip(), gpu(options.device))


if __name__ == "__main__":
    main()
