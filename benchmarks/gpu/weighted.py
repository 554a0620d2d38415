"""Betweenness and closeness along weights on one GPU, compared with the CPU engine on the same machine.

    python -m benchmarks.gpu.weighted [--graphs luxembourg_osm,email-Enron]

Weights are whole numbers from 1 to 255, or fractions, the same in every run. Scores are compared with the CPU engine's
before they are timed: a relative difference of more than 1e-9 ends the run. A time is the whole call with the graph
already on the GPU: the best of three if calls are short, else one; one call on the CPU, after compiling. "First call"
includes the upload, and on a new machine also CuPy's compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.setting import WEIGHTS, command_line, gpu, hw, publish, real_graphs, tell, timed, with_weights

TOLERANCE = 1e-9
SOURCES = 256


def sampled(graph: hw.Graph, device: str) -> Any:
    return hw.betweenness_centrality(graph, k=SOURCES, seed=1, weights=True, device=device, progress=False).scores


def exact(graph: hw.Graph, device: str) -> Any:
    return hw.betweenness_centrality(graph, weights=True, device=device, progress=False).scores


def edges(graph: hw.Graph, device: str) -> Any:
    return hw.edge_betweenness_centrality(graph, k=SOURCES, seed=1, weights=True, device=device, progress=False).scores


def closeness(graph: hw.Graph, device: str) -> Any:
    some = np.random.default_rng(1).integers(0, graph.n, SOURCES)
    return hw.closeness_centrality(graph, some, weights=True, device=device, progress=False).scores


QUESTIONS: dict[str, Callable[[hw.Graph, str], Any]] = {
    f"betweenness, {SOURCES} sources": sampled,
    f"edge betweenness, {SOURCES} sources": edges,
    "betweenness, exact": exact,
    f"closeness of {SOURCES} vertices": closeness,
}
ALL, SOME = tuple(QUESTIONS), tuple(name for name in QUESTIONS if "exact" not in name)
GRAPHS = {"luxembourg_osm": SOME, "email-Enron": SOME, "delaunay_n15": ALL}
NOTE = (
    f"The last column is the greatest relative difference of a score from the CPU engine's; {TOLERANCE:g} is allowed. "
    "In the very first call of a question CuPy also compiles its kernels, which happens once per machine."
)


def row(name: str, graph: hw.Graph, kind: str, question: str) -> dict[str, Any]:
    ask = QUESTIONS[question]
    first, found = timed(lambda: ask(graph, "cuda"), 1)
    cpu, due = timed(lambda: ask(graph, "cpu"), 1)
    apart = np.abs(found - due) / np.where(due > 0, due, 1.0)
    if not apart.max() <= TOLERANCE:
        raise SystemExit(f"{question} of {name}: a score of the GPU differs by {apart.max():.1e} from the CPU's")
    seconds, again = timed(lambda: ask(graph, "cuda"), 3 if first < 0.5 else 1)
    if not np.array_equal(found, again):
        raise SystemExit(f"{question} of {name}: two runs on the GPU differ")
    made = {
        "graph": f"{name} ({graph.n:,} vertices, {graph.m:,} arcs)",
        "weights": kind,
        "question": question,
        "first call s": first,
        "GPU s": seconds,
        "CPU s": cpu,
        "times faster": cpu / seconds,
        "difference": float(apart.max()),
    }
    return tell(made)


def main() -> None:
    options = command_line(__doc__, graphs=",".join(GRAPHS))
    small = with_weights(hw.generate.kronecker(9))
    for ask in QUESTIONS.values():
        ask(small, "cpu")  # compile
    rows = []
    for name, graph in real_graphs(options.graphs.split(",")).items():
        for kind in WEIGHTS:
            weighted = with_weights(graph, kind)
            for question in GRAPHS[name] if kind == "1 to 255" else SOME[:1]:
                rows.append(row(name, weighted, kind, question))
    publish("gpu-weighted", "Along weights: one GPU compared with the CPU engine on all cores", rows, NOTE, gpu())


if __name__ == "__main__":
    main()
