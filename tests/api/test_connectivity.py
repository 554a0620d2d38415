"""Components, bipartite sides and paths, compared with NetworkX and SciPy: random labelled graphs, traps, errors."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from test_distances import EMPTY, labelled, names

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, generate


def as_sets(groups: Any) -> set[frozenset[Any]]:
    return {frozenset(group) for group in groups}


# ---------------------------------------------------------------- components


@given(graph=labelled(directed=False))
def test_connected_components(graph: Graph) -> None:
    found = hw.connected_components(graph)
    assert found.sets() == list(nx.connected_components(graph.to_networkx())), "in NetworkX's order too"
    assert hw.is_connected(graph) == (found.count == 1)
    assert set(found.largest().tolist()) == max(found.sets(), key=len)


@pytest.mark.parametrize("name", TRAPS)
def test_components_of_traps(name: str) -> None:
    graph = TRAPS[name]()
    for ask, kind in ((hw.weakly_connected_components, "weak"), (hw.strongly_connected_components, "strong")):
        count, label = connected_components(graph.to_scipy(float), directed=True, connection=kind)
        found = ask(graph)
        assert found.count == len(found) == count
        assert len(set(zip(found.labels.tolist(), label.tolist(), strict=True))) == count
        first = [int(np.argmax(found.labels == number)) for number in range(count)]
        assert first == sorted(first), "numbered by lowest vertex"


@pytest.mark.parametrize("directed", [False, True])
def test_components_of_larger_graphs(directed: bool) -> None:
    """Many components of all sizes, around the density at which a giant one appears."""
    rng = np.random.default_rng(5)
    graph = Graph.from_edges(
        *rng.integers(0, 20_000, (2, 14_000 if not directed else 30_000)), n=20_000, directed=directed
    )
    for strong, kind in ((False, "weak"), (True, "strong")):
        ask = hw.strongly_connected_components if strong else hw.weakly_connected_components
        count, label = connected_components(graph.to_scipy(float), directed=True, connection=kind)
        assert 1 < count < graph.n
        assert len(set(zip(ask(graph).labels.tolist(), label.tolist(), strict=True))) == count == ask(graph).count


def test_deep_components_need_no_recursion() -> None:
    n = 200_000
    ring = generate.cycle(n, directed=True)
    assert hw.strongly_connected_components(ring).count == 1
    assert hw.strongly_connected_components(generate.path(n, directed=True)).count == n


def test_components_are_a_copy() -> None:
    graph = generate.path(3)
    hw.connected_components(graph).labels[:] = 7
    assert hw.connected_components(graph).labels.tolist() == [0, 0, 0]


def test_components_of_an_empty_graph() -> None:
    found = hw.connected_components(EMPTY)
    assert (found.count, found.sets(), found.largest().tolist()) == (0, [], [])


# ---------------------------------------------------------------- sides


@given(graph=labelled())
def test_bipartite(graph: Graph) -> None:
    g = graph.to_networkx()
    assert hw.is_bipartite(graph) == nx.is_bipartite(g)
    if hw.is_bipartite(graph):
        side = hw.bipartite_sides(graph)
        assert all(side[u] != side[v] for u, v in zip(*graph.to_edges(), strict=True))
        weak = hw.weakly_connected_components(graph)
        assert all(side[graph.index(some[0])] == 0 for some in weak.members())
    else:
        with pytest.raises(GraphError, match="closes a cycle of odd length; call is_bipartite first"):
            hw.bipartite_sides(graph)


def test_sides_of_an_empty_graph() -> None:
    assert hw.is_bipartite(EMPTY)
    assert hw.bipartite_sides(EMPTY).tolist() == []


# ---------------------------------------------------------------- paths


@given(graph=labelled(), data=st.data())
def test_paths(graph: Graph, data: Any) -> None:
    g = graph.to_networkx()
    s, t = (data.draw(st.sampled_from(names(graph))) for _ in "st")
    assert hw.has_path(graph, s, t) == nx.has_path(g, s, t)
    if nx.has_path(g, s, t):
        path = hw.shortest_path(graph, s, t)
        assert (path[0], path[-1]) == (s, t)
        assert nx.is_path(g, path)
        assert len(path) == nx.shortest_path_length(g, s, t) + 1
        found = list(hw.all_shortest_paths(graph, s, t))
        assert sorted(found, key=str) == sorted(nx.all_shortest_paths(g, s, t), key=str)
    else:
        for ask in (hw.shortest_path, hw.all_shortest_paths):
            with pytest.raises(GraphError, match="there is no path from"):
                ask(graph, s, t)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["grid-with-missing-edges", "kronecker", "kronecker-directed", "long-path", "uniform-directed"]
)
def test_one_path_of_larger_graphs(name: str) -> None:
    graph = TRAPS[name]()
    for s in (0, graph.n // 3):
        distance = hw.bfs(graph, s).distances
        for t in range(0, graph.n, max(1, graph.n // 50)):
            if distance[t] < 0:
                assert not hw.has_path(graph, s, t)
                continue
            path = hw.shortest_path(graph, s, t)
            assert distance[path].tolist() == list(range(distance[t] + 1))
            for u, v in itertools.pairwise(path):
                assert v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]


def test_all_paths_come_one_at_a_time() -> None:
    """A chain of 1100 diamonds has 2^1100 shortest paths."""
    paths = hw.all_shortest_paths(
        TRAPS["overflow-of-float64-diamonds"](), 0, TRAPS["overflow-of-float64-diamonds"]().n - 1
    )
    assert inspect.isgenerator(paths)
    first, second = next(paths), next(paths)
    assert len(first) == len(second) and first != second


def test_repeated_arcs_give_one_path() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep")
    assert list(hw.all_shortest_paths(graph, 0, 2)) == [[0, 1, 2]]
    assert hw.local_efficiency(graph) == 0.0


# ---------------------------------------------------------------- errors

P3 = generate.path(3, directed=True)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: hw.connected_components(P3), "components of a directed graph may be weak or strong"),
        (lambda: hw.is_connected(P3), "connection of a directed graph may be weak or strong"),
        (lambda: hw.is_connected(EMPTY), "this graph has no vertices"),
        (lambda: hw.is_weakly_connected(EMPTY), "this graph has no vertices"),
        (lambda: hw.is_strongly_connected(EMPTY), "this graph has no vertices"),
        (lambda: hw.shortest_path(P3, 0, 5), "5 is not a vertex of this graph"),
        (lambda: hw.has_path(P3, "a", 1), "'a' is not a vertex of this graph"),
        (lambda: hw.shortest_path(P3, 2, 0), "there is no path from 2 to 0; call has_path first"),
    ],
)
def test_errors(ask: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        ask()
