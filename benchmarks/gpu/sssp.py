"""Shortest paths on one GPU, one search per launch, compared with SciPy's Dijkstra on one core.

    python -m benchmarks.gpu.sssp [graph …] [--rounds 7] [--keep folder] [--prepare]

Every edge has a length from 1 to 255, drawn by a hash of its ends. The source is the vertex of highest degree. Before
anything is timed, distances are compared with SciPy's exactly; on kron21, where SciPy takes minutes, every arc is
checked instead: no arc gives a shorter distance, and every vertex has an arc that gives its own. A time is the wall
time of hw.sssp, the best of several: with a graph on the GPU until the GPU is done, and with a graph on the host until
the distances are there too. --keep reads graphs and SciPy's distances from a folder, or writes them there; --prepare
does nothing else.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cupy
import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from benchmarks.gpu.graphs import MADE
from benchmarks.setting import command_line, gpu, hw, publish, real_graphs, tell, timed
from hopwave.engines.cuda.shortest_paths import search as paths
from hopwave.planning.jobs import ShortestPathsJob

AIMS = {"email-Enron": 0.3, "kron18": 1.5, "kron21": 8.0, "luxembourg_osm": 2.5, "grid1000": 8.0, "delaunay20": 4.0}
MOST_ARCS_FOR_SCIPY = 1 << 25
NOTE = (
    "ms are wall times of the public call. Rounds are those that the first block took part in; µs per round is the "
    "device time over them. Followed is how many times every arc was followed, on average. Verified: against SciPy to "
    "the last bit, or arc by arc."
)


@dataclass(frozen=True)
class Case:
    """A graph with lengths, the source, SciPy's distances if it finds them in time, and how long it took."""

    graph: hw.Graph
    source: int
    right: Any
    seconds: float | None


def tails_of(graph: hw.Graph) -> Any:
    """The tail of every arc, on the GPU."""
    return cupy.searchsorted(cupy.asarray(graph.indptr), cupy.arange(graph.m), side="right") - 1


def with_lengths(graph: hw.Graph) -> hw.Graph:
    tails, heads = tails_of(graph), cupy.asarray(graph.indices)
    low, high = cupy.minimum(tails, heads), cupy.maximum(tails, heads)
    lengths = (((low * 2654435761 + high * 40503) >> 7) % 255 + 1).astype(np.float64)
    return graph.with_weights(lengths.get())


def made(name: str, keep: Path | None) -> Case | None:
    """The named graph and its right distances, from the folder if they are there; None if its file is missing."""
    kept = None if keep is None else keep / f"{name}.npz"
    if kept is not None and kept.exists():
        with np.load(kept) as file:
            graph = hw.Graph(file["indptr"], file["indices"], weights=file["weights"], directed=False)
            return Case(graph, int(file["source"]), file["right"], float(file["seconds"]))
    plain = MADE[name]() if name in MADE else real_graphs([name], weights=False).get(name)
    if plain is None:
        return None
    graph = with_lengths(plain)
    source = int(np.argmax(graph.degrees))
    if graph.m > MOST_ARCS_FOR_SCIPY:
        return Case(graph, source, None, None)
    A = sp.csr_array((np.asarray(graph.weights), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    seconds, right = timed(lambda: dijkstra(A, indices=source), 1)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights, "right": right}
        np.savez(kept, source=source, seconds=seconds, **arrays)
    return Case(graph, source, right, seconds)


def is_right(graph: hw.Graph, d: Any, source: int) -> bool:
    """Whether no arc gives a shorter distance, and every vertex with a path has an arc that gives its own."""
    heads, found = cupy.asarray(graph.indices), d[tails_of(graph)] + cupy.asarray(graph.weights)
    there = d[heads]
    reached = cupy.zeros(graph.n, bool)
    reached[heads[(found == there) & cupy.isfinite(there)]] = True
    reached[source] = True
    return bool(d[source] == 0 and not (found < there).any() and (reached == cupy.isfinite(d)).all())


def measure(name: str, case: Case, rounds: int) -> dict[str, Any]:
    graph, source, seconds = case.graph, case.source, case.seconds
    there = graph.to("cuda")
    d = hw.sssp(there, source).distances
    verified = is_right(graph, d, source) if case.right is None else np.array_equal(d.get(), case.right)
    if not verified or not np.array_equal(hw.sssp(graph, source, device="cuda").distances, d.get()):
        raise SystemExit(f"{name}: distances are wrong")

    def on_device() -> None:
        hw.sssp(there, source)
        cupy.cuda.runtime.deviceSynchronize()

    def predecessors() -> float:
        found = hw.sssp(there, source)
        cupy.cuda.runtime.deviceSynchronize()
        began = time.perf_counter()
        _ = found.predecessors
        cupy.cuda.runtime.deviceSynchronize()
        return time.perf_counter() - began

    device, _ = timed(on_device, rounds)
    host, _ = timed(lambda: hw.sssp(graph, source, device="cuda").distances, rounds)
    chosen = min(predecessors() for _ in range(rounds))
    arcs = paths.Arcs(hw.linalg.Matrix.from_graph(graph).to("cuda").rows)
    buffers = paths.Buffers(arcs)
    _, buckets = paths.launch(arcs, buffers, ShortestPathsJob((source,)), arcs.width, True)
    report = buffers.report.get().view(paths.REPORT)[0]
    row = {
        "graph": f"{name} ({graph.n:,} vertices, {graph.m:,} arcs)",
        "on the device ms": device * 1e3,
        "to the host ms": host * 1e3,
        "aim ms": AIMS.get(name),
        "predecessors ms": chosen * 1e3,
        "SciPy ms": None if seconds is None else seconds * 1e3,
        "Δ": arcs.width,
        "buckets": int(report["buckets"]),
        "rounds": int(report["rounds"]),
        "of all blocks": int(report["grid_phases"]),
        "µs per round": device * 1e6 / max(1, int(report["rounds"])),
        "followed": sum(bucket.arcs for bucket in buckets) / max(1, graph.m),
        "verified": "SciPy" if seconds is not None else "every arc",
    }
    return tell(row)


def main() -> None:
    options = command_line(__doc__, {"graphs": list(AIMS)}, rounds=7, keep=Path, prepare=False)
    rows = []
    for name in options.graphs:
        case = made(name, options.keep)
        if case is not None and not options.prepare:
            rows.append(measure(name, case, options.rounds))
            del case
            cupy.get_default_memory_pool().free_all_blocks()
    if options.prepare:
        return
    if not rows:
        raise SystemExit("none of the graphs is there; nothing was measured")
    publish("gpu-sssp", "Shortest paths with lengths, on one GPU", rows, NOTE, gpu())


if __name__ == "__main__":
    main()
