"""Shortest paths along weights: types, threads, traces, methods; tests/questions compares them with SciPy's bits."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from test_betweenness import compiled_machines

import hopwave as hw
from hopwave import Graph
from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import shortest_paths
from hopwave.api import shortest_paths as api
from hopwave.api.weights import weighted
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.shortest_paths.delta_stepping import on_one_core
from hopwave.planning.jobs import ShortestPathsJob
from together import in_one_test

Lengths = np.ndarray[Any, Any]


def by_scipy(graph: Graph, sources: list[int], limit: float = math.inf) -> Lengths:
    weights = np.asarray(graph.weights, np.float64)
    A = sp.csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    found: Lengths = dijkstra(A, indices=sources, min_only=True, limit=limit)
    return found


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every thread takes part, however small the graph is."""
    monkeypatch.setattr(policy, "ARCS_PER_PATH_THREAD", 1)


def test_lengths_of_every_type(crowded: None) -> None:
    """All methods find SciPy's bits; products compile for each type."""
    draw = np.random.default_rng(3)
    u, v = draw.integers(0, 60, (2, 96))
    for kind, weights in (("int32", draw.integers(0, 9, 96)), ("float32", draw.random(96, np.float32))):
        for directed in (False, True):
            graph = Graph.from_edges(u, v, 60, directed, weights=weights.astype(kind), combine="min")
            for method in ("dijkstra", "delta-stepping"):
                assert np.array_equal(hw.sssp(graph, [0, 5], method=method).distances, by_scipy(graph, [0, 5]))  # type: ignore[arg-type]
    roads = Graph.from_edges(["a", "b"], ["b", "c"], weights=[3.0, 1.0])
    assert hw.nearest(roads, ["a", "c"], 3) == {"a": 0.0, "c": 0.0, "b": 1.0}
    assert hw.sssp(roads, "a", limit=10**400).reached == 3, "a length that float64 does not hold limits nothing"


def test_a_search_ends_behind_its_targets() -> None:
    n = 5000
    graph = hw.generate.path(n).with_weights(np.ones(2 * n - 2))
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
    monkeypatch.setattr(policy, "CACHED_VERTICES", 0)  # one thread searches a large graph like several
    large = hw.sssp(graph, source, method="delta-stepping", threads=1)
    assert large.plan == "delta-stepping" and np.array_equal(large.distances, right)
    monkeypatch.setattr(policy, "ENTRIES_PER_VERTEX", 0)
    monkeypatch.setattr(policy, "BLOCKS_PER_WORKER", 0)
    for threads in (1, 3):
        fresh = graph.with_weights(graph.weights)  # without the thread pool of earlier runs
        assert np.array_equal(hw.sssp(fresh, source, delta=40.0, threads=threads).distances, right)
        assert np.array_equal(hw.sssp(fresh, list(range(0, 4096, 7)), threads=threads, delta=40.0).distances[0], 0.0)


@compiled_machines
def test_a_trace_counts_every_bucket(device: str) -> None:
    n = 5000  # more buckets than the buffer of the trace has rows
    graph = hw.generate.path(n).with_weights(np.ones(2 * n - 2))
    found = hw.sssp(graph, 0, delta=1.0, trace=True, device=device)
    assert found.trace is not None and found.method == ("delta-stepping" if device == "cpu" else "near-far")
    assert [bucket.least for bucket in found.trace] == list(range(n))
    assert sum(bucket.vertices for bucket in found.trace) == n and sum(b.arcs for b in found.trace) == 2 * n - 2
    assert all(bucket.rounds >= 1 and bucket.seconds >= 0 for bucket in found.trace)
    assert device == "cuda" or all(bucket.rounds == 1 for bucket in found.trace)
    ended = hw.sssp(graph, 0, delta=1.0, trace=True, targets=[7, 20], device=device).trace
    assert ended is not None and [bucket.least for bucket in ended] == list(range(21))
    hubs = hw.sssp(with_lengths(hw.generate.kronecker(12, 16, seed=5)), 0, trace=True, device=device)
    assert hubs.trace is not None and sum(bucket.vertices for bucket in hubs.trace) >= hubs.reached
    assert list(found.trace.to_pandas().columns) == ["rounds", "vertices", "arcs", "seconds"]
    short = hw.sssp(hw.generate.path(3), 0, trace=True).trace
    assert short is not None and str(short).splitlines()[0].split() == ["from", "rounds", "vertices", "arcs", "ms"]
    assert hw.sssp(graph, 0).trace is None
    assert "<table>" in short._repr_html_()


@in_one_test("directed", [False, True])
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


def test_where_and_how_a_gpu_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one launch; "auto" takes a GPU for large graphs and for near-far."""
    small, large = hw.generate.path(3), hw.generate.grid(20, 20)
    for options, method, why in (
        ({}, "near-far", "the default on a GPU"),
        ({"delta": 2.0}, "near-far", "delta= is set"),
        ({"method": "delta-stepping"}, "delta-stepping", "requested"),
        ({"method": "near-far", "trace": True}, "near-far", "requested"),
    ):
        given: Any = {"method": "auto", "delta": None, "device": "cuda", "threads": None, "trace": False} | options
        way = shortest_paths.choose(small.with_weights(np.ones(4)), **given)
        assert (way.method, way.why) == (method, why)
    monkeypatch.setattr("hopwave.api.choice.has_gpu", lambda: True)
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


def test_predecessors_are_the_lowest_with_fewest_arcs() -> None:
    """Two paths of two arcs lead to 4, one of three; all are as long."""
    G = Graph.from_edges([0, 0, 3, 2, 0, 1, 5], [3, 2, 4, 4, 1, 5, 4], weights=[2, 2, 2, 2, 1, 1, 2], directed=True)
    assert hw.sssp(G, 0, device="cpu").predecessors.tolist() == [0, 0, 0, 0, 2, 1]
