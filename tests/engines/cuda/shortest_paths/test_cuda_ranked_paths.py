"""The k shortest paths of a graph on the GPU: lengths of NetworkX and SciPy's yen."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise

import networkx as nx
import numpy as np
import pytest
from test_cuda_paths import KINDS, large, random_graph, right, with_lengths

import hopwave as hw
from graphs import TRAPS
from hopwave.engines.cuda import policy

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


@pytest.fixture(autouse=True)
def all_spurs_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few as they are, and five at a time: a warp takes several, one after another."""
    monkeypatch.setattr(policy, "SPURS", replace(policy.SPURS, least=1, fewest=1, at_once=5, piece=30))


def check(graph: hw.Graph, source: int, target: int, k: int) -> None:
    """Of the graph on the GPU: as many paths as NetworkX has, of the same lengths, each simple and different."""
    found = hw.k_shortest_paths(graph.to("cuda"), source, target, k, device="cuda")
    g = graph.to_networkx()
    paths = islice(nx.shortest_simple_paths(g, source, target, "weight"), k)
    lengths = [length for length, _ in found]
    np.testing.assert_allclose(lengths, [nx.path_weight(g, path, "weight") for path in paths], rtol=1e-12)
    assert len({tuple(path) for _, path in found}) == len(found)
    for length, path in found:
        assert (path[0], path[-1]) == (source, target) and len(set(path)) == len(path)
        total = 0.0  # from the source on; sum() of Python 3.12 makes up for rounding
        for u, v in pairwise(path):
            total += float(g[u][v]["weight"])
        assert length == total
    if (np.asarray(graph.weights) > 0).all():
        yen = pytest.importorskip("scipy.sparse.csgraph").yen
        np.testing.assert_allclose(lengths, yen(graph.to_scipy().astype(float), source, target, k), rtol=1e-12)


def farthest(graph: hw.Graph, source: int) -> int:
    d = right(graph, [source])
    return int(np.argmax(np.where(np.isfinite(d), d, -1.0)))


@pytest.mark.parametrize("name", [name for name, make in TRAPS.items() if 1 < make().n <= 200])
def test_traps(name: str) -> None:
    graph = with_lengths(TRAPS[name](), seed=3, most=9).relabel(None)
    if (target := farthest(graph, 0)) != 0:
        check(graph, 0, target, 9)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"infinite sums"}))
def test_lengths_on_which_searches_go_wrong(kind: str, directed: bool) -> None:
    for seed in range(3):
        graph = random_graph(kind, directed, seed, n=40)
        if (target := farthest(graph, seed)) != seed:
            check(graph, seed, target, 12)


@pytest.mark.parametrize("name", ["directed", "grid", "kronecker"])
def test_the_graph_stays_on_the_gpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = large()[name]
    source = int(np.argmax(graph.degrees))
    d = right(graph, [source])
    target = int(np.argsort(d, kind="stable")[int(np.isfinite(d).sum()) // 2])
    edges, cupy = graph.edges(), pytest.importorskip("cupy")
    there = hw.Graph.from_edges(
        cupy.asarray(edges.source), cupy.asarray(edges.target), graph.n, graph.directed,
        weights=cupy.asarray(edges.weights),
    )  # fmt: skip
    right_ones = hw.k_shortest_paths(graph, source, target, 20, device="cpu")
    assert hw.k_shortest_paths(there, source, target, 20, device="cuda") == right_ones
    assert there._host is None  # nothing but what is left of the graph is copied to the host
    monkeypatch.setattr(policy, "SPURS", policy.SpurPolicy(least=2))
    assert hw.k_shortest_paths(there, source, target, 20, device="cuda") == right_ones


@pytest.mark.parametrize("bad", [-1.0, np.inf])
def test_lengths_that_cannot_be_used_are_named(bad: float) -> None:
    cupy = pytest.importorskip("cupy")
    weights = cupy.asarray([1.0, bad, 2.0])
    there = hw.Graph.from_edges(cupy.asarray([0, 1, 2]), cupy.asarray([1, 2, 3]), 4, directed=True, weights=weights)
    with pytest.raises(hw.GraphError, match=r"(?s)1.*2.*(negative|infinite)"):
        hw.k_shortest_paths(there, 0, 3, 2, device="cuda")
