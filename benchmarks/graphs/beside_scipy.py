"""Building a Graph from random edges, compared in the same run with SciPy's coo → csr with duplicates summed.

    python benchmarks/graphs/beside_scipy.py [--edges 10000000] [--vertices 1000000] [--rounds 5]

Both are checked to give the same rows before anything is timed; then they take turns. For the undirected graph, SciPy
gets every arc and its reverse; hopwave makes the reverses itself. Peak memory is measured in a separate process
(Linux): the highest resident size while building, minus the size before (the edges themselves), per stored arc. Prints
one JSON line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

import hopwave
from hopwave.generate import counter


def random_edges(n: int, edges: int) -> tuple[Any, Any]:
    """Both ends uniform, int32: the worst case for a sort, with few repeats."""
    ends = np.empty((2, edges), dtype=np.int32)

    def draw(begin: int, end: int) -> None:
        for side in (0, 1):
            ends[side, begin:end] = counter.integers(1, f"end {side}", begin, end - begin, n)

    counter.in_blocks(edges, draw)
    return ends[0], ends[1]


def scipy_rows(src: Any, dst: Any, n: int) -> sp.csr_array:
    """SciPy's rows of these arcs: count, place, sort, sum the repeats."""
    A = sp.coo_array((np.ones(src.size, dtype=np.int8), (src, dst)), shape=(n, n)).tocsr()
    A.sum_duplicates()
    return A


def measure(n: int, edges: int, directed: bool, rounds: int) -> dict[str, Any]:
    """Median seconds of both, their ratio, and bytes per arc."""
    src, dst = random_edges(n, edges)
    arcs = (src, dst) if directed else (np.concatenate([src, dst]), np.concatenate([dst, src]))
    graph = hopwave.Graph.from_edges(src, dst, n=n, directed=directed)
    A = scipy_rows(*arcs, n)
    if not (np.array_equal(A.indptr, graph.indptr) and np.array_equal(A.indices, graph.indices)):
        raise SystemExit("hopwave and SciPy built different rows; nothing was timed")
    stored = graph.m
    del A, graph
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(seconds(lambda: hopwave.Graph.from_edges(src, dst, n=n, directed=directed)))
        theirs.append(seconds(lambda: scipy_rows(*arcs, n)))
    return {
        "arcs": stored,
        "hopwave_s": round(statistics.median(ours), 3),
        "scipy_s": round(statistics.median(theirs), 3),
        "ratio": round(statistics.median(ours) / statistics.median(theirs), 3),
        "peak_bytes_per_arc": round(peak_in_subprocess(n, edges, directed) / stored, 1),
    }


def seconds(work: Callable[[], Any]) -> float:
    """Wall-clock time of one call; dropping its result is not timed."""
    begin = time.perf_counter()
    made = work()
    spent = time.perf_counter() - begin
    del made
    return spent


def peak_in_subprocess(n: int, edges: int, directed: bool) -> int:
    """Bytes that building added at its peak, in a new process, so that no earlier peak hides it."""
    command = [sys.executable, __file__, "--peak", "--vertices", str(n), "--edges", str(edges)]
    done = subprocess.run(command + ["--directed"] * directed, capture_output=True, text=True, check=True)
    return int(done.stdout)


def print_peak(n: int, edges: int, directed: bool) -> None:
    """In the subprocess: highest resident size while building, minus the size just before."""
    src, dst = random_edges(n, edges)
    before = resident("VmRSS")
    graph = hopwave.Graph.from_edges(src, dst, n=n, directed=directed)
    print(resident("VmHWM") - before)
    assert graph.m


def resident(kind: str) -> int:
    """Bytes in memory now (VmRSS) or at the peak (VmHWM); getrusage would count the parent's peak too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


def main() -> None:
    """Read the options, measure both kinds of graph, print one line."""
    parser = argparse.ArgumentParser(description="Graph.from_edges compared with SciPy's coo → csr")
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--vertices", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peak", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--directed", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(options.vertices, options.edges, options.directed)
        return
    line = {
        "benchmark": "building",
        "edges": options.edges,
        "vertices": options.vertices,
        "rounds": options.rounds,
        "directed": measure(options.vertices, options.edges, True, options.rounds),
        "undirected": measure(options.vertices, options.edges, False, options.rounds),
        "versions": {"hopwave": hopwave.__version__, "numpy": np.__version__, "scipy": scipy.__version__},
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "limits": {"ratio": 1.5, "peak_bytes_per_arc": 48},
    }
    print(json.dumps(line))


if __name__ == "__main__":
    main()
