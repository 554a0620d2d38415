"""What compute-sanitizer watches (sanitize.py): everything the CUDA engine does, on small traps, in parts.

A part returns what was wrong. Answers are compared with the reference engine or with SciPy where these have them: the
CPU engine would first be compiled, which takes longer than the part. The others are computed twice, and must not
differ: that is what a race would show.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import hopwave as hw
from benchmarks.sanitize_graphs import lengths, same, traps
from benchmarks.sanitize_linalg import matrices, products, ranks, waves
from benchmarks.sanitize_searches import named, overflow, own_plans, searches, turbobc_overflow
from hopwave import engines, generate
from hopwave import linalg as la
from hopwave.catalogue import CATALOGUE
from hopwave.jobs import Job, PathJob
from hopwave.plan import Plan, Pull, Push

Part = Callable[[], Iterator[str]]


# ---------------------------------------------------------------- betweenness


def between(name: str) -> Part:
    """Betweenness of vertices and edges by one plan."""

    def part() -> Iterator[str]:
        plan = hw.plan(name)
        for where, graph in traps().items():
            weights = lengths(graph) if plan.lengths == "weights" else None
            right = weights if weights is not None else np.ones(graph.m)
            sources = range(min(graph.n, 2))
            options: dict[str, Any] = {"sources": sources, "endpoints": True}
            found = hw.betweenness_centrality(graph, **options, weights=weights, plan=plan, device="cuda").scores
            if not same(found, hw.betweenness_centrality(graph, **options, weights=right, device="reference").scores):
                yield f"{name} on {where}"
            if engines.engine("cuda").why_not(plan, Job(np.zeros(1, np.int64), edges=True)):
                continue
            options = {"sources": sources, "targets": range(0, graph.n, 2)}
            arcs = hw.edge_betweenness_centrality(graph, **options, weights=weights, plan=plan, device="cuda").scores
            expected = hw.edge_betweenness_centrality(graph, **options, weights=right, device="reference").scores
            if not same(arcs, expected):
                yield f"edges by {name} on {where}"

    return part


def renumbered() -> Iterator[str]:
    """A deep graph whose numbers are scattered: it is renumbered first."""
    from hopwave.engines.cuda.betweenness import regimes

    rng = np.random.default_rng(1)
    order = rng.permutation(60 * 4)
    for directed in (False, True):
        u, v = generate.grid(60, 4).to_edges()
        graph = hw.Graph.from_edges(order[u], order[v], directed=directed)
        ones = np.ones(graph.m)
        for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
            with patch.object(regimes, "MIN_ARCS_TO_RENUMBER", 0), patch.object(regimes, "MAX_ORDERED_VERTICES", 0):
                found = ask(graph, sources=range(9), plan="hopwave-block", device="cuda").scores
            if not same(found, ask(graph, sources=range(9), weights=ones, device="reference").scores):
                yield f"{ask.__name__} of a scattered grid, directed={directed}"


def teams() -> Iterator[str]:
    """Few sources of a graph with wide levels, hops and weights: several blocks for each; and without shared memory."""
    from hopwave.engines.cuda.betweenness import run

    before, graph = run._machine, generate.uniform(8000, 2, seed=1)

    def little(device: int) -> Any:
        return replace(before(device), shared=1024)

    for machine in (before, little):
        with patch.object(run, "_machine", machine):
            for sources in ([0, 7], range(12)):
                for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
                    found = [ask(graph, sources=sources, plan="hopwave-block", device="cuda").scores for _ in range(2)]
                    if not np.array_equal(*found):
                        yield f"{ask.__name__} of {len(sources)} sources differs from itself"
    for sources in ([0, 7], range(12)):
        hw.betweenness_centrality(graph, sources=sources, weights=np.ones(graph.m), device="cuda")
        hw.sssp_many(graph, list(sources), np.ones(graph.m), device="cuda")


def sampled_paths() -> Iterator[str]:
    """Paths of random pairs, drawn at once and in pieces."""
    for where, graph in traps().items():
        if graph.n < 2:
            continue
        counts = []
        for steps in ((300,), (120, 300)):
            run = engines.engine("cuda").path_sampling(graph, PathJob(1))
            for until in steps:
                run.advance(until, lambda done: False)
            counts.append(np.append(run.counts, run.sums))
        if not np.array_equal(*counts):
            yield f"sampled paths on {where}"


# ---------------------------------------------------------------- many sources, components


def many() -> Iterator[str]:
    """Tables, sums, histograms, columns and pairs of searches from many sources."""
    for where, graph in traps().items():
        sources = np.arange(0, graph.n, 1 + graph.n // 200)
        rows = hw.bfs_many(graph, sources, device="cuda")
        right = np.array([hw.bfs(graph, int(s), predecessors=False, device="reference").distances for s in sources[:9]])
        far = hw.distance_histogram(graph, sources, device="cuda").counts
        near = hw.harmonic_centrality(graph, among=sources, device="cuda").scores
        pairs = hw.pairs_within(graph, 2, sources, device="cuda")
        if not (
            np.array_equal(rows[:9], right)
            and np.array_equal(far, np.bincount(rows[rows >= 0]))
            and same(near, np.where(rows > 0, 1 / np.maximum(rows, 1), 0).sum(0))
            and len(pairs[0]) == np.count_nonzero((rows > 0) & (rows <= 2))
        ):
            yield f"searches from many sources on {where}"
        matrix = csr_array((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))
        parts = hw.weakly_connected_components(graph, device="cuda").count
        if parts != connected_components(matrix, directed=False)[0]:
            yield f"components of {where}"


def many_weighted() -> Iterator[str]:
    """Sums, tables and pairs along weights."""
    for where, graph in traps().items():
        sources, weights = np.arange(0, graph.n, 1 + graph.n // 12), lengths(graph)
        ask: list[Callable[[str], Any]] = [
            lambda d, g=graph, s=sources, w=weights: hw.harmonic_centrality(g, among=s, weights=w, device=d).scores,
            lambda d, g=graph, s=sources, w=weights: hw.sssp_many(g, s, w, limit=9, device=d),
            lambda d, g=graph, s=sources, w=weights: hw.closeness_centrality(g, weights=w, device=d).scores,
        ]
        for number, compute in enumerate(ask[: 3 if graph.n < 200 else 2]):
            if not same(compute("cuda"), compute("reference"), 1e-12):
                yield f"question {number} along weights on {where}"


# ---------------------------------------------------------------- shortest paths, ranks, products


def shortest_paths() -> Iterator[str]:
    """Along whole lengths, fractions and zeros, from two sources, with predecessors."""
    for where, graph in traps().items():
        for weights in (1.0 + np.arange(graph.m) % 7, np.arange(graph.m) % 3 * 0.1, np.full(graph.m, 0.5, np.float32)):
            A = la.Matrix.from_graph(graph, weights)
            found = hw.sssp(A, [0, graph.n - 1], device="cuda")
            matrix = csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
            if weights.min(initial=1) > 0:  # SciPy takes a stored zero for no arc
                right = dijkstra(matrix, indices=[0, graph.n - 1], min_only=True)
                if not same(found.distances, right, 1e-6):
                    yield f"shortest paths on {where}"
            if (found.predecessors < -1).any():
                yield f"predecessors on {where}"
    for method in ("delta-stepping", "bellman-ford"):
        A = la.Matrix.from_graph(generate.kronecker(8, 8), 1.0 + np.arange(generate.kronecker(8, 8).m) % 7)
        if not same(hw.sssp(A, 0, method=method, device="cuda").distances, hw.sssp(A, 0, device="cuda").distances):
            yield f"method={method}"


# ---------------------------------------------------------------- building, Graph500, ranks of a job


def building() -> Iterator[str]:
    """Rows from edges on the GPU: both types of ids and weights, every rule for repeats; transposes; by degree."""
    import cupy

    from hopwave.engines.cuda import build

    rng = np.random.default_rng(3)
    with patch.object(build, "LEAST_ARCS", 500):
        for n, edges in ((1, 9), (700, 2000)):
            u, v = (rng.integers(0, n, edges) ** 2 // n for _ in range(2))
            w = rng.integers(1, 5, edges) / 3
            for ids, kind in ((np.int32, np.float32), (np.int64, np.float64)):
                a, b = cupy.asarray(u.astype(ids)), cupy.asarray(v.astype(ids))
                for directed in (True, False):
                    if hw.Graph.from_edges(a, b, n=n, directed=directed) != hw.Graph.from_edges(
                        u, v, n=n, directed=directed, device="cpu"
                    ):
                        yield f"{edges} edges of {ids.__name__}"
                for combine in ("min", "max", "sum", "first"):
                    hw.Graph.from_edges(a, b, n=n, weights=cupy.asarray(w.astype(kind)), combine=combine)
                hw.Graph.from_edges(a, b, n=n, weights=cupy.asarray(w.astype(kind)), repeats="keep")


def graph500() -> Iterator[str]:
    """Both searches of Graph500 with their validation, on one GPU; and edges of a graph that no GPU holds."""
    from hopwave.engines.cuda.kronecker import edges
    from hopwave.graph500.on_cuda import OnCuda, broken_rules

    machine = OnCuda(7, 16, seed=1)
    kernel = machine.shortest(4)
    if machine.search(17).broken or kernel.search(17).broken:
        yield "Graph500"
    machine.distance[5] = 77
    if not broken_rules(machine.graph, machine.distance, machine.parent, 17):
        yield "a wrong answer is not noticed"
    there = edges(36, 5, (1 << 39) + 7, 1000)
    here = generate.kronecker_edges(36, seed=5, first=(1 << 39) + 7, count=1000)
    if not all(np.array_equal(one.get(), other) for one, other in zip(there, here, strict=True)):
        yield "edges of a huge graph"


def job_ranks() -> Iterator[str]:
    """The searches, shortest paths and validation of the ranks of an MPI job (started under mpiexec or alone)."""
    if importlib.util.find_spec("mpi4py") is None:
        raise SystemExit("mpi4py is not installed")
    from hopwave.graph500.over_ranks import OverRanks

    for layout in ("1d", "2d"):
        machine = OverRanks(7, 8, "cuda", 1, layout, 1, "hopwave")
        kernel = machine.shortest(4)
        if machine.search(17).broken or kernel.search(17).broken:
            yield f"{layout} from 17"


def plans(task: str) -> list[Plan]:
    """The plans of a task that this engine runs."""
    return [plan for plan in CATALOGUE.values() if plan.task == task]


PARTS: dict[str, Part] = {  # in the order in which they are taken: those that take longest first
    "search: push-pull": searches(*named("pushpull")),
    "power iterations": ranks,
    "waves": waves,
    "graph500": graph500,
    "building": building,
    "shortest paths": shortest_paths,
    **{f"betweenness: {plan.name}": between(plan.name) for plan in reversed(plans("betweenness"))},
    "steps: pull": own_plans(Pull),
    "steps: push": own_plans(Push),
    "products": products,
    "matrices": matrices,
    "search: xbfs": searches(*named("xbfs")),
    "search: turbobfs, top-down": searches(*named("turbobfs-td-")),
    "many": many,
    "many, weighted": many_weighted,
    "ranks": job_ranks,
    "teams": teams,
    "overflow": overflow,
    "overflow, turbobc": turbobc_overflow,
    "search: hiragushi, merrill": searches("hiragushi-hybrid", "merrill"),
    "search: hopwave": searches("hopwave-gpu", "hopwave-paths"),
    "search: turbobfs, others": searches(*named("turbobfs-bu"), "turbobfs-tdbu"),
    "sampled paths": sampled_paths,
    "renumbered": renumbered,
}
NO_OFFSETS = ("building", "graph500", "ranks")  # their kernels are no templates of the type of offsets
