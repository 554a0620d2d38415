"""Betweenness from sampled paths on one GPU, and on the CPU of the same machine.

    python -m benchmarks.gpu_paths [--data ../shared/data] [--epsilon 0.001] [graph …]

The paths of the first pairs are compared with the CPU engine's before anything is timed: all counts must be equal. A
time is the whole call of `betweenness_centrality(method="paths", delta=0.1, seed=1)`, pilot and looks included, with
the graph already on the GPU (one run). The CPU's time is that of its first pairs, for as many pairs as the GPU drew.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, gpu, hw, publish
from hopwave import engines
from hopwave.jobs import PATH_SUMS, PathJob

REAL = {"email-Enron": 0.005, "luxembourg_osm": 0.01}  # and the precision
COMPARED = 2048  # pairs, by both engines
NOTE = "Scores within ± epsilon with probability 0.9. Both engines draw the same paths."


def kronecker(scale: int, edge_factor: int) -> hw.Graph:
    from benchmarks.gpu_graphs import kronecker

    return kronecker(scale, edge_factor)


def uniform() -> hw.Graph:
    from benchmarks.gpu_graphs import uniform

    return uniform(1 << 20, 16 << 20)


MADE: dict[str, tuple[Callable[[], hw.Graph], float]] = {
    "kron18": (lambda: kronecker(18, 43), 0.001),
    "kron21": (lambda: kronecker(21, 44), 0.001),
    "uniform20": (uniform, 0.001),
}


def row(name: str, graph: hw.Graph, epsilon: float) -> dict[str, Any]:
    seconds = {}
    runs = {}
    for device in ("cuda", "cpu"):
        warm = engines.engine(device).path_sampling(graph, PathJob(5))
        warm.advance(64, lambda done: False)
        run = runs[device] = engines.engine(device).path_sampling(graph, PathJob(1))
        began = time.perf_counter()
        run.advance(COMPARED, lambda done: False)
        seconds[device] = time.perf_counter() - began
    mine, right = runs["cuda"], runs["cpu"]
    if not np.array_equal(mine.counts, right.counts) or not np.array_equal(mine.sums, right.sums):
        raise SystemExit(f"{name}: the GPU's paths are not the CPU's")
    del mine, runs
    began = time.perf_counter()
    found = hw.betweenness_centrality(
        graph, epsilon=epsilon, method="paths", delta=0.1, seed=1, device="cuda", progress=False
    )
    took = time.perf_counter() - began
    line = {
        "graph": f"{name} ({graph.n:,} vertices, {graph.m:,} arcs)",
        "epsilon": epsilon,
        "arcs per pair": int(right.sums[PATH_SUMS.index("arcs")]) // COMPARED,
        "pairs": found.pairs,
        "GPU s": took,
        "GPU µs per pair": took / found.pairs * 1e6,
        "CPU µs per pair": seconds["cpu"] / COMPARED * 1e6,
    }
    print(line, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=[*REAL, *MADE])
    parser.add_argument("--data", type=Path, default=os.environ.get("HOPWAVE_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--epsilon", type=float)
    options = parser.parse_args()
    rows = []
    for name in options.graphs:
        if name in REAL:
            graph, epsilon = hw.read(Path(options.data) / f"{name}.mtx.gz", progress=False), REAL[name]
        else:
            graph, epsilon = MADE[name][0](), MADE[name][1]
        rows.append(row(name, graph, options.epsilon or epsilon))
    title = "Betweenness from sampled paths: one GPU compared with the CPU engine on all cores"
    publish("gpu-paths", title, rows, NOTE, gpu())


if __name__ == "__main__":
    main()
