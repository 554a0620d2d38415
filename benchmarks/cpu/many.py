"""Closeness of all vertices, diameter and mean distance on the CPU, compared in one run with igraph and NetworkX.

    python -m benchmarks.cpu.many [--whole] [--name cpu-many-16]

Answers are compared before anything is published. The other libraries' time is a sum over sources: it is measured on
some sources and extrapolated, unless `--whole` lets igraph compute everything (some minutes). email-Enron is read from
HOPWAVE_DATA, or from shared/data beside the repository; without it, a Kronecker graph takes its place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.setting import agree, command_line, generate, hw, publish, real_graphs, tell, timed

SAMPLE = 12  # sources on which NetworkX is timed
IGRAPH_SAMPLE = 400
NOTE = "NetworkX's times, and igraph's without `--whole`, are extrapolated from a sample of sources."


def row(what: str, ours: float, igraphs: float | None, networkxs: float) -> dict[str, Any]:
    return tell(
        {
            "what": what,
            "hopwave s": ours,
            "igraph s": igraphs,
            "NetworkX s": networkxs,
            "times faster than igraph": None if igraphs is None else igraphs / ours,
            "times faster than NetworkX": networkxs / ours,
        }
    )


def closeness(name: str, graph: hw.Graph, whole: bool) -> dict[str, Any]:
    import networkx as nx

    g = graph.to_networkx()
    some = np.random.default_rng(1).integers(0, graph.n, SAMPLE).tolist()
    slow, theirs = timed(lambda: [nx.closeness_centrality(g, v) for v in some], 1)
    ours, scores = timed(lambda: hw.closeness_centrality(graph, progress=False).scores)
    agree(name, scores[some], theirs)
    other = graph.to_igraph()
    asked = list(range(graph.n)) if whole else np.random.default_rng(2).integers(0, graph.n, IGRAPH_SAMPLE).tolist()
    peer, values = timed(lambda: other.closeness(asked, normalized=True), 1)
    agree(name, hw.closeness_centrality(graph, asked, wf_improved=False, progress=False).scores, np.nan_to_num(values))
    return row(f"closeness, {name}", ours, peer / len(asked) * graph.n, slow / SAMPLE * graph.n)


def extents(name: str, graph: hw.Graph, whole: bool) -> list[dict[str, Any]]:
    import networkx as nx

    graph = graph.to_undirected().largest_component().relabel(None)
    g = graph.to_networkx()
    some = np.random.default_rng(1).integers(0, graph.n, SAMPLE).tolist()
    slow, lengths = timed(lambda: [nx.single_source_shortest_path_length(g, v) for v in some], 1)
    agree(name, hw.eccentricity(graph, some).scores, [max(one.values()) for one in lengths])
    pairs = hw.distance_histogram(graph, some)
    agree(name, pairs.mean(), np.mean([d for one in lengths for d in one.values() if d]))
    other = graph.to_igraph()
    rows = []
    for what, ask, peer in (
        ("diameter", hw.diameter, lambda: other.diameter(directed=False)),
        ("average path length", hw.average_shortest_path_length, lambda: other.average_path_length(directed=False)),
    ):
        ours, value = timed(lambda ask=ask: ask(graph, progress=False))
        theirs = None
        if whole:
            theirs, right = timed(peer, 1)
            agree(f"{name}, {what}", value, right)
        rows.append(row(f"{what}, largest component of {name}", ours, theirs, slow / SAMPLE * graph.n))
    return rows


def main() -> None:
    options = command_line(__doc__, whole=False, name="cpu-many")
    graphs = real_graphs(["email-Enron"]) or {"kronecker 13": generate.kronecker(13, 16, seed=1)}
    hw.closeness_centrality(hw.generate.kronecker(9), progress=False)  # compile
    rows = []
    for name, graph in graphs.items():
        rows += [closeness(name, graph, options.whole), *extents(name, graph, options.whole)]
    publish(options.name, "Questions about all distances, on the CPU", rows, NOTE)


if __name__ == "__main__":
    main()
