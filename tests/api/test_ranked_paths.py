"""Paths of pairs, and the k shortest simple paths: beside sssp, NetworkX and SciPy."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_weighted_distances import weighted

import hopwave as hw
from hopwave import Graph, HopwaveError, generate
from hopwave.engines.cpu.shortest_paths import deviations


def length(graph: Graph, path: list[int]) -> float:
    """The length from the source on."""
    total = 0.0
    for u, v in pairwise(path):
        row = slice(graph.indptr[u], graph.indptr[u + 1])
        total += float(graph.weights[row][graph.indices[row] == v].min())
    return total


@given(graph=weighted(), data=st.data())
def test_paths_have_the_length_that_sssp_finds(graph: Graph, data: Any) -> None:
    plain = graph.relabel(None)
    vertex = st.integers(0, plain.n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), min_size=1, max_size=5))
    for (s, t), path in zip(pairs, hw.shortest_paths(plain, pairs, threads=2), strict=True):
        d = hw.sssp(plain, s).distances[t]
        if path is None:
            assert d == np.inf
            continue
        assert (path[0], path[-1]) == (s, t)
        assert len(set(path)) == len(path)
        assert length(plain, path) == d  # to the last bit
        assert length(plain, hw.shortest_path(plain, s, t)) == d
    for (s, t), path in zip(pairs, hw.shortest_paths(plain, pairs, weights=False), strict=True):
        assert hw.bfs(plain, s).distances[t] == (-1 if path is None else len(path) - 1)


@given(graph=weighted(), k=st.integers(1, 9), data=st.data())
def test_the_lengths_are_networkxs(graph: Graph, k: int, data: Any) -> None:
    plain = graph.relabel(None)
    s, t = data.draw(st.permutations(range(plain.n)))[:2] if plain.n > 1 else (0, 0)
    if s == t or not hw.has_path(plain, s, t):
        return
    found = hw.k_shortest_paths(plain, s, t, k)
    g = plain.to_networkx()
    expected = [nx.path_weight(g, path, "weight") for path in islice(nx.shortest_simple_paths(g, s, t, "weight"), k)]
    lengths = [one for one, _ in found]
    np.testing.assert_allclose(lengths, expected, rtol=1e-12, atol=1e-12)
    assert lengths == sorted(lengths)
    assert len({tuple(path) for _, path in found}) == len(found)
    for one, path in found:
        assert one == length(plain, path) and len(set(path)) == len(path) and (path[0], path[-1]) == (s, t)
    hops = [len(path) for _, path in hw.k_shortest_paths(plain, s, t, k, weights=False)]
    assert hops == [len(path) for path in islice(nx.shortest_simple_paths(g, s, t), k)]


def test_lengths_are_those_of_scipys_yen() -> None:
    yen = pytest.importorskip("scipy.sparse.csgraph").yen
    source, target = generate.grid(6, 7).to_edges()
    graph = Graph.from_edges(source, target, weights=np.random.default_rng(1).integers(1, 99, len(source)) / 7)
    expected = yen(graph.to_scipy(), 0, 41, 30)
    np.testing.assert_allclose([one for one, _ in hw.k_shortest_paths(graph, 0, 41, 30)], expected, rtol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_what_is_left_over_holds_every_path_within_the_bound(directed: bool) -> None:
    """Arcs of length 0, parallel arcs and many ties: the k lengths are those without any bound."""
    draw = np.random.default_rng(7)
    for seed in range(8):
        u, v = draw.integers(0, 14, (2, 40))
        graph = Graph.from_edges(u, v, 14, directed, weights=draw.integers(0, 3, 40), repeats="keep")
        if not hw.has_path(graph, 0, 13):
            continue
        every = hw.k_shortest_paths(graph, 0, 13, 100_000)  # the trees have fewer paths: no bound
        for k in (1, 2, 7, 20):
            found = hw.k_shortest_paths(graph, 0, 13, k)
            assert [one for one, _ in found] == [one for one, _ in every[:k]], (seed, k)


def test_too_small_heaps_grow_and_calls_end_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = generate.grid(6, 7).to_edges()
    graph = Graph.from_edges(source, target, weights=np.random.default_rng(2).integers(1, 99, len(source)) / 7)
    expected = hw.k_shortest_paths(graph, 0, 41, 40)

    class Small(deviations.Deviations):
        def find_lengths(self, spurs: Any, most: float) -> Any:
            self.heap = tuple(part[:4] for part in self.heap)
            return super().find_lengths(spurs, most)

        def find_paths(self, some: Any) -> None:
            self.heap = tuple(part[:4] for part in self.heap)
            super().find_paths(some)

    monkeypatch.setattr(deviations, "Deviations", Small)
    monkeypatch.setattr(deviations, "PIECE", 3)
    assert hw.k_shortest_paths(graph, 0, 41, 40) == expected


def test_what_cannot_be_used() -> None:
    two = Graph.from_edges([0], [1], n=3, weights=[1.0])
    assert hw.shortest_paths(two, [(0, 2), (1, 1)]) == [None, [1]]
    assert hw.k_shortest_paths(two, 1, 1, 3) == [(0.0, [1])]
    for call, reason in (
        (lambda: hw.k_shortest_paths(two, 0, 2, 1), "there is no path"),
        (lambda: hw.k_shortest_paths(two, 0, 1, 0), "k=0 is not a number of paths"),
        (lambda: hw.shortest_paths(two, [0, 1]), "is not a pair of vertices"),
        (lambda: hw.shortest_paths(two, [b"\0\1"]), "is not a pair of vertices"),
        (lambda: hw.shortest_paths(two, 5), "5 is not a list of pairs; give"),
        (lambda: hw.shortest_paths(two, np.array(5)), "is not a list of pairs; give"),
        (lambda: hw.shortest_paths(two, pd.DataFrame({"a": [0], "b": [1]})), "a DataFrame is not .*to_numpy"),
        (lambda: hw.k_shortest_paths(two, 0, 1, 1, device="reference"), "run on the CPU or a GPU"),
        (lambda: hw.shortest_paths(two, [(0, 9)]), "9"),
    ):
        with pytest.raises(HopwaveError, match=reason):
            call()
