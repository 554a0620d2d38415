"""The parts that compute-sanitizer runs (sanitize.py): everything the CUDA engine does, on small traps.

A part returns what was wrong. Answers are compared with the reference engine or SciPy if these have them; the CPU
engine would first be compiled, which takes longer than the part. Other answers are computed twice and must be equal,
since a race would make them differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import hopwave as hw
from benchmarks.sanitize.building import building, graph500, job_ranks, rank_kernels
from benchmarks.sanitize.graphs import lengths, repeats, same, tiny, traps
from benchmarks.sanitize.linalg import (
    long_row_and_function,
    made_of_products,
    matrices,
    power,
    powers,
    products,
    sequences,
    waves,
)
from benchmarks.sanitize.questions import (
    chains,
    chosen_vertices,
    compressed,
    compressed_blocks,
    compressed_ranks,
    compressed_scores,
    connected,
    cores,
    deep,
    made_of_arcs,
    spurs,
    tables,
    triangles,
)
from benchmarks.sanitize.searches import (
    after_pulls,
    filled,
    overflow,
    overflow_of_sums,
    overflow_of_turbobc,
    own_plans,
    searches,
    without_tiles,
)
from hopwave import engines, generate
from hopwave import linalg as la
from hopwave.algorithms.shortest_paths import one_path_on_gpu
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob, SampleJob
from hopwave.planning.plan import Plan, Pull, Push

Part = Callable[[], Iterator[str]]


# ---------------------------------------------------------------- betweenness


def between(name: str) -> Part:
    """Betweenness of vertices and edges by one plan."""

    def part() -> Iterator[str]:
        plan = hw.plan(name)
        graphs = tiny() | {"star": generate.star(1500)} if name == "hopwave-wide" else traps()
        for where, graph in graphs.items():
            weights = lengths(graph) if plan.lengths == "weights" else None
            right = weights if weights is not None else np.ones(graph.m)
            sources = range(min(graph.n, 2))
            options: dict[str, Any] = {"sources": sources, "endpoints": True}
            found = hw.betweenness_centrality(graph, **options, weights=weights, plan=plan, device="cuda").scores
            if not same(found, hw.betweenness_centrality(graph, **options, weights=right, device="reference").scores):
                yield f"{name} on {where}"
            if engines.engine("cuda").why_not(plan, BetweennessJob(np.zeros(1, np.int64), edges=True)):
                continue
            options = {"sources": sources, "targets": range(0, graph.n, 2)}
            arcs = hw.edge_betweenness_centrality(graph, **options, weights=weights, plan=plan, device="cuda").scores
            expected = hw.edge_betweenness_centrality(graph, **options, weights=right, device="reference").scores
            if not same(arcs, expected):
                yield f"edges by {name} on {where}"

    return part


def extended(name: str) -> Part:
    """Betweenness with all path counts as mantissa and exponent. Usually only very deep graphs need that, which have
    too many levels for racecheck.
    """

    def part() -> Iterator[str]:
        from hopwave.engines.cuda.betweenness import block, weighted

        blocks = block.Blocks if name == "hopwave-block" else weighted.WeightedBlocks
        run = blocks._run

        def run_extended(self: Any, results: Any, which: Any, count: int, at_once: int, *kind: Any) -> None:
            run(self, results, which, count, at_once, block.EXTENDED, 0, 1)

        with patch.object(blocks, "_run", run_extended):
            yield from between(name)()

    return part


def without_shared_memory() -> Iterator[str]:
    """Betweenness in blocks, as on a machine without enough shared memory for their bitmaps."""
    from hopwave.engines.cuda.betweenness import run

    before = run._machine
    with patch.object(run, "_machine", lambda device: replace(before(device), shared=0)):
        yield from between("hopwave-block")()


def renumbered() -> Iterator[str]:
    """A deep graph with scattered numbers, which is renumbered first."""
    from hopwave.engines.cuda.betweenness import regimes

    rng = np.random.default_rng(1)
    order = rng.permutation(60 * 4)
    always = {"worth_renumbering": lambda *given: True, "scattered": lambda *given: True}
    for directed in (False, True):
        u, v = generate.grid(60, 4).to_edges()
        graph = hw.Graph.from_edges(order[u], order[v], directed=directed)
        ones = np.ones(graph.m)
        for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
            with patch.multiple(regimes, **always):
                found = ask(graph, sources=range(9), plan="hopwave-block", device="cuda").scores
            if not same(found, ask(graph, sources=range(9), weights=ones, device="reference").scores):
                yield f"{ask.__name__} of a scattered grid, directed={directed}"


def teams() -> Iterator[str]:
    """Few sources of a graph with wide levels, so that each gets several blocks; also without shared memory."""
    from hopwave.engines.cuda.betweenness import run

    before, graph = run._machine, wide_levels()

    def little(device: int) -> Any:
        return replace(before(device), shared=256)

    for machine in (before, little):
        with patch.object(run, "_machine", machine):
            for sources in ([0, 7], range(12)):
                for ask in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
                    options: dict[str, Any] = {"sources": sources, "plan": "hopwave-block", "device": "cuda"}
                    found = [ask(graph, **options).scores for _ in range(repeats[0])]
                    if not all(np.array_equal(found[0], other) for other in found):
                        yield f"{ask.__name__} of {len(sources)} sources differs from itself"


def teams_along_weights() -> Iterator[str]:
    """Teams of blocks along weights."""
    graph = wide_levels()
    A = csr_array((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    for sources in ([0, 7], list(range(12))):
        hw.betweenness_centrality(graph, sources=sources, weights=np.ones(graph.m), device="cuda")
        if not same(hw.sssp_many(graph, sources, np.ones(graph.m), device="cuda"), dijkstra(A, indices=sources)):
            yield f"lengths from {len(sources)} sources"


def wide_levels() -> hw.Graph:
    """Levels so wide that few sources get several blocks each; under a tool there are few levels."""
    return generate.uniform(8000, 2, seed=1) if repeats[0] > 1 else generate.uniform(4000, 8, seed=1)


def sampled_paths() -> Iterator[str]:
    """Paths of random pairs, drawn at once and in pieces."""
    for where, graph in traps().items():
        if graph.n < 2:
            continue
        counts = []
        for steps in ((300,), (120, 300)):
            run = engines.engine("cuda").path_sampling(graph, SampleJob(1))
            for until in steps:
                run.advance(until, lambda done: False)
            counts.append(np.append(run.counts, run.sums))
        if not np.array_equal(*counts):
            yield f"sampled paths on {where}"


# ---------------------------------------------------------------- many sources, components


def many() -> Iterator[str]:
    """Tables, sums, histograms, columns and pairs from searches from many sources."""
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
        whole = 1.0 + np.arange(graph.m) % 7
        for weights in (whole, whole.astype(np.float32), whole % 3 * 0.1, np.full(graph.m, 0.5, np.float32)):
            A = la.Matrix.from_graph(graph, weights)
            found = hw.sssp(A, [0, graph.n - 1], device="cuda")
            matrix = csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
            if weights.min(initial=1) > 0:  # SciPy reads a stored zero as no arc
                right = dijkstra(matrix, indices=[0, graph.n - 1], min_only=True)
                if not same(found.distances, right, 1e-6):
                    yield f"shortest paths on {where}"
            if (found.predecessors < -1).any():
                yield f"predecessors on {where}"
            far = hw.sssp(A, 0, device="cuda").distances
            for target in np.flatnonzero(np.isfinite(far))[-2:].tolist():
                if one_path_on_gpu(A, 0, target)[-1] != target:
                    yield f"a path on {where}"
    for method in ("delta-stepping", "bellman-ford"):
        A = la.Matrix.from_graph(generate.kronecker(8, 8), 1.0 + np.arange(generate.kronecker(8, 8).m) % 7)
        if not same(hw.sssp(A, 0, method=method, device="cuda").distances, hw.sssp(A, 0, device="cuda").distances):
            yield f"method={method}"


def plans(task: str) -> list[Plan]:
    """The plans of a task that this engine runs."""
    return [plan for plan in CATALOGUE.values() if plan.task == task]


TURBOBC = ("sccsc", "sccooc", "vecsc")
PARTS: dict[str, Part] = {  # a run without a tool takes them in this order; a tool, those with most new kernels first
    "betweenness: hopwave-wide": between("hopwave-wide"),  # takes longest to compile
    "graph500": graph500,
    **{f"ranks, {layout}": job_ranks(layout) for layout in ("1d", "2d")},
    **{f"ranks, {layout}, wide slots": job_ranks(layout, MAX_NARROW_SLOTS=0) for layout in ("1d", "2d")},
    "rank kernels": rank_kernels,
    **{f"building, {bits} bits": building(bits) for bits in (32, 64)},
    "shortest paths": shortest_paths,
    "spurs": spurs,
    **{f"power: {name}": power(name) for name in powers(generate.path(2))},
    **{f"waves: {name}": waves(name) for name in sequences(generate.path(2))},
    **{f"products: {ring}": products(ring) for ring in ("plus_second", "min_plus", "any_pair", "or_and")},
    "made of products": made_of_products,
    "matrices": matrices,
    "long row and function": long_row_and_function,
    **{f"betweenness: {plan.name}": between(plan.name) for plan in reversed(plans("betweenness"))},
    **{f"extended: {name}": extended(name) for name in ("hopwave-block", "brandes-dijkstra")},
    "without shared memory": without_shared_memory,
    **{f"overflow: {name}": overflow(name) for name in ("hopwave-paths", "turbobfs-td-sccsc")},
    **{f"overflow: {name}": overflow_of_sums(name) for name in ("hopwave-block", "hopwave-wide", "brandes-dijkstra")},
    **{f"overflow: turbobc-{name}": overflow_of_turbobc(f"turbobc-{name}", name == "sccsc") for name in TURBOBC},
    **{f"steps: push, {mapping}": own_plans(Push, mapping) for mapping in ("thread", "twc", "merge")},
    **{f"steps: pull, {word}": own_plans(Pull, word) for word in ("thread", "warp", "merge", "compacted")},
    "steps: in turn": after_pulls,
    **{f"search: {plan.name}": searches(plan.name) for plan in plans("search") if plan.name != "hopwave"},
    "search: hopwave-dense, filled": filled,
    "search: push-pull without tiles": without_tiles("pushpull-baseline", "pushpull"),
    "connected": connected,
    "compressed": compressed(None),
    "compressed, across the bus": compressed(0),
    "compressed, blocks": compressed_blocks,
    "compressed, scores": compressed_scores(None),
    "compressed, scores across the bus": compressed_scores(0),
    "compressed, ranks": compressed_ranks(None),
    "compressed, ranks across the bus": compressed_ranks(0),
    "cores": cores,
    "triangles": triangles,
    "chosen vertices": chosen_vertices,
    "made of arcs": made_of_arcs,
    "many, one block each": deep,
    "many": many,
    "many, weighted": many_weighted,
    "tables": tables,
    "chains": chains,
    "teams": teams,
    "teams along weights": teams_along_weights,
    "sampled paths": sampled_paths,
    "renumbered": renumbered,
}
# Their kernels are not templates over the type of offsets.
NO_OFFSETS = [
    name for name in PARTS if name.startswith(("building", "graph500", "rank", "compressed, ", "chains", "spurs"))
]
