"""PageRank and other power iterations on one GPU: wall time of the public call, all rounds in one launch.

    python -m benchmarks.gpu.pagerank [--made folder] [graph …]

Ranks are computed until the sum of a round's changes is below 1e-6 (tol=1e-6/n). They are checked before they are
timed: SciPy computes one more round from them, and must find a smaller change; on small graphs they are also compared
with NetworkX's. Times are medians of nine calls with the graph already on the GPU; the ranks stay there until they are
read. "First call" includes the upload and the assignment of rows to warps. A round's floor is the time to read and
write 4 bytes per arc and 32 per vertex at 4.3 TB/s. `--made` keeps generated graphs from one run to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.gpu.graphs import MADE
from benchmarks.setting import DATA, command_line, gpu, hw, publish, tell, timed
from hopwave.engines.cuda.linalg import power

CHANGE = 1e-6  # sum of a round's changes
ALPHA = 0.85
BANDWIDTH = 4.3e12  # bytes per second, as copied on an H200
WEIGHTED = 1 << 24  # most arcs for which weights are drawn: for more, the host takes seconds
FEW = 50_000  # most vertices for which NetworkX is asked too
REAL = ("email-Enron", "luxembourg_osm", "cnr-2000")
DEFAULT = (*REAL[:2], "kron18", "kron21", "grid1000", "delaunay20")
NOTE = (
    "With NetworkX's rule (tol=1e-6) rounds end when all changes together are below n · 1e-6, which large graphs reach "
    "after a round or two. Weights are 1 to 255, the same both ways; ranks personalised to one vertex."
)


def graph_named(name: str, made: Path | None) -> hw.Graph:
    """A real graph from its file, or a generated one, from its file if it is kept."""
    if name in REAL:
        return hw.read(DATA / f"{name}.mtx.gz", progress=False)
    kept = None if made is None else made / f"{name}.npz"
    if kept is not None and kept.exists():
        return hw.read(kept, progress=False)
    graph = MADE[name]()
    if kept is not None and graph.m < 1 << 25:
        hw.write(kept, graph)
    return graph


def weights_of(graph: hw.Graph) -> Any:
    rows = np.repeat(np.arange(graph.n, dtype=np.uint32), graph.degrees)
    ends = np.minimum(rows, graph.indices.astype(np.uint32)), np.maximum(rows, graph.indices.astype(np.uint32))
    mixed = (ends[0] * np.uint32(2654435761) ^ ends[1] * np.uint32(2246822519)) >> np.uint32(7)
    return (1 + mixed % np.uint32(255)).astype(np.float64)


def change_by_scipy(graph: hw.Graph, x: Any, weights: Any = None, p: Any = None) -> float:
    """Σ |change| of one more round from x."""
    n = graph.n
    values = np.ones(graph.m) if weights is None else weights
    A = sp.csr_array((values, graph.indices, graph.indptr), shape=(n, n))
    S = np.diff(graph.indptr).astype(np.float64) if weights is None else A.sum(axis=1)
    p = np.full(n, 1 / n) if p is None else p
    w = np.divide(x, S, out=np.zeros(n), where=S > 0)
    arriving = A @ w if not graph.directed else A.T @ w
    y = ALPHA * (arriving + x[S == 0].sum() * p) + (1 - ALPHA) * p
    return float(np.abs(y - x).sum())


class Rounds:
    """Records how many rounds the last call made."""

    def __init__(self) -> None:
        self.last = 0
        iterate = power.iterate

        def counted(A: Any, job: Any) -> Any:
            end = iterate(A, job)
            self.last = 0 if end is None else end.rounds
            return end

        power.iterate = counted


def milliseconds(call: Callable[[], Any], rounds: int = 9) -> float:
    return float(np.median([timed(call, 1)[0] for _ in range(rounds)])) * 1e3


def row(name: str, graph: hw.Graph, rounds: Rounds) -> dict[str, Any]:
    tol = CHANGE / graph.n
    first, found = timed(lambda: hw.pagerank(graph, tol=tol, device="cuda"), 1)
    made = rounds.last
    left = change_by_scipy(graph, found.scores)
    if not left < CHANGE:
        raise SystemExit(f"{name}: SciPy finds changes of {left:.3g} in one more round")
    if graph.n <= FEW:
        import networkx as nx

        right = nx.pagerank(graph.to_networkx(), tol=tol, max_iter=1000)
        if not np.allclose(found.scores, [right[v] for v in range(graph.n)], rtol=1e-9, atol=0):
            raise SystemExit(f"{name}: the ranks differ from NetworkX's")
    again = hw.pagerank(graph, tol=tol, device="cuda")
    if not np.array_equal(found.scores, again.scores):
        raise SystemExit(f"{name}: two runs differ")
    took = milliseconds(lambda: hw.pagerank(graph, tol=tol, device="cuda"))
    default = milliseconds(lambda: hw.pagerank(graph, device="cuda"))
    floor = (4 * graph.m + 32 * graph.n) / BANDWIDTH * 1e6
    line: dict[str, Any] = {
        "graph": f"{name} ({graph.n:,} vertices, {graph.m:,} arcs)",
        "rounds": made,
        "first call ms": first * 1e3,
        "PageRank ms": took,
        "µs per round": took * 1e3 / made,
        "floor of a round µs": floor,
        "NetworkX's rule ms": default,
    }
    one = np.zeros(graph.n)
    one[int(np.argmax(graph.degrees))] = 1.0
    restart = hw.pagerank(graph, tol=tol, personalization=one, device="cuda", max_iter=500).scores
    if not change_by_scipy(graph, restart, None, one) < CHANGE:
        raise SystemExit(f"{name}: the personalised ranks are wrong")
    line["personalised ms"] = milliseconds(
        lambda: hw.pagerank(graph, tol=tol, personalization=one, device="cuda", max_iter=500), 5
    )
    if graph.m < WEIGHTED:
        weighted = graph.with_weights(weights_of(graph))
        ranks = hw.pagerank(weighted, tol=tol, device="cuda", max_iter=500).scores
        if not change_by_scipy(graph, ranks, weighted.weights) < CHANGE:
            raise SystemExit(f"{name}: the weighted ranks are wrong")
        line["weighted ms"] = milliseconds(lambda: hw.pagerank(weighted, tol=tol, device="cuda", max_iter=500), 5)
    return tell(line)


def main() -> None:
    options = command_line(__doc__, {"graphs": list(DEFAULT)}, made=Path)
    rounds = Rounds()
    hw.pagerank(hw.generate.kronecker(9), device="cuda")  # compile
    hw.pagerank(hw.generate.kronecker(9).with_weights(np.ones(hw.generate.kronecker(9).m)), device="cuda")
    rows = [row(name, graph_named(name, options.made), rounds) for name in options.graphs]
    publish("gpu-ranks", "PageRank in one launch on one GPU", rows, NOTE, gpu())


if __name__ == "__main__":
    main()
