"""Betweenness along weights on the CPU, compared in one run with igraph and NetworkX.

    python -m benchmarks.cpu.weighted_betweenness [--note "what else the machine did"]

Uses all sources of the smallest graph, and some of the others. Weights are whole numbers from 1 to 255. Scores are
compared before anything is published. NetworkX takes few sources, because it is slow.

Times are in ms per source: wall time with all cores, as a user waits; and processor time with one thread, which depends
less on other programs on the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks.setting import GRAPHS, agree, command_line, giant_sources, hw, publish, tell, timed, with_weights

ROUNDS = "hopwave: the best of three runs (processor time: of two); igraph and NetworkX: one run."
REASON = (
    "Graphs of a few thousand vertices fit into a cache: a core then settles a vertex in 65 to 100 ns, there and back, "
    "against 190 to 360 ns of igraph, so that two cores are 5 to 7 times as fast; on larger graphs they are 7 to 13 "
    "times as fast. Distances alone (hw.sssp_many, one thread, the three small graphs) take 72 to 76% of a core's "
    "time: if path counts and dependencies cost nothing, two cores would be 6.8 to 7.8 times as fast."
)


# name: how to make the graph, sources for hopwave and igraph (None: all), sources for NetworkX
CASES: dict[str, tuple[Callable[[], hw.Graph], int | None, int]] = {
    "Barabási–Albert 2000": (lambda: hw.generate.barabasi_albert(2000, 5, seed=1), None, 16),
    "Delaunay 2^12": (lambda: hw.generate.delaunay(1 << 12, seed=1), 512, 16),
    "grid 64 x 64": (lambda: hw.generate.grid(64, 64), 512, 16),
    "kronecker 14": (lambda: hw.generate.kronecker(14, 16, seed=1), 64, 2),
    "smallworld 100,000": (GRAPHS["smallworld"], 8, 1),
    "Delaunay 2^18": (GRAPHS["delaunay18"], 8, 1),
    "kronecker 16": (lambda: hw.generate.kronecker(16, 16, seed=1), 16, 1),
}


def measured(name: str, peers: bool) -> dict[str, Any]:
    """Milliseconds per source of all three libraries, and how many times faster hopwave is."""
    import networkx as nx

    make, some, few = CASES[name]
    graph = with_weights(make())
    sources = list(range(graph.n)) if some is None else list(dict.fromkeys(giant_sources(graph, some)))

    def call(threads: int | None = None) -> Any:
        return hw.betweenness_centrality(
            graph, sources=sources, normalized=False, weights=True, progress=False, threads=threads
        )

    call()
    ours, result = timed(call, 3)
    each = 1e3 / len(sources)
    row: dict[str, Any] = {"graph": name, "arcs": graph.m, "sources": len(sources), "hopwave": ours * each}
    if peers:
        g = graph.to_igraph()
        alone = min(processor_time(lambda: call(1)) for _ in range(2))
        scores: list[float] = []
        began = time.perf_counter()
        work = processor_time(
            lambda: scores.extend(
                g.betweenness(sources=sources, targets=None, directed=graph.directed, weights="weight")
            )
        )
        theirs = time.perf_counter() - began
        agree(f"{name}, igraph", result.scores, scores)
        h = graph.to_networkx()
        begin = sources[:few]
        slow, found = timed(lambda: nx.betweenness_centrality_subset(h, begin, list(h), weight="weight"), 1)
        part = hw.betweenness_centrality(graph, sources=begin, normalized=False, weights=True, progress=False)
        agree(f"{name}, NetworkX", part.scores, [found[v] for v in range(graph.n)])
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
    return tell(row)


def processor_time(call: Callable[[], object]) -> float:
    """Seconds of processor time."""
    began = time.process_time()
    call()
    return time.process_time() - began


def main() -> None:
    options = command_line(__doc__, graphs=list(CASES), alone=False, note="")
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
