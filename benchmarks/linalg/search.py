"""BFS through linear algebra, compared in one run with the dedicated search and python-graphblas.

    python -m benchmarks.linalg.search [graph …] [--device cpu | cuda] [--sources 16]

"linalg.bfs" is `linalg.waves`, one operation; "six lines" is the same loop written out, as in docs/linear-algebra.md.
All compute only distances. Timing stops when the answer is there; on a GPU, when the GPU is idle. Every answer is
compared with the dedicated search's before anything is timed. The libraries take turns, and the best of three runs per
source counts (on a GPU, the best of ten).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.cpu.search import graphblas_search
from benchmarks.setting import GRAPHS, command_line, giant_sources, gpu, hw, publish, tell
from hopwave import linalg as la

EACH = {"cpu": 3, "cuda": 10}
ON_CPU = ["kron18", "rmat18-directed", "uniform20", "delaunay18"]
ON_GPU = ["kron18e43", "kron21e44"]


def searches(graph: hw.Graph, device: str) -> dict[str, Callable[[int], Any]]:
    A = la.Matrix.from_graph(graph).to(device)
    found: dict[str, Callable[[int], Any]] = {
        "hw.bfs": lambda s: hw.bfs(graph, s, predecessors=False, device=device),
        "linalg.bfs": lambda s: la.bfs(A, s, device=device),
        "six lines": lambda s: six_lines(A, s, device),
    }
    if device == "cpu":
        found["python-graphblas"] = graphblas_search(graph)
    else:  # the same search, level by level, without linalg
        found["plan pushpull"] = lambda s: hw.bfs(graph, s, predecessors=False, device=device, plan="pushpull")
    return found


def six_lines(A: la.Matrix, s: int, device: str) -> la.Vector:
    n = A.shape[0]
    f, v, d = la.Vector.from_entries([s], True, n).to(device), la.Vector(n, "int32").to(device), 0
    while f.nnz:
        la.assign(v, d, mask=f, structural=True, device=device)
        f = la.vxm(
            f, A, la.semiring.any_pair, mask=v, complement=True, structural=True, operand_reuse=True, device=device
        )
        d += 1
    return v


def finished(device: str) -> Callable[[], Any]:
    """A function that waits until the device is idle."""
    if device == "cpu":
        return lambda: None
    import cupy

    wait: Callable[[], Any] = cupy.cuda.runtime.deviceSynchronize
    return wait


def graph_of(name: str, device: str) -> hw.Graph:
    if device == "cpu":
        return GRAPHS[name]()
    from benchmarks.gpu.search import GENERATED  # drawn on the GPU: the host would take minutes

    return (GENERATED.get(name) or GRAPHS[name])()


def measure(name: str, device: str, count: int) -> dict[str, Any]:
    graph = graph_of(name, device)
    sources = giant_sources(graph, count)
    ways, wait = searches(graph, device), finished(device)
    for source in sources:  # verify, and make everything that repeated searches prepare
        right = hw.bfs(graph, source, predecessors=False, device=device).distances
        for way in ("linalg.bfs", "six lines"):
            assert np.array_equal(ways[way](source).to("cpu").to_dense(-1), right), (name, source, way)
        if "python-graphblas" in ways:
            assert ways["python-graphblas"](source) == np.count_nonzero(right >= 0), (name, source)
    best: dict[str, list[float]] = {way: [] for way in ways}
    for source in sources:
        for way, search in ways.items():
            times = []
            wait()
            for _ in range(EACH[device]):
                began = time.perf_counter()
                search(source)
                wait()
                times.append(time.perf_counter() - began)
            best[way].append(min(times))
    row: dict[str, Any] = {"graph": name, "n": graph.n, "arcs": graph.m}
    row |= {f"{way} ms": statistics.median(times) * 1e3 for way, times in best.items()}
    row["linalg / dedicated"] = row["linalg.bfs ms"] / row["hw.bfs ms"]
    row["worst source"] = max(a / b for a, b in zip(best["linalg.bfs"], best["hw.bfs"], strict=True))
    return tell(row)


def main() -> None:
    options = command_line(__doc__, {"graphs": ()}, device="cpu", sources=16)
    graphs = options.graphs or (ON_GPU if options.device == "cuda" else ON_CPU)
    rows = [measure(name, options.device, options.sources) for name in graphs]
    name = "linalg-search" if options.device == "cpu" else "linalg-search-cuda"
    title = "BFS through linalg and the dedicated search: median ms per source"
    publish(name, title, rows, more=gpu(options.device))


if __name__ == "__main__":
    main()
