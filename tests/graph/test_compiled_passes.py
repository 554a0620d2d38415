"""Passes over all arcs that are compiled where a graph is large give what NumPy gives, here on small graphs too."""

from __future__ import annotations

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave.algorithms.brandes import of_reverse_arcs
from hopwave.graph import arcs_compiled, csr, csr_compiled


def parts(graph: hw.Graph) -> list[list[float] | None]:
    return [None if array is None else array.tolist() for array in (graph.indptr, graph.indices, graph.weights)]


@pytest.mark.parametrize("name", TRAPS)
def test_compiled_passes_agree_with_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = TRAPS[name]()
    halves: list[list[int]] = [[], list(range(0, graph.n, 2))]
    found = hw.bfs(graph, 0, device="cpu")
    wrong = np.where(found.distances == 1, 3, found.distances)
    cut = hw.bfs(graph, 0, depth_limit=1, device="cpu")
    numbers = np.arange(float(graph.m))

    def answers() -> list[object]:
        given = [found.distances, wrong, cut.distances]
        limits = [None, None, 1]
        said = [
            hw.validate(graph, 0, levels, tree, depth_limit=limit).failures
            for levels, limit in zip(given, limits, strict=True)
            for tree in (None, found.predecessors)
        ]

        kept = [parts(graph.subgraph(some)) for some in halves]
        turned = [] if graph.directed else of_reverse_arcs(graph, numbers).tolist()
        return [said, kept, turned, parts(graph.to_undirected())]

    expected = answers()
    monkeypatch.setattr(csr, "COMPILED_FROM_IF_LOADED", 0)
    monkeypatch.setattr(arcs_compiled, "ARCS_PER_PLACE", 1000)
    assert answers() == expected


def test_weights_of_a_subgraph_go_with_their_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = hw.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 3], directed=True, weights=[1.0, 2.0, 3.0, 4.0])
    monkeypatch.setattr(csr, "COMPILED_FROM_IF_LOADED", 0)
    assert parts(graph.subgraph([0, 1, 3])) == [[0, 2, 2, 2], [1, 2], [1.0, 4.0]]


@pytest.mark.parametrize("name", TRAPS)
def test_symmetric_patterns_are_known_from_sums(name: str) -> None:
    graph = TRAPS[name]()
    turned = csr.transposed(csr.Rows(graph.indptr, graph.indices, None))
    same = np.array_equal(turned.indptr, graph.indptr) and np.array_equal(turned.indices, graph.indices)
    assert csr_compiled.is_symmetric_pattern(graph.indptr, graph.indices) == same


def test_one_arc_less_or_elsewhere_is_not_symmetric() -> None:
    grid = hw.generate.grid(4, 4)
    source, target = grid.indices, np.repeat(np.arange(grid.n), np.diff(grid.indptr))
    for arc in range(grid.m):
        keep = np.arange(grid.m) != arc
        less = hw.Graph.from_edges(source[keep], target[keep], grid.n, directed=True)
        assert csr_compiled.is_symmetric_pattern(less.indptr, less.indices) is False
        moved = grid.indices.copy()
        moved[arc] = 15 - moved[arc]
        assert not csr_compiled.is_symmetric_pattern(grid.indptr, moved)
    unsorted = np.array([0, 2, 3, 4], np.int32), np.array([2, 1, 0, 0], np.int32)
    assert csr_compiled.is_symmetric_pattern(*unsorted) is None
