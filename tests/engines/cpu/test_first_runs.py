"""What a process does without a function that is not compiled yet has the bits of that function."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from graphs import graphs
from hopwave import Graph, generate
from hopwave.algebra.matrix import Matrix
from hopwave.engines.cpu import crew
from hopwave.engines.cpu.compile_notice import FirstWork
from hopwave.engines.cpu.linalg import power
from hopwave.engines.cpu.shortest_paths import dijkstra

LARGE = [generate.kronecker(12), generate.kronecker(12, directed=True), generate.star(5000), generate.grid(120, 120)]


def both(ask: Callable[..., Any], *given: Any, **options: Any) -> tuple[Any, Any, list[str]]:
    """What is found without compiled functions, and with them; and the names of those that were done without."""
    asked: list[str] = []

    def granted(function: Any, seconds: float) -> bool:
        asked.append(function.__name__)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FirstWork, "granted", granted)
        first = ask(*given, **options)
    return first, ask(*given, **options), asked


def weighted(graph: Graph, spread: float) -> Graph:
    source, target = graph.to_edges()
    lengths = np.exp(np.random.default_rng(1).uniform(-spread, spread, len(source)))
    return Graph.from_edges(source, target, graph.n, weights=lengths, directed=graph.directed)


def check_ranks(graph: Graph) -> None:
    some = {0: 1.0, graph.n - 1: 2.0}
    for G in (graph, weighted(graph, 2.0)):
        weights = {"weights": True} if G.is_weighted else {}
        for options in ({}, {"tol": 1e-12, "max_iter": 500}, {"personalization": some, "dangling": some}):
            first, later, asked = both(hw.pagerank, G, device="cpu", **options, **weights)
            assert np.array_equal(first.scores, later.scores) and asked
    first, later, asked = both(hw.katz_centrality, graph, alpha=1e-5, device="cpu")
    assert np.array_equal(first.scores, later.scores) and asked


@given(graphs())
def test_first_ranks(graph: Graph) -> None:
    check_ranks(graph)


@pytest.mark.parametrize("graph", LARGE, ids=str)
def test_first_ranks_of_large_graphs(graph: Graph) -> None:
    """Of more than one block, of hubs in another order, accelerated."""
    check_ranks(graph)


@pytest.mark.parametrize("values", [True, False])
def test_first_rows_by_degree(values: bool) -> None:
    part = Matrix.from_graph(LARGE[1], np.arange(LARGE[1].m) if values else None).columns
    first, later, asked = both(power._by_degree, part, np.diff(part.indptr))
    assert asked and np.array_equal(first[0], later[0])
    for one, other in zip(first[1], later[1], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("graph", [generate.kronecker(16, 8, directed=True), generate.star(300_000)], ids=str)
def test_first_ranks_take_hardly_more_memory(graph: Graph, weights: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """hw.estimate_memory does not know whether a run is a first one. Rows of the star have 300,000 arcs and one."""
    monkeypatch.setattr(crew, "crew_size", lambda work, threads: 1)  # threads may end after a call: see `traced`
    G = weighted(graph, 2.0) if weights else graph
    hw.pagerank(G, weights=weights, device="cpu")  # compiles
    first, later, asked = both(traced, lambda: hw.pagerank(fresh(G), weights=weights, device="cpu"))
    assert asked and first < later + 2 * G.m + (1 << 21)


@pytest.mark.parametrize("lengths", [True, False])
def test_first_shortest_paths_take_little_memory(lengths: bool) -> None:
    G = weighted(generate.kronecker(13), 2.0)
    arcs = dijkstra.arcs((G.indptr, G.indices), G.weights if lengths else np.empty(0))
    assert traced(lambda: dijkstra.first_search(arcs, [0], np.inf)) < 20 * G.m


def fresh(G: Graph) -> Graph:
    """The graph with its columns, and nothing else prepared."""
    again = Graph.from_csr(G.indptr, G.indices, directed=G.directed, weights=G.weights, check=False)
    assert again.in_indices is not None
    return again


def traced(call: Callable[[], Any]) -> int:
    """The peak of Python's and NumPy's memory. Python 3.11 may crash if threads without the GIL work at its end."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@given(graphs(), st.floats(0, 20), st.data())
def test_first_shortest_paths(graph: Graph, spread: float, data: Any) -> None:
    G, vertices = weighted(graph, spread), st.integers(0, graph.n - 1)
    source, target, k = data.draw(vertices), data.draw(vertices), data.draw(st.integers(1, 9))
    limit = data.draw(st.sampled_from([np.inf, 0.0, 3.0]))
    for method in ("auto", "dijkstra", "delta-stepping"):
        first, later, asked = both(hw.sssp, G, source, limit=limit, method=method, device="cpu")
        assert np.array_equal(first.distances, later.distances) and (asked or not G.m)
        assert np.array_equal(first.predecessors, later.predecessors)
    first, later, asked = both(hw.nearest, G, source, k)
    assert np.array_equal(first, later) and asked
    first, later, _ = both(hw.sssp, G, source, targets=[target], device="cpu")
    assert np.array_equal(first.distances, later.distances)


@pytest.mark.parametrize("graph", LARGE, ids=str)
@pytest.mark.parametrize("spread", [0.1, 9.0])
def test_first_shortest_paths_of_large_graphs(graph: Graph, spread: float) -> None:
    G = weighted(graph, spread)
    first, later, asked = both(hw.sssp, G, 0, device="cpu")
    assert np.array_equal(first.distances, later.distances) and asked


def test_predecessors_are_the_lowest_with_fewest_arcs() -> None:
    """Two paths of two arcs lead to 4, one of three; all are as long."""
    G = Graph.from_edges([0, 0, 3, 2, 0, 1, 5], [3, 2, 4, 4, 1, 5, 4], weights=[2, 2, 2, 2, 1, 1, 2], directed=True)
    assert hw.sssp(G, 0, device="cpu").predecessors.tolist() == [0, 0, 0, 0, 2, 1]


def test_compiled_functions_are_used_and_seconds_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Function:
        overloads: tuple[Any, ...] = ()

    one, other, kept = Function(), Function(), Function()
    monkeypatch.setattr("hopwave.engines.cpu.compile_notice.is_compiled", lambda function: function is kept)
    monkeypatch.setattr(FirstWork, "seconds", 1.0)
    assert FirstWork.granted(one, 0.6) and not FirstWork.granted(one, 0.6) and FirstWork.granted(one, 0.3)
    assert FirstWork.granted(other, 0.6) and not FirstWork.granted(kept, 0.1)
    other.overloads = (1,)
    assert not FirstWork.granted(other, 0.1)
