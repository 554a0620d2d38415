"""What compute-sanitizer watches (sanitize.py): everything the CUDA engine does, on small traps, in parts.

A part returns what was wrong. Answers are compared with the reference engine or with SciPy where these have them: the
CPU engine would first be compiled, which takes longer than the part. The others are computed twice, and must not
differ: that is what a race would show.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

import hopwave as hw
from benchmarks.sanitize_graphs import layers, lengths, traps
from hopwave import csr, engines, generate
from hopwave import linalg as la
from hopwave.catalogue import CATALOGUE
from hopwave.cli import warmup
from hopwave.jobs import Job, PathJob, Question
from hopwave.linalg import algorithms
from hopwave.plan import Plan

Part = Callable[[], Iterator[str]]


@contextmanager
def offsets(bits: int) -> Iterator[None]:
    """Graphs have row offsets of that many bits: those of 64 bits are otherwise for more than 2^31 arcs."""
    from hopwave.engines.cuda import build

    if bits == 32:
        yield
        return
    with replaced(csr, "LARGEST_INT32_OFFSET", -1), replaced(build, "offset_dtype", lambda arcs: np.int64):
        yield


@contextmanager
def replaced(module: Any, name: str, value: Any) -> Iterator[None]:
    """Another value for a name of a module, for a while."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def same(found: Any, right: Any, rtol: float = 1e-9) -> bool:
    """Whether two arrays agree up to rounding."""
    return bool(np.allclose(found, right, rtol=rtol, atol=0, equal_nan=True))


# ---------------------------------------------------------------- searches


def searches(*names: str) -> Part:
    """Searches by these plans, with path counts where they have them."""

    def part() -> Iterator[str]:
        for where, graph in traps().items():
            expected = hw.bfs(graph, 0, path_counts=True, device="reference")
            for plan in map(hw.plan, names):
                counting = plan.why_not(Question(path_counts=True)) is None
                asked: list[dict[str, Any]] = [{}, {"predecessors": False}]
                for options in [*asked, {"path_counts": True}] if counting else asked:
                    found = hw.bfs(graph, 0, plan=plan, device="cuda", **options)
                    right = np.array_equal(found.distances, expected.distances)
                    if found.path_counts is not None:
                        right &= same(found.path_counts, expected.path_counts, 1e-12)
                    if not right:
                        yield f"{plan.name} on {where}, {options}"

    return part


def overflow() -> Iterator[str]:
    """Path counts beyond float64: scaled levels, then a mantissa and an exponent."""
    deep = layers(64, 180)
    for plan in ("hopwave-paths", "turbobfs-tdbu"):
        found = hw.bfs(deep, 0, plan=plan, path_counts=True, device="cuda")
        if found.depth != 179:
            yield f"{plan} on layers"
    hw.betweenness_centrality(deep, sources=[0], plan="turbobc-sccsc", device="cuda", progress=False)
    spread = warmup.spanning()
    hw.bfs(spread, 0, plan="hopwave-paths", path_counts=True, device="cuda")
    for options in ({"plan": "hopwave-block"}, {"weights": np.ones(spread.m)}):
        hw.betweenness_centrality(spread, sources=[0], device="cuda", progress=False, **options)


# ---------------------------------------------------------------- betweenness


def between(name: str) -> Part:
    """Betweenness of vertices and edges by one plan."""

    def part() -> Iterator[str]:
        plan = hw.plan(name)
        for where, graph in traps().items():
            weights = lengths(graph) if plan.lengths == "weights" else None
            right = weights if weights is not None else np.ones(graph.m)
            sources = range(min(graph.n, 5))
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
            with replaced(regimes, "MIN_ARCS_TO_RENUMBER", 0):
                found = ask(graph, sources=range(9), plan="hopwave-block", device="cuda").scores
            if not same(found, ask(graph, sources=range(9), weights=ones, device="reference").scores):
                yield f"{ask.__name__} of a scattered grid, directed={directed}"


def teams() -> Iterator[str]:
    """Few sources of a large graph, hops and weights: several blocks for each."""
    graph = generate.grid(150, 40)
    for options in ({"plan": "hopwave-block"}, {"weights": np.ones(graph.m)}):
        ask: dict[str, Any] = {"sources": [0, 7], "device": "cuda", **options}
        once, again = (hw.betweenness_centrality(graph, **ask).scores for _ in range(2))
        if not np.array_equal(once, again):
            yield f"a team differs from itself with {list(options)}"
    hw.sssp_many(graph, [0, 7], np.ones(graph.m), device="cuda")


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


def twice(computations: dict[str, Callable[[], Any]], where: str) -> Iterator[str]:
    """The names of those that differ between two runs."""
    for name, compute in computations.items():
        once, again = (compute().to("cpu").to_dense(-1) for _ in range(2))
        if not same(once, again):
            yield f"{name} on {where}"


def ranks() -> Iterator[str]:
    """Power iterations."""
    for where, graph in traps().items():
        W, A = la.Matrix.from_graph(graph, 1.0 + np.arange(graph.m) % 7), la.Matrix.from_graph(graph)
        own = 1.0 + np.arange(graph.n) % 3
        start: dict[str, Any] = {"max_iter": 5000, "tol": 0.05 / graph.n, "nstart": own, "device": "cuda"}
        yield from twice(
            {
                "pagerank": lambda A=A: algorithms.pagerank(A, device="cuda"),
                "own pagerank": lambda W=W, o=own: algorithms.pagerank(W, 0.7, o, o[::-1], o, device="cuda"),
                "eigenvector": lambda A=A, s=start: algorithms.eigenvector_centrality(A, **s),
                "weighted eigenvector": lambda W=W, s=start: algorithms.eigenvector_centrality(W, **s),
                "katz": lambda W=W, o=own: algorithms.katz_centrality(W, 1e-4, o, device="cuda"),
            },
            where,
        )


def waves() -> Iterator[str]:
    """Sequences of masked products in one launch."""
    for where, graph in traps().items():
        A, n = la.Matrix.from_graph(graph), graph.n
        ends = la.Vector.from_entries([0, n - 1] if n > 1 else [0], True, n).astype("int64")

        def hops(semiring: Any, A: Any = A, ends: Any = ends, **how: Any) -> Any:
            levels, values = la.waves(ends, A, semiring, device="cuda", **how)
            return levels if semiring.any_term else la.ewise_add(levels.astype("int64"), values, la.binary.times)

        yield from twice(
            {
                "bfs": lambda A=A: la.bfs(A, 0, device="cuda"),
                "waves": lambda h=hops: h(la.semiring.any_pair),
                "waves, pushed": lambda h=hops: h(la.semiring.any_secondi, direction="push"),
                "waves, pulled": lambda h=hops: h(la.semiring.any_first, direction="pull"),
                "waves, some": lambda h=hops: h(la.semiring.any_first, depth_limit=2),
                "path counts": lambda h=hops: h(la.semiring.plus_first, depth_limit=20),
            },
            where,
        )


def products() -> Iterator[str]:
    """Single products in both directions, with masks; and algorithms made of them."""
    for where, graph in traps().items():
        n = graph.n
        A, W = la.Matrix.from_graph(graph), la.Matrix.from_graph(graph, 1 + np.arange(graph.m) % 7)
        x = la.Vector.from_dense(np.arange(n) % 9, np.arange(n) % 3 == 0)
        mask = la.Vector.from_entries([0, n - 1] if n > 1 else [0], True, n)
        for ring in ("plus_second", "min_plus", "any_pair", "or_and"):
            for given in ({}, {"mask": mask}, {"mask": mask, "complement": True}):
                right = la.mxv(W, x, la.semiring[ring], device="reference", **given).to_dense(-1)
                for direction in ("push", "pull"):
                    y = la.mxv(W, x, la.semiring[ring], direction=direction, device="cuda", **given)
                    if not same(y.to("cpu").to_dense(-1), right):
                        yield f"{ring} by {direction} on {where}"
        if not graph.directed:
            yield from twice(
                {
                    "triangles": lambda A=A: algorithms.triangles(A, device="cuda"),
                    "components": lambda A=A: algorithms.connected_components(A, device="cuda"),
                },
                where,
            )


# ---------------------------------------------------------------- building, Graph500, ranks of a job


def building() -> Iterator[str]:
    """Rows from edges on the GPU: both types of ids and weights, every rule for repeats; transposes; by degree."""
    import cupy

    from hopwave.engines.cuda import build

    rng = np.random.default_rng(3)
    with replaced(build, "LEAST_ARCS", 500):
        for n, edges in ((1, 9), (40, 300), (2000, 6000)):
            u, v = (rng.integers(0, n, edges) ** 2 // n for _ in range(2))
            w = rng.integers(1, 5, edges) / 3
            for ids in (np.int32, np.int64):
                a, b = cupy.asarray(u.astype(ids)), cupy.asarray(v.astype(ids))
                for directed in (True, False):
                    if hw.Graph.from_edges(a, b, n=n, directed=directed) != hw.Graph.from_edges(
                        u, v, n=n, directed=directed, device="cpu"
                    ):
                        yield f"{edges} edges of {ids.__name__}"
                for kind in (np.float32, np.float64):
                    for combine in ("min", "max", "sum", "first"):
                        hw.Graph.from_edges(a, b, n=n, weights=cupy.asarray(w.astype(kind)), combine=combine)
                    hw.Graph.from_edges(a, b, n=n, weights=cupy.asarray(w.astype(kind)), repeats="keep")


def graph500() -> Iterator[str]:
    """Both searches of Graph500 with their validation, on one GPU; and edges of a graph that no GPU holds."""
    from hopwave.engines.cuda.kronecker import edges
    from hopwave.graph500.on_cuda import OnCuda, broken_rules

    machine = OnCuda(9, 16, seed=1)
    kernel = machine.shortest(4)
    for root in (0, 17, 300):
        if machine.search(root).broken or kernel.search(root).broken:
            yield f"Graph500 from {root}"
    machine.distance[5] = 77
    if not broken_rules(machine.graph, machine.distance, machine.parent, 300):
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
        machine = OverRanks(9, 8, "cuda", 1, layout, 1, "hopwave")
        kernel = machine.shortest(4)
        for root in (0, 17, 300):
            if machine.search(root).broken or kernel.search(root).broken:
                yield f"{layout} from {root}"


def named(prefix: str) -> tuple[str, ...]:
    """The search plans whose names begin so."""
    return tuple(plan.name for plan in CATALOGUE.values() if plan.task == "search" and plan.name.startswith(prefix))


def plans(task: str) -> list[Plan]:
    """The plans of a task that this engine runs."""
    return [plan for plan in CATALOGUE.values() if plan.task == task]


PARTS: dict[str, Part] = {  # in the order in which they are taken: what has most kernels of its own first
    **{f"betweenness: {plan.name}": between(plan.name) for plan in reversed(plans("betweenness"))},
    "many": many,
    "shortest paths": shortest_paths,
    "power iterations": ranks,
    "graph500": graph500,
    "building": building,
    "sampled paths": sampled_paths,
    "many, weighted": many_weighted,
    "ranks": job_ranks,
    "waves": waves,
    "search: hiragushi, merrill": searches("hiragushi-hybrid", "merrill"),
    "search: hopwave": searches("hopwave-gpu", "hopwave-paths"),
    "search: turbobfs, top-down": searches(*named("turbobfs-td-")),
    "search: turbobfs, others": searches(*named("turbobfs-bu"), "turbobfs-tdbu"),
    "search: xbfs": searches(*named("xbfs")),
    "search: push-pull": searches(*named("pushpull")),
    "products": products,
    "renumbered": renumbered,
    "teams": teams,
    "overflow": overflow,
}
NO_OFFSETS = ("building", "graph500", "ranks")  # their kernels are no templates of the type of offsets
