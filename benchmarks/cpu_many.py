"""All vertices' closeness, and what else distances answer, on the CPU beside igraph and NetworkX, in one run.

    python -m benchmarks.cpu_many [--data ../shared/data]

Answers are compared before anything is timed. NetworkX is timed on some sources and extrapolated: its time is the sum
over sources. The graphs are read from HOPWAVE_DATA, or from shared/data beside the repository.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, hw, publish

SAMPLE = 12  # sources on which NetworkX is timed


def timed(call: Any, rounds: int = 3) -> tuple[float, Any]:
    """The best of some rounds, and the last result."""
    best, result = float("inf"), None
    for _ in range(rounds):
        began = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - began)
    return best, result


def agree(what: str, ours: Any, theirs: Any) -> None:
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise SystemExit(f"{what}: hopwave and its peer disagree")


def giant(graph: hw.Graph) -> hw.Graph:
    """The largest component, undirected."""
    if graph.directed:
        graph = hw.Graph.from_edges(*graph.to_edges(), n=graph.n)
    inside = hw.connected_components(graph).largest()
    return hw.Graph.from_scipy(graph.to_scipy()[inside][:, inside])


def row(what: str, ours: float, igraphs: float | None, networkxs: float) -> dict[str, Any]:
    found = {
        "what": what,
        "hopwave s": ours,
        "igraph s": igraphs,
        "NetworkX s (extrapolated)": networkxs,
        "times igraph": None if igraphs is None else igraphs / ours,
        "times NetworkX": networkxs / ours,
    }
    print(found, flush=True)
    return found


def closeness(name: str, graph: hw.Graph) -> dict[str, Any]:
    import igraph
    import networkx as nx

    g = graph.to_networkx()
    some = np.random.default_rng(1).integers(0, graph.n, SAMPLE).tolist()
    began = time.perf_counter()
    theirs = [nx.closeness_centrality(g, v) for v in some]
    slow = (time.perf_counter() - began) / SAMPLE * graph.n
    ours, scores = timed(lambda: hw.closeness_centrality(graph, progress=False).scores)
    agree(name, scores[some], theirs)
    other = igraph.Graph(n=graph.n, edges=np.stack(graph.to_edges(), 1), directed=False)
    peer, values = timed(lambda: other.closeness(normalized=True), 1)
    agree(name, hw.closeness_centrality(graph, wf_improved=False, progress=False).scores, np.nan_to_num(values))
    return row(f"closeness, {name}", ours, peer, slow)


def extents(name: str, graph: hw.Graph) -> list[dict[str, Any]]:
    import igraph
    import networkx as nx

    graph = giant(graph)
    g = graph.to_networkx()
    some = np.random.default_rng(1).integers(0, graph.n, SAMPLE).tolist()
    began = time.perf_counter()
    lengths = [nx.single_source_shortest_path_length(g, v) for v in some]
    slow = (time.perf_counter() - began) / SAMPLE * graph.n
    agree(name, hw.eccentricity(graph, some).scores, [max(one.values()) for one in lengths])
    other = igraph.Graph(n=graph.n, edges=np.stack(graph.to_edges(), 1), directed=False)
    rows = []
    for what, ask, peer in (
        ("diameter", hw.diameter, lambda: other.diameter(directed=False)),
        ("average path length", hw.average_shortest_path_length, lambda: other.average_path_length(directed=False)),
    ):
        ours, value = timed(lambda ask=ask: ask(graph, progress=False))
        theirs, right = timed(peer, 1)
        agree(f"{name}, {what}", value, right)
        rows.append(row(f"{what}, largest component of {name}", ours, theirs, slow))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("HOPWAVE_DATA", ROOT.parent / "shared" / "data"))
    options = parser.parse_args()
    enron = hw.read(Path(options.data) / "email-Enron.mtx.gz", progress=False)
    hw.closeness_centrality(hw.generate.kronecker(9), progress=False)  # compile
    rows = [closeness("email-Enron", enron), *extents("email-Enron", enron)]
    rows += extents("cit-HepPh", hw.read(Path(options.data) / "cit-HepPh.mtx.gz", progress=False))
    publish("cpu-many", "Questions about all distances, on the CPU", rows)


if __name__ == "__main__":
    main()
