"""Tables of distances and accessibility of roads: one run with SciPy, igraph, NetworKit and pandana, and a GPU's times.

    python -m benchmarks.cpu.tables [--size 1000] [--pandana 600] [--note "…"]
    python -m benchmarks.cpu.tables --device cuda --name tables-h200

Weights are n/7 for n from 1 to 999, the same in every run. The limit of accessibility holds about a tenth of the
vertices. Times of all vertices are extrapolated from some of them where a star says so; what a library prepares from
arrays of edges is counted, once, but for SciPy's matrix. SciPy, igraph and NetworKit have no sums: the rows are of
distances within the limit (SciPy), or of all distances (igraph, NetworKit), which NumPy adds up. pandana runs on the
smaller graph with --pandana, in a process that is ended after that many seconds. Of igraph, NetworKit and pandana,
those that are not installed are left out. The nearest facility of every vertex is one search of SciPy's too.
Distances are compared with SciPy's to the last bit, and sums with those over them, before anything is published.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.setting import command_line, gpu, hw, publish, real_graphs, timed

CORES = len(os.sched_getaffinity(0))
ALL, TWO = f"{CORES} cores s", "2 threads s *"
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

    def nearest(self, facilities: Any) -> tuple[float, Any]:
        """Seconds of SciPy, and the distances of all vertices from the nearest facility."""
        from scipy.sparse.csgraph import dijkstra

        return timed(lambda: dijkstra(self.matrix, indices=facilities, min_only=True), 3)

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

    def pandana(self, values: Any, bound: float, limit: float) -> Any:
        """Seconds of the sums over all vertices with the preparation; a word if it did not end within the limit."""
        context = multiprocessing.get_context("spawn")  # OpenMP does not work in a fork
        mine, other = context.Pipe(duplex=False)
        edges = self.edges.source, self.edges.target, self.edges.weights
        process = context.Process(target=sums_by_pandana, args=(other, self.graph.n, edges, values, bound))
        process.start()
        other.close()
        try:
            found = mine.recv() if mine.poll(limit) else f"not in {limit:g}"
        except EOFError:  # it is not installed
            found = None
        process.kill()
        process.join()
        return found


def sums_by_pandana(to: Any, n: int, edges: Any, values: Any, bound: float) -> None:
    """Send the seconds of the sums over all vertices, with the preparation."""
    import pandana
    import pandas as pd

    nodes, frame = pd.Series(np.arange(n, dtype=float)), pd.DataFrame({"weight": edges[2]})

    def run() -> Any:
        network = pandana.Network(nodes, nodes, pd.Series(edges[0]), pd.Series(edges[1]), frame)
        network.set(pd.Series(np.arange(n)), variable=pd.Series(values), name="values")
        return network.aggregate(bound, type="sum", decay="flat", name="values")

    to.send(timed(run, 1)[0])


def measured(name: str, graph: hw.Graph, size: int, device: str, reached_from: int, pandana: float) -> list[Any]:
    """The rows of one graph: a table of size × size, the sums within a limit, on a GPU a table of LARGE × LARGE."""
    rng = np.random.default_rng(2)
    sources, targets = rng.integers(0, graph.n, size), rng.permutation(graph.n)[:size]
    peers, rows, n = Peers(graph, sources), [], graph.n
    per_source, all_rows = peers.scipy()
    limit = float(np.median(np.quantile(all_rows, 0.1, axis=1)))
    values = rng.integers(0, 9, n).astype(float)
    limited, within = peers.scipy(limit)
    share = np.isfinite(within).mean()

    def ours(ask: Callable[..., Any], some: Any, right: Any, place: str, rounds: int = 1, threads: Any = None) -> float:
        """Seconds from the arrays of edges to the answer, after a call that compiles; the first rows must be right."""
        arcs = graph.edges()

        def asked(some: Any) -> Any:
            return ask(hw.Graph.from_edges(arcs.source, arcs.target, n, weights=arcs.weights), some, place, threads)

        asked(some[:2])
        seconds, answer = timed(lambda: asked(some), rounds)
        if right is not None and not (answer[: len(right)] == right).all():
            raise SystemExit(f"{name}: {place} has other numbers than SciPy")
        return seconds

    def on_cores(ask: Callable[..., Any], some: Any, right: Any, count: int) -> dict[str, float]:
        """Seconds of `count` sources by all cores and, where there are more than two, by two threads from a few."""
        found = {ALL: ours(ask, some, right, "cpu") / len(some) * count}
        if CORES > 2:
            few = some[:200]
            found[TWO] = ours(ask, few, right, "cpu", 1, 2) / len(few) * count
        return found

    def add(question: str, found: dict[str, float], scipys: float | None, others: dict[str, Any]) -> None:
        row = {"graph": f"{name} ({n:,} vertices)", "question": question}
        row |= {key: found.get(key) for key in ("GPU s", ALL, TWO) if key in found or device == "cuda"}
        row |= {"SciPy s *": scipys, "cores, times SciPy": scipys and scipys / found[ALL], **others}
        rows.append(row)
        print(row, flush=True)

    def of_peers(count: int, chosen: Any, pandanas: Any) -> dict[str, Any]:
        igraphs, networkits = peers.igraph(chosen), peers.networkit()
        made = {"igraph s *": igraphs and igraphs[0] + count * igraphs[1]}
        return made | {"NetworKit s *": networkits and networkits[0] + count * networkits[1], "pandana s": pandanas}

    def table(graph: hw.Graph, some: Any, place: str, threads: Any) -> Any:
        return hw.distance_table(graph, some, targets, device=place, progress=False, threads=threads).values

    def reach(graph: hw.Graph, some: Any, place: str, threads: Any) -> Any:
        found = hw.accessibility(graph, values, limit, sources=some, device=place, progress=False, threads=threads)
        return found.sums[:, 0, 0]

    def nearest(graph: hw.Graph, some: Any, place: str, threads: Any) -> Any:
        return hw.nearest_of(graph, some).distances[:, 0]

    right = all_rows[:, targets]
    found = on_cores(table, sources, right, size)
    if device == "cuda":
        found["GPU s"] = ours(table, sources, right, "cuda", 3)
    add(f"table, {size:,} × {size:,}", found, per_source * size, of_peers(size, targets, None))

    some = rng.choice(n, min(n, reached_from), replace=False)
    some[:SAMPLE] = peers.some
    right = np.where(np.isfinite(within), values, 0.0).sum(1)
    found = on_cores(reach, some, right, n)
    if device == "cuda":
        found["GPU s"] = ours(reach, np.concatenate([peers.some, np.arange(SAMPLE, n)]), right, "cuda", 2)
    star = "" if len(some) == n else f" (cores: from {len(some):,} \\*)"
    about = f"accessibility of all vertices{star}, {share:.0%} of them within the limit"
    pandanas = peers.pandana(values, limit, pandana) if pandana and n < 200_000 else None
    add(about, found, limited * n, of_peers(n, None, pandanas))

    some = np.sort(rng.choice(n, size, replace=False))
    scipys, right = peers.nearest(some)
    add(f"nearest of {size:,} facilities, without \\*", {ALL: ours(nearest, some, right, "cpu", 3)}, scipys, {})

    if device == "cuda" and n > 200_000:
        sources, targets = rng.integers(0, n, LARGE), rng.permutation(n)[:LARGE]
        right = peers.scipy()[1][:, targets]
        sources[:SAMPLE] = peers.some
        seconds = {"GPU s": ours(table, sources, right, "cuda", 3)}
        add(f"table, {LARGE:,} × {LARGE:,}, to the host", seconds, None, {})
    return rows


def main() -> None:
    options = command_line(__doc__, size=1000, reach=10_000, device="cpu", pandana=0.0, name="tables", note="")
    graphs = real_graphs(("luxembourg_osm", "osm-netherlands-cities"), weights=False)
    if not graphs:
        graphs = {"grid": hw.generate.grid(60, 60)}
    rows = [
        row
        for name, graph in graphs.items()
        for row in measured(name, with_lengths(graph), options.size, options.device, options.reach, options.pandana)
    ]
    note = f"{options.note} \\* extrapolated from some sources. With preparation.".strip()
    where = f" on one GPU and {CORES} cores" if options.device == "cuda" else f" on {CORES} cores"
    title = f"Tables of distances and accessibility{where}"
    publish(options.name, title, rows, note, gpu(options.device))


if __name__ == "__main__":
    main()
