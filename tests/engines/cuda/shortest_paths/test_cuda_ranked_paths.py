"""The k shortest paths of a graph on the GPU."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from test_cuda_paths import KINDS, large, random_graph, right

import hopwave as hw
from hopwave.engines.cuda import policy

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


@pytest.fixture(autouse=True)
def all_spurs_on_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few as they are, and five at a time: a warp takes several, one after another."""
    monkeypatch.setattr(policy, "SPURS", replace(policy.SPURS, least=1, fewest=1, at_once=5, piece=30))


def check(graph: hw.Graph, source: int, target: int, k: int) -> None:
    """The CPU's lengths (tests/questions compares them with NetworkX's); each path is simple and different."""
    found, due = (hw.k_shortest_paths(graph.to(place), source, target, k, device=place) for place in ("cuda", "cpu"))
    np.testing.assert_allclose([length for length, _ in found], [length for length, _ in due], rtol=1e-12)
    assert len({tuple(path) for _, path in found}) == len(found)
    g = graph.to_networkx()
    for length, path in found:
        assert (path[0], path[-1]) == (source, target) and len(set(path)) == len(path)
        total = 0.0  # from the source on; sum() of Python 3.12 makes up for rounding
        for u, v in pairwise(path):
            total += float(g[u][v]["weight"])
        assert length == total


def farthest(graph: hw.Graph, source: int) -> int:
    d = right(graph, [source])
    return int(np.argmax(np.where(np.isfinite(d), d, -1.0)))


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
