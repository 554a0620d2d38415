"""Biconnected components, articulation points and bridges, beside NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS


def compare(graph: hw.Graph, threads: int | None = None) -> None:
    """Every answer about a graph is NetworkX's."""
    right = nx.Graph()
    right.add_nodes_from(range(graph.n))
    tails, heads = graph.to_edges()[:2]
    right.add_edges_from((u, v) for u, v in zip(tails.tolist(), heads.tolist(), strict=True) if u != v)
    found = hw.biconnected_components(graph, threads=threads)
    parts = [sorted(some) for some in nx.biconnected_components(right)]
    assert sorted(some.tolist() for some in found.members()) == sorted(parts)
    assert sorted(found.sizes.tolist()) == sorted(map(len, parts)) and len(found) == found.count == len(parts)
    assert found.articulation_points.tolist() == sorted(nx.articulation_points(right))
    assert sorted(map(sorted, found.bridges.tolist())) == sorted(map(sorted, nx.bridges(right)))
    # The component of an arc contains both of its ends, and an edge is in one component.
    member = [set(some.tolist()) for some in found.members()]
    source = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    for u, v, block in zip(source.tolist(), graph.indices.tolist(), found.arc_labels.tolist(), strict=True):
        assert block == -1 if u == v else {u, v} <= member[block]


@pytest.mark.parametrize("name", [name for name in TRAPS if not name.endswith("-directed")])
def test_trap_graphs(name: str) -> None:
    compare(TRAPS[name]())


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed: int) -> None:
    """Sparse ones, which have many blocks; chains, trees and cycles hang on some of them."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 60))
    ends = random.integers(0, n, (2, int(random.integers(0, 2 * n))))
    tail = np.arange(n, n + int(random.integers(0, 9)))
    edges = np.hstack([ends, [np.maximum(tail - 1, 0), tail]])
    compare(hw.Graph.from_edges(*edges, n=n + len(tail)))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_agree(threads: int) -> None:
    graph = hw.generate.barabasi_albert(3000, 2, seed=3)
    extra = hw.generate.kronecker(11, 2, seed=1)
    for some in (graph, extra):
        one, many = hw.biconnected_components(some, threads=1), hw.biconnected_components(some, threads=threads)
        assert (one.label == many.label).all() and (one.head == many.head).all()
    compare(extra, threads)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_gpu_agrees() -> None:
    made = [make() for name, make in TRAPS.items() if not name.endswith("-directed")]
    made += [hw.generate.kronecker(12, 2, seed=seed) for seed in range(3)] + [
        hw.generate.barabasi_albert(3000, 1, seed=1)
    ]
    for graph in made:
        right = hw.biconnected_components(graph, "cpu")
        for some in (graph, graph.to("cuda")):
            found = hw.biconnected_components(some, "cuda")
            assert found.label.tolist() == right.label.tolist() and found.sizes.tolist() == right.sizes.tolist()
            assert found.bridges.tolist() == right.bridges.tolist()


def test_labels_and_parallel_edges() -> None:
    graph = hw.Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    assert hw.articulation_points(graph) == ["c"] and hw.bridges(graph) == [("c", "d")]
    assert hw.biconnected_components(graph).sets() == [{"a", "b", "c"}, {"c", "d"}]
    twice = hw.Graph.from_edges([(0, 1), (0, 1), (1, 2)], repeats="keep")
    assert hw.bridges(twice) == [(1, 2)] and hw.articulation_points(twice) == [1]


def test_what_has_no_blocks() -> None:
    for graph in (hw.Graph.from_edges([], [], n=0), hw.Graph.from_edges([], [], n=3), hw.Graph.from_edges([(1, 1)])):
        found = hw.biconnected_components(graph)
        assert found.count == 0 and found.members() == [] and len(found.bridges) == 0
    for ask in (hw.bridges, hw.articulation_points, hw.biconnected_components):
        asked = ask.__name__.replace("_", " ")
        with pytest.raises(hw.GraphError, match=rf"has no {asked}; call G.to_undirected\(\) first"):
            ask(hw.generate.path(3, directed=True))


def test_tables_and_html() -> None:
    pandas = pytest.importorskip("pandas")
    found = hw.biconnected_components(hw.generate.path(3))
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["component"].tolist() == [0, 0, 1, 1]
    assert "Blocks(count=2, largest=2)" in found._repr_html_()
    pytest.importorskip("polars")
    assert found.to_polars().rows() == [(0, 0), (1, 0), (1, 1), (2, 1)]


FUNCTIONS = (
    "biconnected_component_edges", "biconnected_components", "articulation_points", "is_biconnected", "bridges",
    "has_bridges",
)  # fmt: skip


def outcome(function: Any, graph: Any, **keywords: Any) -> Any:
    try:
        found = function(graph, **keywords)
        return found if isinstance(found, bool) else list(found)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
@pytest.mark.parametrize("seed", range(12))
def test_networkx_gives_the_same_in_the_same_order(seed: int, kind: Any) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(0, 14))
    nodes = [f"v{i}" for i in random.permutation(n)]
    graph = kind()
    graph.add_nodes_from(nodes)
    for _ in range(int(random.integers(0, 2 * n + 1))):
        graph.add_edge(*(nodes[i] for i in random.integers(0, n, 2)))
    with nx.config(warnings_to_ignore={"cache"}):
        for name in FUNCTIONS:
            function = getattr(nx, name)
            assert outcome(function, graph) == outcome(function, graph, backend="hopwave"), name
    if kind is nx.MultiGraph:
        expected = set(map(frozenset, nx.bridges(graph)))
        assert set(map(frozenset, hw.bridges(graph))) == expected
        assert len(hw.biconnected_components(graph).bridges) == len(expected)
