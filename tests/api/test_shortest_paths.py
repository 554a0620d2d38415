"""Shortest paths with lengths equal SciPy's and NetworkX's exactly; limits, threads, traces, paths of two vertices."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from graphs import TRAPS
from hopwave import EngineError, Graph, GraphError
from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import shortest_paths
from hopwave.api import shortest_paths as api
from hopwave.api.weights import weighted
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.shortest_paths.delta_stepping import on_one_core
from hopwave.planning.jobs import ShortestPathsJob

METHODS = ("dijkstra", "delta-stepping", "bellman-ford")
either = pytest.mark.parametrize("directed", [False, True])
Lengths = np.ndarray[Any, Any]

# Lengths on which searches go wrong: equal ones, zeros, fractions that rounding makes unequal, last bits, extremes.
KINDS: dict[str, Any] = {
    "equal": lambda draw, m: draw.integers(1, 4, m).astype(float),
    "zeros": lambda draw, m: draw.integers(0, 3, m) * 1.5,
    "fractions": lambda draw, m: draw.integers(1, 30, m) / 10,
    "last bits": lambda draw, m: 1 + draw.integers(0, 4, m) * 2.0**-52,
    "tiny beside huge": lambda draw, m: 10.0 ** draw.integers(-300, 150, m),
    "int32": lambda draw, m: draw.integers(0, 9, m).astype(np.int32),
    "float32": lambda draw, m: draw.random(m, np.float32),
}


def random_graph(kind: str, directed: bool, seed: int, n: int = 60) -> Graph:
    """Sparse enough to fall into several components, with self-loops."""
    draw = np.random.default_rng(seed)
    u, v = draw.integers(0, n, (2, int(1.6 * n)))
    return Graph.from_edges(u, v, n, directed, weights=KINDS[kind](draw, len(u)), combine="min")


def by_scipy(graph: Graph, sources: list[int], limit: float = math.inf) -> Lengths:
    weights = np.asarray(graph.weights, np.float64)
    A = sp.csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    found: Lengths = dijkstra(A, indices=sources, min_only=True, limit=limit)
    return found


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread takes part, however small the graph is."""
    monkeypatch.setattr(policy, "ARCS_PER_PATH_THREAD", 1)


@either
@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_is_that_of_scipy(kind: str, directed: bool, crowded: None) -> None:
    for seed in range(12):
        graph = random_graph(kind, directed, seed)
        sources = np.random.default_rng(seed).choice(graph.n, 1 + seed % 3, replace=False).tolist()
        right = by_scipy(graph, sources)
        for method in METHODS if kind not in ("int32", "float32") else METHODS[:2]:  # products compile for each type
            found = hw.sssp(graph, sources, method=method)  # type: ignore[arg-type]
            assert np.array_equal(found.distances, right), (method, seed)
        for delta in (1e-310, 0.3, 1e305):
            assert np.array_equal(hw.sssp(graph, sources, delta=delta, threads=1 + seed % 3).distances, right)


@either
@pytest.mark.parametrize("kind", ["equal", "zeros", "fractions"])
def test_a_limit_leaves_out_what_is_farther(kind: str, directed: bool) -> None:
    graph = random_graph(kind, directed, 5)
    all_of_them = by_scipy(graph, [0])
    for limit in (0, 1.5, 3, float(np.median(all_of_them[np.isfinite(all_of_them)])), math.inf):
        right = np.where(all_of_them > limit, math.inf, all_of_them)
        for method in METHODS:
            found = hw.sssp(graph, 0, method=method, limit=limit)  # type: ignore[arg-type]
            assert np.array_equal(found.distances, right), (method, limit)
            assert np.array_equal(found.predecessors >= 0, np.isfinite(right))
        within = hw.nearest(graph, 0, limit=limit)
        assert within == {int(v): d for v, d in enumerate(right) if np.isfinite(d)}
        assert list(within.values()) == sorted(within.values())


@either
@pytest.mark.parametrize("kind", KINDS)
def test_targets_leave_out_what_is_farther_than_all_of_them(kind: str, directed: bool, crowded: None) -> None:
    for seed in range(6):
        graph, draw = random_graph(kind, directed, seed), np.random.default_rng(seed)
        source, *targets = draw.integers(0, graph.n, 2 + seed % 3).tolist()
        all_of_them = by_scipy(graph, [source])
        targets = targets if seed % 2 else [int(v) for v in np.argsort(all_of_them)[[3, 5]]]
        right = np.where(all_of_them > all_of_them[targets].max(), math.inf, all_of_them)
        for options in ({}, {"delta": 0.3, "threads": 2}, *({"method": method} for method in METHODS[:2])):
            found = hw.sssp(graph, source, targets=targets, **options)  # type: ignore[arg-type]
            assert np.array_equal(found.distances, right), (options, seed)
        assert np.array_equal(found.predecessors >= 0, np.isfinite(right))
        assert np.array_equal(hw.sssp(graph, source, method="delta-stepping").distances, all_of_them)
    assert np.array_equal(hw.sssp(graph, source, method="bellman-ford", targets=targets).distances, right)


def test_a_search_ends_behind_its_targets() -> None:
    n = 5000
    graph = hw.generate.path(n).with_weights(np.ones(2 * n - 2))
    trace = hw.sssp(graph, 0, delta=1.0, trace=True, targets=[7, 20]).trace
    assert trace is not None and [bucket.least for bucket in trace] == list(range(21))
    job = ShortestPathsJob((0,), targets=(7, 20))
    A = Matrix.from_graph(graph)
    assert shortest_paths.settle(A, job).order.tolist() == list(range(21))
    grid = Matrix.from_graph(with_lengths(hw.generate.grid(60, 60)))  # no chains
    assert np.isfinite(on_one_core(grid, job)).sum() < 1800
    assert np.isfinite(on_one_core(grid, ShortestPathsJob((0,)))).all()


def test_threads_share_large_buckets_and_the_pool_grows(monkeypatch: pytest.MonkeyPatch, crowded: None) -> None:
    graph = hw.generate.kronecker(12, 16, seed=3)
    u, v = graph.to_edges()
    graph = Graph.from_edges(u, v, graph.n, weights=np.random.default_rng(1).integers(0, 256, len(u)))
    source = int(np.argmax(graph.degrees))
    right = by_scipy(graph, [source])
    for threads in (1, 2, 4):
        for delta in (None, 3.0, 1000.0):
            assert np.array_equal(hw.sssp(graph, source, delta=delta, threads=threads).distances, right)
    monkeypatch.setattr(policy, "ENTRIES_PER_VERTEX", 0)
    monkeypatch.setattr(policy, "BLOCKS_PER_WORKER", 0)
    for threads in (1, 3):
        fresh = graph.with_weights(graph.weights)  # without the thread pool of earlier runs
        assert np.array_equal(hw.sssp(fresh, source, delta=40.0, threads=threads).distances, right)
        assert np.array_equal(hw.sssp(fresh, list(range(0, 4096, 7)), threads=threads, delta=40.0).distances[0], 0.0)


def test_python_threads_search_one_graph_at_once(crowded: None) -> None:
    u, v = hw.generate.grid(60, 60).to_edges()
    graph = Graph.from_edges(u, v, 3600, weights=np.random.default_rng(1).random(len(u)))
    sources = list(range(0, 3600, 300))
    with ThreadPoolExecutor(4) as pool:
        for source, found in zip(sources, pool.map(lambda s: hw.sssp(graph, s).distances, sources), strict=True):
            assert np.array_equal(found, by_scipy(graph, [source]))


@pytest.mark.parametrize("trap", TRAPS)
def test_traps_with_lengths(trap: str) -> None:
    graph = TRAPS[trap]()
    if not graph.m:
        return
    u, v = graph.to_edges()
    draw = np.random.default_rng(7)
    graph = Graph.from_edges(u, v, graph.n, graph.directed, weights=draw.choice([0.0, 0.1, 0.2, 0.3, 1e9], len(u)))
    right = by_scipy(graph, [0])
    for method in METHODS[:2]:
        assert np.array_equal(hw.sssp(graph, 0, method=method).distances, right)  # type: ignore[arg-type]


def test_a_trace_counts_every_bucket() -> None:
    n = 5000  # more buckets than the buffer of the trace has rows
    graph = hw.generate.path(n).with_weights(np.ones(2 * n - 2))
    found = hw.sssp(graph, 0, delta=1.0, trace=True)
    assert found.trace is not None and found.method == "delta-stepping"
    assert [bucket.least for bucket in found.trace] == list(range(n))
    assert sum(bucket.vertices for bucket in found.trace) == n and sum(b.arcs for b in found.trace) == 2 * n - 2
    assert all(bucket.rounds == 1 and bucket.seconds >= 0 for bucket in found.trace)
    assert list(found.trace.to_pandas().columns) == ["rounds", "vertices", "arcs", "seconds"]
    short = hw.sssp(hw.generate.path(3), 0, trace=True).trace
    assert short is not None and str(short).splitlines()[0].split() == ["from", "rounds", "vertices", "arcs", "ms"]
    assert hw.sssp(graph, 0).trace is None
    assert "<table>" in short._repr_html_()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lengths", ["tenths", "one to 255", "far apart"])
def test_chains_leaves_and_rings_on_one_core(lengths: str, directed: bool) -> None:
    """A few junctions, joined by chains of up to 200 vertices: some are dead ends, some return to their junction.

    With lengths of very different sizes, a chain is longer than the ring of buckets.
    """
    rng = np.random.default_rng(5)
    source, target, n = [], [], 12
    for _ in range(40):
        inside = list(range(n, n + int(rng.integers(0, 200))))
        ends = [int(rng.integers(12)), *inside, *([] if rng.random() < 0.2 else [int(rng.integers(12))])]
        source, target, n = source + ends[:-1], target + ends[1:], n + len(inside)
    m = len(source)
    choices = {
        "tenths": np.array([0.1, 0.2, 0.3]),
        "one to 255": np.arange(1.0, 256),
        "far apart": np.array([1.0, 4000]),
    }
    graph = Graph.from_edges(source, target, n, directed, weights=rng.choice(choices[lengths], m), combine="min")
    A = sp.csr_array((graph.weights, graph.indices, graph.indptr), shape=(n, n))
    for s in range(0, n, n // 9):
        found = hw.sssp(graph, s, method="delta-stepping")
        right = dijkstra(A, indices=s)
        assert found.plan == "dijkstra-buckets" and np.array_equal(found.distances, right)
        limit = float(np.median(right[np.isfinite(right)]))
        near = hw.sssp(graph, s, method="delta-stepping", limit=limit).distances
        assert np.array_equal(near, np.where(right <= limit, right, np.inf))


def test_one_search_after_another() -> None:
    graph = random_graph("fractions", True, 2)
    for source, found in zip([3, 0, 3], hw.sssp_each(graph, [3, 0, 3], limit=2.0), strict=True):
        assert found.sources == (source,)
        assert np.array_equal(found.distances, by_scipy(graph, [source], 2.0))
    with pytest.raises(GraphError, match="99 is not a vertex"):
        hw.sssp_each(graph, [0, 99])


def test_the_k_nearest() -> None:
    for seed in range(6):
        graph = random_graph("equal", False, seed)
        d = by_scipy(graph, [1])
        order = np.lexsort((np.arange(graph.n), d))
        reached = int(np.isfinite(d).sum())
        for k in (1, 3, 10, 1000):
            found = hw.nearest(graph, 1, k)
            right = order[: min(k, reached)].tolist()
            assert list(found) == right and list(found.values()) == d[right].tolist()
        assert list(hw.nearest(graph, 1, 4, limit=1.0)) == [v for v in order[:4].tolist() if d[v] <= 1]
    roads = Graph.from_edges(["a", "b"], ["b", "c"], weights=[3.0, 1.0])
    assert hw.nearest(roads, ["a", "c"], 3) == {"a": 0.0, "c": 0.0, "b": 1.0}
    assert hw.nearest(roads, "a", 2, weights=False) == {"a": 0.0, "b": 1.0}


# ------------------------------------------------------------------ paths between two vertices


@either
@pytest.mark.parametrize("kind", ["equal", "zeros", "fractions", "last bits"])
def test_paths_are_those_of_networkx(kind: str, directed: bool) -> None:
    for seed in range(4):
        graph = random_graph(kind, directed, seed, n=25)
        g = graph.to_networkx()
        right = dict(nx.all_pairs_dijkstra_path_length(g))
        for s, t in np.random.default_rng(seed).integers(0, 25, (12, 2)).tolist():
            if t not in right[s]:
                with pytest.raises(GraphError, match=f"no path from {s} to {t}"):
                    hw.shortest_path(graph, s, t, weights=True)
                with pytest.raises(GraphError, match="no path"):
                    hw.all_shortest_paths(graph, s, t, weights=True)
                assert not hw.has_path(graph, s, t)
                continue
            path = hw.shortest_path(graph, s, t, weights=True)
            every = [tuple(one) for one in hw.all_shortest_paths(graph, s, t, weights=True)]
            *_, length = itertools.accumulate((g[u][v]["weight"] for u, v in itertools.pairwise(path)), initial=0)
            assert length == right[s][t]  # (since Python 3.12, sum() compensates rounding)
            theirs = map(tuple, nx.all_shortest_paths(g, s, t, weight="weight"))  # repeats some paths if lengths are 0
            assert sorted(every) == sorted(set(theirs))
            assert tuple(path) in every and hw.has_path(graph, s, t)


def test_every_form_of_weights_for_paths() -> None:
    g = nx.MultiDiGraph()
    g.add_weighted_edges_from([("a", "b", 5.0), ("a", "b", 2.0), ("b", "c", 1.0), ("a", "c", 4.0)], weight="km")
    assert hw.shortest_path(g, "a", "c") == ["a", "c"]
    assert hw.shortest_path(g, "a", "c", weights="km") == ["a", "b", "c"]
    graph = Graph.from_networkx(nx.DiGraph(g), weight=None)
    assert sorted(hw.all_shortest_paths(graph, "a", "c", weights=[2.0, 3.0, 1.0])) == [["a", "b", "c"], ["a", "c"]]
    assert hw.shortest_path(graph, "b", "b", weights=[1.0, 1.0, 1.0]) == ["b"]


# ------------------------------------------------------------------ impossible arguments


def test_bad_arguments_of_sssp_are_refused() -> None:
    graph = hw.generate.path(3).with_weights([1.0, 1.0, 2.0, 2.0])
    for limit in (-1, math.nan, "far", True):
        with pytest.raises(GraphError, match=r"limit=.* is not a length; give a number from 0, or None"):
            hw.sssp(graph, 0, limit=limit)  # type: ignore[arg-type]
    assert hw.sssp(graph, 0, limit=10**400).reached == 3, "a length that float64 does not hold limits nothing"
    with pytest.raises(GraphError, match=r"targets=\[\] has no vertex to search for"):
        hw.sssp(graph, 0, targets=[])
    with pytest.raises(GraphError, match="2 is not a list of vertices"):
        hw.sssp(graph, 0, targets=2)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="threads= is for Δ-stepping on the CPU"):
        hw.sssp(graph, 0, method="bellman-ford", threads=2)
    with pytest.raises(GraphError, match="not 'dijkstra' on 'cpu'; leave it out"):
        hw.sssp(graph, 0, method="dijkstra", threads=2)
    for method in ("dijkstra", "bellman-ford"):
        with pytest.raises(GraphError, match="trace=True records the buckets of Δ-stepping on the CPU"):
            hw.sssp(graph, 0, method=method, trace=True)  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="is not a number of threads"):
        hw.sssp(graph, 0, method="delta-stepping", threads=0)
    with pytest.raises(EngineError, match="is not a number of threads"):
        hw.sssp(graph, 0, threads=0)
    with pytest.raises(GraphError, match="needs k= or limit="):
        hw.nearest(graph, 0)
    for k in (0, -1, 1.5):
        with pytest.raises(GraphError, match="is not a number of vertices"):
            hw.nearest(graph, 0, k)  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="run on the CPU or a GPU, not on 'reference'"):
        hw.shortest_path(graph, 0, 2, device="reference", weights=True)
    for ask in (hw.shortest_path, hw.all_shortest_paths):
        for weight, why in ((-1.0, "negative"), (math.inf, "infinite")):
            with pytest.raises(GraphError, match=why):
                ask(graph, 0, 2, weights=[weight, weight, 1.0, 1.0])


# ------------------------------------------------------------------ which method, on which device


def test_a_gpu_searches_in_one_launch() -> None:
    graph = hw.generate.path(3).with_weights(np.ones(4))

    def chosen(**options: Any) -> tuple[str, str]:
        given: dict[str, Any] = {"method": "auto", "delta": None, "device": "cuda", "threads": None, "trace": False}
        way = shortest_paths.choose(graph, **(given | options))
        return way.method, way.why

    assert chosen() == ("near-far", "the default on a GPU")
    assert chosen(delta=2.0) == ("near-far", "delta= is given") and chosen(trace=True)[0] == "near-far"
    assert chosen(method="delta-stepping")[0] == "delta-stepping"
    assert chosen(method="near-far", trace=True) == ("near-far", "asked for")
    for options, reason in (
        ({"threads": 2}, "threads= is for Δ-stepping on the CPU"),
        ({"method": "dijkstra"}, "runs on the CPU, not on 'cuda'; use method='near-far'"),
        ({"method": "near-far", "device": "cpu"}, "use method='delta-stepping', or device='cuda'"),
        ({"method": "bellman-ford", "trace": True}, "leave trace= out"),
        ({"method": "bellman-ford", "delta": 1.0}, "delta= is the width"),
    ):
        with pytest.raises(GraphError, match=reason):
            chosen(**options)


def test_auto_takes_a_gpu_for_large_graphs_and_for_near_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.api.choice.has_gpu", lambda: True)
    small = hw.generate.path(3)
    large = hw.generate.grid(20, 20)
    monkeypatch.setattr("hopwave.api.choice.MIN_ARCS_FOR_GPU", large.m)

    def place(G: Any, method: str = "auto", device: str = "auto", threads: int | None = None) -> str:
        return api._device(G, *weighted(G, None, "min"), method, device, threads)

    assert (place(small), place(large)) == ("cpu", "cuda")
    assert place(large, threads=1) == place(large, "dijkstra") == place(large, "delta-stepping") == "cpu"
    assert place(small, "near-far") == "cuda" and place(large, device="cpu") == "cpu"
    assert place(Matrix.from_graph(large)) == "cpu"


def with_lengths(G: Graph) -> Graph:
    source, target = G.remove_self_loops().to_edges()
    lengths = np.random.default_rng(1).random(len(source)) + 0.01
    return Graph.from_edges(source, target, weights=lengths, n=G.n)


def test_all_paths_of_a_dense_graph_come_from_all_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each path is as long as the distance says; a vertex without a distance has no path."""
    G = with_lengths(hw.generate.kronecker(8, 16, seed=3))
    monkeypatch.setattr(shortest_paths, "DENSE_ARCS", 0)
    monkeypatch.setattr(shortest_paths, "settle", None)  # the heap
    source = int(np.argmax(G.degrees))
    d = hw.sssp(G, source).distances
    for target in range(0, G.n, 5):
        if math.isinf(d[target]):
            with pytest.raises(GraphError, match="there is no path"):
                next(iter(hw.all_shortest_paths(G, source, target, weights=True)))
            continue
        path = next(iter(hw.all_shortest_paths(G, source, target, weights=True)))
        rows = [slice(G.indptr[u], G.indptr[u + 1]) for u in path]
        steps = [G.weights[r][G.indices[r] == v].min() for r, v in zip(rows, path[1:], strict=False)]
        assert path[0] == source and path[-1] == target
        assert sum(steps) == d[target]  # to the bit: lengths are added in path order


def test_threads_share_hubs_of_a_small_bucket() -> None:
    """Every hub of a star of stars is in one bucket: each is dealt out by itself, also where blocks run out."""
    hubs, leaves = 40, 2000
    source = np.concatenate([np.zeros(hubs, int), np.repeat(np.arange(1, hubs + 1), leaves)])
    target = np.concatenate([np.arange(1, hubs + 1), np.arange(hubs + 1, hubs + 1 + hubs * leaves)])
    G = Graph.from_edges(source, target, weights=np.full(len(source), 2.0))
    assert G.m > 2 * policy.HUB_ARCS * policy.SMALL_BUCKET
    found = hw.sssp(G, 0, method="delta-stepping", delta=5.0, threads=2, device="cpu", trace=True)
    assert found.distances[1 : hubs + 1].tolist() == [2.0] * hubs and set(found.distances[hubs + 1 :]) == {4.0}
