"""Tables of distances and accessibility of roads: one run with SciPy, igraph, NetworKit and pandana, and a GPU's times.

    python -m benchmarks.cpu.tables [--data ../shared/data] [--size 1000] [--device cuda] [--name tables] [--note "…"]

Weights are n/7 for n from 1 to 999, the same in every run. The limit of accessibility holds about a tenth of the
vertices. Times of all vertices are extrapolated from some of them where a star says so; what a library prepares is
counted, once. SciPy, igraph and NetworKit have no sums: the rows are of distances within the limit (SciPy), or of all
distances (igraph, NetworKit), which NumPy adds up. pandana runs on the smaller graph with --pandana. Of igraph,
NetworKit and pandana, those that are not installed are left out. Distances are compared with SciPy's to the last bit,
and sums with those over them, before anything is published.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import DATA, gpu, hw, publish, real_graphs, timed

SAMPLE = 20  # sources of SciPy, igraph and NetworKit
LARGE = 20_000  # rows and columns of the table that is made on a GPU alone


def with_lengths(graph: hw.Graph) -> hw.Graph:
    """The graph with weights: sevenths, so that sums of them are rounded."""
    source, target = graph.without_weights().relabel(None).to_edges()
    drawn = np.random.default_rng(1).integers(1, 1000, len(source)) / 7
    return hw.Graph.from_edges(source, target, graph.n, weights=drawn)


class Peers:
    """The other libraries on one graph: seconds of a question, extrapolated from SAMPLE sources; None without them."""

    def __init__(self, graph: hw.Graph, sources: Any) -> None:
        self.graph, self.edges, self.matrix = graph, graph.edges(), graph.to_scipy()
        self.some = sources[:SAMPLE]

    def scipy(self, limit: float = np.inf) -> tuple[float, Any]:
        """Seconds per source, and the rows."""
        from scipy.sparse.csgraph import dijkstra

        seconds, rows = timed(lambda: dijkstra(self.matrix, indices=self.some, limit=limit), 1)
        return seconds / SAMPLE, rows

    def igraph(self, targets: Any) -> tuple[float, float] | None:
        """Seconds of the preparation, and per source."""
        try:
            import igraph
        except ImportError:
            return None
        began = time.perf_counter()
        edges = np.stack([self.edges.source, self.edges.target], 1)
        other, lengths = igraph.Graph(n=self.graph.n, edges=edges), self.edges.weights.tolist()
        prepared = time.perf_counter() - began
        chosen = None if targets is None else targets.tolist()
        return prepared, timed(lambda: other.distances(self.some.tolist(), chosen, lengths), 1)[0] / SAMPLE

    def networkit(self) -> tuple[float, float] | None:
        """Seconds of the preparation, and per source; it searches from several at once, and has no targets."""
        try:
            import networkit
        except ImportError:
            return None
        began = time.perf_counter()
        triples = (self.edges.weights, (self.edges.source.astype(np.int64), self.edges.target.astype(np.int64)))
        other = networkit.GraphFromCoo(triples, n=self.graph.n, weighted=True, directed=False)
        prepared = time.perf_counter() - began
        return prepared, timed(lambda: networkit.distance.SPSP(other, self.some.tolist()).run(), 1)[0] / SAMPLE

    def pandana(self, values: Any, limit: float) -> float | None:
        """Seconds of the sums over all vertices with the preparation."""
        try:
            import pandana
            import pandas as pd
        except ImportError:
            return None
        nodes = pd.Series(np.arange(self.graph.n, dtype=float))
        frame = pd.DataFrame({"weight": self.edges.weights})
        source, target = pd.Series(self.edges.source), pd.Series(self.edges.target)

        def run() -> Any:
            network = pandana.Network(nodes, nodes, source, target, frame)
            network.set(pd.Series(np.arange(self.graph.n)), variable=pd.Series(values), name="values")
            return network.aggregate(limit, type="sum", decay="flat", name="values")

        return timed(run, 1)[0]


def measured(name: str, graph: hw.Graph, size: int, device: str, reached_from: int, pandana: bool) -> list[Any]:
    """The rows of one graph: a table of size × size, the sums within a limit, on a GPU a table of LARGE × LARGE."""
    rng = np.random.default_rng(2)
    sources, targets = rng.integers(0, graph.n, size), rng.permutation(graph.n)[:size]
    peers, rows, n = Peers(graph, sources), [], graph.n
    per_source, all_rows = peers.scipy()
    limit = float(np.median(np.quantile(all_rows, 0.1, axis=1)))
    values = rng.integers(0, 9, n).astype(float)
    limited, within = peers.scipy(limit)
    share = np.isfinite(within).mean()

    def ours(ask: Callable[..., Any], some: Any, right: Any, places: set[str], rounds: int = 2) -> dict[str, float]:
        """Seconds on each device, after a call that compiles; the first rows must be right."""
        found = {}
        for place in places:
            ask(some[:2], place)
            seconds, answer = timed(lambda place=place: ask(some, place), rounds)
            if right is not None and not (answer[:SAMPLE] == right).all():
                raise SystemExit(f"{name}: {place} has other numbers than SciPy")
            found[place] = seconds
        return found

    def add(question: str, found: dict[str, float], scipys: Any, others: dict[str, Any]) -> None:
        cores = found.get("cpu")
        row = {"graph": f"{name} ({n:,} vertices)", "question": question}
        row |= {"GPU s": found["cuda"]} if device == "cuda" else {}
        row |= {"cores s": cores, "SciPy s *": scipys, **others}
        row |= {"cores, times SciPy": cores and scipys and scipys / cores}
        rows.append(row)
        print(row, flush=True)

    def of_peers(count: int, chosen: Any, pandanas: float | None) -> dict[str, Any]:
        igraphs, networkits = peers.igraph(chosen), peers.networkit()
        made = {"igraph s *": igraphs and igraphs[0] + count * igraphs[1]}
        made |= {"NetworKit s *": networkits and networkits[0] + count * networkits[1], "pandana s": pandanas}
        return {key: made[key] for key in made if made[key] is not None or device == "cpu"}

    def table(some: Any, place: str) -> Any:
        return hw.distance_table(graph, some, targets, device=place, progress=False).values

    def reach(some: Any, place: str) -> Any:
        return hw.accessibility(graph, values, limit, sources=some, device=place, progress=False).sums[:, 0, 0]

    found = ours(table, sources, all_rows[:, targets], {"cpu", device})
    add(f"table, {size:,} × {size:,}", found, per_source * size, of_peers(size, targets, None))

    some = rng.choice(n, min(n, reached_from), replace=False)
    some[:SAMPLE] = peers.some
    right = np.where(np.isfinite(within), values, 0.0).sum(1)
    found = {"cpu": ours(reach, some, right, {"cpu"}, 1)["cpu"] / len(some) * n}
    if device == "cuda":
        ours(reach, some, right, {"cuda"}, 1)
        found |= ours(reach, np.arange(n), None, {"cuda"})
    star = "" if len(some) == n else " \\*" if device == "cpu" else f" (cores: from {len(some):,} \\*)"
    about = f"accessibility of all vertices{star}, {share:.0%} of them within the limit"
    pandanas = peers.pandana(values, limit) if pandana and n < 200_000 else None
    add(about, found, limited * n, of_peers(n, None, pandanas))

    if device == "cuda" and n > 200_000:
        sources, targets = rng.integers(0, n, LARGE), rng.permutation(n)[:LARGE]
        seconds = {"cuda": timed(lambda: table(sources, "cuda"), 3)[0]}
        add(f"table, {LARGE:,} × {LARGE:,}, to the host", seconds, None, of_peers(0, targets, None))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--reach", type=int, default=10_000, help="vertices whose sums are timed on the CPU")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="cuda: a GPU beside the CPU")
    parser.add_argument("--pandana", action="store_true", help="also measure pandana")
    parser.add_argument("--name", default="tables", help="the page of benchmarks/results")
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine did")
    options = parser.parse_args()
    graphs = real_graphs(("luxembourg_osm", "osm-netherlands-cities"), options.data, weights=False)
    if not graphs:
        graphs = {"grid": hw.generate.grid(60, 60)}
    rows = [
        row
        for name, graph in graphs.items()
        for row in measured(name, with_lengths(graph), options.size, options.device, options.reach, options.pandana)
    ]
    note = f"{options.note} \\* extrapolated from some sources. With preparation.".strip()
    publish(options.name, "Tables of distances and accessibility", rows, note, gpu(options.device))


if __name__ == "__main__":
    main()
