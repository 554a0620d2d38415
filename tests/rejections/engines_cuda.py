"""Rejections by the engine of a GPU, and of what lies on one."""

from typing import Any

import numpy as np

import hopwave as hw
from hopwave import ConvergenceError, EngineError, Graph, GraphError, engines, generate
from hopwave import linalg as la
from hopwave.planning.jobs import SampleJob
from rejections import Row, each

PATH, STAR = generate.path(5), generate.star(5000)
ROADS = generate.path(3).with_weights([1.0, 1.0, 2.0, 2.0])
KRON = generate.kronecker(8, seed=3, directed=True)
MESH = generate.delaunay(3000, seed=3)
ARC = Graph.from_edges([0, 1], [1, 2], directed=True)
LOOKED_UP = la.Semiring.define("looked_up", max, lambda a, b: [3, 1, 2][b], identity=0)
SAID = "rows are compressed on the GPU"
BC: dict[str, Any] = {"device": "cuda", "memory_limit": 10_000}


def there(*columns: Any) -> Any:
    import cupy

    return [cupy.asarray(column) for column in columns]


def edges(source: Any, target: Any, weights: Any = None, **more: Any) -> Graph:
    """A graph of columns on the GPU."""
    given = {} if weights is None else {"weights": there(weights)[0]}
    return Graph.from_edges(*there(source, target), **given, **more)


def packed() -> Graph:
    return KRON.to("cuda", compressed=True)


def sample(job: SampleJob, threads: int | None = None) -> None:
    engines.engine("cuda").path_sampling(KRON, job, threads).advance(9, lambda done: False)


def started(device: str, checkpoint: Any) -> None:
    hw.betweenness_centrality(PATH, sources=[0, 1], plan="hopwave-block", checkpoint=checkpoint, device=device)


GPU_ROWS: list[Row] = [
    (lambda: hw.local_efficiency(KRON, device="cuda"), EngineError, "not support local efficiency"),
    (lambda: hw.closeness_centrality(PATH, device="cuda", threads=2), EngineError, "threads=2"),
    (lambda: hw.betweenness_centrality(PATH, device="cuda", threads=2), EngineError, "threads=2 is for device='cpu'"),
    (lambda: la.mxv(la.Matrix.from_graph(PATH), la.Vector.full(5, 1), device="cuda", threads=2), EngineError, "=2"),
    (lambda: la.mxv(la.Matrix.from_graph(PATH), la.Vector.full(5, 1), LOOKED_UP, device="cuda"), EngineError,
     "cannot be translated"),
    (lambda: hw.pagerank(KRON, tol=0, max_iter=3, device="cuda"), ConvergenceError, "round 3 changed them"),
    (lambda: hw.eigenvector_centrality(MESH, tol=0, max_iter=2, device="cuda"), ConvergenceError, "round 2 changed"),
    (lambda: hw.katz_centrality(KRON, 0.9, max_iter=10**6, device="cuda"), ConvergenceError, "Katz diverged"),
    (lambda: la.Matrix.from_graph(PATH).to("cuda").astype("int32").to_scipy(), la.LinalgError, "int32"),
    # graphs made of columns
    (lambda: edges([0, 1, 1], [1, 2, 2], [1.0, 2.0, 3.0]), GraphError, "the edge 1 to 2 appears more than once"),
    (lambda: edges([0, 1, 1], [1, 2, 2], [1.0, 2.0, np.nan]), GraphError, "weights[2] is NaN"),
    (lambda: edges([-1], [0]), GraphError, "vertex id -1 is negative"),
    (lambda: edges([0, 1], [1, 2], n=2), GraphError, "vertex id 2 is too large for n=2"),
    (lambda: hw.k_shortest_paths(edges([0, 1], [1, 2], [1.0, -1.0]), 0, 2, 2, device="cuda"), GraphError, "negative"),
    (lambda: hw.k_shortest_paths(edges([0, 1], [1, 2], [1.0, np.inf]), 0, 2, 2, device="cuda"), GraphError, "infinite"),
    # compressed rows
    (lambda: PATH.to("cpu", compressed=True), GraphError, "device='cpu' does not support compression"),
    (lambda: PATH.to("cuda", memory_limit=-1), GraphError, "memory_limit=-1 is not a number of bytes"),
    (lambda: hw.bfs(packed(), 0, path_counts=True, device="cuda"), EngineError, SAID),
    *each(lambda plan: hw.betweenness_centrality(packed(), plan=plan, device="cuda"),
          ["hopwave-batch", "turbobc-sccsc"], EngineError, SAID),
    (lambda: hw.edge_betweenness_centrality(packed(), device="cuda"), EngineError, SAID),
    (lambda: hw.strongly_connected_components(packed(), device="cuda"), EngineError, SAID),
    (lambda: hw.betweenness_centrality(packed(), epsilon=0.1, method="paths", device="cuda"), EngineError, SAID),
    # shortest paths
    (lambda: hw.sssp(ROADS, 0, [-1.0, -1.0, 1.0, 1.0], device="cuda"), GraphError, "negative"),
    (lambda: hw.sssp(ROADS, 0, [np.inf, np.inf, 1.0, 1.0], device="cuda"), GraphError, "infinite"),
    (lambda: hw.sssp(ROADS, 0, method="dijkstra", device="cuda"), GraphError, "runs only on the CPU"),
    (lambda: hw.sssp(ROADS, 0, threads=2, device="cuda"), GraphError, "threads="),
    # betweenness
    *each(lambda plan: hw.betweenness_centrality(MESH, plan=plan, **BC),
          ["hopwave-block", "hopwave-batch", "hopwave-wide"], EngineError, "for one source and may use 10.00 kB"),
    (lambda: hw.betweenness_centrality(MESH.with_weights(np.ones(MESH.m)), weights=True, **BC), EngineError,
     "raise memory_limit="),
    (lambda: hw.betweenness_centrality(STAR, plan="turbobc-vecsc", **BC), EngineError, "'turbobc-vecsc' needs "),
    (lambda: hw.betweenness_centrality(ARC, plan="turbobc-sccsc", device="cuda", deterministic=True), EngineError,
     "plan='auto'"),
    (lambda tmp: [started(device, tmp / "run.npz") for device in ("cpu", "cuda")], GraphError,
     "another graph, function, sample, plan or device"),
    (lambda: sample(SampleJob(1, memory_limit=KRON.n)), EngineError, "raise memory_limit="),
    (lambda: sample(SampleJob(1), 2), EngineError, "threads=2"),
]  # fmt: skip
