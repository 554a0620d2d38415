"""What a call costs on a GPU: wall time of public functions, and the time for which the device works.

    python -m benchmarks.gpu.calls [--quick] [--large]

Every answer is compared with SciPy's before anything is timed. First uses run in new processes, with an empty folder
for compiled kernels. `--large` adds betweenness from one source at scales 24 and 26.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import cupy
import numpy as np

import hopwave as hw
from benchmarks.gpu.graphs import MADE, SPIN, kronecker_ends, sources_of
from benchmarks.setting import command_line, gpu, publish, real_graphs, timed

# The most that a call should cost, in ms, or in s for first uses.
AIMS = {
    ("bfs", "kron18"): 0.075,
    ("bfs", "kron21"): 0.105,
    ("bfs", "email-Enron"): 0.085,
    ("bfs_each, per search", "kron18"): 0.055,
    ("bfs, distances to the host", "kron21"): 0.40,
    ("betweenness of one source", "kron18"): 0.7,
    ("betweenness of one source", "kron21"): 2.5,
    ("betweenness of one source", "kron24"): 12,
    ("betweenness of one source", "kron26"): 50,
    ("bfs", "first use"): 2.5,
    ("betweenness", "first use"): 2.0,
    ("closeness", "first use"): 2.0,
    ("sssp", "first use"): 2.0,
    ("bfs", "new process"): 0.45,
}
NOTE = (
    "Wall time of the public call until its answer is there, in ms; medians over 16 sources, each the best of 5. The "
    "graph and the answer are on the GPU, but where the row says host. Device time is from events around the call, and "
    "so holds the gaps between kernels too. First uses are in seconds, each in a process of its own, after `import "
    "hopwave` and one search (but for the first search itself), with no compiled kernel on disk; 'new process' finds "
    "them there."
)


def median_of_best(once: Callable[[int], float], sources: list[int]) -> float:
    """The median over sources of the best of 5."""
    return float(np.median([min(once(s) for _ in range(5)) for s in sources]))


def wall(call: Callable[[int], Any], sources: list[int]) -> float:
    """Milliseconds by the host's clock."""

    def once(s: int) -> float:
        cupy.cuda.Device().synchronize()
        return 1e3 * timed(lambda: (call(s), cupy.cuda.Device().synchronize()), 1)[0]

    return median_of_best(once, sources)


def device(call: Callable[[int], Any], sources: list[int]) -> float:
    """Milliseconds between two events; the GPU is kept busy until the call has queued its work."""

    def once(s: int) -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        SPIN((1,), (1,), (np.int64(200_000),))
        begin.record()
        call(s)
        end.record()
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end))

    return median_of_best(once, sources)


def row(question: str, graph: str, milliseconds: float, at_work: float | None = None) -> dict[str, Any]:
    aim = AIMS.get((question, graph))
    found = {"call": question, "graph": graph, "wall": milliseconds, "device": at_work, "aim": aim}
    print(json.dumps(found), flush=True)
    return found


def dependencies(graph: hw.Graph, s: int) -> Any:
    """Brandes' dependencies of one source of an undirected graph, by SciPy products."""
    A = graph.to_scipy(np.float64)
    sigma, delta = np.zeros(graph.n), np.zeros(graph.n)
    sigma[s] = 1
    frontier, levels = sigma.copy(), []
    while frontier.any():
        levels.append(np.flatnonzero(frontier))
        frontier = np.where(sigma == 0, A @ frontier, 0)
        sigma += frontier
    for upper, lower in zip(levels[-2::-1], levels[:0:-1], strict=True):
        shares = np.zeros(graph.n)
        shares[lower] = (1 + delta[lower]) / sigma[lower]
        delta[upper] = (A @ shares)[upper] * sigma[upper]
    delta[s] = 0
    return delta


def searches(name: str, graph: hw.Graph) -> Iterator[dict[str, Any]]:
    """One graph: searches with the answer on the device, many in a row, and with distances on the host."""
    sources = sources_of(graph, 16)
    there = graph.to("cuda")
    depths = {}
    for s in sources[:3]:
        expected = hw.bfs(graph, s, predecessors=False, device="reference")
        depths[s] = expected.depth
        for place in (there, graph):
            found = hw.bfs(place, s, device="cuda")
            assert (cupy.asnumpy(found.distances) == expected.distances).all(), (name, s)
            assert found.depth == expected.depth and found.reached == expected.reached, (name, s)
    at_work = device(lambda s: hw.bfs(there, s, device="cuda"), sources)
    yield row("bfs", name, wall(lambda s: hw.bfs(there, s, device="cuda"), sources), at_work)
    yield row("bfs, depth read", name, wall(lambda s: hw.bfs(there, s, device="cuda").depth, sources))
    many = sources * 16

    def in_a_row() -> list[int]:
        return [r.depth for r in hw.bfs_each(there, many, device="cuda")]

    assert all(depth == depths.get(s, depth) for s, depth in zip(many, in_a_row(), strict=True)), name
    yield row("bfs_each, per search", name, wall(lambda _: in_a_row(), [0]) / len(many), at_work)
    yield row("bfs, distances to the host", name, wall(lambda s: hw.bfs(graph, s, device="cuda").distances, sources))
    A = hw.linalg.Matrix.from_graph(graph).to("cuda")
    places, levels = (cupy.asnumpy(part) for part in hw.linalg.bfs(A, sources[0]).listed())
    assert (cupy.asnumpy(hw.bfs(there, sources[0], device="cuda").distances)[places] == levels).all()
    yield row("linalg.bfs", name, wall(lambda s: hw.linalg.bfs(A, s), sources))


def betweenness(name: str, graph: hw.Graph, count: int = 16, check: bool = True) -> dict[str, Any]:
    """Betweenness from one source, by the plan that is chosen for it."""
    sources = sources_of(graph, count)
    there = graph.to("cuda")

    def call(s: int) -> Any:
        return hw.betweenness_centrality(there, sources=[s], device="cuda")

    for s in sources[:2] if check else ():
        expected, scores = dependencies(graph, s), cupy.asnumpy(call(s).scores)
        assert np.allclose(scores / scores.sum(), expected / expected.sum(), rtol=1e-9, atol=1e-18), (name, s)
    call(sources[0])
    return row("betweenness of one source", name, wall(call, sources), device(call, sources))


FIRST = """
import sys, time
import numpy as np
import hopwave as hw
source, target = np.random.default_rng(0).integers(0, 1 << 12, (2, 40000))
G = hw.Graph.from_edges(source, target, directed=False)
what, after = sys.argv[1:]
def bfs(): hw.bfs(G, 0, device="cuda").distances
def betweenness(): hw.betweenness_centrality(G, k=64, seed=1, device="cuda").scores
def closeness(): hw.closeness_centrality(G, device="cuda").scores
def sssp(): hw.sssp(W, 0, device="cuda").distances
W = G.with_weights(np.ones(G.m)) if what == "sssp" else None
if after: bfs()
began = time.perf_counter()
globals()[what]()
print(time.perf_counter() - began)
"""


def first_uses() -> Iterator[dict[str, Any]]:
    """Seconds of first uses, each in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (what, after) in enumerate((("bfs", ""), ("betweenness", "1"), ("closeness", "1"), ("sssp", "1"))):
            here = {"HOPWAVE_CACHE": f"{folder}/{number}", "CUPY_CACHE_DIR": f"{folder}/{number}-cupy"}
            for state in ("first use", "new process") if what == "bfs" else ("first use",):
                command = [sys.executable, "-c", FIRST, what, after]
                done = subprocess.run(command, env=os.environ | here, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(done.stderr[-2000:])
                    continue
                yield row(what, state, float(done.stdout))


def main() -> None:
    given = command_line(__doc__, quick=False, large=False)
    rows = []
    graphs = {"kron18": MADE["kron18"]()}
    if not given.quick:
        graphs |= {"kron21": MADE["kron21"](), **real_graphs(["email-Enron"])}
    for name, graph in graphs.items():
        rows += searches(name, graph)
        if name != "email-Enron":
            rows.append(betweenness(name, graph))
    del graphs
    for scale in (24, 26) if given.large else ():
        n, source, target = kronecker_ends(scale, 16)
        graph = hw.Graph.from_edges(source, target, n=n, directed=False)
        del source, target
        rows.append(betweenness(f"kron{scale}", graph, 4, check=False))
    rows += first_uses()
    publish("gpu-calls", "What a call costs on a GPU", rows, NOTE, gpu())


if __name__ == "__main__":
    main()
