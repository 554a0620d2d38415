"""Short arcs apart from long ones: a path between two vertices has the length that Dijkstra's algorithm finds."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from graphs import graphs
from hopwave import Graph, engines, generate
from hopwave.algorithms.shortest_paths import paths_of_pairs
from hopwave.engines.cpu import policy

WEIGHTS: dict[str, Any] = {
    "whole": lambda x: np.ceil(9 * x),
    "fractions": lambda x: x,
    "zeros and ties": lambda x: np.floor(3 * x),
    "few short": lambda x: np.where(x < 0.2, 1.0, 1.0 + 9 * x),
    "all alike": lambda x: np.full(len(x), 0.1),
    "tiny beside huge": lambda x: np.where(x < 0.4, 1e-300, 1e290 * x),
}


def weighted(graph: Graph, kind: str, seed: int) -> Graph:
    source, target = graph.to_edges()
    numbers = np.random.default_rng(seed).random(len(source))
    return Graph.from_edges(source, target, graph.n, graph.directed, weights=WEIGHTS[kind](numbers))


def check(graph: Graph, pairs: list[tuple[int, int]]) -> None:
    d = dijkstra(graph.to_scipy(np.float64), indices=sorted({s for s, _ in pairs}))
    row = {s: i for i, s in enumerate(sorted({s for s, _ in pairs}))}
    arcs = {(int(u), int(v)): w for u, v, w in zip(*graph.to_edges(), graph.edges().weights, strict=True)}
    if not graph.directed:
        arcs |= {(v, u): w for (u, v), w in arcs.items()}
    for (s, t), path in zip(pairs, paths_of_pairs(graph, True, pairs, 1), strict=True):
        expected = d[row[s], t]
        assert (path is None) == np.isinf(expected)
        if path is not None:
            assert (path[0], path[-1]) == (s, t)
            assert reduce(lambda sum, arc: sum + arcs[arc], pairwise(path), 0.0) == expected


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@settings(max_examples=settings.default.max_examples * 4, suppress_health_check=list(HealthCheck))
@given(graph=graphs(max_n=30), data=st.data())
def test_paths_between_all_vertices(share: float, graph: Graph, data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "short_arcs_first", lambda n, m, *_: m > 0)
        patch.setattr(policy, "SHORT_SHARE", share)
        graph = weighted(graph, data.draw(st.sampled_from(sorted(WEIGHTS))), data.draw(st.integers(0, 999)))
        check(graph, [(s, t) for s in range(graph.n) for t in range(graph.n)])


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("directed", [False, True])
def test_paths_in_a_graph_of_many_arcs(kind: str, directed: bool) -> None:
    """Apart from the fourth pair on."""
    graph = weighted(generate.kronecker(9, 32, seed=3, directed=directed), kind, 1)
    assert graph.m >= policy.SPLIT_DEGREE * graph.n
    pairs = np.random.default_rng(2).integers(0, graph.n, (300, 2)).tolist()
    for some, split in ((pairs[:3], False), (pairs[3:], True)):
        check(graph, [(s, t) for s, t in some])
        assert (engines.engine("cpu").load(graph, None)._short is not None) == split
