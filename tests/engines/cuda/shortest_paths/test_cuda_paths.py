"""Shortest paths on the GPU, in one launch: exactly SciPy's Dijkstra, and predecessors that form a tree."""

import math
import pickle
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from hopwave import Graph
from hopwave import linalg as la
from hopwave.engines.cuda import policy
from hopwave.planning.jobs import ShortestPathsJob

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
either = pytest.mark.parametrize("directed", [False, True])
Array = np.ndarray[Any, Any]

# Lengths on which searches go wrong; whole numbers are searched as whole numbers, all others as float64.
KINDS: dict[str, Any] = {
    "equal": lambda draw, m: draw.integers(1, 4, m),
    "zeros": lambda draw, m: draw.integers(0, 3, m) * 1.5,
    "whole zeros": lambda draw, m: draw.integers(0, 2, m),
    "all zero": lambda draw, m: np.zeros(m),
    "fractions": lambda draw, m: draw.integers(1, 30, m) / 10,
    "last bits": lambda draw, m: 1 + draw.integers(0, 4, m) * 2.0**-52,
    "tiny beside huge": lambda draw, m: 10.0 ** draw.integers(-300, 150, m),
    "lost in rounding": lambda draw, m: draw.choice([1e16, 1.0, 0.5], m),
    "infinite sums": lambda draw, m: draw.choice([1e308, 1.0], m),
    "large whole": lambda draw, m: draw.integers(1 << 40, 1 << 52, m),
    "int32": lambda draw, m: draw.integers(0, 9, m).astype(np.int32),
    "float32": lambda draw, m: draw.random(m, np.float32),
}


@pytest.fixture(autouse=True, scope="module")
def compiling(gpu: Any) -> None:
    """Compile all kernels at the same time, instead of each when it is first needed."""
    from hopwave.engines.cuda import nvrtc
    from hopwave.engines.cuda.instances import all_instances

    for header in ("shortest_paths/search.cuh", "shortest_paths/predecessors.cuh"):
        nvrtc.begin(header, [name for name in all_instances()[header] if "<int," in name])


def random_graph(kind: str, directed: bool, seed: int, n: int = 80) -> Graph:
    """Sparse enough to fall into several components, with self-loops."""
    draw = np.random.default_rng(seed)
    u, v = draw.integers(0, n, (2, int(1.8 * n)))
    return Graph.from_edges(u, v, n, directed, weights=KINDS[kind](draw, len(u)), combine="min")


def with_lengths(graph: Graph, seed: int, most: int = 255) -> Graph:
    u, v = graph.to_edges()
    lengths = np.random.default_rng(seed).integers(1, most + 1, len(u)).astype(np.float64)
    return Graph.from_edges(u, v, graph.n, graph.directed, weights=lengths, combine="min")


def matrix(graph: Graph) -> Any:
    return sp.csr_array((np.asarray(graph.weights, np.float64), graph.indices, graph.indptr), shape=(graph.n, graph.n))


def right(graph: Graph, sources: Any) -> Array:
    found: Array = dijkstra(matrix(graph), indices=sources, min_only=True)
    return found


def check_tree(graph: Graph, found: hw.ShortestPaths) -> None:
    """Every predecessor is the tail of an arc on a shortest path, and following them ends at a source."""
    d, before = np.asarray(found.distances), found.predecessors
    assert before.dtype == np.int32
    assert np.array_equal(before >= 0, np.isfinite(d))
    entries = matrix(graph).tocoo()
    length = dict(zip(zip(entries.row, entries.col, strict=True), entries.data, strict=True))
    for v in np.flatnonzero(before >= 0).tolist():
        if v in found.sources:
            assert before[v] == v
        else:
            assert d[before[v]] + length[before[v], v] == d[v]
    at = np.where(before >= 0, before, np.arange(graph.n))
    for _ in range(graph.n.bit_length()):
        at = at[at]
    assert set(at[before >= 0].tolist()) <= set(found.sources)


def check_paths(graph: Graph, source: int, targets: list[int]) -> None:
    """A search for one path ends early, and omits what cannot be on it: the path is that of a full search."""
    found = hw.sssp(graph, source, device="cuda")
    for target in targets:
        assert hw.shortest_path(graph, source, target, device="cuda") == found.path_to(target), target


@either
@pytest.mark.parametrize("kind", KINDS)
def test_every_bit_is_that_of_scipy(kind: str, directed: bool) -> None:
    for seed in range(3):
        graph = random_graph(kind, directed, seed)
        sources = np.random.default_rng(seed).choice(graph.n, 1 + seed % 3, replace=False).tolist()
        for delta in (None, 1e-310, 1e305):
            found = hw.sssp(graph, sources, delta=delta, device="cuda")
            assert found.plan == "near-far"
            assert np.array_equal(found.distances, right(graph, sources)), (seed, delta)
        check_tree(graph, found)
        assert np.array_equal(hw.sssp(graph, sources, delta=delta, device="cuda").predecessors, found.predecessors)
        expected, targets = right(graph, sources[:1]), np.random.default_rng(seed + 1).integers(0, graph.n, 2)
        found = hw.sssp(graph, sources[0], targets=targets, device="cuda")
        within = np.where(expected > expected[targets].max(), math.inf, expected)
        assert np.array_equal(found.distances, within), seed
        check_tree(graph, found)
        if kind != "infinite sums":  # which a path between two refuses
            check_paths(graph, sources[0], np.flatnonzero(np.isfinite(expected))[::5].tolist())


def large() -> dict[str, Graph]:
    """Graphs that need every part: hubs in chunks, many blocks, deep and wide searches."""
    hub = np.arange(1, 70_000)
    return {
        "kronecker": with_lengths(hw.generate.kronecker(14, 16, seed=5), 1),
        "directed": with_lengths(hw.generate.kronecker(13, 16, seed=6, directed=True), 2),
        "grid": with_lengths(hw.generate.grid(180, 170), 3),
        "path": with_lengths(hw.generate.path(3000), 4),
        "two hubs": Graph.from_edges(
            np.r_[np.zeros_like(hub), np.ones_like(hub)], np.r_[hub, hub + 1],
            weights=np.r_[hub % 97 + 1.0, hub % 89 + 1.0], combine="min",
        ),
    }  # fmt: skip


every_large = pytest.mark.parametrize("name", ["kronecker", "directed", "grid", "path", "two hubs"])
either_kind = pytest.mark.parametrize("factor", [1.0, 0.1], ids=["whole", "fractions"])


def scaled(name: str, factor: float) -> tuple[Graph, int, Array]:
    graph = large()[name]
    graph = graph.with_weights(np.asarray(graph.weights) * factor)
    source = int(np.argmax(graph.degrees))
    return graph, source, right(graph, [source])


@every_large
@either_kind
def test_large_graphs(name: str, factor: float) -> None:
    graph, source, expected = scaled(name, factor)
    far = expected[np.isfinite(expected)]
    for delta in (None, 3.0, float(far.max())):
        assert np.array_equal(hw.sssp(graph, source, delta=delta, device="cuda").distances, expected)
    limit = float(np.median(far))
    within = np.where(expected > limit, math.inf, expected)
    assert np.array_equal(hw.sssp(graph, source, limit=limit, device="cuda").distances, within)
    sources = list(range(0, graph.n, 7))
    assert np.array_equal(hw.sssp(graph, sources, device="cuda").distances, right(graph, sources))
    for start in np.random.default_rng(2).integers(0, graph.n, 3).tolist():
        check_paths(graph, start, np.flatnonzero(np.isfinite(right(graph, [start])))[:: graph.n // 6].tolist())


@every_large
@either_kind
def test_searches_end_behind_their_targets(name: str, factor: float) -> None:
    """What is farther than all targets is not reached. A search without targets comes next, in the same buffers."""
    graph, source, expected = scaled(name, factor)
    order = np.argsort(expected, kind="stable")[: int(np.isfinite(expected).sum())]
    for targets in (order[[0]], order[[5]], order[[9, len(order) // 2]], order[: len(order) // 3], order[[-1]]):
        for delta in (None, 3.0):
            found = hw.sssp(graph, source, targets=targets, delta=delta, device="cuda")
            within = np.where(expected > expected[targets].max(), math.inf, expected)
            assert np.array_equal(found.distances, within), (len(targets), delta)
    assert np.array_equal(found.predecessors >= 0, np.isfinite(within))
    assert np.array_equal(hw.sssp(graph, source, device="cuda").distances, expected)


SPLITS: list[dict[str, int]] = [
    {"chunk": 32}, {"chunk": 1 << 20}, {"enter": 0}, {"enter": 4096, "alone": 4096}, {"subrounds": 0},
    {"subrounds": 64, "local": 4096}, {"share": 1}, {"share": 4096}, {"arcs": 0}, {"arcs": 1 << 30}, {"pile": 0},
    {"pile": 1 << 20}, {"subrounds": 0, "enter": 0, "alone": 0, "pile": 0},
]  # fmt: skip


@pytest.mark.parametrize("name", ["kronecker", "grid"])
def test_neither_full_buffers_nor_ways_to_share_work_change_a_bit(name: str) -> None:
    """Queues of one entry per vertex fill up again and again."""
    from hopwave.engines.cuda import shortest_paths as paths
    from hopwave.engines.cuda.policy import PathSplit

    graph, source, expected = scaled(name, 1.0)
    arcs = paths.Arcs(la.Matrix.from_graph(graph).to("cuda").rows)
    for changes, capacity in product(SPLITS, (None, graph.n)):
        buffers = paths.Buffers(arcs, PathSplit(**changes), capacity)
        for width in (1.0, 20.0, 1e6):  # a search must leave the counters as it found them
            d, _ = paths.launch(arcs, buffers, ShortestPathsJob((source,)), width, False)
            assert np.array_equal(d.get(), expected), (changes, capacity, width)


def test_long_chains_of_length_zero() -> None:
    graph = hw.generate.path(4000).with_weights(np.zeros(7998))
    found = hw.sssp(graph, 0, device="cuda")
    assert not found.distances.any() and found.predecessors.tolist() == [0, *range(3999)]
    assert hw.shortest_path(graph, 0, 90, device="cuda") == list(range(91)), "more than one block walks back"


def test_answers_stay_on_the_gpu_with_the_graph() -> None:
    cupy = pytest.importorskip("cupy")
    graph = random_graph("fractions", True, 4)
    found = hw.sssp(graph.to("cuda"), 0)
    assert found.plan == "near-far" and found.plan.why == "the default on a GPU"
    assert isinstance(found.distances, cupy.ndarray) and isinstance(found.predecessors, cupy.ndarray)
    host = hw.sssp(graph, 0, device="cuda")
    assert np.array_equal(found.distances.get(), host.distances) and isinstance(host.distances, np.ndarray)
    assert np.array_equal(found.predecessors.get(), host.predecessors)
    assert found.reached == host.reached and found.to_dict() == host.to_dict() and "<table>" in found._repr_html_()
    target = int(np.flatnonzero(np.isfinite(host.distances))[-1])
    assert found.path_to(target) == host.path_to(target)
    assert np.array_equal(pickle.loads(pickle.dumps(host)).predecessors, host.predecessors)


# ---------------------------------------------------------------- the k shortest paths


@pytest.fixture
def all_spurs_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few as they are, and five at a time: a warp takes several, one after another."""
    monkeypatch.setattr(policy, "SPURS", replace(policy.SPURS, least=1, fewest=1, at_once=5, piece=30))


@pytest.mark.usefixtures("all_spurs_on_the_gpu")
@either
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"infinite sums"}))
def test_ranked_paths_along_lengths_on_which_searches_go_wrong(kind: str, directed: bool) -> None:
    """The CPU's lengths (tests/questions compares them with NetworkX's); each path is simple and different."""
    for source in range(3):
        graph = random_graph(kind, directed, source, n=40)
        d = right(graph, [source])
        target = int(np.argmax(np.where(np.isfinite(d), d, -1.0)))
        if target == source:
            continue
        found, due = (hw.k_shortest_paths(graph.to(on), source, target, 12, device=on) for on in ("cuda", "cpu"))
        np.testing.assert_allclose([length for length, _ in found], [length for length, _ in due], rtol=1e-12)
        assert len({tuple(path) for _, path in found}) == len(found)
        g = graph.to_networkx()
        for length, path in found:
            assert (path[0], path[-1]) == (source, target) and len(set(path)) == len(path)
            total = 0.0  # from the source on; sum() of Python 3.12 makes up for rounding
            for u, v in pairwise(path):
                total += float(g[u][v]["weight"])
            assert length == total


@pytest.mark.usefixtures("all_spurs_on_the_gpu")
@pytest.mark.parametrize("name", ["directed", "grid", "kronecker"])
def test_ranked_paths_leave_the_graph_on_the_gpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = large()[name]
    source = int(np.argmax(graph.degrees))
    d = right(graph, [source])
    target = int(np.argsort(d, kind="stable")[int(np.isfinite(d).sum()) // 2])
    cupy, edges = pytest.importorskip("cupy"), graph.edges()
    tails, heads, lengths = map(cupy.asarray, (edges.source, edges.target, edges.weights))
    there = Graph.from_edges(tails, heads, graph.n, graph.directed, weights=lengths)
    right_ones = hw.k_shortest_paths(graph, source, target, 20, device="cpu")
    assert hw.k_shortest_paths(there, source, target, 20, device="cuda") == right_ones
    assert there._host is None  # nothing but what is left of the graph is copied to the host
    monkeypatch.setattr(policy, "SPURS", policy.SpurPolicy(least=2))
    assert hw.k_shortest_paths(there, source, target, 20, device="cuda") == right_ones
