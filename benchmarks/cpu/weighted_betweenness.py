"""Betweenness along weights on the CPU, compared in one run with igraph and NetworkX.

    python -m benchmarks.cpu.weighted_betweenness [--note "what else the machine did"]

Uses all sources of the smallest graph, and some of the others. Weights are whole numbers from 1 to 255. Scores are
compared before anything is published. NetworkX takes few sources, because it is slow.

Times are in ms per source: wall time with all cores, as a user waits; and processor time with one thread, which depends
less on other programs on the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.setting import GRAPHS, generate, giant_sources, hw, publish, timed

LARGEST_WEIGHT = 255
ROUNDS = "hopwave: the best of three runs (processor time: of two); igraph and NetworkX: one run."
REASON = (
    "Graphs of a few thousand vertices fit into a cache: a core then settles a vertex in 65 to 100 ns, there and back, "
    "against 190 to 360 ns of igraph, so that two cores are 5 to 7 times as fast; on larger graphs they are 7 to 13 "
    "times as fast. Distances alone (hw.sssp_many, one thread, the three small graphs) take 72 to 76% of a core's "
    "time: if path counts and dependencies cost nothing, two cores would be 6.8 to 7.8 times as fast."
)


def whole(graph: hw.Graph, seed: int = 5) -> hw.Graph:
    """The graph with a whole weight from 1 to 255 on every edge."""
    source, target = graph.to_edges()
    drawn = np.random.default_rng(seed).integers(1, LARGEST_WEIGHT + 1, len(source)).astype(np.float64)
    return hw.Graph.from_edges(source, target, graph.n, graph.directed, weights=drawn)


# name: how to make the graph, sources for hopwave and igraph (None: all), sources for NetworkX
CASES: dict[str, tuple[Callable[[], hw.Graph], int | None, int]] = {
    "Barabási–Albert 2000": (lambda: generate.barabasi_albert(2000, 5, seed=1), None, 16),
    "Delaunay 2^12": (lambda: generate.delaunay(1 << 12, seed=1), 512, 16),
    "grid 64 x 64": (lambda: generate.grid(64, 64), 512, 16),
    "kronecker 14": (lambda: generate.kronecker(14, 16, seed=1), 64, 2),
    "smallworld 100,000": (GRAPHS["smallworld"], 8, 1),
    "Delaunay 2^18": (GRAPHS["delaunay18"], 8, 1),
    "kronecker 16": (lambda: generate.kronecker(16, 16, seed=1), 16, 1),
}


def measured(name: str, peers: bool) -> dict[str, Any]:
    """Milliseconds per source of all three libraries, and how many times faster hopwave is."""
    import igraph
    import networkx as nx

    make, some, few = CASES[name]
    graph = whole(make())
    sources = list(range(graph.n)) if some is None else list(dict.fromkeys(giant_sources(graph, some)))
    source, target = graph.to_edges()
    weights = graph.edges().weights.tolist()

    def call(threads: int | None = None) -> Any:
        return hw.betweenness_centrality(
            graph, sources=sources, normalized=False, weights=True, progress=False, threads=threads
        )

    call()
    ours, result = timed(call, 3)
    each = 1e3 / len(sources)
    row: dict[str, Any] = {"graph": name, "arcs": graph.m, "sources": len(sources), "hopwave": ours * each}
    if peers:
        g = igraph.Graph(n=graph.n, edges=np.stack([source, target], 1), directed=graph.directed)
        alone = min(processor_time(lambda: call(1)) for _ in range(2))
        scores: list[float] = []
        began = time.perf_counter()
        work = processor_time(
            lambda: scores.extend(
                g.betweenness(sources=sources, targets=None, directed=graph.directed, weights=weights)
            )
        )
        theirs = time.perf_counter() - began
        compare(name, "igraph", result.scores, np.array(scores))
        h = nx.DiGraph() if graph.directed else nx.Graph()
        h.add_nodes_from(range(graph.n))
        h.add_weighted_edges_from(zip(source.tolist(), target.tolist(), weights, strict=True))
        begin = sources[:few]
        slow, found = timed(lambda: nx.betweenness_centrality_subset(h, begin, list(h), weight="weight"), 1)
        part = hw.betweenness_centrality(graph, sources=begin, normalized=False, weights=True, progress=False)
        compare(name, "NetworkX", part.scores, np.array([found[v] for v in range(graph.n)]))
        row |= {
            "igraph": theirs * each,
            "NetworkX": slow / len(begin) * 1e3,
            "times igraph": theirs / ours,
            "times NetworkX": slow / len(begin) / (ours / len(sources)),
            "processor: hopwave": alone * each,
            "processor: igraph": work * each,
            "times igraph on one core": work / alone,
        }
    row["certificate"] = result.certificate.error
    print(row, flush=True)
    return row


def processor_time(call: Callable[[], object]) -> float:
    """Seconds of processor time."""
    began = time.process_time()
    call()
    return time.process_time() - began


def compare(name: str, peer: str, ours: Any, theirs: Any) -> None:
    """End the run if a score differs."""
    difference = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
    if not difference < 1e-9:
        raise SystemExit(f"{name}: hopwave and {peer} disagree by {difference:g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--alone", action="store_true", help="time hopwave only, and write nothing")
    parser.add_argument("--note", default="", help="a sentence for the page, such as what else the machine did")
    options = parser.parse_args()
    rows = [measured(name, not options.alone) for name in options.graphs]
    if not options.alone:
        publish(
            "cpu-weighted-betweenness",
            "Betweenness along weights on the CPU, ms per source",
            rows,
            f"{ROUNDS} {REASON} {options.note}",
        )


if __name__ == "__main__":
    main()
