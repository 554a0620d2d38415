"""Everything the CUDA engine does, on small traps, to be run under compute-sanitizer:

for tool in memcheck racecheck synccheck; do
    PYTHONPATH=src compute-sanitizer --tool $tool --error-exitcode 1 python benchmarks/sanitize.py
done

Arguments choose some of it: names of plans, "many" for searches from many sources and components, "linalg" for products
over semirings and the algorithms made of them, "ranks" for power iterations, "paths" for sampled paths.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import hopwave as hw
from hopwave import engines, generate
from hopwave import linalg as la
from hopwave.catalogue import CATALOGUE
from hopwave.jobs import Job, PathJob, Question
from hopwave.linalg import algorithms
from hopwave.plan import Plan


def traps() -> dict[str, hw.Graph]:
    hub = np.arange(1, 1200)
    return {
        "one vertex": generate.path(1),
        "path of 33": generate.path(33),
        "star of 65": generate.star(65),
        "hub": hw.Graph.from_edges(np.zeros_like(hub), hub),
        "isolated": hw.Graph.from_edges([1, 2], [2, 3], n=40),
        "loops": hw.Graph.from_edges([0, 1, 1, 2], [0, 1, 2, 3], directed=True),
        "kronecker": generate.kronecker(9, edge_factor=8),
        "kronecker directed": generate.kronecker(9, edge_factor=8, directed=True),
        "mycielskian": generate.mycielskian(7),
        "grid": generate.grid(12, 11),
        "diamonds": generate.diamonds(40),
    }


def lengths(graph: hw.Graph) -> Any:
    """A weight for every arc, the same both ways, with many ties."""
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    return 1.0 + (rows + graph.indices) % 7


def between(graph: hw.Graph, plan: Plan) -> bool:
    """Whether betweenness by that plan agrees with the CPU engine."""
    weights = lengths(graph) if plan.lengths == "weights" else None
    options: dict[str, Any] = {"sources": range(min(graph.n, 5)), "endpoints": True, "weights": weights}
    found = hw.betweenness_centrality(graph, **options, plan=plan, device="cuda").scores
    right = np.allclose(found, hw.betweenness_centrality(graph, **options, device="cpu").scores, rtol=1e-12, atol=0)
    if engines.engine("cuda").why_not(plan, Job(np.zeros(1, np.int64), edges=True)):
        return right
    options = {"sources": range(min(graph.n, 5)), "targets": range(0, graph.n, 2), "weights": weights}
    arcs = hw.edge_betweenness_centrality(graph, **options, plan=plan, device="cuda").scores
    expected = hw.edge_betweenness_centrality(graph, **options, device="cpu").scores
    return right and np.allclose(arcs, expected, rtol=1e-12, atol=0)


def many(graph: hw.Graph) -> bool:
    """Whether searches from many sources agree with single ones, and components with SciPy's."""
    sources = np.arange(0, graph.n, 1 + graph.n // 200)
    rows = hw.bfs_many(graph, sources, device="cuda")
    right = np.array([hw.bfs(graph, int(s), predecessors=False, device="reference").distances for s in sources[:20]])
    far = hw.distance_histogram(graph, sources, device="cuda").counts
    near = hw.harmonic_centrality(graph, among=sources, device="cuda").scores
    pairs = hw.pairs_within(graph, 2, sources, device="cuda")
    parts = hw.weakly_connected_components(graph, device="cuda").count
    far_along = [hw.harmonic_centrality(graph, weights=lengths(graph), device=d).scores for d in ("cuda", "cpu")]
    long = [hw.sssp_many(graph, sources, lengths(graph), limit=9, device=d) for d in ("cuda", "cpu")]
    matrix = csr_array((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    return bool(
        np.array_equal(rows[:20], right)
        and np.array_equal(far, np.bincount(rows[rows >= 0]))
        and np.allclose(near, np.where(rows > 0, 1 / np.maximum(rows, 1), 0).sum(0))
        and np.allclose(*far_along, rtol=1e-14)
        and np.array_equal(*long)
        and len(pairs[0]) == np.count_nonzero((rows > 0) & (rows <= 2))
        and parts == connected_components(matrix, directed=False)[0]
    )


def algebra(graph: hw.Graph) -> list[str]:
    """The computations of hopwave.linalg that differ between GPU and CPU; there should be none."""
    n, weights = graph.n, 1.0 + np.arange(graph.m) % 7
    W, A = la.Matrix.from_graph(graph, weights), la.Matrix.from_graph(graph)
    ends = la.Vector.from_entries([0, n - 1] if n > 1 else [0], True, n)

    def hops(device: str, semiring: Any, **how: Any) -> Any:
        levels, values = la.waves(ends.astype("int64"), A, semiring, device=device, **how)
        return levels if semiring.any_term else la.ewise_add(levels.astype("int64"), values, la.binary.times)

    undirected = {
        "triangles": lambda d: algorithms.triangles(A, device=d),
        "components": lambda d: algorithms.connected_components(A, device=d),
    }
    computations: dict[str, Callable[[str], la.Vector]] = {
        "bfs": lambda d: la.bfs(A, 0, device=d),
        "waves": lambda d: hops(d, la.semiring.any_pair),
        "waves, pushed": lambda d: hops(d, la.semiring.any_secondi, direction="push"),
        "waves, pulled": lambda d: hops(d, la.semiring.any_first, direction="pull"),
        "waves, some": lambda d: hops(d, la.semiring.any_first, depth_limit=2),
        "path counts": lambda d: hops(d, la.semiring.plus_first, depth_limit=20),
        "sssp": lambda d: algorithms.sssp(W, 0, device=d),
        **({} if graph.directed else undirected),
    }
    return different(computations)


def different(computations: dict[str, Callable[[str], la.Vector]]) -> list[str]:
    """The names of those that the GPU computes differently from the CPU."""
    wrong = []
    for name, compute in computations.items():
        found, right = compute("cuda").to("cpu").to_dense(-1), compute("cpu").to_dense(-1)
        if not np.allclose(found, right, rtol=1e-9, atol=0):
            wrong.append(name)
    return wrong


def paths(graph: hw.Graph) -> bool:
    """Whether shortest paths agree with the CPU, along whole lengths, fractions and zeros, and are a tree."""
    for lengths in (1.0 + np.arange(graph.m) % 7, np.arange(graph.m) % 3 * 0.1, np.zeros(graph.m)):
        A = la.Matrix.from_graph(graph, lengths)
        found = hw.sssp(A, [0, graph.n - 1], device="cuda")
        expected = hw.sssp(A, [0, graph.n - 1], device="cpu").distances
        at = np.where(found.predecessors >= 0, found.predecessors, np.arange(graph.n))
        for _ in range(graph.n.bit_length()):
            at = at[at]
        ends = at[np.isfinite(expected)]
        if not np.array_equal(found.distances, expected) or not set(ends.tolist()) <= {0, graph.n - 1}:
            return False
    return True


def ranks(graph: hw.Graph) -> list[str]:
    """The power iterations that differ between GPU and CPU; there should be none."""
    W, A = la.Matrix.from_graph(graph, 1.0 + np.arange(graph.m) % 7), la.Matrix.from_graph(graph)
    own = 1.0 + np.arange(graph.n) % 3
    start = {"max_iter": 5000, "tol": 0.05 / graph.n, "nstart": own}
    return different(
        {
            "pagerank": lambda d: algorithms.pagerank(A, device=d),
            "weighted pagerank": lambda d: algorithms.pagerank(W, 0.7, own, own[::-1], own, device=d),
            "eigenvector": lambda d: algorithms.eigenvector_centrality(A, device=d, **start),
            "weighted eigenvector": lambda d: algorithms.eigenvector_centrality(W, device=d, **start),
            "katz": lambda d: algorithms.katz_centrality(W, 1e-4, own, device=d),
        }
    )


def sampled_paths(graph: hw.Graph) -> bool:
    """Whether the paths of some random pairs are the CPU's."""
    counts = []
    for device in ("cuda", "cpu"):
        run = engines.engine(device).path_sampling(graph, PathJob(1))
        run.advance(300, lambda done: False)
        counts.append(np.append(run.counts, run.sums))
    return np.array_equal(*counts)


def search(graph: hw.Graph, plan: Plan) -> bool:
    """Whether searches by that plan agree with the reference engine: for distances alone, and with path counts."""
    expected = hw.bfs(graph, 0, path_counts=True, device="reference")
    right = np.array_equal(hw.bfs(graph, 0, plan=plan, device="cuda").distances, expected.distances)
    if plan.why_not(Question(path_counts=True)) is None:
        result = hw.bfs(graph, 0, plan=plan, path_counts=True, device="cuda")
        right &= np.array_equal(result.distances, expected.distances)
        right &= result.path_counts is not None and np.allclose(result.path_counts, expected.path_counts, rtol=1e-12)
    return right


def wrong_on(graph: hw.Graph, chosen: list[str]) -> Iterator[str | None]:
    """For each run on one graph: what is wrong, or None."""
    if not chosen or "linalg" in chosen:
        differ = algebra(graph)
        yield f"{', '.join(differ)} by linalg" if differ else None
    if not chosen or "ranks" in chosen:
        differ = ranks(graph)
        yield f"{', '.join(differ)} in one launch" if differ else None
    if graph.n > 1 and (not chosen or "paths" in chosen):
        yield None if sampled_paths(graph) else "sampled paths"
    if not chosen or "many" in chosen:
        yield None if many(graph) else "searches from many sources"
    for plan in CATALOGUE.values():
        if chosen and plan.name not in chosen:
            continue
        if plan.task == "search":
            yield None if search(graph, plan) else plan.name
        elif plan.name == "near-far":
            yield None if paths(graph) else plan.name
        elif plan.task == "betweenness" and engines.engine("cuda").why_not(plan, Job(np.zeros(1, np.int64))) is None:
            yield None if between(graph, plan) else plan.name


def main() -> int:
    runs = failures = 0
    for name, graph in traps().items():
        for what in wrong_on(graph, sys.argv[1:]):
            runs += 1
            if what is not None:
                failures += 1
                print(f"wrong on {name}: {what}")
    print(f"{runs} runs, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
