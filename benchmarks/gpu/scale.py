"""Kronecker graphs too large to sort: drawn, built and searched on the GPU, with 64-bit offsets if needed.

    PYTHONPATH=src python -m benchmarks.gpu.scale --scale 26 28 29 [--sources 8]

The graph is the one that `hopwave graph500` builds (engines/cuda/kronecker.py), with loops and repeats. Every search
is validated on the GPU by Graph500's five rules; then distances alone are timed, and distances with predecessors. A
time is the GPU's, until the answers are stored by vertex id.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import cupy as cp
import numpy as np

from benchmarks import pages
from benchmarks.gpu.hopwave import SPIN
from benchmarks.gpu.search import head
from benchmarks.setting import RESULTS, hw
from hopwave.engines.cuda.kronecker import Rows
from hopwave.engines.cuda.search.numbered import NumberedWorkspace
from hopwave.graph500.on_cuda import broken_rules
from hopwave.planning.jobs import SearchJob


def build(scale: int, edge_factor: int) -> tuple[Any, float]:
    """The graph on the GPU, and the seconds that it took to build."""
    began = time.perf_counter()
    rows = Rows(scale, edge_factor, seed=1)
    built = time.perf_counter() - began
    rows.check()
    cp.get_default_memory_pool().free_all_blocks()
    return rows, built


def milliseconds(search: Any, sources: list[int]) -> float:
    """Median over sources of the median of 5. search: puts the search from one source into the stream."""
    medians = []
    for source in sources:
        times = []
        for repeat in range(6):
            events = cp.cuda.Event(), cp.cuda.Event()
            SPIN((1,), (1,), (np.int64(150_000),))  # otherwise the GPU would wait for Python after the first event
            events[0].record()
            search(source)
            events[1].record()
            events[1].synchronize()
            if repeat:
                times.append(cp.cuda.get_elapsed_time(*events))
        medians.append(float(np.median(times)))
    return float(np.median(medians))


def measure(scale: int, edge_factor: int, count: int) -> dict[str, Any]:
    loaded, built = build(scale, edge_factor)
    searches = NumberedWorkspace(loaded)
    plan = hw.plan("hopwave-gpu")
    candidates = cp.flatnonzero(loaded.degrees[loaded.numbering.numbers[: 1 << 20]] > 0).get()
    sources = np.random.default_rng(7).choice(candidates, count, replace=False).tolist()
    distance, parent = cp.empty(loaded.vertices, np.int32), cp.empty(loaded.vertices, np.int32)
    arcs = []
    for source in sources:
        searches.launch(distance, parent, (source,), SearchJob(), plan)
        broken = broken_rules(loaded, distance, parent, source)
        if broken:
            raise SystemExit(f"scale {scale}, source {source}: breaks the rules {broken}")
        arcs.append(2 * loaded.edges_within(distance >= 0))
    ms = milliseconds(lambda source: searches.launch(distance, None, (source,), SearchJob(False), plan), sources)
    both = milliseconds(lambda source: searches.launch(distance, parent, (source,), SearchJob(), plan), sources)
    row = {
        "scale": scale,
        "edge factor": edge_factor,
        "vertices": loaded.vertices,
        "arcs": loaded.m,
        "built s": built,
        "graph bytes per arc": loaded.bytes / loaded.m,
        "search bytes per vertex": (searches.bytes + distance.nbytes) / loaded.vertices,
        "search ms": ms,
        "with predecessors ms": both,
        "GTEPS (arcs of the reached part)": float(np.median(arcs)) / ms / 1e6,
        "searches verified": count,
    }
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, nargs="*", default=[26, 28, 29])
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--sources", type=int, default=8)
    given = parser.parse_args()
    rows = []
    build(4, given.edge_factor)  # compiles before anything is timed
    for scale in given.scale:
        rows.append(measure(scale, given.edge_factor, given.sources))
        cp.get_default_memory_pool().free_all_blocks()
        pages.write("gpu-scale", RESULTS, [head() | row for row in rows])


if __name__ == "__main__":
    main()
