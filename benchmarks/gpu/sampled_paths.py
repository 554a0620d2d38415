"""Betweenness from sampled paths on one GPU, on the CPU of the same machine, and from sampled sources.

    python -m benchmarks.gpu.sampled_paths [graph …]

The paths of the first pairs are compared with the CPU engine's before anything is timed: all counts must be equal. A
time is the whole call of `betweenness_centrality(epsilon=…, delta=0.1, seed=1)`, including the pilot and all checks,
with the graph already on the GPU (one run). The CPU's time is measured on the first pairs. Sources are timed if they
are predicted to take at most two seconds. The last run has method="auto".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import setting
from benchmarks.gpu.graphs import MADE
from benchmarks.setting import command_line, gpu, hw, publish, real_graphs, tell
from hopwave import engines
from hopwave.algorithms.betweenness_sampling import costs
from hopwave.algorithms.betweenness_sampling.path_schedule import Goal
from hopwave.planning.jobs import PATH_SUMS, SampleJob

REAL = ("email-Enron", "luxembourg_osm")
COMPARED = 2048  # pairs that both engines draw
SOURCES_WITHIN = 2.0  # seconds
NOTE = (
    "Scores within ± epsilon with probability 0.9, or, with top, as soon as the highest are known. Both engines draw "
    "the same paths. Undecided: vertices of which it is not known whether they are among the top."
)


ASKED: dict[str, list[dict[str, Any]]] = {
    "email-Enron": [{"epsilon": 0.005}],
    "luxembourg_osm": [{"epsilon": 0.01}],
    "kron18": [{"epsilon": 0.02}, {"epsilon": 0.001}],
    "kron21": [{"epsilon": 0.001}],
    "uniform20": [{"epsilon": 0.001}],
    "kron24": [{"epsilon": 0.001, "top": 100}, {"epsilon": 0.0005, "top": 100}],
}


def compared(name: str, graph: hw.Graph) -> tuple[int, float]:
    """Arcs per pair, and the CPU's seconds per pair; checks first that both engines draw the same paths."""
    seconds, runs = {}, {}
    for device in ("cuda", "cpu"):
        warm = engines.engine(device).path_sampling(graph, SampleJob(5))
        warm.advance(64, lambda done: False)
        run = runs[device] = engines.engine(device).path_sampling(graph, SampleJob(1))
        seconds[device], _ = setting.timed(lambda run=run: run.advance(COMPARED, lambda done: False), 1)
    mine, right = runs["cuda"], runs["cpu"]
    if not np.array_equal(mine.counts, right.counts) or not np.array_equal(mine.sums, right.sums):
        raise SystemExit(f"{name}: the GPU's paths are not the CPU's")
    return int(right.sums[PATH_SUMS.index("arcs")]) // COMPARED, seconds["cpu"] / COMPARED


def timed(graph: hw.Graph, method: str, asked: dict[str, Any]) -> tuple[float, Any]:
    options: dict[str, Any] = {"delta": 0.1, "seed": 1, "device": "cuda", "progress": False}
    return setting.timed(lambda: hw.betweenness_centrality(graph, method=method, **options, **asked), 1)


def rows_of(name: str, graph: hw.Graph) -> Iterator[dict[str, Any]]:
    arcs, on_cpu = compared(name, graph)
    for asked in ASKED[name]:
        took, found = timed(graph, "paths", asked)
        goal = Goal(asked["epsilon"], 0.1, asked.get("top"))
        highest = float(found.scores.max())
        sources = costs.sources_needed(graph.n, goal, highest)
        by_sources = None
        if "top" not in asked and costs.ON_GPU.sources(sources, graph.m) <= SOURCES_WITHIN:
            by_sources = timed(graph, "sources", asked)[0]
        auto = found if "top" in asked else timed(graph, "auto", asked)[1]
        line = {
            "graph": f"{name} ({graph.n:,} vertices, {graph.m:,} arcs)",
            "epsilon": asked["epsilon"],
            "top": asked.get("top"),
            "arcs per pair": arcs,
            "pairs": found.pairs,
            "GPU s": took,
            "GPU µs per pair": took / found.pairs * 1e6,
            "CPU µs per pair": on_cpu * 1e6,
            "by sources, s": by_sources,
            "auto takes": "paths" if auto.pairs else "sources" if auto.bounds.any() else "all sources",
            "highest score": highest,
            "undecided": None if found.undecided is None else len(found.undecided),
        }
        yield tell(line)


def main() -> None:
    options = command_line(__doc__, {"graphs": list(ASKED)})
    rows = []
    try:
        for name in options.graphs:
            graph = real_graphs([name]).get(name) if name in REAL else MADE[name]()
            if graph is not None:
                rows += rows_of(name, graph)
    finally:  # after Ctrl-C, publish what is measured
        title = "Betweenness from sampled paths: one GPU, the CPU engine on all cores, and sampled sources"
        if rows:
            publish("gpu-paths", title, rows, NOTE, gpu())


if __name__ == "__main__":
    main()
